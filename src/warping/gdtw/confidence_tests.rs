use super::super::tests::{random, run};
use super::*;
use crate::warping::Signal;

const PARAMS: ConfidenceParams = ConfidenceParams {
    reach_s: 1.0,
    step_s: 0.05,
    away_s: 0.25,
    model: ConfidenceModel { tolerance_s: 0.1, intercept: -2.0, per_log_std: -1.0, per_log_margin: 1.0 },
};

fn confidence<T: Real>(problem: &Problem<'_, T>, phi: &[f64]) -> Vec<KnotConfidence> {
    knot_confidence(&JobContext::new(), problem, phi, &PARAMS).unwrap()
}

/// Diagonal of the inverse by Gauss-Jordan elimination, rows and columns of fixed knots left out.
fn dense_diagonal(problem: &Problem<'_, f64>, phi: &[f64]) -> Vec<f64> {
    let m = phi.len();
    let mut a = vec![vec![0.0; 2 * m]; m];
    for i in 0..m {
        a[i][i] += problem.piece(i, phi[i], Side::Right).eval(phi[i]).2;
        a[i][m + i] = 1.0;
        if i + 1 < m {
            let k = problem.edge(i, phi[i + 1] - phi[i]).second;
            a[i][i] += k;
            a[i + 1][i + 1] += k;
            a[i][i + 1] -= k;
            a[i + 1][i] -= k;
        }
    }
    for i in (0..m).filter(|&i| problem.limits(i).0 >= problem.limits(i).1) {
        a.iter_mut().for_each(|row| row[i] = 0.0);
        a[i].fill(0.0);
        a[i][i] = 1.0;
    }
    for p in 0..m {
        let pivot = a[p][p];
        a[p].iter_mut().for_each(|v| *v /= pivot);
        let row = a[p].clone();
        for (_, other) in a.iter_mut().enumerate().filter(|(i, _)| *i != p) {
            let factor = other[p];
            other.iter_mut().zip(&row).for_each(|(v, r)| *v -= factor * r);
        }
    }
    (0..m).map(|i| a[i][m + i].sqrt()).collect()
}

#[test]
fn spread_is_the_diagonal_of_the_inverse_hessian() {
    let times: Vec<f64> = (0..30).map(|i| f64::from(i) * 0.2).collect();
    let (x, y) = (random(60, 1), random(60, 2));
    let signal = |values| Signal::new(&times, values, 2).unwrap();
    let problem = Problem::from_signals(signal(&x), signal(&y), 0.3).with_anchors(&[(12, 2.2)]).unwrap();
    let phi = run(&problem).unwrap().phi;
    for (a, b) in spread(&problem, &phi).iter().zip(dense_diagonal(&problem, &phi)) {
        assert!((a - b).abs() < 1e-9 * (1.0 + b), "{a} {b}");
    }
}

/// A curve that stands still for a while, and repeats itself with a period of 0.6 s elsewhere.
fn curve(t: f64) -> [f64; 2] {
    if (4.0..6.0).contains(&t) {
        return [2.0, 2.0];
    }
    let turn = std::f64::consts::TAU * t / 0.6;
    if t < 10.0 { [turn.sin(), turn.cos()] } else { [(0.9 * t * t).sin(), (2.0 * t).cos()] }
}

#[test]
fn flat_and_repeating_stretches_are_less_sure_and_anchors_are_sure() {
    let times: Vec<f64> = (0..280).map(|i| f64::from(i) * 0.05).collect();
    let noise = |seed| random(560, seed).into_iter().map(|v| 0.2 * v);
    let make = |seed| times.iter().flat_map(|&t| curve(t)).zip(noise(seed)).map(|(a, b)| a + b).collect::<Vec<f64>>();
    let (x, y) = (make(1), make(2));
    let signal = |values| Signal::new(&times, values, 2).unwrap();
    let problem = Problem::from_signals(signal(&x), signal(&y), 0.01).with_anchors(&[(20, 1.0)]).unwrap();
    let phi = run(&problem).unwrap().phi;
    let found = confidence(&problem, &phi);
    let mean = |range: std::ops::Range<usize>, of: &dyn Fn(&KnotConfidence) -> f64| {
        let count = range.len() as f64;
        found[range].iter().map(of).sum::<f64>() / count
    };
    assert!(mean(90..110, &|k| k.std_s) > 3.0 * mean(210..260, &|k| k.std_s), "a flat stretch is vague");
    assert!(mean(90..110, &|k| k.probability) < mean(210..260, &|k| k.probability));
    let anchor = found[20];
    assert_eq!((anchor.std_s, anchor.margin, anchor.probability), (0.0, f64::INFINITY, 1.0));
    assert!(found.iter().all(|k| k.margin >= 0.0 && (0.0..=1.0).contains(&k.probability)));
    // Scaling all features by ten and λ by a hundred scales the objective: nothing else changes.
    let (x10, y10): (Vec<f64>, Vec<f64>) = (x.iter().map(|v| 10.0 * v).collect(), y.iter().map(|v| 10.0 * v).collect());
    let scaled = Problem::from_signals(signal(&x10), signal(&y10), 1.0).with_anchors(&[(20, 1.0)]).unwrap();
    for (a, b) in confidence(&scaled, &phi).iter().zip(&found) {
        assert!((a.std_s - b.std_s).abs() < 1e-6 && (a.probability - b.probability).abs() < 1e-3);
    }
}

#[test]
fn the_calibrated_model_rises_with_the_margin_and_falls_with_the_deviation() {
    let model = ConfidenceModel::default();
    let typical = model.probability(0.027, 9.0);
    assert!((0.9..0.96).contains(&typical), "{typical}");
    assert!(model.probability(0.027, 1.0) < 0.5 && model.probability(0.1, 9.0) < typical);
    assert!(model.probability(0.027, f64::INFINITY) > 0.999);
}

#[test]
fn bad_settings_are_refused_and_free_directions_stay_finite() {
    let times: Vec<f64> = (0..20).map(f64::from).collect();
    let values = vec![0.5_f64; 20];
    let signal = Signal::new(&times, &values, 1).unwrap();
    let problem = Problem::from_signals(signal, signal, 0.0);
    let found = confidence(&problem, &times);
    assert!(found.iter().all(|k| k.std_s.is_finite() && k.probability < 0.5), "{found:?}");
    let refused = |change: &dyn Fn(&mut ConfidenceParams)| {
        let mut params = PARAMS;
        change(&mut params);
        knot_confidence(&JobContext::new(), &problem, &times, &params).is_err()
    };
    assert!(refused(&|p| p.step_s = 0.0));
    assert!(refused(&|p| p.reach_s = f64::NAN));
    assert!(refused(&|p| p.away_s = 1.0));
    assert!(refused(&|p| p.step_s = 1e-9));
    assert!(knot_confidence(&JobContext::new(), &problem, &times[..3], &PARAMS).is_err());
}
