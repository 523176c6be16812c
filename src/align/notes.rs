//! Notes and tempo read off the warp.

use crate::align::onsets::{Chord, Support};
use crate::align::result::{AlignedNote, TempoPoint};
use crate::score::{Note, Score};
use crate::warping::Warp;

/// Every note at its place in the recording: where it was found, else where the warp puts it. Notes of none of the chords lie
/// outside the recording.
pub(super) fn aligned_notes(
    score: &Score,
    warp: &Warp,
    found: &[(usize, f64)],
    chords: &[Chord],
    support: &[Support],
    match_confidence: f64,
) -> Vec<AlignedNote> {
    let by_warp = |note: &Note| AlignedNote::new(warp.at(note.onset_s), warp.at(note.offset_s), 0.0);
    let mut notes: Vec<AlignedNote> = score.notes.iter().map(by_warp).collect();
    for &(index, onset_s) in found {
        notes[index].onset_s = onset_s;
        notes[index].offset_s = notes[index].offset_s.max(onset_s);
    }
    for (chord, support) in chords.iter().zip(support) {
        for note in &mut notes[chord.notes.clone()] {
            note.confidence = match_confidence * support.confidence();
        }
    }
    notes
}

/// The tempo from each quarter note to the next, over the score's sounding span. Where the warp stands still, because nothing was played, there is none.
pub fn tempo_curve(score: &Score, warp: &Warp) -> Vec<TempoPoint> {
    let first = score.tempo.seconds_to_beat(score.first_onset_s()).floor() as i64;
    let last = score.tempo.seconds_to_beat(score.end_s()).ceil() as i64;
    let time_of = |beat: f64| warp.at(score.tempo.beat_to_seconds(beat));
    let point = |beat: i64| {
        let (here, next) = (time_of(beat as f64), time_of((beat + 1) as f64));
        let lasts_s = next - here;
        (lasts_s > STANDSTILL_S).then(|| TempoPoint {
            score_beat: beat as f64,
            performance_s: here,
            beats_per_minute: 60.0 / lasts_s.max(SHORTEST_BEAT_S),
        })
    };
    (first..last).filter_map(point).collect()
}

/// A beat that lasts no longer than this was not played.
const STANDSTILL_S: f64 = 1e-3;
/// Keeps the tempo finite where beats are too short for music: 6,000 beats per minute.
const SHORTEST_BEAT_S: f64 = 0.01;
