//! Beat annotations as in the ASAP data set. Two files make a pair: beats in the performance, beats in the score.

use super::events::{Beat, beats};
use super::text::fixed;
use super::{ExportInput, Exporter};
use crate::base::error::Result;
use crate::score::KeySignature;

/// The beats of the performance.
pub struct Performance;

impl Exporter for Performance {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        annotate(input, |beat| beat.performance_s)
    }
}

/// The same beats in the score's own tempo.
pub struct ScoreSide;

impl Exporter for ScoreSide {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        annotate(input, |beat| beat.score_s)
    }
}

fn annotate(input: &ExportInput, time: impl Fn(&Beat) -> f64) -> Result<Vec<u8>> {
    let mut text = String::new();
    let (mut signature, mut key) = (None, None);
    for beat in beats(input)? {
        let seconds = fixed(time(&beat), 6);
        text += &format!("{seconds}\t{seconds}\t{}", if beat.number == 1 { "db" } else { "b" });
        let new_signature = Some((beat.signature.numerator, beat.signature.denominator));
        if new_signature != signature {
            signature = new_signature;
            text += &format!(",{}/{}", beat.signature.numerator, beat.signature.denominator);
        }
        let new_key = key_at(&input.score.keys, beat.tick);
        if new_key.is_some() && new_key != key {
            key = new_key;
            text += &new_key.map(|accidentals| format!(",{accidentals}")).unwrap_or_default();
        }
        text.push('\n');
    }
    Ok(text.into_bytes())
}

fn key_at(keys: &[KeySignature], tick: f64) -> Option<i8> {
    keys.iter().take_while(|key| key.tick as f64 <= tick + 0.5).last().map(|key| key.accidentals)
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::test_piece::piece;
    use crate::evaluation::{TimeMap, evaluate, read_ground_truth};

    #[test]
    fn beats_are_annotated_with_what_changes() {
        let text = piece().render_text(Format::Asap);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "0.800000\t0.800000\tdb,3/4,-3");
        assert!(lines[1].ends_with("\tb") && lines[3].ends_with("\tdb,6/8") && lines[9].ends_with("\tdb"), "{text}");
    }

    #[test]
    fn the_pair_reads_back_as_ground_truth() {
        let piece = piece();
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, format| {
            let path = folder.path().join(name);
            std::fs::write(&path, piece.render(format)).unwrap();
            path
        };
        write("midi_score_annotations.txt", Format::AsapScore);
        let truth = read_ground_truth(&write("performance.txt", Format::Asap), None).unwrap();
        let exact =
            TimeMap::from_pairs(truth.score_s.iter().map(|&s| (s, piece.alignment.warp.at(s))).collect()).unwrap();
        assert_eq!(truth.len(), 10);
        assert!(evaluate(&exact, &truth).onset_max_ms < 2e-3);
    }
}
