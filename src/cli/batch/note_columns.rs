//! The table of notes: every note of the score, then every note that was heard and that the score does not have, piece by piece.

use crate::align::result::{AlignedNote, ExtraNote, Verdict};
use crate::export::ExportInput;
use crate::score::Score;
use crate::tables::Kind::{Float, Int, Text};
use crate::tables::{Column, Schema};

/// `docs/src/reference/tables.md` describes them. The names are those of the format `notes-csv`.
pub(super) const SCHEMA: Schema = &[
    ("piece", Text),
    ("note", Int),
    ("id", Text),
    ("bar", Int),
    ("beat", Float),
    ("pitch", Int),
    ("score_time_s", Float),
    ("score_duration_s", Float),
    ("performance_onset_s", Float),
    ("performance_offset_s", Float),
    ("confidence", Float),
    ("offset_confidence", Float),
    ("verdict", Text),
    ("verdict_confidence", Float),
    ("played_pitch", Int),
];

/// A row of the table without the name of its piece.
#[derive(Default)]
struct NoteRow {
    /// From 1. Of a note that was played instead of a written one, the number of that.
    note: Option<i64>,
    id: Option<String>,
    bar: Option<i64>,
    beat: Option<f64>,
    pitch: Option<i64>,
    score_time_s: Option<f64>,
    score_duration_s: Option<f64>,
    onset_s: Option<f64>,
    offset_s: Option<f64>,
    confidence: Option<f64>,
    offset_confidence: Option<f64>,
    verdict: Option<&'static str>,
    verdict_confidence: Option<f64>,
    played_pitch: Option<i64>,
}

impl NoteRow {
    fn written(score: &Score, index: usize, aligned: &AlignedNote) -> Self {
        let note = &score.notes[index];
        let place = score.meter.position(note.onset_tick as f64);
        let (verdict, played_pitch) = match aligned.verdict.map(|judged| judged.verdict) {
            None => (None, None),
            Some(Verdict::Played) => (Some("played"), None),
            Some(Verdict::Missing) => (Some("missing"), None),
            Some(Verdict::OtherPitch { pitch }) => (Some("other_pitch"), Some(i64::from(pitch))),
        };
        Self {
            note: Some(index as i64 + 1),
            id: score.note_id(index).map(str::to_owned),
            bar: Some(i64::from(place.bar)),
            beat: Some(place.beat),
            pitch: Some(i64::from(note.pitch)),
            score_time_s: Some(note.onset_s),
            score_duration_s: Some(note.offset_s - note.onset_s),
            onset_s: Some(aligned.onset_s),
            offset_s: Some(aligned.offset_s),
            confidence: Some(aligned.confidence),
            offset_confidence: aligned.offset_confidence,
            verdict,
            verdict_confidence: aligned.verdict.map(|judged| judged.confidence),
            played_pitch,
        }
    }

    fn extra(extra: &ExtraNote) -> Self {
        Self {
            note: extra.instead_of.map(|index| index as i64 + 1),
            onset_s: Some(extra.onset_s),
            offset_s: Some(extra.offset_s),
            verdict: Some("extra"),
            verdict_confidence: Some(extra.confidence),
            played_pitch: Some(i64::from(extra.pitch)),
            ..Self::default()
        }
    }
}

/// The columns after the first: the notes of one piece, whatever it is called.
pub(super) fn of_piece(result: &ExportInput<'_>) -> Vec<Column> {
    let written = result.alignment.notes.iter().enumerate();
    let written = written.map(|(index, aligned)| NoteRow::written(result.score, index, aligned));
    let rows: Vec<NoteRow> = written.chain(result.alignment.extra_notes.iter().map(NoteRow::extra)).collect();
    let int = |of: fn(&NoteRow) -> Option<i64>| Column::Int(rows.iter().map(of).collect());
    let float = |of: fn(&NoteRow) -> Option<f64>| Column::Float(rows.iter().map(of).collect());
    let text = |of: fn(&NoteRow) -> Option<String>| Column::Text(rows.iter().map(of).collect());
    vec![
        int(|row| row.note),
        text(|row| row.id.clone()),
        int(|row| row.bar),
        float(|row| row.beat),
        int(|row| row.pitch),
        float(|row| row.score_time_s),
        float(|row| row.score_duration_s),
        float(|row| row.onset_s),
        float(|row| row.offset_s),
        float(|row| row.confidence),
        float(|row| row.offset_confidence),
        text(|row| row.verdict.map(str::to_owned)),
        float(|row| row.verdict_confidence),
        int(|row| row.played_pitch),
    ]
}
