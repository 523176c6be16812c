use super::dilate_tests::{Case, Expected, distance};
use super::pairs::Limits;
use super::soft_dtw::{soft_dtw, soft_dtw_within};
use super::test_card;
use crate::base::accelerator::SignalPair;

#[test]
fn values_and_gradients_agree_with_sums_over_all_paths() {
    let Some(card) = test_card() else { return };
    let sizes = [(1, 1, 1), (1, 6, 2), (7, 1, 3), (2, 3, 1), (33, 17, 5), (65, 130, 3), (270, 262, 2)];
    let cases: Vec<Case> = sizes.iter().map(|&size| Case::unlike(size)).collect();
    let pairs: Vec<SignalPair<'_>> = cases.iter().map(|case| case.pair().signals).collect();
    for (gamma, count) in [(0.01, 6), (0.1, 7), (30.0, 6)] {
        let found = soft_dtw(&card, &pairs[..count], gamma).unwrap();
        for (case, found) in cases.iter().zip(&found) {
            let expected = Expected::new(case, 1.0, gamma);
            let name = format!("{} x {}, {gamma}", case.rows(), case.columns());
            assert!((found.value - expected.loss).abs() < 2e-6 * (1.0 + expected.loss.abs()), "{name}");
            let errors = [distance(&found.x, &expected.x), distance(&found.y, &expected.y)];
            assert!(errors.iter().all(|error| *error < 3e-5), "{name}: {errors:?}");
        }
    }
    let found = soft_dtw(&card, &pairs, 0.1).unwrap();
    let cuts = [Limits { budget: 40_000, near: 0, ..Limits::USUAL }, Limits { iterations: 300, ..Limits::USUAL }];
    assert_eq!(found, soft_dtw(&card, &pairs, 0.1).unwrap());
    for cut in cuts {
        assert_eq!(found, soft_dtw_within(&card, &pairs, 0.1, cut).unwrap());
    }
}

#[test]
fn what_single_precision_cannot_hold_is_a_failure() {
    let Some(card) = test_card() else { return };
    let case = Case::unlike((3, 4, 2));
    for gamma in [0.0, -1.0, f64::NAN, 1e-12] {
        assert!(soft_dtw(&card, &[case.pair().signals], gamma).is_err());
    }
    assert!(soft_dtw(&card, &[SignalPair { x: &[f32::NAN], y: &[0.0], dim: 1 }], 1.0).is_err());
}
