use super::*;
use crate::warping::gdtw::problem::EdgeCost;
use crate::warping::gdtw::tests::random;

fn features() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    (vec![0.0, 0.4, 1.0, 1.7, 2.0], random(15, 7), random(15, 8))
}

/// The definition, term by term.
fn naive(x: &[f64], y: &Signal<'_, f64>, weight: f64, at: f64) -> f64 {
    let k = (0..y.frames() - 1).rfind(|&k| y.times()[k] <= at).unwrap().min(y.frames() - 2);
    let a = (at - y.times()[k]) / (y.times()[k + 1] - y.times()[k]);
    let r = (0..y.dim()).map(|c| x[c] - (1.0 - a) * y.frame(k)[c] - a * y.frame(k + 1)[c]);
    weight * r.map(|v| v * v).sum::<f64>()
}

#[test]
fn pieces_agree_with_the_definition_and_their_own_derivatives() {
    let (times, xs, ys) = features();
    let x = Signal::new(&times, &xs, 3).unwrap();
    let y = Signal::new(&times, &ys, 3).unwrap();
    let problem = Problem::from_signals(x, y, 0.1);
    let NodeCost::Features { weights, .. } = &problem.nodes else { unreachable!() };
    for (knot, &weight) in weights.iter().enumerate() {
        for step in 0..=40 {
            let at = f64::from(step) * 0.05;
            for side in [Side::Left, Side::Right] {
                let piece = problem.piece(knot, at, side);
                assert!((piece.eval(at).0 - naive(x.frame(knot), &y, weight, at)).abs() < 1e-12, "knot {knot} at {at}");
                assert!(piece.lo <= at + 1e-12 && at <= piece.hi + 1e-12);
            }
            let h = 1e-6;
            let piece = problem.piece(knot, at, Side::Right);
            let (low, mid, high) = (piece.eval(at), piece.eval(at + h), piece.eval(at + 2.0 * h));
            assert!(((high.0 - low.0) / (2.0 * h) - mid.1).abs() < 1e-7);
            assert!(((high.1 - low.1) / (2.0 * h) - mid.2).abs() < 1e-6);
        }
    }
}

#[test]
fn a_point_on_a_frame_belongs_to_both_sides() {
    let times = [0.0, 0.4, 1.0, 1.7, 2.0];
    assert_eq!(frame_at(&times, 1.0, Side::Left), 1);
    assert_eq!(frame_at(&times, 1.0, Side::Right), 2);
    assert_eq!(frame_at(&times, 0.0, Side::Left), 0);
    assert_eq!(frame_at(&times, 2.0, Side::Right), 3);
    assert_eq!(frame_at(&times, 1.999, Side::Right), 3);
    assert_eq!(frame_at(&times, 0.399, Side::Right), 0);
}

#[test]
fn table_pieces_join_and_parabolas_have_their_vertex_where_three_costs_say() {
    let mut table = CostTable::<f64>::new(1.0, 0.5).unwrap();
    table.push_row(2, &[3.0, 1.0, 0.5, 2.0, 2.5]).unwrap();
    table.push_row(2, &[3.0]).unwrap();
    let edges = EdgeCost::Slope { lambda: vec![0.0], rho: vec![1.0] };
    let problem = Problem::new(vec![0.0, 1.0], NodeCost::Table(&table), edges);
    for step in 0..=16 {
        let at = 2.0 + f64::from(step) * 0.125;
        let (left, right) = (problem.piece(0, at, Side::Left).eval(at), problem.piece(0, at, Side::Right).eval(at));
        assert!((left.0 - right.0).abs() < 1e-12 && (left.1 - right.1).abs() < 1e-12, "{at}");
    }
    assert_eq!(problem.piece(0, 2.0, Side::Right).eval(2.0).0, 3.0);
    assert_eq!(problem.piece(0, 4.0, Side::Right).eval(4.0).0, 2.5);
    // The parabola through (2.5, 1), (3, 0.5), (3.5, 2) has its vertex at 3 − 0.5·(2 − 1)/(2·(1 − 2·0.5 + 2)).
    let vertex = 3.0 - 0.5 * 1.0 / 4.0;
    assert!(problem.piece(0, vertex, Side::Right).eval(vertex).1.abs() < 1e-12);
}
