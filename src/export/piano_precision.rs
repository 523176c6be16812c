//! Piano Precision's CSV: where each score onset is, in seconds and samples. The sample is what the program reads.

use super::events::{onsets, whole_notes};
use super::text::fixed;
use super::{ExportInput, Exporter};
use crate::base::error::Result;
use crate::base::time::seconds_to_samples;

/// One row per onset; onsets outside the recording are marked as not aligned.
pub struct PianoPrecision;

impl Exporter for PianoPrecision {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let mut text = String::from("LABEL,TIME,FRAME\n");
        let duration_s = input.alignment.provenance.recording.duration_s;
        for onset in onsets(input) {
            let within_bar = whole_notes(input.score, onset.position.quarters);
            text += &format!("{}+{}/{},", onset.position.bar, within_bar.numerator, within_bar.denominator);
            let time = onset.performance_s;
            if (0.0..=duration_s).contains(&time) {
                text += &format!("{},{}\n", fixed(time, 9), seconds_to_samples(time, input.recording_rate));
            } else {
                text += "N,N\n";
            }
        }
        Ok(text.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_piece::{alignment_of, piece};
    use super::super::{Exporter, Format};
    use super::*;

    #[test]
    fn labels_are_bar_and_reduced_fraction_and_frames_count_samples_of_the_recording() {
        let piece = piece();
        let text = piece.render_text(Format::PianoPrecision);
        assert!(text.starts_with("LABEL,TIME,FRAME\n1+0/1,0.800000000,35280\n1+3/8,1.696875000,74832\n"), "{text}");
        assert!(text.contains("\n2+1/8,"), "{text}");
        let slow = ExportInput { recording_rate: 8_000, ..piece.input() };
        let text = String::from_utf8(PianoPrecision.render(&slow).unwrap()).unwrap();
        assert!(text.contains("1+0/1,0.800000000,6400\n"), "{text}");
    }

    #[test]
    fn onsets_before_the_recording_are_not_aligned() {
        let mut piece = piece();
        piece.alignment = alignment_of(&piece.score, vec![0.0, 4.5], vec![-1.0, 8.0]);
        assert!(piece.render_text(Format::PianoPrecision).contains("\n1+0/1,N,N\n1+3/8,0.500000000,22050\n"));
    }
}
