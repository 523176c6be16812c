//! The engine as a whole.

use super::*;
use crate::alignment::Signal;
use crate::error::Result;
use crate::job::JobContext;

pub(super) fn random(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        })
        .collect()
}

pub(super) fn run<T: Real>(problem: &Problem<'_, T>) -> Result<Solution> {
    solve(&JobContext::new(), problem, &SolveOptions::default(), &mut Workspace::default())
}

#[test]
fn a_signal_aligned_with_itself_is_the_identity() {
    let times: Vec<f64> = (0..40).map(|i| f64::from(i) * 0.1).collect();
    let values = random(120, 3);
    let signal = Signal::new(&times, &values, 3).unwrap();
    let solution = run(&Problem::from_signals(signal, signal, 0.1)).unwrap();
    assert!(solution.objective.abs() < 1e-12, "{}", solution.objective);
    assert!(solution.phi.iter().zip(&times).all(|(a, b)| (a - b).abs() < 1e-6));
}
