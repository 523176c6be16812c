//! Many pieces: a table, and averages that say over how many pieces they go.

use std::fmt::Write;

use serde::Serialize;

use super::metrics::Metrics;

/// Pieces with a TimeErr from here on are left out of the second average, as some publications do.
pub const OUTLIER_MS: f64 = 300.0;

/// One piece of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PieceResult {
    /// How the piece is called.
    pub name: String,
    /// Its figures.
    pub metrics: Metrics,
}

/// Unweighted means over pieces.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Average {
    /// How many pieces the means go over.
    pub pieces: usize,
    /// Mean of the pieces' TimeErr.
    pub time_err_ms: f64,
    /// Mean of the pieces' TimeDev.
    pub time_dev_ms: f64,
    /// Mean of the median onset errors.
    pub onset_median_ms: f64,
    /// Mean of the 95th percentiles.
    pub onset_p95_ms: f64,
    /// Mean of the biases.
    pub bias_ms: f64,
    /// Mean share within 25 ms.
    pub within_25_pct: f64,
    /// Mean share within 50 ms.
    pub within_50_pct: f64,
}

/// Results of several pieces with their averages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Every piece, in the order given.
    pub pieces: Vec<PieceResult>,
    /// Over all pieces; none if there are none.
    pub all: Option<Average>,
    /// Over the pieces with a TimeErr below [`OUTLIER_MS`]; none if there are none.
    pub without_outliers: Option<Average>,
}

impl Report {
    /// Averages the pieces.
    pub fn new(pieces: Vec<PieceResult>) -> Self {
        let all = Average::of(pieces.iter().map(|piece| &piece.metrics));
        let without_outliers =
            Average::of(pieces.iter().map(|piece| &piece.metrics).filter(|metrics| metrics.time_err_ms < OUTLIER_MS));
        Self { pieces, all, without_outliers }
    }

    /// A Markdown table: a row per piece, then the two averages with their numbers of pieces.
    pub fn to_markdown(&self) -> String {
        let mut table = String::from(
            "| piece | TimeErr ms | TimeDev ms | onset median ms | onset 95 % ms | bias ms | within 25 ms % | within 50 ms % |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|\n",
        );
        for piece in &self.pieces {
            let single = Average::of(std::iter::once(&piece.metrics));
            push_row(&mut table, &piece.name.replace('|', "\\|"), single);
        }
        let count = |average: Option<Average>| average.map_or(0, |average| average.pieces);
        push_row(&mut table, &format!("mean of all ({})", count(self.all)), self.all);
        let label = format!("mean where TimeErr < {OUTLIER_MS} ms ({})", count(self.without_outliers));
        push_row(&mut table, &label, self.without_outliers);
        table
    }
}

fn push_row(table: &mut String, label: &str, row: Option<Average>) {
    let _ = write!(table, "| {label} |");
    for index in 0..7 {
        let _ = match &row {
            Some(row) => write!(table, " {:.1} |", row.figures()[index]),
            None => write!(table, " |"),
        };
    }
    table.push('\n');
}

impl Average {
    fn of<'a>(metrics: impl Iterator<Item = &'a Metrics>) -> Option<Self> {
        let metrics: Vec<&Metrics> = metrics.collect();
        let count = metrics.len();
        let mean = |figure: fn(&Metrics) -> f64| metrics.iter().map(|m| figure(m)).sum::<f64>() / count as f64;
        (count > 0).then(|| Self {
            pieces: count,
            time_err_ms: mean(|m| m.time_err_ms),
            time_dev_ms: mean(|m| m.time_dev_ms),
            onset_median_ms: mean(|m| m.onset_median_ms),
            onset_p95_ms: mean(|m| m.onset_p95_ms),
            bias_ms: mean(|m| m.bias_ms),
            within_25_pct: mean(|m| m.within_25_pct),
            within_50_pct: mean(|m| m.within_50_pct),
        })
    }

    fn figures(&self) -> [f64; 7] {
        [
            self.time_err_ms,
            self.time_dev_ms,
            self.onset_median_ms,
            self.onset_p95_ms,
            self.bias_ms,
            self.within_25_pct,
            self.within_50_pct,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{TimeMap, evaluate};

    fn late_by(seconds: f64) -> PieceResult {
        let truth = TimeMap::from_pairs(vec![(0.0, 0.0), (1.0, 1.0)]).unwrap();
        let late = TimeMap::from_pairs(vec![(0.0, seconds), (1.0, 1.0 + seconds)]).unwrap();
        PieceResult { name: format!("late|{seconds}"), metrics: evaluate(&late, &truth) }
    }

    #[test]
    fn both_averages_say_how_many_pieces_they_go_over() {
        let report = Report::new(vec![late_by(0.1), late_by(0.2), late_by(0.6)]);
        let all = report.all.unwrap();
        assert_eq!(all.pieces, 3);
        assert!((all.time_err_ms - 300.0).abs() < 1e-6 && (all.bias_ms - 300.0).abs() < 1e-6);
        let kept = report.without_outliers.unwrap();
        assert_eq!(kept.pieces, 2);
        assert!((kept.time_err_ms - 150.0).abs() < 1e-6);
        let table = report.to_markdown();
        assert!(table.contains("| late\\|0.1 | 100.0 | 100.0 |"), "{table}");
        assert!(table.contains("| mean of all (3) | 300.0 |"), "{table}");
        assert!(table.contains("| mean where TimeErr < 300 ms (2) | 150.0 |"), "{table}");
        assert_eq!(serde_json::to_value(&report).unwrap()["without_outliers"]["pieces"], 2);
    }

    #[test]
    fn no_pieces_give_no_averages_instead_of_zero_divided_by_zero() {
        let report = Report::new(Vec::new());
        assert_eq!((report.all, report.without_outliers), (None, None));
        assert!(report.to_markdown().contains("mean of all (0)"));
        let lost = Report::new(vec![late_by(0.9)]);
        assert_eq!((lost.all.unwrap().pieces, lost.without_outliers), (1, None));
    }
}
