//! Small scores that were played otherwise than the onset problem could know.

use super::*;
use crate::align::onsets::{Support, chords};
use crate::score::plain_score;

/// A score as the onset problem left it: at the times written.
fn as_written(score: &Score) -> Placed {
    let chords = chords(score);
    let times: Vec<f64> = chords.iter().map(|chord| chord.onset_s).collect();
    let support = Support {
        strength: 1.0,
        margin: 0.0,
        tempo: 0.0,
        astray_s: 0.0,
        hearing: None,
        at_limit: false,
        is_fixed: false,
    };
    Placed {
        warp: Warp::new(times.clone(), times).unwrap(),
        notes: score.notes.iter().map(|note| note.onset_s).enumerate().collect(),
        support: vec![support; chords.len()],
        chords,
        objective: 0.0,
        ends: Vec::new(),
    }
}

fn played(notes: &[(f64, u8)]) -> Vec<PlayedNote> {
    let note = |&(onset_s, pitch): &(f64, u8)| PlayedNote { pitch, onset_s, offset_s: onset_s + 0.1, velocity: 64 };
    notes.iter().map(note).collect()
}

#[test]
fn a_chord_after_a_long_hold_is_found_beyond_every_reach_and_takes_no_note_of_others() {
    let written = [(0.0, 0.4, 60), (0.5, 0.4, 62), (1.0, 0.4, 64), (1.0, 0.4, 72), (1.5, 0.4, 60)];
    let score = plain_score(&written);
    let performed = [(0.02, 60), (0.51, 62), (2.3, 64), (2.31, 72), (2.8, 60)];
    let settled = settle(&score, &played(&performed), &[], as_written(&score)).unwrap();
    let found: Vec<f64> = settled.notes.iter().map(|note| note.1).collect();
    assert_eq!(found, [0.02, 0.51, 2.3, 2.31, 2.8]);
    assert!((settled.warp.at(1.0) - 2.305).abs() < 1e-9);
    let without = settle(&score, &played(&performed[..2]), &[], as_written(&score)).unwrap();
    assert_eq!(without.ends.len(), 2, "what was not played has no partner");
}

#[test]
fn a_chord_of_which_nothing_was_played_gives_way_to_one_that_was() {
    let score = plain_score(&[(0.0, 0.4, 60), (0.5, 0.1, 62), (0.625, 0.4, 64), (1.5, 0.4, 65)]);
    let settled = settle(&score, &played(&[(0.0, 60), (0.3, 64), (1.5, 65)]), &[], as_written(&score)).unwrap();
    assert!((settled.warp.at(0.625) - 0.3).abs() < 0.01, "{:?}", settled.warp);
}
