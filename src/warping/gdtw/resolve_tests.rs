use super::super::tests::{random, run};
use super::super::{CostTable, EdgeCost, Interpolation, NodeCost};
use super::*;
use crate::warping::Signal;

/// Two noisy versions of one curve, one of them warped.
struct Pair {
    times: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Pair {
    fn new(count: usize) -> Self {
        let times: Vec<f64> = (0..count).map(|i| i as f64 * 0.1).collect();
        let curve = |t: f64| [(2.1 * t).sin(), (1.3 * t).cos(), (0.05 * t * t).sin()];
        let noise = |seed| random(3 * count, seed).into_iter().map(|v| 0.3 * v);
        let warped = |t: f64| t + 0.5 * (0.3 * t).sin();
        let x = times.iter().flat_map(|&t| curve(warped(t))).zip(noise(1)).map(|(a, b)| a + b).collect();
        let y = times.iter().flat_map(|&t| curve(t)).zip(noise(2)).map(|(a, b)| a + b).collect();
        Self { times, x, y }
    }

    fn problem(&self, anchors: &[(usize, f64)]) -> Problem<'_, f64> {
        let signal = |values| Signal::new(&self.times, values, 3).unwrap();
        Problem::from_signals(signal(&self.x), signal(&self.y), 0.2)
            .with_band(&self.times, &vec![2.0; self.times.len()])
            .unwrap()
            .with_slope_limits(0.1, 5.0)
            .with_anchors(anchors)
            .unwrap()
    }
}

fn again<T: Real>(problem: &Problem<'_, T>, previous: &[f64], knot: usize, params: &ResolveParams) -> Result<Resolved> {
    resolve(&JobContext::new(), problem, previous, knot..knot + 1, params, &mut Workspace::default())
}

fn assert_same(a: &[f64], b: &[f64], tolerance: f64) {
    let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst <= tolerance, "{worst}");
}

#[test]
fn between_anchors_it_equals_the_full_solve() {
    let pair = Pair::new(240);
    let exact = ResolveParams { window_s: None, band: None, ..ResolveParams::default() };
    let fixed = [(60, 6.2), (180, 17.6)];
    let with = |extra: Option<(usize, f64)>| pair.problem(&fixed.iter().copied().chain(extra).collect::<Vec<_>>());
    let base = run(&with(None)).unwrap();
    let set = again(&with(Some((120, 12.9))), &base.phi, 120, &exact).unwrap();
    assert_eq!(set.window, 60..181);
    assert_same(&set.phi, &run(&with(Some((120, 12.9)))).unwrap().phi, 1e-7);
    let moved = again(&with(Some((120, 11.4))), &set.phi, 120, &exact).unwrap();
    assert_same(&moved.phi, &run(&with(Some((120, 11.4)))).unwrap().phi, 1e-7);
    let removed = again(&with(None), &moved.phi, 120, &exact).unwrap();
    assert_same(&removed.phi, &base.phi, 1e-7);
    // The default looks in a window and a band only, and finds the same.
    let quick = again(&with(Some((120, 12.9))), &base.phi, 120, &ResolveParams::default()).unwrap();
    assert_same(&quick.phi, &set.phi, 1e-4);
}

#[test]
fn without_anchors_the_window_grows_until_its_seams_are_stationary() {
    let pair = Pair::new(1500);
    let base = run(&pair.problem(&[])).unwrap();
    let anchored = pair.problem(&[(700, base.phi[700] + 0.4)]);
    let params = ResolveParams { window_s: Some(0.5), seam_tolerance: 1e-8, ..ResolveParams::default() };
    let local = again(&anchored, &base.phi, 700, &params).unwrap();
    assert!(local.window.len() > 11 && local.window.len() < 1000, "{:?}", local.window);
    assert!(local.seam_residual <= 1e-8);
    assert_same(&local.phi, &run(&anchored).unwrap().phi, 1e-5);
    let hasty = ResolveParams { window_s: Some(1.0), seam_tolerance: 1e9, ..params };
    assert_eq!(again(&anchored, &base.phi, 700, &hasty).unwrap().window, 690..711);
}

#[test]
fn an_anchor_too_far_for_the_window_makes_it_grow_and_a_contradiction_is_an_error() {
    let pair = Pair::new(400);
    let base = run(&pair.problem(&[])).unwrap();
    let far = pair.problem(&[(200, base.phi[200] + 3.0)]).with_slope_limits(0.5, 2.0);
    let params = ResolveParams { window_s: Some(0.3), ..ResolveParams::default() };
    assert!(again(&far, &base.phi, 200, &params).is_err(), "the band of the problem excludes it");
    let mut far = far;
    far.lower.fill(f64::NEG_INFINITY);
    far.upper.fill(f64::INFINITY);
    let far = far.with_anchors(&[(200, base.phi[200] + 3.0)]).unwrap();
    let local = again(&far, &base.phi, 200, &params).unwrap();
    assert_eq!(local.phi[200], base.phi[200] + 3.0);
    assert!(local.phi.windows(2).all(|p| (0.05 - 1e-9..=0.2 + 1e-9).contains(&(p[1] - p[0]))));
    let conflict = pair.problem(&[(200, 20.0), (201, 19.0)]);
    assert!(matches!(again(&conflict, &base.phi, 201, &params), Err(Error::Infeasible { .. })));
}

#[test]
fn cost_tables_and_log_tempo_are_served_too() {
    let count = 60;
    let mut table = CostTable::<f32>::new(0.0, 0.02, Interpolation::Parabolic).unwrap();
    for i in 0..count {
        let costs: Vec<f32> = random(80, i as u64 + 9).iter().map(|&v| v as f32).collect();
        table.push_row(15 * i, &costs).unwrap();
    }
    let (weight, reference) = (vec![0.5; count - 1], vec![0.3; count - 1]);
    let edges = EdgeCost::LogTempo { weight, reference, epsilon: 0.02, sigma: 0.2, delta: 2.0 };
    let knots: Vec<f64> = (0..count).map(|i| i as f64).collect();
    let problem = Problem::new(knots, NodeCost::Table(&table), edges).with_anchors(&[(15, 5.0), (45, 14.0)]).unwrap();
    let base = run(&problem).unwrap();
    let changed = problem.clone().with_anchors(&[(30, base.phi[30] + 0.2)]).unwrap();
    let params = ResolveParams { window_s: None, band: None, ..ResolveParams::default() };
    let local = again(&changed, &base.phi, 30, &params).unwrap();
    assert_same(&local.phi, &run(&changed).unwrap().phi, 1e-6);
}

#[test]
fn bad_requests_are_refused() {
    let pair = Pair::new(50);
    let problem = pair.problem(&[]);
    let mut workspace = Workspace::default();
    let mut ask = |previous: &[f64], changed, params: &ResolveParams| {
        resolve(&JobContext::new(), &problem, previous, changed, params, &mut workspace).is_err()
    };
    let good = ResolveParams::default();
    assert!(ask(&pair.times[..49], 3..4, &good));
    assert!(ask(&pair.times, 3..3, &good));
    assert!(ask(&pair.times, 49..51, &good));
    assert!(ask(&[f64::NAN; 50], 3..4, &good));
    assert!(ask(&pair.times, 3..4, &ResolveParams { window_s: Some(0.0), ..good.clone() }));
    assert!(ask(&pair.times, 3..4, &ResolveParams { seam_tolerance: f64::NAN, ..good }));
}
