//! What was played differently: notes of the score that were not played, notes that were and that the score does not have, and
//! another pitch in place of the written one. No reference is needed, only what was heard.
//!
//! Pitch by pitch, the notes of the score are paired with the strokes that were heard, each stroke at most one note. A note whose
//! stroke is faint, or that has none, is missing; a clear stroke that is left over is an extra note. Where one of each lies at the
//! same moment a small interval apart, one was played for the other.

mod odds;
mod pairing;
mod strokes;

use crate::align::heard::Heard;
use crate::align::result::{AlignedNote, Judged, Verdict};
use crate::base::time::SAME_MOMENT_S;
use crate::score::{Note, Score};

use odds::{Expected, REACH_S, chance};
use pairing::pair;
pub(super) use strokes::Stroke;

/// More likely than not: what is said is what is likelier, and the confidence says by how much.
const LIKELY: f64 = 0.5;
/// A note that was played for another begins this near to where that was expected …
const INSTEAD_S: f64 = 0.08;
/// … and at one of these intervals: the neighbouring keys, the one beyond, or the octave. Beyond them nothing says that one was
/// meant for the other.
const INSTEAD_SEMITONES: [u8; 4] = [1, 2, 3, 12];
/// General MIDI programs with one key for each pitch: pianos, mallets, organs. Two voices in unison share it.
const KEYBOARDS: std::ops::Range<u8> = 0..24;
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
    let strokes = strokes::strokes(heard, (within_s.0 - REACH_S, within_s.1 + REACH_S));
    let mut verdicts = Verdicts {
        notes: vec![None; notes.len()],
        strokes: vec![None; notes.len()],
        extra: Vec::new(),
        played_s: vec![Vec::new(); strokes.len()],
    };
    let is_within = |time_s: f64| (within_s.0..=within_s.1).contains(&time_s);
    // Notes just outside take their strokes with them.
    let is_near = |time_s: f64| (within_s.0 - REACH_S..=within_s.1 + REACH_S).contains(&time_s);
    let mut by_pitch: Vec<Vec<usize>> = vec![Vec::new(); strokes.len()];
    for (index, (note, aligned)) in score.notes.iter().zip(notes).enumerate() {
        if standing[index] == Standing::LeftOut {
            verdicts.notes[index] = Some(LEFT_OUT);
        } else if is_near(aligned.onset_s) && heard.hears(note.pitch) {
            by_pitch[usize::from(note.pitch & 127)].push(index);
        }
    }
    let expected = |index: usize| Expected { onset_s: notes[index].onset_s };
    for (own, strokes) in by_pitch.into_iter().zip(&strokes) {
        let voices = unisons(score, notes, own);
        let first: Vec<Expected> = voices.iter().map(|voice| expected(voice[0])).collect();
        verdicts.judge_pitch(&voices, &first, strokes, &is_within);
    }
    dump(&verdicts, score, notes, heard, &strokes);
    verdicts.extra.sort_by(|a, b| a.stroke.onset_s.total_cmp(&b.stroke.onset_s));
    verdicts.find_other_pitches(score, notes, standing);
    verdicts
}

/// Temporary, never committed.
fn dump(verdicts: &Verdicts, score: &Score, notes: &[AlignedNote], heard: &Heard, strokes: &[Vec<Stroke>]) {
    use std::io::Write;
    let Ok(path) = std::env::var("AGOGIC_VERDICT_DUMP") else { return };
    let Ok(file) = std::fs::File::create(path) else { return };
    let mut out = std::io::BufWriter::new(file);
    let beside = |stroke: &Stroke, by: i16| {
        let pitch = (i16::from(stroke.pitch) + by).clamp(0, 127) as u8;
        let frames = stroke.frame.saturating_sub(2)..=stroke.frame + 2;
        frames.map(|at| heard.at(pitch, at).begins).fold(-12.0f32, f32::max)
    };
    let sound = |pitch: u8, frame: usize, from: i64, to: i64| {
        let mut sum = 0.0;
        for by in from..to {
            sum += heard.at(pitch, (frame as i64 + by).max(0) as usize).sounds.clamp(-6.0, 6.0);
        }
        sum / (to - from) as f32
    };
    for (index, note) in score.notes.iter().enumerate() {
        let a = &notes[index];
        let _ = writeln!(
            out,
            "N,{index},{},{:.6},{:.4},{:.4},{:.4}",
            note.pitch,
            note.onset_s,
            a.onset_s,
            a.confidence,
            verdicts.strokes[index].map_or(-1.0, |s| s.onset_s)
        );
    }
    for stroke in strokes.iter().flatten() {
        let f = stroke.frame;
        let (time, scale) = heard.onset_s(stroke.pitch, f);
        let raw = heard.at(stroke.pitch, f);
        let ends = (0..40).map(|by| heard.at(stroke.pitch, f + 2 + by).ends).fold(-12.0f32, f32::max);
        let _ = writeln!(
            out,
            "S,{},{time:.4},{:.2},{:.2},{:.2},{:.2},{scale:.5},{:.2},{:.2},{:.2},{:.2},{:.2},{:.2},{:.2},{:.2},{:.2},{:.2},{:.2}",
            stroke.pitch,
            raw.begins,
            stroke.sounds,
            stroke.before,
            stroke.rival,
            beside(stroke, -12),
            beside(stroke, -19),
            beside(stroke, -24),
            beside(stroke, 12),
            beside(stroke, -1),
            beside(stroke, 1),
            sound(stroke.pitch, f, 2, 9),
            sound(stroke.pitch, f, 9, 20),
            sound(stroke.pitch, f, -8, -1),
            beside(stroke, -28),
            ends
        );
    }
}

impl Verdicts {
    /// When a pitch that was played at a moment is played again.
    pub fn next_of(&self, pitch: u8, onset_s: f64) -> Option<f64> {
        let played = self.played_s.get(usize::from(pitch))?;
        played.get(played.partition_point(|&other_s| other_s <= onset_s + SAME_MOMENT_S)).copied()
    }

    /// Pairs the notes of one pitch with its strokes. `voices` are in order of time, each one or more notes that one stroke explains.
    fn judge_pitch(
        &mut self,
        voices: &[Vec<usize>],
        expected: &[Expected],
        strokes: &[Stroke],
        is_within: &dyn Fn(f64) -> bool,
    ) {
        let note_times: Vec<f64> = expected.iter().map(|expected| expected.onset_s).collect();
        let stroke_times: Vec<f64> = strokes.iter().map(|stroke| stroke.onset_s).collect();
        let worth = |note: usize, stroke: usize| odds::worth(&expected[note], &strokes[stroke]);
        let pairs = pair(&note_times, &stroke_times, REACH_S, &worth);
        let mut stroke_of: Vec<Option<usize>> = vec![None; voices.len()];
        let mut is_played = vec![false; strokes.len()];
        for (note, stroke) in pairs {
            stroke_of[note] = Some(stroke);
        }
        let mut is_taken = vec![false; strokes.len()];
        for ((voice, expected), stroke) in voices.iter().zip(expected).zip(&stroke_of) {
            let played = chance(odds::played(expected, stroke.map(|stroke| &strokes[stroke])));
            let is_there = played >= LIKELY;
            let judged = Judged {
                verdict: if is_there { Verdict::Played } else { Verdict::Missing },
                confidence: if is_there { played } else { 1.0 - played },
            };
            for &note in voice {
                self.notes[note] = Some(judged);
                self.strokes[note] = stroke.filter(|_| is_there).map(|stroke| strokes[stroke]);
            }
            if let Some(stroke) = *stroke {
                // A faint stroke where a note was expected is neither that note nor another one.
                (is_taken[stroke], is_played[stroke]) = (true, is_there);
            }
        }
        for (index, stroke) in strokes.iter().enumerate().filter(|(index, _)| !is_taken[*index]) {
            let last = (0..index).rev().find(|&before| is_played[before]);
            let since_s = last.map_or(f64::INFINITY, |before| stroke.onset_s - strokes[before].onset_s);
            let confidence = chance(odds::extra(stroke, since_s));
            if confidence >= LIKELY {
                is_played[index] = true;
                if is_within(stroke.onset_s) {
                    self.extra.push(Extra { stroke: *stroke, confidence, instead_of: None });
                }
            }
        }
        if let Some(stroke) = strokes.first() {
            let played = strokes.iter().zip(&is_played).filter(|(_, is_played)| **is_played);
            self.played_s[usize::from(stroke.pitch)] = played.map(|(stroke, _)| stroke.onset_s).collect();
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

#[cfg(test)]
mod tests;
