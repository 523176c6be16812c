//! An alignment with everything that is drawn of it: notes, onsets and beats at their places, figures, doubts.

use super::differences::{Difference, differences};
use super::doubts::{Doubt, doubts};
use super::piece::Piece;
use super::roll::{Roll, RollSpan};
use super::staff::StaffTimes;
use crate::align::result::Alignment;
use crate::align::settings::FixedNote;
use crate::app::document::fingerprint::Fingerprint;
use crate::app::preferences::NoteColours;
use crate::evaluation::{GroundTruth, Metrics, TimeMap, evaluate};

/// What an alignment is compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// What it is called.
    pub name: String,
    /// Its times.
    pub times: GroundTruth,
    /// What its file held; none if it is not read from one.
    pub fingerprint: Option<Fingerprint>,
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
    /// Notes, shaded by how sure the alignment is of them.
    pub shaded: Roll,
    /// Notes compared with the reference, if there is one.
    pub compared: Option<Roll>,
    /// Notes with what was played differently, if somebody listened for that.
    pub played: Option<Roll>,
    /// The same as a list, in order of time.
    pub differences: Vec<Difference>,
    /// What stands on the staves, at its places.
    pub staff: StaffTimes,
    /// Onsets in order.
    pub onsets: Vec<PlacedOnset>,
    /// Beats in order.
    pub beats: Vec<PlacedBeat>,
    /// Places to look at: in order of time against a reference, else most doubtful first.
    pub doubts: Vec<Doubt>,
    /// Figures against the reference.
    pub metrics: Option<Metrics>,
    /// Median tempo in quarter notes per minute.
    pub median_tempo: f64,
}

impl Solution {
    /// Places everything and compares with the reference.
    pub fn new(piece: &Piece, alignment: Alignment, reference: Option<&Reference>) -> Self {
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
        let compared = reference.map(|reference| Roll::compared(piece, &alignment, reference));
        Self {
            staff: StaffTimes::new(&piece.engraving, &alignment, compared.as_ref()),
            onsets: piece.onsets_s.iter().map(placed).collect(),
            beats: beats.collect(),
            doubts: doubts(piece, &alignment, reference),
            metrics: reference.map(|r| evaluate(&TimeMap::of_alignment(&piece.score, &alignment), &r.times)),
            median_tempo: tempi.get(tempi.len() / 2).copied().unwrap_or(0.0),
            shaded: Roll::shaded(piece, &alignment),
            compared,
            played: Roll::played(piece, &alignment),
            differences: differences(piece, &alignment),
            alignment,
        }
    }

    /// The notes in the colours that were chosen, or plainly shaded where there is nothing else to tell.
    pub fn roll(&self, colours: NoteColours) -> &Roll {
        let chosen = match colours {
            NoteColours::Reference => self.compared.as_ref(),
            NoteColours::Played => self.played.as_ref(),
            NoteColours::Confidence => None,
        };
        chosen.unwrap_or(&self.shaded)
    }

    /// About how much memory it takes, from how many things it holds: a history of many need not be exact.
    pub fn bytes(&self) -> usize {
        let Alignment { warp, notes, extra_notes, tempo, settings, .. } = &self.alignment;
        // A note is drawn once in every roll, in two spans where it differs.
        let rolls = 1 + usize::from(self.compared.is_some()) + usize::from(self.played.is_some());
        let spans = 2 * rolls * (notes.len() + extra_notes.len());
        size_of::<Self>()
            + size_of_val(notes.as_slice())
            + size_of_val(extra_notes.as_slice())
            + size_of_val(tempo.as_slice())
            + 4 * size_of_val(warp.score_s())
            + spans * size_of::<RollSpan>()
            + size_of_val(self.onsets.as_slice())
            + size_of_val(self.beats.as_slice())
            + size_of_val(self.doubts.as_slice())
            + size_of_val(self.differences.as_slice())
            + 2 * size_of_val(self.staff.chords.as_slice())
            + settings.corrections() * size_of::<FixedNote>()
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
