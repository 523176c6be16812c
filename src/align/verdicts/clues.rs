//! What the verdicts rest on, to fit their weights again.

use crate::align::heard::Heard;
use crate::align::result::AlignedNote;
use crate::score::Score;

use super::Standing;
use super::odds::{NOTE_CLUES, STROKE_CLUES, note_clues, stroke_clues};
use super::paired::{Sureness, paired};

/// What tells whether a note of the score was played.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteClues {
    /// Index into the score's notes.
    pub note: usize,
    /// As [`NOTE_CLUES`] names them.
    pub clues: [f64; NOTE_CLUES.len()],
}

/// What tells whether a stroke that no note of the score explains was played.
#[derive(Debug, Clone, PartialEq)]
pub struct StrokeClues {
    /// MIDI number.
    pub pitch: u8,
    /// Seconds of the performance.
    pub onset_s: f64,
    /// As [`STROKE_CLUES`] names them.
    pub clues: [f64; STROKE_CLUES.len()],
}

/// The clues of all notes that were placed, and of all strokes that are left over.
pub(in crate::align) fn clues(
    score: &Score,
    notes: &[AlignedNote],
    standing: &[Standing],
    heard: &Heard,
) -> (Vec<NoteClues>, Vec<StrokeClues>) {
    let sureness = Sureness::of(notes, standing);
    let (mut of_notes, mut of_strokes) = (Vec::new(), Vec::new());
    for pitch in paired(score, notes, standing, heard, (f64::NEG_INFINITY, f64::INFINITY)) {
        for voice in &pitch.voices {
            let clues = note_clues(&voice.expected, voice.stroke.map(|stroke| &pitch.strokes[stroke]));
            of_notes.extend(voice.notes.iter().map(|&note| NoteClues { note, clues }));
        }
        of_strokes.extend(pitch.left_over().map(|stroke| {
            let stroke = &pitch.strokes[stroke];
            let clues = stroke_clues(stroke, sureness.at(stroke.onset_s));
            StrokeClues { pitch: stroke.pitch, onset_s: stroke.onset_s, clues }
        }));
    }
    (of_notes, of_strokes)
}
