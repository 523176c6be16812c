//! What is to be solved: knots, node costs, edge costs and constraints, as flat arrays.

use crate::base::error::{Error, Result};
use crate::warping::Signal;

use super::table::CostTable;
use crate::base::number::Real;

/// What it costs to put a knot at a time.
#[derive(Debug, Clone)]
pub enum NodeCost<'a, T: Real = f32> {
    /// `w_i ‖x_i − y(φ_i)‖²`, with `y` interpolated linearly between its frames.
    Features {
        /// One vector per knot. Its times are not used: [`Problem::knots`] are.
        x: Signal<'a, T>,
        /// The signal that is warped.
        y: Signal<'a, T>,
        /// `w_i ≥ 0`, one per knot; trapezoid weights by default.
        weights: Vec<f64>,
    },
    /// Costs given directly on a banded time grid.
    Table(&'a CostTable<T>),
}

/// What it costs to go from one knot to the next, `d = φ_{i+1} − φ_i` later. One entry per segment.
#[derive(Debug, Clone, PartialEq)]
pub enum EdgeCost {
    /// `λ_i (d/Δ_i − ρ_i)² Δ_i`, with `Δ_i` the distance of the knots.
    Slope {
        /// Strength `λ_i ≥ 0`.
        lambda: Vec<f64>,
        /// Slope `ρ_i` that costs nothing.
        rho: Vec<f64>,
    },
    /// `weight_i · huber_δ(z)` with `z = ln((d + ε)/(r_i + ε))/σ`; `huber_δ(z)` is `z²/2` up to `|z| = δ`, then
    /// `δ|z| − δ²/2`. Robust against pauses: the logarithm of the tempo ratio counts, not the slope.
    LogTempo {
        /// Strength, at least 0.
        weight: Vec<f64>,
        /// The interval `r_i ≥ 0` that costs nothing, in seconds.
        reference: Vec<f64>,
        /// Softens the logarithm of short intervals: `ε > 0`, in seconds.
        epsilon: f64,
        /// Typical size of the log tempo ratio: `σ > 0`.
        sigma: f64,
        /// Where the penalty turns linear: `δ > 0`.
        delta: f64,
    },
}

/// A warp problem: minimise the node and edge costs over `φ` within the constraints.
///
/// The constraints are `slope_min_i ≤ (φ_{i+1} − φ_i)/Δ_i ≤ slope_max_i` and `lower_i ≤ φ_i ≤ upper_i`. Fields may be
/// changed freely; [`solve`](super::solve()) validates the whole.
#[derive(Debug, Clone)]
pub struct Problem<'a, T: Real = f32> {
    /// Strictly increasing knot times `t_i`, two or more. They need not be frames.
    pub knots: Vec<f64>,
    /// Cost of each knot's position.
    pub nodes: NodeCost<'a, T>,
    /// Cost of each segment's slope.
    pub edges: EdgeCost,
    /// Least slope per segment, at least 0.
    pub slope_min: Vec<f64>,
    /// Greatest slope per segment, may be infinite.
    pub slope_max: Vec<f64>,
    /// Earliest position per knot; infinite for no bound of its own.
    pub lower: Vec<f64>,
    /// Latest position per knot.
    pub upper: Vec<f64>,
}

impl<'a, T: Real> Problem<'a, T> {
    /// Aligns two feature signals: knots at the frames of `x`, trapezoid weights, squared norm, `ρ = 1`, monotone,
    /// both ends free (subsequence).
    pub fn from_signals(x: Signal<'a, T>, y: Signal<'a, T>, lambda: f64) -> Self {
        let knots = x.times().to_vec();
        let weights = trapezoid_weights(&knots);
        let nodes = NodeCost::Features { x, y, weights };
        let segments = knots.len().saturating_sub(1);
        let edges = EdgeCost::Slope { lambda: vec![lambda; segments], rho: vec![1.0; segments] };
        Self::new(knots, nodes, edges)
    }

    /// A monotone problem without further constraints.
    pub fn new(knots: Vec<f64>, nodes: NodeCost<'a, T>, edges: EdgeCost) -> Self {
        let segments = knots.len().saturating_sub(1);
        Self {
            slope_min: vec![0.0; segments],
            slope_max: vec![f64::INFINITY; segments],
            lower: vec![f64::NEG_INFINITY; knots.len()],
            upper: vec![f64::INFINITY; knots.len()],
            knots,
            nodes,
            edges,
        }
    }

    /// The same slope limits everywhere.
    pub fn with_slope_limits(mut self, min: f64, max: f64) -> Self {
        self.slope_min.fill(min);
        self.slope_max.fill(max);
        self
    }

    /// Number of knots.
    pub(crate) fn len(&self) -> usize {
        self.knots.len()
    }

    /// Distance of the knots of a segment.
    pub fn interval(&self, segment: usize) -> f64 {
        self.knots[segment + 1] - self.knots[segment]
    }

    /// The times a knot may take as far as its node cost is defined: the span of `y`, or the row of the table.
    pub fn domain(&self, knot: usize) -> (f64, f64) {
        match &self.nodes {
            NodeCost::Features { y, .. } => (y.times()[0], y.times()[y.frames() - 1]),
            NodeCost::Table(table) => table.span(knot),
        }
    }

    /// The box of a knot: its bounds within its domain.
    pub(super) fn limits(&self, knot: usize) -> (f64, f64) {
        let (first, last) = self.domain(knot);
        (self.lower[knot].max(first), self.upper[knot].min(last))
    }

    /// Least and greatest advance over a segment.
    pub(super) fn steps(&self, segment: usize) -> (f64, f64) {
        let interval = self.interval(segment);
        (self.slope_min[segment] * interval, self.slope_max[segment] * interval)
    }

    /// Rejects everything that is not a well-formed problem. Contradicting constraints are found later.
    pub fn validate(&self) -> Result<()> {
        let m = self.knots.len();
        if m < 2 {
            return Err(Error::invalid("number of knots", m, "two or more"));
        }
        all(&self.knots, "time of knot", "finite", f64::is_finite)?;
        if let Some(i) = self.knots.windows(2).position(|pair| pair[1] <= pair[0]) {
            let allowed = format!("later than {}", self.knots[i]);
            return Err(Error::invalid(format!("time of knot {}", i + 1), self.knots[i + 1], allowed));
        }
        self.validate_nodes()?;
        self.validate_edges()?;
        length("least slopes", &self.slope_min, m - 1)?;
        length("greatest slopes", &self.slope_max, m - 1)?;
        length("lower bounds", &self.lower, m)?;
        length("upper bounds", &self.upper, m)?;
        all(&self.slope_min, "least slope of segment", "finite and at least 0", |v| v.is_finite() && v >= 0.0)?;
        all(&self.slope_max, "greatest slope of segment", "at least 0", |v| v >= 0.0)?;
        all(&self.lower, "lower bound of knot", "a number", |v| !v.is_nan() && v < f64::INFINITY)?;
        all(&self.upper, "upper bound of knot", "a number", |v| !v.is_nan() && v > f64::NEG_INFINITY)
    }

    fn validate_nodes(&self) -> Result<()> {
        let m = self.knots.len();
        match &self.nodes {
            NodeCost::Features { x, y, weights } => {
                if x.frames() != m {
                    return Err(Error::invalid("number of feature vectors", x.frames(), format!("one per knot: {m}")));
                }
                if y.frames() < 2 {
                    return Err(Error::invalid("number of frames to warp onto", y.frames(), "two or more"));
                }
                if x.dim() != y.dim() {
                    return Err(Error::invalid(
                        "dimension of the second signal",
                        y.dim(),
                        format!("{}, as of the first", x.dim()),
                    ));
                }
                length("node weights", weights, m)?;
                all(weights, "weight of knot", "finite and at least 0", |v| v.is_finite() && v >= 0.0)
            }
            NodeCost::Table(table) => table.validate(m),
        }
    }

    fn validate_edges(&self) -> Result<()> {
        let segments = self.knots.len() - 1;
        let non_negative = |v: f64| v.is_finite() && v >= 0.0;
        match &self.edges {
            EdgeCost::Slope { lambda, rho } => {
                length("regularisation strengths", lambda, segments)?;
                length("nominal slopes", rho, segments)?;
                all(lambda, "regularisation λ of segment", "finite and at least 0", non_negative)?;
                all(rho, "nominal slope of segment", "finite", f64::is_finite)
            }
            EdgeCost::LogTempo { weight, reference, epsilon, sigma, delta } => {
                length("edge weights", weight, segments)?;
                length("reference intervals", reference, segments)?;
                all(weight, "edge weight of segment", "finite and at least 0", non_negative)?;
                all(reference, "reference interval of segment", "finite and at least 0", non_negative)?;
                for (name, value) in [("tempo softening ε", epsilon), ("tempo spread σ", sigma), ("tempo δ", delta)]
                {
                    if !(value.is_finite() && *value > 0.0) {
                        return Err(Error::invalid(name, value, "finite and above 0"));
                    }
                }
                Ok(())
            }
        }
    }
}

/// Trapezoid weights: each knot stands for half the interval on either side.
pub(super) fn trapezoid_weights(knots: &[f64]) -> Vec<f64> {
    let half = |a: usize, b: usize| (knots[b] - knots[a]) / 2.0;
    let last = knots.len().saturating_sub(1);
    (0..knots.len()).map(|i| half(i.saturating_sub(1), (i + 1).min(last))).collect()
}

fn length(what: &str, values: &[f64], expected: usize) -> Result<()> {
    if values.len() == expected {
        return Ok(());
    }
    Err(Error::invalid(format!("number of {what}"), values.len(), expected.to_string()))
}

fn all(values: &[f64], what: &str, allowed: &str, ok: impl Fn(f64) -> bool) -> Result<()> {
    match values.iter().position(|&v| !ok(v)) {
        Some(i) => Err(Error::invalid(format!("{what} {i}"), values[i], allowed)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trapezoid_weights_sum_to_the_span() {
        assert_eq!(trapezoid_weights(&[0.0, 1.0, 3.0]), [0.5, 1.5, 1.0]);
    }

    #[test]
    fn malformed_problems_are_rejected_with_the_place() {
        let times = [0.0, 1.0, 2.0];
        let values = [0.0_f32, 1.0, 2.0];
        let signal = Signal::new(&times, &values, 1).unwrap();
        let problem = Problem::from_signals(signal, signal, 0.1);
        assert!(problem.validate().is_ok());
        let message = |change: &dyn Fn(&mut Problem)| {
            let mut changed = problem.clone();
            change(&mut changed);
            changed.validate().unwrap_err().to_string()
        };
        assert!(message(&|p| p.knots[2] = 1.0).contains("knot 2"));
        assert!(message(&|p| p.knots[1] = f64::NAN).contains("knot 1"));
        assert!(message(&|p| p.edges = EdgeCost::Slope { lambda: vec![-1.0, 0.0], rho: vec![1.0; 2] }).contains("λ"));
        assert!(message(&|p| p.slope_min[1] = -0.5).contains("at least 0"));
        assert!(message(&|p| p.slope_max[1] = f64::NAN).contains("segment 1"));
        assert!(message(&|p| p.lower[2] = f64::NAN).contains("knot 2"));
        assert!(message(&|p| p.upper.truncate(1)).contains("upper bounds is 1, but must be 3"));
        let one = Signal::new(&times[..1], &values[..1], 1).unwrap();
        assert!(Problem::from_signals(one, signal, 0.1).validate().unwrap_err().to_string().contains("two or more"));
        assert!(Problem::from_signals(signal, one, 0.1).validate().unwrap_err().to_string().contains("frames to warp"));
    }
}
