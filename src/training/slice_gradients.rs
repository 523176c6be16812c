//! Keeps one slice from leading a whole batch astray.
//!
//! Where a warp hardly depends on the features, in rests and held chords, its derivative is huge and right only for
//! tiny changes. Such slices are rare, but without a limit they decide where training goes.

/// How long the gradient of one slice may be. Measured over its features on both sides together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SliceGradients {
    /// As it is.
    Whole,
    /// Shortened to this many times the typical length.
    UpTo {
        /// How many times.
        times: f64,
        /// What is typical; `None` takes it from the batch.
        typical: Option<f64>,
    },
}

impl SliceGradients {
    /// Factors that bring gradients of these lengths within the limit.
    pub(super) fn factors(self, lengths: &[f64]) -> Vec<f64> {
        let longest = match self {
            Self::Whole => f64::INFINITY,
            Self::UpTo { times, typical } => {
                typical.or_else(|| typical_length(lengths)).map_or(f64::INFINITY, |typical| times * typical)
            }
        };
        lengths.iter().map(|&length| if length > longest { longest / length } else { 1.0 }).collect()
    }
}

/// The geometric mean, which a few huge ones hardly change; `None` if all are zero.
pub(super) fn typical_length(lengths: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = lengths.iter().filter(|l| **l > 0.0 && l.is_finite()).map(|l| l.ln()).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// What is typical after another batch: it follows slowly, over about fifty batches.
pub(super) fn updated_typical(before: Option<f64>, lengths: &[f64]) -> Option<f64> {
    const SHARE: f64 = 0.02;
    match (before, typical_length(lengths)) {
        (Some(before), Some(now)) => Some((before.ln() + SHARE * (now.ln() - before.ln())).exp()),
        (before, now) => before.or(now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_gradients_are_shortened_and_one_giant_does_not_move_the_limit() {
        let limit = SliceGradients::UpTo { times: 2.0, typical: Some(1.0) };
        assert_eq!(limit.factors(&[0.0, 1.5, 2.0, 8.0]), [1.0, 1.0, 1.0, 0.25]);
        assert_eq!(SliceGradients::Whole.factors(&[1.0, 1e9]), [1.0, 1.0]);
        let unknown = SliceGradients::UpTo { times: 2.0, typical: None };
        let factors = unknown.factors(&[1.0, 1.0, 1.0, 1.0, 1e5]);
        assert!((factors[4] - 2e-4).abs() < 1e-9, "{factors:?}");
        assert_eq!(unknown.factors(&[0.0, 0.0]), [1.0, 1.0]);
    }

    #[test]
    fn what_is_typical_follows_slowly() {
        assert_eq!(updated_typical(None, &[0.0]), None);
        let mut typical = updated_typical(None, &[1.0, 4.0]);
        assert!((typical.unwrap() - 2.0).abs() < 1e-12);
        typical = updated_typical(typical, &[1e6]);
        assert!(typical.unwrap() < 2.7, "{typical:?}");
        assert_eq!(updated_typical(typical, &[0.0]), typical);
    }
}
