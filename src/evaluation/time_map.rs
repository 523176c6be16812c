//! What predictions and ground truths have in common: pairs of score time and performance time.

use serde::{Deserialize, Serialize};

use crate::align::result::Alignment;
use crate::score::Score;

/// No recording is longer than this, and sums of squares of such times stay exact enough.
const LONGEST_S: f64 = 1e6;
/// Score times closer than this are one row: the scorer's rule.
const SAME_SCORE_TIME_S: f64 = 1e-9;

/// Where the moments of a score are in a recording. Read as a piecewise linear function that stays constant beyond its
/// ends. Performance times may run backwards: a truth is what was measured, and a bad prediction is to be judged, not
/// refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimeMap {
    /// Seconds of the score's own tempo, strictly increasing.
    pub score_s: Vec<f64>,
    /// Seconds of the recording, one for each score time.
    pub performance_s: Vec<f64>,
}

/// The true alignment of a piece.
pub type GroundTruth = TimeMap;

impl TimeMap {
    /// Sorts the pairs and keeps the earliest performance time of each score time. `Err` says in words what is wrong:
    /// a value that is no time of a recording, or fewer than two distinct score times.
    pub fn from_pairs(mut pairs: Vec<(f64, f64)>) -> Result<Self, String> {
        let is_time = |time: f64| time.abs() <= LONGEST_S;
        if let Some(pair) = pairs.iter().find(|pair| !(is_time(pair.0) && is_time(pair.1))) {
            let wrong = if is_time(pair.0) { pair.1 } else { pair.0 };
            return Err(format!("{wrong:e} is not a valid time in seconds"));
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        pairs.dedup_by(|later, kept| later.0 - kept.0 < SAME_SCORE_TIME_S);
        if pairs.len() < 2 {
            return Err("fewer than two distinct score times".to_owned());
        }
        let (score_s, performance_s) = pairs.into_iter().unzip();
        Ok(Self { score_s, performance_s })
    }

    /// What an alignment says at the score's change points: the same pairs that the CSV export holds.
    pub fn of_alignment(score: &Score, alignment: &Alignment) -> Self {
        let mut score_s = score.change_points_s();
        if score_s.len() < 2 {
            score_s.push(score.end_s() + 1.0);
        }
        let performance_s = score_s.iter().map(|&s| alignment.warp.at(s)).collect();
        Self { score_s, performance_s }
    }

    /// How many pairs there are, at least two.
    #[expect(clippy::len_without_is_empty, reason = "a time map is never empty")]
    pub fn len(&self) -> usize {
        self.score_s.len()
    }

    /// Performance time of a score time; constant beyond the ends.
    pub fn at(&self, score_s: f64) -> f64 {
        let (xs, ys) = (&self.score_s, &self.performance_s);
        let last = xs.len() - 1;
        if score_s <= xs[0] {
            return ys[0];
        }
        if score_s >= xs[last] {
            return ys[last];
        }
        let high = xs.partition_point(|&x| x <= score_s);
        let (x0, y0) = (xs[high - 1], ys[high - 1]);
        y0 + (ys[high] - y0) * (score_s - x0) / (xs[high] - x0)
    }

    /// Whether performance time never runs backwards (by more than a nanosecond).
    pub fn is_monotone(&self) -> bool {
        self.performance_s.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9)
    }
}

/// Quarter notes of a score against its seconds: what a truth that counts beats needs to be told in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct BeatClock {
    beats: TimeMap,
}

impl BeatClock {
    /// The clock of a score.
    pub fn of_score(score: &Score) -> Self {
        let changes = score.tempo.changes().map(|change| score.tempo.tick_to_seconds(change.tick as f64));
        // Tempi after the last note may stand at any distance and be of any speed.
        let (first, end) = (score.first_onset_s(), score.end_s() + 1.0);
        let seconds = score.change_points_s().into_iter().chain(changes.filter(|&s| s > first && s < end));
        let seconds = seconds.chain([end]);
        let pairs: Vec<_> = seconds.map(|s| (score.tempo.seconds_to_beat(s).min(LONGEST_S), s)).collect();
        let beats = TimeMap::from_pairs(pairs).expect("the first onset and a second after the end are two moments");
        Self { beats }
    }

    /// The clock that (beat, score second) rows tell; `None` if there are fewer than two distinct beats.
    pub fn from_rows(rows: Vec<(f64, f64)>) -> Option<Self> {
        TimeMap::from_pairs(rows).ok().map(|beats| Self { beats })
    }

    /// The beat of the first note.
    pub fn first_beat(&self) -> f64 {
        self.beats.score_s[0]
    }

    /// Score seconds of a beat.
    pub fn seconds(&self, beat: f64) -> f64 {
        self.beats.at(beat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tempi_after_the_last_note_do_not_reach_a_clock() {
        let events: &[&[u8]] = &[
            b"\0\x90\x3c\x50\x83\x60\x80\x3c\0\0\x90\x3e\x50\x83\x60\x80\x3e\0",
            b"\0\xff\x51\x03\0\0\x01",
            b"\xff\xff\xff\x7f\xff\x51\x03\xff\xff\xff",
            b"\xff\xff\xff\x7f\xff\x51\x03\0\0\x01",
            b"\0\xff\x2f\0",
        ];
        let track = events.concat();
        let length = u32::try_from(track.len()).unwrap().to_be_bytes();
        let midi = [b"MThd\0\0\0\x06\0\0\0\x01\x01\xe0MTrk".as_slice(), &length, &track].concat();
        let clock = BeatClock::of_score(&Score::from_bytes(std::path::Path::new("x.mid"), &midi).unwrap());
        assert_eq!((clock.first_beat(), clock.seconds(1.0)), (0.0, 0.5));
    }

    #[test]
    fn of_equal_score_times_the_earliest_performance_time_is_kept_as_in_the_scorer() {
        let map =
            TimeMap::from_pairs(vec![(1.0, 2.5), (0.0, 0.0), (1.0, 2.0), (1.0 + 5e-10, 1.0), (2.0, 3.0)]).unwrap();
        assert_eq!(map.score_s, [0.0, 1.0, 2.0]);
        assert_eq!(map.performance_s, [0.0, 2.0, 3.0]);
    }

    #[test]
    fn sampling_is_linear_inside_and_constant_outside() {
        let map = TimeMap::from_pairs(vec![(1.0, 10.0), (2.0, 14.0), (4.0, 15.0)]).unwrap();
        let at: Vec<f64> = [0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 9.0].iter().map(|&s| map.at(s)).collect();
        assert_eq!(at, [10.0, 10.0, 12.0, 14.0, 14.5, 15.0, 15.0]);
    }

    #[test]
    fn too_few_or_infinite_times_are_refused_in_words() {
        assert!(TimeMap::from_pairs(vec![(0.0, 0.0), (0.0, 1.0)]).unwrap_err().contains("fewer than two"));
        assert!(TimeMap::from_pairs(vec![(0.0, 0.0), (1.0, f64::NAN)]).unwrap_err().contains("not a valid time"));
    }
}
