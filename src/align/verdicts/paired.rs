//! The notes of the score and the strokes that were heard, paired pitch by pitch.

use crate::align::heard::Heard;
use crate::align::result::AlignedNote;
use crate::score::{Note, Score};

use super::Standing;
use super::odds::{Expected, REACH_S, sureness, worth};
use super::pairing::pair;
use super::strokes::{Stroke, strokes};

/// General MIDI programs with one key for each pitch: pianos, mallets, organs. Two voices in unison share it.
const KEYBOARDS: std::ops::Range<u8> = 0..24;

/// What is written and heard at one pitch, both in order of time.
#[derive(Debug)]
pub(super) struct Pitch {
    pub voices: Vec<Voice>,
    pub strokes: Vec<Stroke>,
}

/// One or more notes of the score that one stroke explains.
#[derive(Debug)]
pub(super) struct Voice {
    pub notes: Vec<usize>,
    pub expected: Expected,
    /// The place of its stroke.
    pub stroke: Option<usize>,
}

/// Pairs what lies between two moments of the performance or just outside: notes there take their strokes with them.
pub(super) fn paired(
    score: &Score,
    notes: &[AlignedNote],
    standing: &[Standing],
    heard: &Heard,
    within_s: (f64, f64),
) -> Vec<Pitch> {
    let near_s = (within_s.0 - REACH_S, within_s.1 + REACH_S);
    let strokes = strokes(heard, near_s);
    let mut by_pitch: Vec<Vec<usize>> = vec![Vec::new(); strokes.len()];
    for (index, (note, aligned)) in score.notes.iter().zip(notes).enumerate() {
        let is_near = (near_s.0..=near_s.1).contains(&aligned.onset_s);
        if standing[index] == Standing::Placed && is_near && heard.hears(note.pitch) {
            by_pitch[usize::from(note.pitch & 127)].push(index);
        }
    }
    let pitch = |(own, strokes): (Vec<usize>, Vec<Stroke>)| {
        let expected = |note: usize| Expected { pitch: score.notes[note].pitch, onset_s: notes[note].onset_s };
        let voice = |notes: Vec<usize>| Voice { expected: expected(notes[0]), notes, stroke: None };
        let mut voices: Vec<Voice> = unisons(score, notes, own).into_iter().map(voice).collect();
        let note_times: Vec<f64> = voices.iter().map(|voice| voice.expected.onset_s).collect();
        let stroke_times: Vec<f64> = strokes.iter().map(|stroke| stroke.onset_s).collect();
        let worth = |note: usize, stroke: usize| worth(&voices[note].expected, &strokes[stroke]);
        for (note, stroke) in pair(&note_times, &stroke_times, REACH_S, &worth) {
            voices[note].stroke = Some(stroke);
        }
        Pitch { voices, strokes }
    };
    by_pitch.into_iter().zip(strokes).map(pitch).collect()
}

impl Pitch {
    /// Places of the strokes that are no note's.
    pub fn left_over(&self) -> impl Iterator<Item = usize> {
        let mut is_taken = vec![false; self.strokes.len()];
        self.voices.iter().filter_map(|voice| voice.stroke).for_each(|stroke| is_taken[stroke] = true);
        (0..self.strokes.len()).filter(move |&stroke| !is_taken[stroke])
    }
}

/// How sure the alignment is from place to place.
pub(super) struct Sureness {
    onsets_s: Vec<f64>,
    /// Of all notes before each, and of all.
    sums: Vec<f64>,
}

impl Sureness {
    /// Notes to either side of a moment that are asked.
    const NOTES: usize = 6;

    pub fn of(notes: &[AlignedNote], standing: &[Standing]) -> Self {
        let placed = notes.iter().zip(standing).filter(|(_, standing)| **standing == Standing::Placed);
        let mut sure: Vec<(f64, f64)> = placed.map(|(note, _)| (note.onset_s, sureness(note.confidence))).collect();
        sure.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sums = vec![0.0];
        sums.extend(sure.iter().scan(0.0, |sum, note| {
            *sum += note.1;
            Some(*sum)
        }));
        Self { onsets_s: sure.into_iter().map(|note| note.0).collect(), sums }
    }

    /// The mean of the notes round a moment.
    pub fn at(&self, time_s: f64) -> f64 {
        let middle = self.onsets_s.partition_point(|&onset_s| onset_s <= time_s);
        let (from, to) = (middle.saturating_sub(Self::NOTES), (middle + Self::NOTES).min(self.onsets_s.len()));
        (self.sums[to] - self.sums[from]) / (to - from).max(1) as f64
    }
}

/// Notes of one pitch in order of time, together those of one moment that one stroke explains: two players in unison, unless they
/// share a key.
fn unisons(score: &Score, notes: &[AlignedNote], mut own: Vec<usize>) -> Vec<Vec<usize>> {
    own.sort_by(|&a, &b| notes[a].onset_s.total_cmp(&notes[b].onset_s));
    let mut voices: Vec<Vec<usize>> = Vec::with_capacity(own.len());
    for index in own {
        let note = &score.notes[index];
        let in_unison = |voice: &&mut Vec<usize>| {
            let other = &score.notes[voice[0]];
            other.onset_tick == note.onset_tick && !(is_keyboard(score, note) && is_keyboard(score, other))
        };
        match voices.last_mut().filter(in_unison) {
            Some(voice) => voice.push(index),
            None => voices.push(vec![index]),
        }
    }
    voices
}

/// Whether a note is played on keys.
fn is_keyboard(score: &Score, note: &Note) -> bool {
    let mut changes =
        score.programs.iter().filter(|change| change.channel == note.channel && change.tick <= note.onset_tick);
    changes.next_back().is_none_or(|change| KEYBOARDS.contains(&change.program))
}
