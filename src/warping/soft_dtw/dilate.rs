//! DILATE: how far the expected path strays from a known alignment in time, blended with the soft-DTW discrepancy.

use super::backward::{Blend, blended_gradient};
use super::forward::{record_tangent, with_tape};
use super::{check, check_gamma};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::number::Real;
use crate::warping::cost::{Band, Banded};
use crate::warping::diagonals::Diagonals;

/// Parameters of [`dilate`]. The defaults are those of the published comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DilateParams {
    /// Weight of the shape term, 0 to 1; the temporal term has the rest.
    pub alpha: f64,
    /// Softness, greater than 0.
    pub gamma: f64,
}

impl Default for DilateParams {
    fn default() -> Self {
        Self { alpha: 0.0, gamma: 0.1 }
    }
}

impl DilateParams {
    pub(super) fn validate(&self) -> Result<()> {
        if !(0.0..=1.0).contains(&self.alpha) {
            return Err(Error::invalid("alpha of DILATE", self.alpha, "between 0 and 1"));
        }
        check_gamma(self.gamma)
    }
}

/// What [`dilate`] computes.
#[derive(Debug, Clone, PartialEq)]
pub struct Dilate {
    /// `alpha * shape + (1 - alpha) * temporal`.
    pub loss: f64,
    /// The soft-DTW discrepancy.
    pub shape: f64,
    /// `Σ E∘Ω / (score frames * performance frames)`.
    pub temporal: f64,
    /// Gradient of `loss` with respect to each local cost.
    pub gradient: Banded<f64>,
}

/// The DILATE loss of a cost matrix against the penalties `Ω` of [`temporal_penalty`], and its gradient.
pub fn dilate<T: Real>(
    ctx: &JobContext,
    cost: &Banded<T>,
    penalty: &Banded<f64>,
    params: &DilateParams,
) -> Result<Dilate> {
    params.validate()?;
    let DilateParams { alpha, gamma } = *params;
    check(cost, gamma)?;
    let band = cost.band();
    if penalty.band() != band {
        return Err(Error::invalid("band of the DILATE penalties", "different", "that of the costs"));
    }
    let diagonals = Diagonals::new(band);
    let per_cell = 1.0 / (band.rows() as f64 * band.columns() as f64);
    let blend = Blend { value: alpha, tangent: (1.0 - alpha) * per_cell };
    with_tape(|tape| {
        let shape = record_tangent(ctx, cost, penalty, gamma, &diagonals, tape)?;
        let temporal = tape.tangent[band.cells() - 1] * per_cell;
        let gradient = blended_gradient(ctx, penalty, gamma, blend, &diagonals, tape)?;
        Ok(Dilate { loss: alpha * shape + (1.0 - alpha) * temporal, shape, temporal, gradient })
    })
}

/// The penalties `Ω` of a known alignment, given as pairs (score time, performance time).
///
/// Each pair fills the row of the first score frame at or after its score time with the distance, in seconds, of every
/// performance frame from its performance time. Of several pairs in one row the last counts; rows without a pair, and
/// pairs after the last score frame, count for nothing.
pub fn temporal_penalty(
    band: &Band,
    score_s: &[f64],
    performance_s: &[f64],
    truth: &[(f64, f64)],
) -> Result<Banded<f64>> {
    if (score_s.len(), performance_s.len()) != (band.rows(), band.columns()) {
        let size = format!("{} x {}", score_s.len(), performance_s.len());
        return Err(Error::invalid("number of frame times", size, format!("{} x {}", band.rows(), band.columns())));
    }
    let mut values = vec![0.0; band.cells()];
    for (row, performance) in row_truths(score_s, truth).into_iter().enumerate() {
        let Some(performance) = performance else { continue };
        for (value, frame) in values[band.storage(row)].iter_mut().zip(&performance_s[band.row(row)]) {
            *value = (performance - frame).abs();
        }
    }
    Banded::new(band.clone(), values)
}

/// The performance time of each score frame that a known alignment says something of.
pub(super) fn row_truths(score_s: &[f64], truth: &[(f64, f64)]) -> Vec<Option<f64>> {
    let mut rows = vec![None; score_s.len()];
    for &(score, performance) in truth {
        if let Some(row) = rows.get_mut(score_s.partition_point(|&frame| frame < score)) {
            *row = Some(performance);
        }
    }
    rows
}
