//! Event times for mir_eval: one column of seconds.

use super::events::onsets;
use super::provenance::hash_comments;
use super::text::fixed;
use super::{ExportInput, Exporter};
use crate::base::error::Result;

/// The onsets of the score in the recording.
pub struct MirEval;

impl Exporter for MirEval {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let row = |onset: &super::events::Onset| fixed(onset.performance_s, 6) + "\n";
        Ok((hash_comments(input) + &onsets(input).iter().map(row).collect::<String>()).into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::test_piece::piece;

    #[test]
    fn one_time_per_onset() {
        let text = piece().render_text(Format::MirEval);
        let times: Vec<f64> = text.lines().filter(|l| !l.starts_with('#')).map(|l| l.parse().unwrap()).collect();
        assert_eq!(times.len(), 6);
        assert_eq!(times[..2], [0.8, 1.696875]);
    }
}
