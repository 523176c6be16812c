//! Soft-DTW: the smooth minimum of the costs of all alignment paths, its derivatives, and the losses built on them.
//!
//! With local costs `C` (rows are score frames, columns performance frames), pinned ends and the steps (1,1), (1,0) and
//! (0,1), the value is `−γ log Σ exp(−cost(path)/γ)` over all paths inside the band. As γ goes to zero it becomes the
//! cost of the best path.
//!
//! - Its gradient with respect to `C` is the expected path `E`: the probability that a path drawn with weight
//!   `exp(−cost/γ)` visits a cell.
//! - Its directional derivative along a matrix `Ω` is `Σ E∘Ω`, the temporal term of DILATE, and the gradient of that is
//!   the Hessian of soft-DTW times `Ω`: both come out of one pass forward and one backward ([`dilate()`]).
//!
//! Everything is `f64`. The forward pass carries path sums as mantissas with separate exponents, so no γ under- or
//! overflows, and leaves for every cell the probabilities of the three steps into it; all else is linear in these.

mod backward;
mod dilate;
mod features;
mod forward;
mod pairs;
mod scaled;

pub use dilate::{DilateParams, dilate, temporal_penalty};
pub use features::squared_euclidean_gradient;
#[cfg(feature = "gpu")]
pub(crate) use pairs::pair_work;
pub use pairs::{Pair, PairLoss, dilate_of_pairs, soft_dtw_of_pairs};

use super::cost::Banded;
use super::diagonals::Diagonals;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::number::Real;

/// The largest `|cost| / γ` that is accepted: beyond it nothing is soft and doubles cannot hold the differences.
const MAX_RATIO: f64 = 1e9;

/// What [`soft_dtw`] computes.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftDtw {
    /// The smooth minimum over all paths.
    pub value: f64,
    /// The expected path: the gradient of `value` with respect to each local cost.
    pub expected_path: Banded<f64>,
}

/// The soft-DTW discrepancy and the expected path.
pub fn soft_dtw<T: Real>(ctx: &JobContext, cost: &Banded<T>, gamma: f64) -> Result<SoftDtw> {
    check(cost, gamma)?;
    let diagonals = Diagonals::new(cost.band());
    forward::with_tape(|tape| {
        let value = forward::record(ctx, cost, gamma, &diagonals, tape)?;
        let expected_path = backward::expected_path(ctx, cost.band(), &diagonals, tape)?;
        Ok(SoftDtw { value, expected_path })
    })
}

/// Rejects a γ that is not positive, or so small against the costs that sums over paths lose their meaning.
fn check<T: Real>(cost: &Banded<T>, gamma: f64) -> Result<()> {
    check_gamma(gamma)?;
    let largest = cost.values().iter().fold(0.0, |largest, &value| scaled::greater(value.to_f64().abs(), largest));
    if largest > gamma * MAX_RATIO {
        let allowed = format!("at least {:e} for costs up to {largest:e}", largest / MAX_RATIO);
        return Err(Error::invalid("gamma of soft-DTW", gamma, allowed));
    }
    cost.band().check_pinned()
}

fn check_gamma(gamma: f64) -> Result<()> {
    if gamma.is_finite() && gamma > 0.0 {
        return Ok(());
    }
    Err(Error::invalid("gamma of soft-DTW", gamma, "finite and greater than 0"))
}

#[cfg(test)]
mod tests;
