//! DILATE on a card: soft-DTW, blended with how far its expected path strays from the truth in time.

use super::card::Card;
use super::pairs::{Limits, Size, batches};
use super::soft_dtw::{Passes, size};
use crate::base::accelerator::{Failure, Outcome, PairGradient, SignalPair, TruePair};

/// `alpha · shape + (1 − alpha) · temporal` of every pair, and its gradient.
pub(super) fn dilate(card: &Card, pairs: &[TruePair<'_>], alpha: f64, gamma: f64) -> Outcome<Vec<PairGradient>> {
    dilate_within(card, pairs, alpha, gamma, Limits::USUAL)
}

pub(super) fn dilate_within(
    card: &Card,
    pairs: &[TruePair<'_>],
    alpha: f64,
    gamma: f64,
    limits: Limits,
) -> Outcome<Vec<PairGradient>> {
    let sizes: Vec<Size> = pairs.iter().map(|pair| true_size(pair, gamma)).collect::<Outcome<_>>()?;
    let mut found = Vec::with_capacity(pairs.len());
    for batch in batches(card, &sizes, limits.budget)? {
        let pairs = &pairs[batch.clone()];
        let signals: Vec<SignalPair<'_>> = pairs.iter().map(|pair| pair.signals).collect();
        let times: Vec<Vec<f32>> = pairs.iter().map(times).collect();
        let times = times.iter().map(Vec::as_slice).collect();
        let passes = Passes { gamma, shape: alpha, temporal: 1.0 - alpha, times };
        let soft = passes.run(card, &signals, limits)?;
        found.extend(soft.into_iter().zip(&sizes[batch]).map(|(soft, size)| {
            let temporal = soft.penalty / (size.rows as f64 * size.columns as f64);
            let value = alpha * soft.gradient.value + (1.0 - alpha) * temporal;
            PairGradient { value, ..soft.gradient }
        }));
    }
    Ok(found)
}

fn true_size(pair: &TruePair<'_>, gamma: f64) -> Outcome<Size> {
    let size = size(&pair.signals, gamma, true)?;
    if (pair.truth.len(), pair.times.len()) == (size.rows, size.columns) {
        Ok(size)
    } else {
        Err(Failure::unsuited("not one truth per row and one time per column"))
    }
}

/// Truth and weight of each row, then the time of each column; a row without truth weighs nothing.
fn times(pair: &TruePair<'_>) -> Vec<f32> {
    let truth = pair.truth.iter().flat_map(|truth| truth.map_or([0.0, 0.0], |truth| [truth, 1.0]));
    truth.chain(pair.times.iter().copied()).collect()
}
