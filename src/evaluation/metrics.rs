//! How far a prediction is from the truth. Every figure is defined at the truth's rows, where the prediction is sampled.

use serde::{Deserialize, Serialize};

use super::time_map::{GroundTruth, TimeMap};

/// The figures of one piece. Times in milliseconds, shares in percent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Mean of the absolute error over score time, an exact integral of the piecewise linear error.
    pub time_err_ms: f64,
    /// Root of the mean squared error over score time, exact as well.
    pub time_dev_ms: f64,
    /// Mean absolute error over the truth's rows.
    pub onset_mean_ms: f64,
    /// Median absolute error.
    pub onset_median_ms: f64,
    /// 95th percentile of the absolute error.
    pub onset_p95_ms: f64,
    /// Largest absolute error.
    pub onset_max_ms: f64,
    /// Median of prediction minus truth: positive if the prediction is late.
    pub bias_ms: f64,
    /// Share of rows that are right to 10 ms.
    pub within_10_pct: f64,
    /// Share of rows that are right to 25 ms.
    pub within_25_pct: f64,
    /// Share of rows that are right to 50 ms.
    pub within_50_pct: f64,
    /// Share of rows that are right to 100 ms.
    pub within_100_pct: f64,
    /// How many rows the truth has.
    pub onsets: usize,
    /// Whether the prediction never runs backwards.
    pub monotone: bool,
    /// The figures of mir_eval's alignment module.
    pub mir_eval: MirEvalMetrics,
}

/// What `mir_eval.alignment` computes from the two lists of performance times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MirEvalMetrics {
    /// Median absolute error in seconds.
    pub median_absolute_error_s: f64,
    /// Mean absolute error in seconds.
    pub mean_absolute_error_s: f64,
    /// Share of rows that are right to 0.3 s, 0 to 1.
    pub correct_onsets: f64,
    /// Share of the truth's time where the same segment is predicted, 0 to 1.
    pub correct_segments: f64,
}

/// Compares a prediction with the truth.
pub fn evaluate(prediction: &TimeMap, truth: &GroundTruth) -> Metrics {
    let predicted: Vec<f64> = truth.score_s.iter().map(|&score_s| prediction.at(score_s)).collect();
    let errors: Vec<f64> = truth.performance_s.iter().zip(&predicted).map(|(truth, found)| truth - found).collect();
    let mut signed = errors.clone();
    signed.sort_by(f64::total_cmp);
    let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let count = sizes.len() as f64;
    let mean = sizes.iter().sum::<f64>() / count;
    let within = |limit: f64| sizes.partition_point(|&size| size <= limit) as f64 / count;
    let (time_err_s, time_dev_s) = integral_errors(&truth.score_s, &errors);
    Metrics {
        time_err_ms: 1e3 * time_err_s,
        time_dev_ms: 1e3 * time_dev_s,
        onset_mean_ms: 1e3 * mean,
        onset_median_ms: 1e3 * percentile(&sizes, 0.5),
        onset_p95_ms: 1e3 * percentile(&sizes, 0.95),
        onset_max_ms: 1e3 * sizes[sizes.len() - 1],
        bias_ms: -1e3 * percentile(&signed, 0.5),
        within_10_pct: 1e2 * within(0.010),
        within_25_pct: 1e2 * within(0.025),
        within_50_pct: 1e2 * within(0.050),
        within_100_pct: 1e2 * within(0.100),
        onsets: sizes.len(),
        monotone: prediction.is_monotone(),
        mir_eval: MirEvalMetrics {
            median_absolute_error_s: percentile(&sizes, 0.5),
            mean_absolute_error_s: mean,
            correct_onsets: within(0.3),
            correct_segments: correct_segments(&truth.performance_s, &predicted),
        },
    }
}

/// Mean absolute value and root mean square of the piecewise linear function with these values at these places.
fn integral_errors(score_s: &[f64], errors: &[f64]) -> (f64, f64) {
    let (mut absolute, mut square) = (0.0, 0.0);
    for (place, error) in score_s.windows(2).zip(errors.windows(2)) {
        let (width, e0, e1) = (place[1] - place[0], error[0], error[1]);
        let sum = e0.abs() + e1.abs();
        // Where the error changes sign it passes through zero: two triangles instead of a trapezium.
        let mean = if e0 * e1 >= 0.0 { sum / 2.0 } else { (e0 * e0 + e1 * e1) / (2.0 * sum) };
        absolute += width * mean;
        square += width * (e0 * e0 + e0 * e1 + e1 * e1) / 3.0;
    }
    let span = score_s[score_s.len() - 1] - score_s[0];
    (absolute / span, (square / span).sqrt())
}

/// Percentile of sorted values, linear between neighbours.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let low = place as usize;
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64)
}

/// Overlap of the segments between neighbouring times, divided by the truth's span (the MIREX 2020 definition). A truth
/// that stands still has no time to be right about: 1 if the prediction stands still there too, else 0.
fn correct_segments(truth: &[f64], predicted: &[f64]) -> f64 {
    let span = truth[truth.len() - 1] - truth[0];
    if span <= 0.0 {
        return if predicted == truth { 1.0 } else { 0.0 };
    }
    let overlaps = truth.windows(2).zip(predicted.windows(2)).map(|(t, p)| t[1].min(p[1]) - t[0].max(p[0]));
    overlaps.map(|overlap| overlap.max(0.0)).sum::<f64>() / span
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
