//! What was played differently: notes of the score that were not played, notes that were and that the score does not have, and
//! another pitch in place of the written one. No reference is needed, only what was heard.
//!
//! Pitch by pitch, the notes of the score are paired with the strokes that were heard, each stroke at most one note. A note whose
//! stroke is faint, or that has none, is missing; a clear stroke that is left over is an extra note. Where one of each lies at the
//! same moment a small interval apart, one was played for the other.

mod clues;
mod odds;
mod paired;
mod pairing;
mod strokes;

use crate::align::heard::Heard;
use crate::align::result::{AlignedNote, Judged, Verdict};
use crate::base::time::SAME_MOMENT_S;
use crate::score::Score;

pub(super) use clues::clues;
pub use clues::{NoteClues, StrokeClues};
pub use odds::{NOTE_CLUES, STROKE_CLUES};
use paired::{Pitch, Sureness, paired};
pub(super) use strokes::Stroke;

/// What is at least this likely to differ from the score is said to: a look too many costs less than a wrong note that nobody sees.
const LIKELY: f64 = 0.35;
/// How sure a verdict on notes that are known is: only which of several is which may be mistaken.
const KNOWN: f64 = 0.98;
/// A note that was played for another begins this near to where that was expected …
const INSTEAD_S: f64 = 0.08;
/// … and at one of these intervals: the neighbouring keys, the one beyond, or the octave. Beyond them nothing says that one was
/// meant for the other.
const INSTEAD_SEMITONES: [u8; 4] = [1, 2, 3, 12];
/// An ornament may begin so much before its note.
const ORNAMENT_BEFORE_S: f64 = 0.15;
/// What is said of a note that lies outside the recording, or was left out with its section.
pub(super) const LEFT_OUT: Judged = Judged { verdict: Verdict::Missing, confidence: 0.95 };

/// What is known of a note before it is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It was placed in the performance.
    Placed,
    /// The performance does not reach it, or its section was left out.
    LeftOut,
}

/// The verdicts of some notes, and what they rest on.
#[derive(Debug)]
pub(super) struct Verdicts {
    /// Of each note of the score; none outside the stretch that was judged.
    pub notes: Vec<Option<Judged>>,
    /// The stroke that each note was heard in.
    pub strokes: Vec<Option<Stroke>>,
    /// What the score does not have, by onset.
    pub extra: Vec<Extra>,
    /// Onsets of what was played, by pitch and in order.
    pub played_s: Vec<Vec<f64>>,
}

/// A stroke that is no note of the score.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extra {
    pub stroke: Stroke,
    pub confidence: f64,
    pub instead_of: Option<usize>,
}

/// Judges the notes that lie between two moments of the performance, and what was heard between them.
pub(super) fn judge(
    score: &Score,
    notes: &[AlignedNote],
    standing: &[Standing],
    heard: &Heard,
    within_s: (f64, f64),
) -> Verdicts {
    let pitches = paired(score, notes, standing, heard, within_s);
    let mut verdicts = Verdicts {
        notes: vec![None; notes.len()],
        strokes: vec![None; notes.len()],
        extra: Vec::new(),
        played_s: vec![Vec::new(); pitches.len()],
    };
    for (verdict, standing) in verdicts.notes.iter_mut().zip(standing) {
        *verdict = (*standing == Standing::LeftOut).then_some(LEFT_OUT);
    }
    let sureness = Sureness::of(notes, standing);
    for (pitch, own) in pitches.iter().enumerate() {
        let mut played_s = verdicts.judge_notes(own, heard.is_known(), within_s);
        played_s.extend(verdicts.judge_left_over(own, &sureness, heard.is_known()));
        played_s.sort_by(f64::total_cmp);
        verdicts.played_s[pitch] = played_s;
    }
    verdicts.extra.retain(|extra| (within_s.0..=within_s.1).contains(&extra.stroke.onset_s));
    verdicts.forgive_ornaments(score, notes);
    verdicts.extra.sort_by(|a, b| a.stroke.onset_s.total_cmp(&b.stroke.onset_s));
    verdicts.find_other_pitches(score, notes, standing);
    verdicts
}

impl Verdicts {
    /// When a pitch that was played at a moment is played again.
    pub fn next_of(&self, pitch: u8, onset_s: f64) -> Option<f64> {
        let played = self.played_s.get(usize::from(pitch))?;
        played.get(played.partition_point(|&other_s| other_s <= onset_s + SAME_MOMENT_S)).copied()
    }

    /// Says of each note of a pitch that lies within whether it was played, and gives the onsets of those that were, those near by too.
    fn judge_notes(&mut self, pitch: &Pitch, is_known: bool, within_s: (f64, f64)) -> Vec<f64> {
        let mut played_s = Vec::new();
        for voice in &pitch.voices {
            let stroke = voice.stroke.map(|stroke| pitch.strokes[stroke]);
            let played = match stroke {
                Some(_) if is_known => KNOWN,
                None if is_known => 1.0 - KNOWN,
                _ => odds::played(&odds::note_clues(&voice.expected, stroke.as_ref())),
            };
            let is_there = 1.0 - played < LIKELY;
            let judged = Judged {
                verdict: if is_there { Verdict::Played } else { Verdict::Missing },
                confidence: if is_there { played } else { 1.0 - played },
            };
            // A faint stroke where a note was expected is neither that note nor another one.
            let stroke = stroke.filter(|_| is_there);
            if (within_s.0..=within_s.1).contains(&voice.expected.onset_s) {
                for &note in &voice.notes {
                    (self.notes[note], self.strokes[note]) = (Some(judged), stroke);
                }
            }
            played_s.extend(stroke.map(|stroke| stroke.onset_s));
        }
        played_s
    }

    /// Says which strokes of a pitch that no note explains are notes of their own, and gives their onsets.
    fn judge_left_over(&mut self, pitch: &Pitch, sureness: &Sureness, is_known: bool) -> Vec<f64> {
        let extra = pitch.left_over().map(|stroke| pitch.strokes[stroke]).map(|stroke| {
            let clues = odds::stroke_clues(&stroke, sureness.at(stroke.onset_s));
            let confidence = if is_known { KNOWN } else { odds::extra(&clues) };
            Extra { stroke, confidence, instead_of: None }
        });
        let found: Vec<Extra> = extra.filter(|extra| extra.confidence >= LIKELY).collect();
        self.extra.extend(&found);
        found.iter().map(|extra| extra.stroke.onset_s).collect()
    }

    /// An ornament may have as many notes as were played: strokes of its pitches, while its note sounds, are not extra.
    fn forgive_ornaments(&mut self, score: &Score, notes: &[AlignedNote]) {
        for (note, aligned) in score.notes.iter().zip(notes) {
            let Some(liberty) = score.liberty_of(note) else { continue };
            let sounding = aligned.onset_s - ORNAMENT_BEFORE_S..aligned.offset_s;
            self.extra.retain(|extra| {
                !(liberty.pitches.contains(&extra.stroke.pitch) && sounding.contains(&extra.stroke.onset_s))
            });
        }
    }

    /// Joins what is missing with what is extra where one was played for the other, the likeliest first.
    fn find_other_pitches(&mut self, score: &Score, notes: &[AlignedNote], standing: &[Standing]) {
        let mut likely: Vec<(f64, usize, usize)> = Vec::new();
        for (index, note) in score.notes.iter().enumerate() {
            // What was left out with its whole section lies nowhere.
            let is_missing = self.notes[index].is_some_and(|judged| judged.verdict == Verdict::Missing);
            if !is_missing || standing[index] == Standing::LeftOut {
                continue;
            }
            let onset_s = notes[index].onset_s;
            let first = self.extra.partition_point(|extra| extra.stroke.onset_s < onset_s - INSTEAD_S);
            let near = self.extra[first..].iter().take_while(|extra| extra.stroke.onset_s <= onset_s + INSTEAD_S);
            for (at, extra) in near.enumerate() {
                let interval = extra.stroke.pitch.abs_diff(note.pitch);
                if INSTEAD_SEMITONES.contains(&interval) {
                    let away = (extra.stroke.onset_s - onset_s).abs() / INSTEAD_S;
                    likely.push((f64::from(interval) + away, index, first + at));
                }
            }
        }
        likely.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, note, extra) in likely {
            let (Some(judged), other) = (&mut self.notes[note], &mut self.extra[extra]) else { continue };
            if judged.verdict == Verdict::Missing && other.instead_of.is_none() {
                other.instead_of = Some(note);
                let confidence = judged.confidence.min(other.confidence);
                *judged = Judged { verdict: Verdict::OtherPitch { pitch: other.stroke.pitch }, confidence };
            }
        }
    }
}

#[cfg(test)]
mod tests;
