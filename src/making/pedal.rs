//! The sustain pedal: when it goes down and up, and which notes it holds.

use std::collections::HashMap;

use super::excerpt::Excerpt;
use super::expression::PlayedNote;
use super::timing::Timing;
use crate::base::random::Random;

/// A string that is struck again loses its old sound this long before.
const STRUCK_AGAIN_S: f64 = 0.003;

/// The foot moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PedalMove {
    pub second: f64,
    pub down: bool,
}

/// Pedalling of a piece, in the order of time. It may be none at all.
pub(super) fn draw_pedal(random: &mut Random, excerpt: &Excerpt, timing: &Timing, end_s: f64) -> Vec<PedalMove> {
    let bar = excerpt.bar_ticks();
    let span = match random.unit() {
        none if none < 0.28 => return Vec::new(),
        half if half < 0.5 => bar / 2,
        whole if whole < 0.78 => bar,
        beats if beats < 0.9 => bar / u32::from(excerpt.signature.0.max(1)),
        _ => bar * (2 + random.below(3) as u32),
    };
    let skipped = random.between(0.0, 0.3);
    let mut moves: Vec<PedalMove> = Vec::new();
    let mut tick = 0;
    while timing.at(tick) < end_s && tick < 1 << 24 {
        let change = timing.at(tick) + random.between(-0.03, 0.06);
        // The foot comes up with the new harmony and goes down when it has sounded.
        let down_again = change + random.between(0.05, 0.25);
        let last = moves.last().map_or(f64::NEG_INFINITY, |last| last.second);
        if change > last + 0.03 {
            if moves.last().is_some_and(|last| last.down) {
                moves.push(PedalMove { second: change, down: false });
            }
            if !random.chance(skipped) {
                moves.push(PedalMove { second: down_again, down: true });
            }
        }
        tick += span.max(60);
    }
    moves
}

/// Holds the notes of a player that are released while the pedal is down until it comes up, or their key is struck again.
pub(super) fn hold(notes: &mut [PlayedNote], player: usize, pedal: &[PedalMove], end_s: f64) {
    let mut next: HashMap<u8, f64> = HashMap::new();
    for note in notes.iter_mut().rev().filter(|note| note.player == player) {
        let moved = pedal.partition_point(|change| change.second <= note.release_s);
        if moved > 0 && pedal[moved - 1].down {
            let lifted = pedal[moved..].iter().find(|change| !change.down).map_or(end_s, |change| change.second);
            note.damped_s = note.damped_s.max(lifted);
        }
        if let Some(&again) = next.get(&note.pitch) {
            note.damped_s = note.damped_s.min(again - STRUCK_AGAIN_S).max(note.release_s);
        }
        next.insert(note.pitch, note.onset_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(pitch: u8, onset_s: f64, release_s: f64) -> PlayedNote {
        PlayedNote { written: 0, player: 0, pitch, velocity: 80, onset_s, release_s, damped_s: release_s }
    }

    #[test]
    fn what_is_released_under_the_pedal_sounds_until_it_comes_up_or_its_key_is_struck() {
        let mut notes =
            [note(60, 0.0, 0.5), note(64, 0.1, 0.6), note(60, 1.0, 1.2), note(67, 1.9, 2.5), note(72, 3.0, 3.2)];
        let pedal = [(0.3, true), (2.0, false), (3.1, true)].map(|(second, down)| PedalMove { second, down });
        hold(&mut notes, 0, &pedal, 9.0);
        let damped: Vec<f64> = notes.iter().map(|note| note.damped_s).collect();
        assert_eq!(damped, [1.0 - STRUCK_AGAIN_S, 2.0, 2.0, 2.5, 9.0]);
    }
}
