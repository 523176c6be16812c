//! Sonic Visualiser's CSV annotation layers: comma, nine decimals, lines with `#` are skipped on import.

use super::events::onsets;
use super::provenance::hash_comments;
use super::spelling::{accidentals_at, spell};
use super::text::{csv_field, fixed};
use super::{ExportInput, Exporter};
use crate::base::error::Result;

/// Onsets as time instants: `TIME,LABEL`.
pub struct Instants;

impl Exporter for Instants {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let row = |onset: &super::events::Onset| format!("{},{}\n", fixed(onset.performance_s, 9), onset.place());
        Ok((hash_comments(input) + &onsets(input).iter().map(row).collect::<String>()).into_bytes())
    }
}

/// Tempo as time values: `TIME,VALUE`, in quarter notes per minute.
pub struct Tempo;

impl Exporter for Tempo {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let rows = input.alignment.tempo.iter();
        let rows =
            rows.map(|point| format!("{},{}\n", fixed(point.performance_s, 9), fixed(point.beats_per_minute, 9)));
        Ok((hash_comments(input) + &rows.collect::<String>()).into_bytes())
    }
}

/// Notes: `TIME,VALUE,DURATION,LEVEL,LABEL`, with the score's velocities as levels.
pub struct Notes;

impl Exporter for Notes {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let mut text = hash_comments(input);
        for (note, aligned) in input.score.notes.iter().zip(&input.alignment.notes) {
            let duration = (aligned.offset_s - aligned.onset_s).max(0.0);
            let name = spell(note.pitch, accidentals_at(input.score, note.onset_tick)).to_string();
            text += &format!("{},{},", fixed(aligned.onset_s, 9), note.pitch);
            text += &format!("{},{},", fixed(duration, 9), fixed(f64::from(note.velocity) / 127.0, 9));
            text += &csv_field(&name);
            text.push('\n');
        }
        Ok(text.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::test_piece::piece;

    fn rows(format: Format) -> Vec<Vec<String>> {
        let text = piece().render_text(format);
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        rows.map(|row| row.split(',').map(str::to_owned).collect()).collect()
    }

    #[test]
    fn instants_values_and_notes_have_their_columns_and_nine_decimals() {
        assert_eq!(rows(Format::InstantsCsv)[1], ["1.696875000", "1:2.5"]);
        let tempo = rows(Format::TempoCsv);
        assert_eq!(tempo.len(), piece().alignment.tempo.len());
        assert_eq!(tempo[0][0], "0.800000000");
        assert!((tempo[0][1].parse::<f64>().unwrap() - 60.0 / (0.85 * 5.0 / 7.0)).abs() < 1e-6);
        let notes = rows(Format::SonicVisualiserNotesCsv);
        assert_eq!(notes[2], ["1.696875000", "70", "0.234375000", "0.480314961", "Bb4"]);
        assert_eq!(notes.len(), 8);
    }
}
