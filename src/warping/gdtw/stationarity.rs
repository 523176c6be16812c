//! First-order optimality with kinks and constraints: at which rate can the objective still fall?
//!
//! Where an active slope limit ties neighbouring knots, only whole stretches of a tied run can move, and only where the ties at the
//! stretch's ends let them. Every feasible direction is a sum of such moves of a stretch by the same amount, so the warp is
//! stationary exactly if none of them goes downhill. This needs no multipliers, and dependent constraints do no harm.

use std::ops::Range;

/// What holds a segment's advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SegmentState {
    /// Between its limits.
    #[default]
    Free,
    /// At its least slope.
    Min,
    /// At its greatest slope.
    Max,
    /// Least and greatest slope are one.
    Fixed,
}

/// What holds a knot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KnotState {
    /// Nothing: the objective is smooth here.
    #[default]
    Free,
    /// Its lower bound.
    Lower,
    /// Its upper bound.
    Upper,
    /// Both bounds, which are one: an anchor or a pinned end.
    Fixed,
    /// A kink of its own node cost, where the cost rises to both sides.
    Kink,
}

/// Which way a stretch of knots can go downhill.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Descent {
    pub knots: Range<usize>,
    pub forward: bool,
    /// Change of the objective per second of the move: negative.
    pub rate: f64,
}

/// The steepest feasible move within a tied run, given each knot's own rate of change when it alone moves later (`forward`) or
/// earlier (`backward`); infinite at a bound.
pub(super) fn steepest(
    run: Range<usize>,
    states: &[SegmentState],
    forward: &[f64],
    backward: &[f64],
) -> Option<Descent> {
    let later = best_stretch(&run, states, forward, SegmentState::Min, SegmentState::Max);
    let earlier = best_stretch(&run, states, backward, SegmentState::Max, SegmentState::Min);
    let as_descent =
        |found: Option<(f64, Range<usize>)>, forward: bool| found.map(|(rate, knots)| Descent { knots, forward, rate });
    match (as_descent(later, true), as_descent(earlier, false)) {
        (Some(a), Some(b)) => Some(if a.rate <= b.rate { a } else { b }),
        (a, b) => a.or(b),
    }
}

/// The stretch with the smallest negative sum of rates, starting after a tie of state `opens` and ending before one of state
/// `closes`, or at the run's ends.
fn best_stretch(
    run: &Range<usize>,
    states: &[SegmentState],
    rates: &[f64],
    opens: SegmentState,
    closes: SegmentState,
) -> Option<(f64, Range<usize>)> {
    let mut best: Option<(f64, Range<usize>)> = None;
    let (mut sum, mut start) = (f64::INFINITY, run.start);
    for i in run.clone() {
        let may_start = i == run.start || states[i - 1] == opens;
        if may_start && (sum >= 0.0 || i == run.start) {
            (sum, start) = (0.0, i);
        }
        sum += rates[i];
        let may_end = i + 1 == run.end || states[i] == closes;
        if may_end && sum < 0.0 && best.as_ref().is_none_or(|(b, _)| sum < *b) {
            best = Some((sum, start..i + 1));
        }
    }
    best
}

/// The maximal runs of tied knots, in order; a knot that is tied to none is a run of its own.
pub(super) fn runs(states: &[SegmentState]) -> impl Iterator<Item = Range<usize>> + '_ {
    let knots = states.len() + 1;
    let mut next = 0;
    std::iter::from_fn(move || {
        if next >= knots {
            return None;
        }
        let start = next;
        next += 1;
        while next < knots && states[next - 1] != SegmentState::Free {
            next += 1;
        }
        Some(start..next)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;
    use SegmentState::{Fixed, Free, Max, Min};

    #[test]
    fn runs_are_maximal() {
        let found: Vec<_> = runs(&[Free, Min, Fixed, Free]).collect();
        assert_eq!(found, [0..1, 1..4, 4..5]);
    }

    /// All stretches and both directions, by definition.
    fn naive(states: &[SegmentState], forward: &[f64], backward: &[f64]) -> f64 {
        let m = forward.len();
        let mut best = 0.0_f64;
        for a in 0..m {
            for b in a..m {
                let ends = |opens, closes| (a == 0 || states[a - 1] == opens) && (b + 1 == m || states[b] == closes);
                if ends(Min, Max) {
                    best = best.min(forward[a..=b].iter().sum());
                }
                if ends(Max, Min) {
                    best = best.min(backward[a..=b].iter().sum());
                }
            }
        }
        best
    }

    #[test]
    fn steepest_stretch_equals_the_definition() {
        let kinds = [Min, Max, Fixed];
        let mut random = Random::at(1, &[]);
        let mut below = |limit: f64| (random.unit() * limit) as usize;
        for _ in 0..2000 {
            let states: Vec<_> = (0..5).map(|_| kinds[below(3.0)]).collect();
            let mut rates =
                || (0..6).map(|_| if below(6.0) == 0 { f64::INFINITY } else { below(21.0) as f64 - 8.0 }).collect();
            let (forward, backward): (Vec<f64>, Vec<f64>) = (rates(), rates());
            let found = steepest(0..6, &states, &forward, &backward);
            let expected = naive(&states, &forward, &backward);
            assert_eq!(found.map_or(0.0, |d| d.rate), expected, "{states:?} {forward:?} {backward:?}");
        }
    }
}
