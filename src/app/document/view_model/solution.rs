//! An alignment with everything that is drawn of it: notes, onsets and beats at their places, figures, doubts.

use super::doubts::{Doubt, doubts};
use super::piece::Piece;
use crate::align::result::Alignment;
use crate::evaluation::{GroundTruth, Metrics, Sounding, TimeMap, discrepancies, evaluate};

/// What an alignment is compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// What it is called.
    pub name: String,
    /// Its times.
    pub times: GroundTruth,
}

/// How a stretch of a note is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Support {
    /// No reference: how sure the alignment is of the note, 0 to 1.
    Confidence(f32),
    /// Reference and alignment agree.
    Both,
    /// Only the alignment has it.
    OursOnly,
    /// Only the reference has it.
    ReferenceOnly,
}

/// A stretch of a note in the piano roll.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RollSpan {
    /// Which note of the score.
    pub note: u32,
    /// MIDI pitch.
    pub pitch: u8,
    /// Seconds of the recording.
    pub start_s: f64,
    /// Seconds of the recording.
    pub end_s: f64,
    /// How it is shown.
    pub support: Support,
}

/// An onset of the score at its place in the recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedOnset {
    /// Seconds of the score.
    pub score_s: f64,
    /// Seconds of the recording.
    pub performance_s: f64,
    /// How sure the alignment is of its notes on average, 0 to 1.
    pub confidence: f64,
}

/// A beat of the score at its place in the recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedBeat {
    /// Seconds of the recording.
    pub performance_s: f64,
    /// Bar, from 1.
    pub bar: u32,
    /// Beat in the bar, from 1.
    pub beat: u32,
}

/// A finished alignment, ready to be drawn.
#[derive(Debug)]
pub struct Solution {
    /// The alignment itself.
    pub alignment: Alignment,
    /// Notes by start.
    pub roll: Vec<RollSpan>,
    /// The longest stretch of `roll`: how far before the view a visible one may start.
    pub longest_span_s: f64,
    /// Onsets in order.
    pub onsets: Vec<PlacedOnset>,
    /// Beats in order.
    pub beats: Vec<PlacedBeat>,
    /// Places to look at, in order of time.
    pub doubts: Vec<Doubt>,
    /// Figures against the reference.
    pub metrics: Option<Metrics>,
    /// Median tempo in quarter notes per minute.
    pub median_tempo: f64,
}

impl Solution {
    /// Places everything and compares with the reference.
    pub fn new(piece: &Piece, alignment: Alignment, reference: Option<&Reference>) -> Self {
        let mut roll = match reference {
            Some(reference) => compared_roll(piece, &alignment, reference),
            None => confidence_roll(piece, &alignment),
        };
        roll.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        let warp = &alignment.warp;
        let placed = |&score_s: &f64| PlacedOnset {
            score_s,
            performance_s: warp.at(score_s),
            confidence: confidence_at(piece, &alignment, score_s),
        };
        let beats = piece.beats.iter().map(|beat| PlacedBeat {
            performance_s: warp.at(beat.second),
            bar: beat.bar,
            beat: beat.beat,
        });
        let mut tempi: Vec<f64> = alignment.tempo.iter().map(|point| point.beats_per_minute).collect();
        tempi.sort_by(f64::total_cmp);
        Self {
            longest_span_s: roll.iter().map(|span| span.end_s - span.start_s).fold(0.0, f64::max),
            onsets: piece.onsets_s.iter().map(placed).collect(),
            beats: beats.collect(),
            doubts: doubts(piece, &alignment, reference),
            metrics: reference.map(|r| evaluate(&TimeMap::of_alignment(&piece.score, &alignment), &r.times)),
            median_tempo: tempi.get(tempi.len() / 2).copied().unwrap_or(0.0),
            roll,
            alignment,
        }
    }

    /// The stretches of notes that a view may show, by start.
    pub fn roll_between(&self, from_s: f64, to_s: f64) -> &[RollSpan] {
        let first = self.roll.partition_point(|span| span.start_s < from_s - self.longest_span_s);
        let last = self.roll.partition_point(|span| span.start_s <= to_s);
        &self.roll[first.min(last)..last]
    }

    /// The onsets in a stretch of the recording.
    pub fn onsets_between(&self, from_s: f64, to_s: f64) -> &[PlacedOnset] {
        let first = self.onsets.partition_point(|onset| onset.performance_s < from_s);
        let last = self.onsets.partition_point(|onset| onset.performance_s <= to_s);
        &self.onsets[first.min(last)..last]
    }

    /// The beats in a stretch of the recording.
    pub fn beats_between(&self, from_s: f64, to_s: f64) -> &[PlacedBeat] {
        let first = self.beats.partition_point(|beat| beat.performance_s < from_s);
        let last = self.beats.partition_point(|beat| beat.performance_s <= to_s);
        &self.beats[first.min(last)..last]
    }

    /// The onset nearest to a time of the recording.
    pub fn onset_near(&self, time_s: f64) -> Option<PlacedOnset> {
        let after = self.onsets.partition_point(|onset| onset.performance_s < time_s);
        let neighbours = &self.onsets[after.saturating_sub(1)..(after + 1).min(self.onsets.len())];
        let distance = |onset: &PlacedOnset| (onset.performance_s - time_s).abs();
        neighbours.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

/// Mean confidence of the notes that begin at a moment of the score.
fn confidence_at(piece: &Piece, alignment: &Alignment, score_s: f64) -> f64 {
    const SAME_MOMENT_S: f64 = 1e-6;
    let notes = &piece.score.notes;
    let first = notes.partition_point(|note| note.onset_s < score_s - SAME_MOMENT_S);
    let count = notes[first..].iter().take_while(|note| note.onset_s <= score_s + SAME_MOMENT_S).count();
    alignment.notes[first..first + count].iter().map(|note| note.confidence).sum::<f64>() / count.max(1) as f64
}

fn compared_roll(piece: &Piece, alignment: &Alignment, reference: &Reference) -> Vec<RollSpan> {
    let found = discrepancies(&piece.score, alignment, &reference.times).into_iter();
    found
        .map(|stretch| RollSpan {
            note: stretch.note as u32,
            pitch: stretch.pitch,
            start_s: stretch.start_s,
            end_s: stretch.end_s,
            support: match stretch.sounding {
                Sounding::Both => Support::Both,
                Sounding::PredictionOnly => Support::OursOnly,
                Sounding::ReferenceOnly => Support::ReferenceOnly,
            },
        })
        .collect()
}

fn confidence_roll(piece: &Piece, alignment: &Alignment) -> Vec<RollSpan> {
    let notes = piece.score.notes.iter().zip(&alignment.notes).enumerate();
    notes
        .map(|(index, (note, aligned))| RollSpan {
            note: index as u32,
            pitch: note.pitch,
            start_s: aligned.onset_s,
            end_s: aligned.offset_s,
            support: Support::Confidence(aligned.confidence as f32),
        })
        .collect()
}
