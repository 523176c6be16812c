//! Agogic CSV: the default. Plain numbers with 6 decimals, `#` comments first.

use super::events::change_points;
use super::provenance::hash_comments;
use super::text::{csv_field, fixed, single_line};
use super::{ExportInput, Exporter};
use crate::align::result::Verdict;
use crate::base::error::Result;

/// One row per change point of the score.
pub struct ChangePoints;

impl Exporter for ChangePoints {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let mut text = hash_comments(input) + "score_beat,score_time_s,performance_time_s\n";
        for point in change_points(input) {
            text += &row(&[point.score_beat, point.score_s, point.performance_s]);
        }
        Ok(text.into_bytes())
    }
}

/// One row per note of the score. The last columns say whether it was played as written and how sure that and its end are; they
/// are empty where nobody listened.
pub struct Notes;

impl Exporter for Notes {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let mut text = hash_comments(input);
        text += "note,bar,beat,pitch,score_time_s,score_duration_s,performance_onset_s,performance_offset_s,";
        let has_ids = !input.score.notation.notes.is_empty();
        text += "verdict,verdict_confidence,offset_confidence";
        text += if has_ids { ",id\n" } else { "\n" };
        for (index, (note, aligned)) in input.score.notes.iter().zip(&input.alignment.notes).enumerate() {
            let place = input.score.meter.position(note.onset_tick as f64);
            text += &format!("{},{},{},{},", index + 1, place.bar, fixed(place.beat, 6), note.pitch);
            text += &fields(&[note.onset_s, note.offset_s - note.onset_s, aligned.onset_s, aligned.offset_s]);
            let verdict = match aligned.verdict.map(|judged| judged.verdict) {
                None => String::new(),
                Some(Verdict::Played) => "played".to_owned(),
                Some(Verdict::Missing) => "missing".to_owned(),
                Some(Verdict::OtherPitch { pitch }) => format!("pitch {pitch}"),
            };
            let share = |value: Option<f64>| value.map(|value| fixed(value, 6)).unwrap_or_default();
            let confidence = share(aligned.verdict.map(|judged| judged.confidence));
            text += &format!(",{verdict},{confidence},{}", share(aligned.offset_confidence));
            if let Some(id) = input.score.note_id(index) {
                text += &format!(",{}", csv_field(&single_line(id)));
            }
            text.push('\n');
        }
        Ok(text.into_bytes())
    }
}

fn row(values: &[f64]) -> String {
    fields(values) + "\n"
}

fn fields(values: &[f64]) -> String {
    values.iter().map(|&value| fixed(value, 6)).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::test_piece::{judged_piece, piece};
    use crate::evaluation::{TimeMap, read_prediction};

    #[test]
    fn change_points_hold_the_warp_in_score_order_with_six_decimals() {
        let text = piece().render_text(Format::Csv);
        let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(rows[0], "score_beat,score_time_s,performance_time_s");
        assert_eq!(rows[1], "0.000000,0.000000,0.800000");
        // Tick 480 is beat 1, 0.5 s, on the first piece of the warp.
        assert_eq!(rows[2], "1.000000,0.500000,1.407143");
        assert_eq!(rows.len(), 10, "0 480 720 960 1000 1440 1680 1920 2880");
        assert!(text.starts_with("# agogic 0.1.0\n# recording: recording.flac"), "{text}");
        assert!(text.contains("# warning: a made-up warning\n") && text.contains("\"anchors\":[{"), "{text}");
    }

    #[test]
    fn both_tables_are_read_back() {
        let piece = piece();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        std::fs::write(&path, piece.render(Format::Csv)).unwrap();
        let read = read_prediction(&path).unwrap();
        let exact = TimeMap::of_alignment(&piece.score, &piece.alignment);
        assert_eq!(read.times.len(), exact.len());
        for (found, expected) in read.times.performance_s.iter().zip(&exact.performance_s) {
            assert!((found - expected).abs() <= 5.1e-7);
        }
        assert!((read.beats.unwrap().seconds(3.0) - 1.5).abs() < 1e-6);
        std::fs::write(&path, piece.render(Format::NotesCsv)).unwrap();
        let notes = read_prediction(&path).unwrap().times;
        assert_eq!(notes.len(), piece.score.onsets_s().len());
        assert!((notes.at(1.5) - 2.4).abs() < 1e-6);
        let text = piece.render_text(Format::NotesCsv);
        assert!(text.contains("\n3,1,2.500000,70,0.750000,0.250000,1.696875,1.931250,,,\n"), "{text}");
        let judged = judged_piece().render_text(Format::NotesCsv);
        assert!(judged.contains(",1.696875,1.931250,pitch 71,0.800000,\n"), "{judged}");
        assert!(judged.contains(",missing,0.900000,\n") && judged.contains(",played,0.970000,0.750000\n"), "{judged}");
    }
}
