//! OwnedSignal inputs: features that change like music does, and the same features along a known warp.

/// How many frames a "chord" lasts before it has turned into the next.
const FRAMES_PER_CHORD: f64 = 8.0;
/// How far, relative to the spread of the features, the second signal strays from the warped first.
const NOISE: f64 = 0.1;

/// A signal that owns its values.
pub(super) struct OwnedSignal {
    pub times: Vec<f64>,
    pub values: Vec<f32>,
    pub dim: usize,
}

impl OwnedSignal {
    pub(super) fn signal(&self) -> crate::Result<crate::warping::Signal<'_>> {
        crate::warping::Signal::new(&self.times, &self.values, self.dim)
    }
}

/// `frames` times from 0 to `end_s`.
pub(super) fn times(frames: usize, end_s: f64) -> Vec<f64> {
    (0..frames).map(|i| end_s * i as f64 / (frames - 1) as f64).collect()
}

/// A score of `rows` frames and a performance of `columns` frames of it, both from 0 to `end_s`: what the score has at `t`
/// the performance has where [`warp`] takes `t`.
pub(super) fn pair(rows: usize, columns: usize, dim: usize, end_s: f64) -> (OwnedSignal, OwnedSignal) {
    let chords_per_s = rows as f64 / FRAMES_PER_CHORD / end_s;
    let make = |frames: usize, noise: f64, place: &dyn Fn(f64) -> f64| {
        let times = times(frames, end_s);
        let mut values = Vec::with_capacity(frames * dim);
        for (frame, &time) in times.iter().enumerate() {
            let position = place(time) * chords_per_s;
            for c in 0..dim {
                let stray = noise * (uniform(frame as u64 ^ 0x5bd1_e995, c as u64) - 0.5);
                values.push(((chord(position, c) + stray) / (dim as f64).sqrt()) as f32);
            }
        }
        OwnedSignal { times, values, dim }
    };
    (make(rows, 0.0, &|t| warp(t, end_s)), make(columns, NOISE, &|t| t))
}

/// The known warp: the ends stay, between them the tempo swings by a fifth either way.
pub(super) fn warp(time: f64, end_s: f64) -> f64 {
    /// Longest swing, so that an hour is not bent as a whole.
    const PERIOD_S: f64 = 30.0;
    let swings = (end_s / PERIOD_S).ceil();
    let turn = std::f64::consts::TAU * swings / end_s;
    time + 0.2 / turn * (turn * time).sin()
}

/// One value of the features at a position counted in chords.
fn chord(position: f64, c: usize) -> f64 {
    let index = position.floor().max(0.0);
    let share = position - index;
    let smooth = share * share * (3.0 - 2.0 * share);
    let (now, next) = (uniform(index as u64, c as u64), uniform(index as u64 + 1, c as u64));
    now + smooth * (next - now)
}

/// A number in 0 to 1 that depends on nothing but its two seeds (SplitMix64).
fn uniform(a: u64, b: u64) -> f64 {
    let mut z = a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_mul(0xd1b5_4a32_d192_ed03);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::job::JobContext;
    use crate::warping::gdtw::{Problem, SolveOptions, Workspace, solve};

    #[test]
    fn the_known_warp_is_what_the_solver_finds() {
        let (score, performance) = pair(200, 200, 24, 1.0);
        let problem = Problem::from_signals(score.signal().unwrap(), performance.signal().unwrap(), 1e-3);
        let solution =
            solve(&JobContext::new(), &problem.with_pinned_ends(), &SolveOptions::default(), &mut Workspace::default())
                .unwrap();
        let worst = score.times.iter().zip(&solution.phi).map(|(t, phi)| (warp(*t, 1.0) - phi).abs());
        assert!(worst.fold(0.0, f64::max) < 0.01, "two frames at most");
    }

    #[test]
    fn inputs_are_the_same_every_time() {
        assert_eq!(pair(20, 30, 3, 1.0).1.values, pair(20, 30, 3, 1.0).1.values);
        assert_eq!(warp(0.0, 60.0), 0.0);
        assert!((warp(60.0, 60.0) - 60.0).abs() < 1e-9);
    }
}
