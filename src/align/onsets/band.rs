//! Where the band round the rough warp is too narrow.

use super::evidence::{Evidence, Pattern};
use super::params::OnsetParams;

/// Knots whose path touches the edge of the band.
pub(super) fn touching(centre: &[f64], phi: &[f64], radius: &[f64]) -> Vec<usize> {
    const TOUCHING: f64 = 0.9;
    (0..phi.len()).filter(|&i| (phi[i] - centre[i]).abs() > TOUCHING * radius[i]).collect()
}

/// Knots in the middle of a run that the recording hardly supports, compared with the rest of the piece.
/// Each has the best evidence of `stride` frames.
pub(super) fn lost(
    evidence: &Evidence,
    patterns: &[Pattern],
    phi: &[f64],
    stride: usize,
    params: &OnsetParams,
) -> Vec<usize> {
    /// Knots of a run.
    const RUN: usize = 12;
    let (step, last) = (stride as f64 * Evidence::step_s(), (evidence.frames() - 1) / stride);
    let index = |time: f64| ((time / step).round() as usize).min(last);
    let found: Vec<f64> =
        patterns.iter().zip(phi).map(|(p, &t)| f64::from(evidence.best_at(index(t), stride, p))).collect();
    let mut sorted = found.clone();
    sorted.sort_by(f64::total_cmp);
    let least = params.lost_share * sorted[sorted.len() / 2] * RUN as f64;
    let runs = found.windows(RUN).enumerate().filter(|(_, run)| run.iter().sum::<f64>() < least);
    runs.map(|(first, _)| first + RUN / 2).collect()
}

/// Doubles the band round some knots; false if there are none.
pub(super) fn widen(centre: &[f64], astray: &[usize], radius: &mut [f64]) -> bool {
    let mut wider = radius.to_vec();
    for &at in astray {
        let reach = 4.0 * radius[at];
        let near =
            centre.partition_point(|&t| t < centre[at] - reach)..centre.partition_point(|&t| t <= centre[at] + reach);
        for index in near {
            wider[index] = wider[index].max(2.0 * radius[at]);
        }
    }
    radius.copy_from_slice(&wider);
    !astray.is_empty()
}
