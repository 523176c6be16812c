//! The notes of the piano roll: shaded by support, compared with a reference, or with what was played differently.

use super::piece::Piece;
use super::solution::Reference;
use crate::align::result::{Alignment, Verdict};
use crate::evaluation::{Sounding, discrepancies};

/// How a stretch of a note is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Support {
    /// How sure the alignment is of the note, 0 to 1.
    Confidence(f32),
    /// Reference and alignment agree.
    Both,
    /// Only the alignment has it.
    OursOnly,
    /// Only the reference has it.
    ReferenceOnly,
    /// The score has it and it was not played, so likely.
    NotPlayed(f32),
    /// It was played and the score does not have it, so likely.
    NotWritten(f32),
}

/// A stretch of a note in the piano roll.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RollSpan {
    /// Which note of the score; none of a note that the score does not have.
    pub note: Option<u32>,
    /// MIDI pitch.
    pub pitch: u8,
    /// Seconds of the recording.
    pub start_s: f64,
    /// Seconds of the recording.
    pub end_s: f64,
    /// How it is shown.
    pub support: Support,
}

/// A note that was not played, joined with the one that was played in its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instead {
    /// When the written one was expected, and its pitch.
    pub written: (f64, u8),
    /// When the other one was played, and its pitch.
    pub played: (f64, u8),
    /// How likely that is.
    pub confidence: f32,
}

/// Stretches of notes by start.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Roll {
    spans: Vec<RollSpan>,
    /// The longest: how far before the view a visible one may start.
    longest_s: f64,
    /// What was played in place of what, in order of time.
    pub instead: Vec<Instead>,
    /// Lowest and highest pitch; none of an empty roll.
    pub pitches: Option<(u8, u8)>,
}

impl Roll {
    fn new(mut spans: Vec<RollSpan>) -> Self {
        spans.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        let longest_s = spans.iter().map(|span| span.end_s - span.start_s).fold(0.0, f64::max);
        let pitches = || spans.iter().map(|span| span.pitch);
        let pitches = pitches().min().zip(pitches().max());
        Self { spans, longest_s, instead: Vec::new(), pitches }
    }

    /// Notes shaded by how sure the alignment is of them.
    pub fn shaded(piece: &Piece, alignment: &Alignment) -> Self {
        Self::new(notes(piece, alignment, |_, confidence| Support::Confidence(confidence)))
    }

    /// Notes compared with a reference.
    pub fn compared(piece: &Piece, alignment: &Alignment, reference: &Reference) -> Self {
        let found = discrepancies(&piece.score, alignment, &reference.times).into_iter();
        let spans = found.map(|stretch| RollSpan {
            note: Some(stretch.note as u32),
            pitch: stretch.pitch,
            start_s: stretch.start_s,
            end_s: stretch.end_s,
            support: match stretch.sounding {
                Sounding::Both => Support::Both,
                Sounding::PredictionOnly => Support::OursOnly,
                Sounding::ReferenceOnly => Support::ReferenceOnly,
            },
        });
        Self::new(spans.collect())
    }

    /// Notes with what was played differently; none where nobody listened for that.
    pub fn played(piece: &Piece, alignment: &Alignment) -> Option<Self> {
        if !alignment.is_judged() {
            return None;
        }
        let mut spans = notes(piece, alignment, |index, confidence| match alignment.notes[index].verdict {
            Some(judged) if judged.verdict != Verdict::Played => Support::NotPlayed(judged.confidence as f32),
            _ => Support::Confidence(confidence),
        });
        let mut instead = Vec::new();
        for extra in &alignment.extra_notes {
            spans.push(RollSpan {
                note: None,
                pitch: extra.pitch,
                start_s: extra.onset_s,
                end_s: extra.offset_s,
                support: Support::NotWritten(extra.confidence as f32),
            });
            if let Some(index) = extra.instead_of.filter(|&index| index < alignment.notes.len()) {
                let (note, written) = (&alignment.notes[index], &piece.score.notes[index]);
                let confidence = note.verdict.map_or(0.0, |judged| judged.confidence) as f32;
                let played = (extra.onset_s, extra.pitch);
                instead.push(Instead { written: (note.onset_s, written.pitch), played, confidence });
            }
        }
        Some(Self { instead, ..Self::new(spans) })
    }

    /// When the reference has each of so many notes begin; none of those that it does not have.
    pub fn reference_onsets_s(&self, notes: usize) -> Vec<Option<f64>> {
        let mut onsets = vec![None; notes];
        // By start: the first stretch of a note is where it begins.
        for span in self.spans.iter().filter(|span| matches!(span.support, Support::Both | Support::ReferenceOnly)) {
            if let Some(onset) = span.note.and_then(|note| onsets.get_mut(note as usize)) {
                onset.get_or_insert(span.start_s);
            }
        }
        onsets
    }

    /// The stretches of notes that a view may show, by start.
    pub fn between(&self, from_s: f64, to_s: f64) -> &[RollSpan] {
        let first = self.spans.partition_point(|span| span.start_s < from_s - self.longest_s);
        let last = self.spans.partition_point(|span| span.start_s <= to_s);
        &self.spans[first.min(last)..last]
    }
}

/// A stretch for every note of the score, shown as `support` says of its index and confidence.
fn notes(piece: &Piece, alignment: &Alignment, support: impl Fn(usize, f32) -> Support) -> Vec<RollSpan> {
    let notes = piece.score.notes.iter().zip(&alignment.notes).enumerate();
    notes
        .map(|(index, (note, aligned))| RollSpan {
            note: Some(index as u32),
            pitch: note.pitch,
            start_s: aligned.onset_s,
            end_s: aligned.offset_s,
            support: support(index, aligned.confidence as f32),
        })
        .collect()
}
