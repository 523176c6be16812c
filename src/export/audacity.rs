//! Audacity labels: `start TAB end TAB text`, a point label at every onset of the score.

use super::events::onsets;
use super::text::{fixed, single_line};
use super::{ExportInput, Exporter};
use crate::base::error::Result;

/// Point labels with bar, beat and note names. The format has no room for comments.
pub struct Audacity;

impl Exporter for Audacity {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let row = |onset: &super::events::Onset| {
            let time = fixed(onset.performance_s, 6);
            format!("{time}\t{time}\t{}\n", single_line(&onset.label(input.score)))
        };
        Ok(onsets(input).iter().map(row).collect::<String>().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::test_piece::piece;

    #[test]
    fn every_onset_is_a_point_label() {
        let text = piece().render_text(Format::Audacity);
        assert!(text.starts_with("0.800000\t0.800000\t1:1 C4 E4\n1.696875\t1.696875\t1:2.5 Bb4\n"), "{text}");
        assert_eq!(text.lines().count(), 6);
    }
}
