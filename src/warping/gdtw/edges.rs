//! Edge costs in f64: value and derivatives of one segment's cost in its advance `d = φ_{i+1} − φ_i`.

use super::problem::{EdgeCost, Problem};
use crate::base::number::Real;

/// A segment's cost at one advance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EdgeValue {
    pub value: f64,
    pub first: f64,
    pub second: f64,
}

impl<T: Real> Problem<'_, T> {
    /// Cost of `segment` and its derivatives with respect to the advance.
    pub(super) fn edge(&self, segment: usize, advance: f64) -> EdgeValue {
        match &self.edges {
            EdgeCost::Slope { lambda, rho } => {
                let interval = self.interval(segment);
                let excess = advance / interval - rho[segment];
                let strength = lambda[segment];
                EdgeValue {
                    value: strength * excess * excess * interval,
                    first: 2.0 * strength * excess,
                    second: 2.0 * strength / interval,
                }
            }
            EdgeCost::LogTempo { weight, reference, epsilon, sigma, delta } => {
                let length = advance.max(0.0) + epsilon;
                let z = (length / (reference[segment] + epsilon)).ln() / sigma;
                let (value, slope, curvature) = huber(z, *delta);
                let scale = weight[segment] / (sigma * length);
                EdgeValue {
                    value: weight[segment] * value,
                    first: scale * slope,
                    second: scale * (curvature / sigma - slope) / length,
                }
            }
        }
    }

    /// Sum of the edge costs of a warp.
    pub(super) fn edge_total(&self, phi: &[f64]) -> f64 {
        phi.windows(2).enumerate().map(|(i, pair)| self.edge(i, pair[1] - pair[0]).value).sum()
    }
}

/// `z²/2` up to `|z| = delta`, then linear: value, first and second derivative.
pub(super) fn huber(z: f64, delta: f64) -> (f64, f64, f64) {
    if z.abs() <= delta { (0.5 * z * z, z, 1.0) } else { (delta * (z.abs() - 0.5 * delta), delta * z.signum(), 0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warping::gdtw::problem::NodeCost;
    use crate::warping::gdtw::table::CostTable;

    fn check(edges: EdgeCost) {
        let table = CostTable::<f64>::new(0.0, 1.0).unwrap();
        let problem = Problem::new(vec![0.0, 0.7], NodeCost::Table(&table), edges);
        for d in [0.05, 0.3, 0.9, 2.0, 7.0] {
            let h = 1e-5;
            let (low, mid, high) = (problem.edge(0, d - h), problem.edge(0, d), problem.edge(0, d + h));
            assert!(((high.value - low.value) / (2.0 * h) - mid.first).abs() < 1e-6, "slope at {d}");
            assert!(((high.first - low.first) / (2.0 * h) - mid.second).abs() < 1e-5, "curvature at {d}");
        }
    }

    #[test]
    fn derivatives_agree_with_differences() {
        check(EdgeCost::Slope { lambda: vec![0.3], rho: vec![1.2] });
        check(EdgeCost::LogTempo { weight: vec![1.5], reference: vec![0.6], epsilon: 0.1, sigma: 0.4, delta: 2.0 });
    }

    #[test]
    fn the_reference_interval_costs_nothing() {
        let table = CostTable::<f64>::new(0.0, 1.0).unwrap();
        let edges =
            EdgeCost::LogTempo { weight: vec![1.0], reference: vec![0.6], epsilon: 0.02, sigma: 0.4, delta: 2.0 };
        let problem = Problem::new(vec![0.0, 1.0], NodeCost::Table(&table), edges);
        assert_eq!(problem.edge(0, 0.6).value, 0.0);
        // Twice the interval: z = ln(1.22/0.62)/0.4 = 1.692 lies in the quadratic part.
        assert!((problem.edge(0, 1.2).value - 0.5 * 1.692_269_f64.powi(2)).abs() < 1e-3);
    }
}
