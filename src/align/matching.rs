//! Which played note is which note of the score, given roughly when each should be: one to one, pitch by pitch, in order.
//!
//! What is left on either side is what was played differently: notes of the score that nobody played, and played notes that
//! the score does not have.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::align::heard::PlayedNote;
use crate::base::time::SAME_MOMENT_S;
use crate::score::{Note, Score};

/// Of one pitch, so many played notes round a note of the score are considered at most: more within reach are noise.
const MOST_CANDIDATES: usize = 64;

/// A note that is off the beat, as ornaments that a notation program has played out are, counts so much: of a trill that was played with
/// fewer notes than written, the one on the beat keeps its partner.
const ORNAMENT_SHARE: f64 = 0.75;

/// A pair at the edge of the reach brings this much less than one that is where it should be.
const AWAY_SHARE: f64 = 0.7;

/// Which played note is which note of the score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matching {
    /// The played note of each note of the score; none if it was not played, or not expected. Notes of the score that begin
    /// together at one pitch share one, unless it was played as often.
    pub partners: Vec<Option<usize>>,
}

impl Matching {
    /// Finds the partners of the notes in `expected`, indices into the score's in order with the time that each should begin at;
    /// played notes farther than `reach_s` from that are others. Of all ways to pair the notes of a pitch in order, the one whose
    /// pairs are nearest together counts.
    pub fn find(score: &Score, expected: &[(usize, f64)], played: &[PlayedNote], reach_s: f64) -> Self {
        let mut by_pitch: BTreeMap<u8, Pitch> = BTreeMap::new();
        for &(note, at_s) in expected {
            let Note { pitch, onset_tick, .. } = score.notes[note];
            let share = if score.is_on_grid(onset_tick) { 1.0 } else { ORNAMENT_SHARE };
            by_pitch.entry(pitch).or_default().wanted.push(Wanted { note, at_s, share });
        }
        for (index, note) in played.iter().enumerate() {
            if let Some(pitch) = by_pitch.get_mut(&note.pitch) {
                pitch.played.push((note.onset_s, index));
            }
        }
        let mut partners = vec![None; score.notes.len()];
        for mut pitch in by_pitch.into_values() {
            pitch.wanted.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
            pitch.played.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (wanted, partner) in pitch.wanted.iter().zip(pitch.pairs(reach_s)) {
                partners[wanted.note] = partner.map(|place| pitch.played[place].1);
            }
            for pair in pitch.wanted.windows(2) {
                let [a, b] = [pair[0].note, pair[1].note];
                if (score.notes[a].onset_s - score.notes[b].onset_s).abs() < SAME_MOMENT_S {
                    // One key plays the unison of two voices.
                    (partners[a], partners[b]) = (partners[a].or(partners[b]), partners[b].or(partners[a]));
                }
            }
        }
        Self { partners }
    }
}

/// A note of the score, and when it should begin.
struct Wanted {
    note: usize,
    at_s: f64,
    /// How much it counts.
    share: f64,
}

/// What is written and played at one pitch, both in order of time.
#[derive(Default)]
struct Pitch {
    wanted: Vec<Wanted>,
    /// Onset and index.
    played: Vec<(f64, usize)>,
}

/// How the best pairing of the first notes ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The note of the score has no partner.
    Unplayed,
    /// The played note has none.
    Unwritten,
    /// They are partners.
    Pair,
}

impl Pitch {
    /// The place in `played` of each wanted note's partner. A pair brings 1 less a share of its distance over the reach, or a part of
    /// that; the sum is the most that pairs in order can bring.
    fn pairs(&self, reach_s: f64) -> Vec<Option<usize>> {
        let ranges = self.candidates(reach_s);
        // best[j - range.start + 1]: what the notes so far bring with the played ones before and including j.
        let mut rows: Vec<Vec<Step>> = Vec::with_capacity(self.wanted.len());
        let (mut before, mut before_range) = (vec![0.0], 0..0);
        for (wanted, range) in self.wanted.iter().zip(&ranges) {
            // With the played notes up to `end`, exclusive, and without this note of the score.
            let without = |end: usize| before[end.clamp(before_range.start, before_range.end) - before_range.start];
            let mut best = vec![without(range.start)];
            let mut steps = Vec::with_capacity(range.len());
            for (place, played) in range.clone().zip(&self.played[range.clone()]) {
                let gain = wanted.share * (1.0 - AWAY_SHARE * (played.0 - wanted.at_s).abs() / reach_s);
                let choices = [
                    (without(place + 1), Step::Unplayed),
                    (best[place - range.start], Step::Unwritten),
                    (without(place) + gain.max(0.0), Step::Pair),
                ];
                let better = |a: (f64, Step), b: (f64, Step)| if b.0 > a.0 { b } else { a };
                let (value, step) = better(better(choices[0], choices[1]), choices[2]);
                best.push(value);
                steps.push(step);
            }
            rows.push(steps);
            (before, before_range) = (best, range.clone());
        }
        let mut partners = vec![None; self.wanted.len()];
        let mut end = self.played.len();
        for (index, (steps, range)) in rows.iter().zip(&ranges).enumerate().rev() {
            end = end.min(range.end.max(range.start));
            while end > range.start {
                match steps[end - 1 - range.start] {
                    Step::Unwritten => end -= 1,
                    Step::Unplayed => break,
                    Step::Pair => {
                        end -= 1;
                        partners[index] = Some(end);
                        break;
                    }
                }
            }
        }
        partners
    }

    /// The played notes within reach of each wanted one; both ends of these ranges never go back.
    fn candidates(&self, reach_s: f64) -> Vec<Range<usize>> {
        let place = |time_s: f64| self.played.partition_point(|played| played.0 < time_s);
        let range = |wanted: &Wanted| {
            let middle = place(wanted.at_s);
            let first = place(wanted.at_s - reach_s).max(middle.saturating_sub(MOST_CANDIDATES / 2));
            first..place(wanted.at_s + reach_s).min(middle + MOST_CANDIDATES / 2)
        };
        self.wanted.iter().map(range).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::plain_score;

    fn played(notes: &[(f64, u8)]) -> Vec<PlayedNote> {
        let note = |&(onset_s, pitch): &(f64, u8)| PlayedNote { pitch, onset_s, offset_s: onset_s + 0.1, velocity: 64 };
        notes.iter().map(note).collect()
    }

    fn partners(score: &Score, notes: &[(f64, u8)], reach_s: f64) -> Vec<Option<usize>> {
        let expected: Vec<(usize, f64)> = score.notes.iter().map(|note| note.onset_s).enumerate().collect();
        Matching::find(score, &expected, &played(notes), reach_s).partners
    }

    #[test]
    fn a_repeated_note_that_is_left_out_does_not_shift_the_others() {
        let score = plain_score(&[(0.0, 0.1, 60), (0.2, 0.1, 60), (0.4, 0.1, 60), (0.6, 0.1, 60)]);
        assert_eq!(partners(&score, &[(0.03, 60), (0.42, 60), (0.63, 60)], 0.3), [Some(0), None, Some(1), Some(2)]);
        let more = [(0.0, 60), (0.1, 60), (0.22, 60), (0.39, 60), (0.61, 60)];
        assert_eq!(partners(&score, &more, 0.3), [Some(0), Some(2), Some(3), Some(4)]);
    }

    #[test]
    fn what_is_left_over_on_either_side_is_told() {
        let score = plain_score(&[(0.0, 0.1, 60), (0.0, 0.1, 64), (1.0, 0.1, 62)]);
        let expected = [(0, 0.0), (1, 0.0), (2, 1.0)];
        let notes = played(&[(0.01, 60), (0.5, 61), (1.9, 62)]);
        let matching = Matching::find(&score, &expected, &notes, 0.3);
        assert_eq!(matching.partners, [Some(0), None, None]);
    }

    #[test]
    fn one_key_plays_a_unison_of_two_voices() {
        let score = plain_score(&[(0.0, 0.1, 60), (0.0, 0.3, 60), (0.5, 0.1, 60)]);
        assert_eq!(partners(&score, &[(0.02, 60), (0.51, 60)], 0.3), [Some(0), Some(0), Some(1)]);
        assert_eq!(partners(&score, &[(0.02, 60), (0.1, 60), (0.51, 60)], 0.3), [Some(0), Some(1), Some(2)]);
    }

    /// Every way to pair up to four wanted with up to five played notes in order, one after the other.
    #[test]
    fn no_other_pairing_in_order_is_nearer() {
        /// Of wanted times with what each counts.
        fn best(wanted: &[(f64, f64)], played: &[f64], reach: f64) -> f64 {
            let (Some((first, later)), false) = (wanted.split_first(), played.is_empty()) else { return 0.0 };
            let with = |place: usize| {
                let away = (played[place] - first.0).abs() / reach;
                let gain = first.1 * (1.0 - AWAY_SHARE * away);
                if away <= 1.0 { gain + best(later, &played[place + 1..], reach) } else { 0.0 }
            };
            (0..played.len()).map(with).fold(best(later, played, reach), f64::max)
        }
        let mut state = 5u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 24)
        };
        for _ in 0..300 {
            let mut times = |count: usize| {
                let mut times: Vec<f64> = (0..count).map(|_| random()).collect();
                times.sort_by(f64::total_cmp);
                times
            };
            let (wanted, heard) = (times(4), times(5));
            let score = plain_score(&wanted.iter().map(|&at| (at, 0.1, 60)).collect::<Vec<_>>());
            let notes: Vec<(f64, u8)> = heard.iter().map(|&at| (at, 60)).collect();
            let found = partners(&score, &notes, 0.4);
            let share = |note: &Note| if score.is_on_grid(note.onset_tick) { 1.0 } else { ORNAMENT_SHARE };
            let wanted: Vec<(f64, f64)> = score.notes.iter().map(|note| (note.onset_s, share(note))).collect();
            let pairs = wanted.iter().zip(&found).filter_map(|(at, partner)| Some((at, heard[(*partner)?])));
            let value: f64 = pairs.map(|(at, heard)| at.1 * (1.0 - AWAY_SHARE * (heard - at.0).abs() / 0.4)).sum();
            assert!((value - best(&wanted, &heard, 0.4)).abs() < 1e-9, "{wanted:?} {heard:?}: {found:?}");
            let places: Vec<usize> = found.into_iter().flatten().collect();
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
