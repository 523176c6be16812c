//! The paper's rescaling of features.

use super::{FeatureKind, FeatureSeq};

/// Applies the paper's fixed rescaling `(value - mean) / scale`.
///
/// The scales of chroma and mel look like variances, not deviations. They stay as published, because
/// [the paper's λ](FeatureKind::default_lambda) was tuned with them.
pub fn rescaled(mut features: FeatureSeq, kind: FeatureKind) -> FeatureSeq {
    let (mean, scale) = mean_and_scale(kind);
    for value in &mut features.values {
        *value = (*value - mean) / scale;
    }
    features
}

fn mean_and_scale(kind: FeatureKind) -> (f32, f32) {
    match kind {
        FeatureKind::Cqt => (-0.1380, 1.0),
        FeatureKind::Chroma => (-12.368, 45.0),
        FeatureKind::Mel => (-20.0, 268.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_constants_are_applied_to_values_and_times_stay() {
        for (kind, raw, expected) in
            [(FeatureKind::Cqt, -0.138, 0.0), (FeatureKind::Chroma, 32.632, 1.0), (FeatureKind::Mel, -288.0, -1.0)]
        {
            let seq = FeatureSeq { times: vec![0.5], values: vec![raw], dim: 1 };
            let out = rescaled(seq, kind);
            assert!((out.values[0] - expected).abs() < 1e-5, "{kind:?}: {}", out.values[0]);
            assert_eq!(out.times, [0.5]);
        }
    }
}
