//! What the roll is made of: stretches of notes and how each is drawn.

use super::super::ExportInput;
use crate::evaluation::{Discrepancy, Sounding, discrepancies};

/// Below this confidence a note is shown as unsure.
const UNSURE: f64 = 0.5;
/// A shorter note lies in a section that was left out, where the recording stands still.
const NOTHING_S: f64 = 1e-6;

/// A stretch of a note.
pub struct Stretch {
    /// MIDI pitch.
    pub pitch: u8,
    /// Seconds of the recording.
    pub start_s: f64,
    /// Seconds of the recording.
    pub end_s: f64,
    /// How it is drawn.
    pub kind: Kind,
}

/// How a stretch is drawn; later ones over earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A note that the alignment is not sure of.
    Unsure,
    /// Only the reference has it.
    ReferenceOnly,
    /// Only the alignment has it.
    PredictionOnly,
    /// The score has it, and it was not played.
    NotPlayed,
    /// A note as it should be.
    Sure,
    /// It was played, and the score does not have it.
    NotWritten,
}

/// A note that was not played and the one that was played in its place: when, and which pitch.
pub struct Join {
    /// Of the score.
    pub written: (f64, u8),
    /// Of the performance.
    pub played: (f64, u8),
}

/// Compared with the reference if there is one, else with what was played differently.
pub fn stretches(input: &ExportInput) -> Vec<Stretch> {
    match input.reference {
        Some(reference) => {
            let found = discrepancies(input.score, input.alignment, reference);
            found.iter().map(compared).collect()
        }
        None => played(input),
    }
}

fn compared(found: &Discrepancy) -> Stretch {
    let kind = match found.sounding {
        Sounding::Both => Kind::Sure,
        Sounding::PredictionOnly => Kind::PredictionOnly,
        Sounding::ReferenceOnly => Kind::ReferenceOnly,
    };
    Stretch { pitch: found.pitch, start_s: found.start_s, end_s: found.end_s, kind }
}

fn played(input: &ExportInput) -> Vec<Stretch> {
    let notes = input.score.notes.iter().zip(&input.alignment.notes);
    let shown = notes.filter(|(_, aligned)| !aligned.is_missing() || aligned.offset_s - aligned.onset_s > NOTHING_S);
    let written = shown.map(|(note, aligned)| Stretch {
        pitch: note.pitch,
        start_s: aligned.onset_s,
        end_s: aligned.offset_s,
        kind: match aligned.is_missing() {
            true => Kind::NotPlayed,
            false if aligned.confidence < UNSURE => Kind::Unsure,
            false => Kind::Sure,
        },
    });
    let extra = input.alignment.extra_notes.iter().map(|extra| Stretch {
        pitch: extra.pitch,
        start_s: extra.onset_s,
        end_s: extra.offset_s,
        kind: Kind::NotWritten,
    });
    written.chain(extra).collect()
}

/// What was played in place of what; nothing where a reference is shown.
pub fn joins(input: &ExportInput) -> Vec<Join> {
    let extra = input.alignment.extra_notes.iter().filter(|_| input.reference.is_none());
    let join = extra.filter_map(|extra| {
        let index = extra.instead_of?;
        let (note, aligned) = (input.score.notes.get(index)?, input.alignment.notes.get(index)?);
        Some(Join { written: (aligned.onset_s, note.pitch), played: (extra.onset_s, extra.pitch) })
    });
    join.collect()
}
