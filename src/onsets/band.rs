//! Where the band round the rough warp is too narrow.

use std::ops::Range;

use super::evidence::{Evidence, Pattern};
use super::params::OnsetParams;

/// Knots whose path touches the edge of the band.
pub(super) fn touching(centre: &[f64], phi: &[f64], radius: &[f64]) -> Vec<usize> {
    const TOUCHING: f64 = 0.9;
    (0..phi.len()).filter(|&i| (phi[i] - centre[i]).abs() > TOUCHING * radius[i]).collect()
}

/// Knots in the middle of a run that the recording hardly supports, compared with the rest of the piece.
pub(super) fn lost(evidence: &Evidence, patterns: &[Pattern], phi: &[f64], params: &OnsetParams) -> Vec<usize> {
    /// Knots of a run.
    const RUN: usize = 12;
    let frame = |time: f64| ((time / Evidence::step_s()).round() as usize).min(evidence.frames() - 1);
    let found: Vec<f64> = patterns.iter().zip(phi).map(|(p, &t)| f64::from(evidence.at(frame(t), p))).collect();
    let mut sorted = found.clone();
    sorted.sort_by(f64::total_cmp);
    let least = params.lost_share * sorted[sorted.len() / 2] * RUN as f64;
    let runs = found.windows(RUN).enumerate().filter(|(_, run)| run.iter().sum::<f64>() < least);
    runs.map(|(first, _)| first + RUN / 2).collect()
}

/// Doubles the band round some knots and tells which stretches are to be solved again: what was widened, and some of what is
/// before and after it.
pub(super) fn widen(centre: &[f64], astray: &[usize], radius: &mut [f64]) -> Vec<Range<usize>> {
    /// How much of the neighbourhood may move with a stretch.
    const MARGIN_S: f64 = 4.0;
    let around = |at: usize, reach: f64| {
        centre.partition_point(|&t| t < centre[at] - reach)..centre.partition_point(|&t| t <= centre[at] + reach)
    };
    let mut wider = radius.to_vec();
    let mut stretches: Vec<Range<usize>> = Vec::new();
    for &at in astray {
        for index in around(at, 4.0 * radius[at]) {
            wider[index] = wider[index].max(2.0 * radius[at]);
        }
        stretches.push(around(at, 4.0 * radius[at] + MARGIN_S));
    }
    radius.copy_from_slice(&wider);
    stretches.sort_by_key(|stretch| stretch.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for stretch in stretches {
        match merged.last_mut().filter(|last| stretch.start < last.end) {
            Some(last) => last.end = last.end.max(stretch.end),
            None => merged.push(stretch),
        }
    }
    merged.retain(|stretch| stretch.len() >= 2);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_widened_is_solved_again_and_nothing_far_away() {
        let centre: Vec<f64> = (0..100).map(f64::from).collect();
        let mut radius = vec![1.0; 100];
        let stretches = widen(&centre, &[20, 22, 80], &mut radius);
        assert_eq!(stretches, [12..31, 72..89]);
        let wide: Vec<usize> = (0..100).filter(|&knot| radius[knot] == 2.0).collect();
        assert_eq!(wide, (16..=26).chain(76..=84).collect::<Vec<_>>());
        assert!(widen(&centre, &[], &mut radius).is_empty());
        // A knot that is still astray is given more room yet.
        widen(&centre, &[20], &mut radius);
        assert_eq!(radius[20], 4.0);
    }
}
