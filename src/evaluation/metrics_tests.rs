//! Metrics against figures of independent programs (tests/golden/metrics/make.py) and by hand.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::*;
use crate::evaluation::{read_ground_truth, read_prediction};

fn map(pairs: &[(f64, f64)]) -> TimeMap {
    TimeMap::from_pairs(pairs.to_vec()).unwrap()
}

#[test]
fn every_figure_agrees_with_the_independent_programs_to_a_hundredth_of_a_millisecond() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/metrics");
    let expected: BTreeMap<String, BTreeMap<String, Value>> =
        serde_json::from_str(&std::fs::read_to_string(folder.join("expected.json")).unwrap()).unwrap();
    assert_eq!(expected.len(), 14);
    for (files, figures) in expected {
        let (prediction, truth) = files.split_once(' ').unwrap();
        let prediction = read_prediction(&folder.join(prediction)).unwrap().times;
        let truth = read_ground_truth(&folder.join(truth), None).unwrap();
        let found = serde_json::to_value(evaluate(&prediction, &truth)).unwrap();
        assert_eq!(found.as_object().unwrap().len(), figures.len(), "{files}");
        for (name, figure) in figures {
            agrees(&found[&name], &figure, 0.01, &format!("{files} {name}"));
        }
    }
}

fn agrees(found: &Value, expected: &Value, tolerance: f64, what: &str) {
    match expected {
        Value::Number(number) => {
            let (found, expected) = (found.as_f64().unwrap(), number.as_f64().unwrap());
            assert!((found - expected).abs() <= tolerance, "{what}: {found}, not {expected}");
        }
        // Seconds and shares of 1 inside: a hundredth of a millisecond is 1e-5.
        Value::Object(inner) => inner.iter().for_each(|(k, v)| agrees(&found[k], v, 1e-5, &format!("{what} {k}"))),
        other => assert_eq!(found, other, "{what}"),
    }
}

#[test]
fn an_error_that_changes_sign_is_two_triangles() {
    let truth = map(&[(0.0, 0.0), (1.0, 1.0)]);
    let prediction = map(&[(0.0, 0.1), (1.0, 0.7)]);
    let found = evaluate(&prediction, &truth);
    // Errors -0.1 and 0.3: areas 0.1 * 0.25 / 2 and 0.3 * 0.75 / 2.
    assert!((found.time_err_ms - 125.0).abs() < 1e-9);
    assert!((found.time_dev_ms - 1e3 * ((0.01 - 0.03 + 0.09) / 3.0f64).sqrt()).abs() < 1e-9);
    assert!((found.bias_ms + 100.0).abs() < 1e-9, "half-way between 0.1 late and 0.3 early");
}

#[test]
fn an_exact_prediction_and_a_truth_that_stands_still_give_numbers() {
    let still = map(&[(0.0, 1.0), (1.0, 1.0)]);
    let found = evaluate(&still, &still);
    assert_eq!((found.time_err_ms, found.time_dev_ms, found.mir_eval.correct_segments), (0.0, 0.0, 1.0));
    let moved = evaluate(&map(&[(0.0, 1.0), (1.0, 2.0)]), &still);
    assert_eq!(moved.mir_eval.correct_segments, 0.0);
    assert!(moved.time_err_ms.is_finite());
}

proptest::proptest! {
    /// The closed integrals against a plain sum over fine steps.
    #[test]
    fn integrals_agree_with_a_fine_riemann_sum(
        rows in proptest::collection::vec((0.01f64..2.0, -1.0f64..1.0), 2..12),
    ) {
        let mut at = 0.0;
        let places: Vec<f64> = rows.iter().map(|(step, _)| { at += step; at }).collect();
        let errors: Vec<f64> = rows.iter().map(|(_, error)| *error).collect();
        let line = map(&places.iter().copied().zip(errors.iter().copied()).collect::<Vec<_>>());
        let (absolute, root_square) = integral_errors(&places, &errors);
        let steps = 200_000;
        let span = places[places.len() - 1] - places[0];
        let values = (0..steps).map(|i| line.at(places[0] + span * (f64::from(i) + 0.5) / f64::from(steps)));
        let (sum, squares) = values.fold((0.0, 0.0), |(s, q), v| (s + v.abs(), q + v * v));
        proptest::prop_assert!((absolute - sum / f64::from(steps)).abs() < 1e-4);
        proptest::prop_assert!((root_square - (squares / f64::from(steps)).sqrt()).abs() < 1e-4);
    }
}
