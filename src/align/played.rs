//! What was played of a score: a verdict and an end for every note, and the notes that the score does not have.

use super::durations::{Sounding, end};
use super::heard::Heard;
use super::onsets::Chord;
use super::result::{AlignedNote, ExtraNote, Judged, Verdict};
use super::settings::FixedNote;
use super::verdicts::{Standing, Verdicts, judge};
use crate::score::Score;
use crate::warping::Warp;

/// Music that is listened to beyond the first and last note, in seconds: what comes before or after that is no part of the piece.
const BEYOND_S: f64 = 0.5;

/// What the verdicts are about.
pub(super) struct Listened<'a> {
    /// As it was played: repeats that were left out or added are.
    pub score: &'a Score,
    pub warp: &'a Warp,
    pub heard: &'a Heard,
    /// What the user fixed was played, whatever the ear says.
    pub fixed_notes: &'a [FixedNote],
}

/// What is known of each note before it is judged: those of none of the chords were left out.
pub(super) fn standing(score: &Score, chords: &[Chord]) -> Vec<Standing> {
    let mut standing = vec![Standing::LeftOut; score.notes.len()];
    for chord in chords {
        standing[chord.notes.clone()].fill(Standing::Placed);
    }
    standing
}

/// The same of notes that are aligned: those that the performance does not hold have no confidence.
pub(super) fn standing_of_notes(notes: &[AlignedNote]) -> Vec<Standing> {
    let of_note = |note: &AlignedNote| if note.confidence > 0.0 { Standing::Placed } else { Standing::LeftOut };
    notes.iter().map(of_note).collect()
}

/// Lets notes end where that is known, not only heard: the keys of a take are released at one moment and no other.
pub(super) fn set_known_ends<'a>(ends: impl IntoIterator<Item = &'a (usize, f64)>, notes: &mut [AlignedNote]) {
    for &(index, end_s) in ends {
        let note = &mut notes[index];
        (note.offset_s, note.offset_confidence) = (end_s.max(note.onset_s), Some(1.0));
    }
}

impl Listened<'_> {
    /// Judges the whole performance: says of each note whether and how long it was played, and gives what was played beside them.
    pub fn judge(&self, standing: &[Standing], notes: &mut [AlignedNote]) -> Vec<ExtraNote> {
        self.judge_between((f64::NEG_INFINITY, f64::INFINITY), standing, notes)
    }

    /// The same of what begins between two moments of the performance.
    pub fn judge_between(
        &self,
        (from_s, to_s): (f64, f64),
        standing: &[Standing],
        notes: &mut [AlignedNote],
    ) -> Vec<ExtraNote> {
        let placed = || notes.iter().zip(standing).filter(|(_, standing)| **standing == Standing::Placed);
        let first_s = placed().map(|(note, _)| note.onset_s).fold(f64::INFINITY, f64::min) - BEYOND_S;
        let last_s = placed().map(|(note, _)| note.offset_s).fold(f64::NEG_INFINITY, f64::max) + BEYOND_S;
        let within_s = (from_s.max(first_s), to_s.min(last_s));
        let verdicts = judge(self.score, notes, standing, self.heard, within_s);
        for (index, judged) in verdicts.notes.iter().enumerate() {
            let Some(judged) = *judged else { continue };
            notes[index].verdict = Some(judged);
            self.set_end(&verdicts, index, &mut notes[index]);
        }
        for fixed in self.fixed_notes {
            if let Some(note) = notes.get_mut(fixed.note).filter(|note| note.verdict.is_some()) {
                note.verdict = Some(Judged { verdict: Verdict::Played, confidence: 1.0 });
            }
        }
        let is_fixed = |note: usize| self.fixed_notes.iter().any(|fixed| fixed.note == note);
        let extra = verdicts.extra.iter().map(|extra| {
            let pitch = extra.stroke.pitch;
            let onset_s = extra.stroke.onset_s.max(0.0);
            let next_s = verdicts.next_of(pitch, onset_s);
            let ended = end(self.heard, &Sounding { pitch, onset_s, written_s: None, next_s });
            let instead_of = extra.instead_of.filter(|&note| !is_fixed(note));
            ExtraNote { pitch, onset_s, offset_s: ended.offset_s, confidence: extra.confidence, instead_of }
        });
        extra.collect()
    }

    fn set_end(&self, verdicts: &Verdicts, index: usize, note: &mut AlignedNote) {
        let written = &self.score.notes[index];
        // What was not played ends nowhere: it is shown as long as it is written.
        note.offset_s = self.warp.at(written.offset_s).max(note.onset_s);
        note.offset_confidence = None;
        if let Some(stroke) = verdicts.strokes[index] {
            let next_s = verdicts.next_of(written.pitch, stroke.onset_s);
            let sounding =
                Sounding { pitch: written.pitch, onset_s: note.onset_s, written_s: Some(note.offset_s), next_s };
            let ended = end(self.heard, &sounding);
            note.offset_s = ended.offset_s.max(note.onset_s);
            note.offset_confidence = Some(ended.confidence);
        }
    }
}
