use super::super::tests::random;
use super::*;
use crate::warping::Signal;

/// A signal and the same signal `shift` seconds later, between stretches of noise.
fn shifted(shift: f64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let times: Vec<f64> = (0..200).map(|i| f64::from(i) * 0.05).collect();
    let curve = |t: f64| [(2.3 * t).sin(), (1.7 * t + 0.4).cos(), (0.31 * t * t).sin()];
    let x = times.iter().flat_map(|&t| curve(t)).collect();
    let y = times.iter().flat_map(|&t| curve(t - shift)).collect();
    (times, x, y)
}

#[test]
fn the_band_widens_to_where_the_warp_is() {
    let (times, x, y) = shifted(1.1);
    let signal = |values| Signal::new(&times, values, 3).unwrap();
    let mut problem = Problem::from_signals(signal(&x), signal(&y), 1e-3);
    problem.upper[199] = f64::INFINITY;
    let solved = |radius_s, widenings| {
        let band = WideningBand { radius_s, widenings };
        let options = SolveOptions::default();
        solve_in_band(&JobContext::new(), &problem, &times, band, &options, &mut Workspace::default()).unwrap()
    };
    let whole = solve(&JobContext::new(), &problem, &SolveOptions::default(), &mut Workspace::default()).unwrap();
    let widened = solved(0.3, 4);
    assert!(
        (widened.objective - whole.objective).abs() < 1e-9 * (1.0 + whole.objective),
        "{} {}",
        widened.objective,
        whole.objective
    );
    let fixed = solved(0.3, 0);
    assert!(fixed.phi.iter().zip(&times).all(|(p, t)| (p - t).abs() <= 0.3 + 1e-9));
}

#[test]
fn a_bound_of_the_problem_is_no_reason_to_widen() {
    let (times, x, y) = shifted(1.1);
    let signal = |values| Signal::new(&times, values, 3).unwrap();
    let radii = vec![0.3; 200];
    let problem = Problem::from_signals(signal(&x), signal(&y), 1e-3).with_band(&times, &radii).unwrap();
    let band = WideningBand { radius_s: 0.3, widenings: 4 };
    let solution =
        solve_in_band(&JobContext::new(), &problem, &times, band, &SolveOptions::default(), &mut Workspace::default());
    assert!(solution.unwrap().phi.iter().zip(&times).all(|(p, t)| (p - t).abs() <= 0.3 + 1e-9));
}

#[test]
fn a_band_that_misses_an_anchor_grows_unless_it_is_a_constraint() {
    let (times, x, _) = shifted(0.0);
    let noise = random(600, 5);
    let signal = |values| Signal::new(&times, values, 3).unwrap();
    let problem = Problem::from_signals(signal(&x), signal(&noise), 1e-2).with_anchors(&[(100, 8.0)]).unwrap();
    let solved = |widenings| {
        let band = WideningBand { radius_s: 0.5, widenings };
        let options = SolveOptions::default();
        solve_in_band(&JobContext::new(), &problem, &times, band, &options, &mut Workspace::default())
    };
    assert_eq!(solved(3).unwrap().phi[100], 8.0);
    assert!(matches!(solved(0), Err(Error::Infeasible { .. })));
}
