use super::*;
use crate::warping::test_noise::unit_noise;

/// Deterministic values that look random.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    unit_noise(count, seed).into_iter().map(|v| 2.0 * v - 1.0).collect()
}

fn times(frames: usize) -> Vec<f64> {
    (0..frames).map(|i| i as f64).collect()
}

fn naive(kind: LocalCost, x: &[f64], y: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    match kind {
        LocalCost::SquaredEuclidean => x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum(),
        LocalCost::Cosine => {
            let norms = (dot(x, x) * dot(y, y)).sqrt();
            if norms > 0.0 { 1.0 - dot(x, y) / norms } else { 1.0 }
        }
    }
}

#[test]
fn costs_match_the_naive_double_loop_in_full_and_banded_matrices() {
    for (rows, columns, dim) in [(1, 1, 1), (3, 7, 2), (70, 45, 12), (300, 331, 5)] {
        let (mut x, y) = (noise(rows * dim, 1), noise(columns * dim, 2));
        x[..dim].fill(0.0);
        let (tx, ty) = (times(rows), times(columns));
        let (score, performance) = (Signal::new(&tx, &x, dim).unwrap(), Signal::new(&ty, &y, dim).unwrap());
        for kind in [LocalCost::SquaredEuclidean, LocalCost::Cosine] {
            for band in [Band::full(rows, columns).unwrap(), Band::sakoe_chiba(rows, columns, 6).unwrap()] {
                let cost = local_cost(&JobContext::new(), &score, &performance, kind, &band).unwrap();
                for row in 0..rows {
                    for (column, &value) in band.row(row).zip(cost.row(row)) {
                        let expected = naive(kind, score.frame(row), performance.frame(column));
                        assert!((value - expected).abs() < 1e-12, "{kind:?} {row} {column}: {value} {expected}");
                    }
                }
            }
        }
    }
}

#[test]
fn features_far_from_the_origin_keep_their_small_distances() {
    // Log spectra near -80 dB: without centring, f32 norms of 8e5 would drown distances of 1.
    let (rows, dim) = (40, 128);
    let x: Vec<f32> = noise(rows * dim, 3).iter().map(|v| (v * 0.1 - 80.0) as f32).collect();
    let y: Vec<f32> = noise(rows * dim, 4).iter().map(|v| (v * 0.1 - 80.0) as f32).collect();
    let t = times(rows);
    let (score, performance) = (Signal::new(&t, &x, dim).unwrap(), Signal::new(&t, &y, dim).unwrap());
    let band = Band::full(rows, rows).unwrap();
    let cost = local_cost(&JobContext::new(), &score, &performance, LocalCost::SquaredEuclidean, &band).unwrap();
    let wide = |frame: &[f32]| frame.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
    for row in 0..rows {
        for column in 0..rows {
            let expected =
                naive(LocalCost::SquaredEuclidean, &wide(score.frame(row)), &wide(performance.frame(column)));
            let value = f64::from(cost.get(row, column).unwrap());
            assert!((value - expected).abs() < 1e-5 * expected.max(1.0), "{value} {expected}");
        }
    }
}

#[test]
fn costs_are_never_negative_and_do_not_depend_on_the_number_of_threads() {
    let (rows, dim) = (700, 48);
    let x: Vec<f32> = noise(rows * dim, 5).iter().map(|&v| v as f32).collect();
    let t = times(rows);
    let signal = Signal::new(&t, &x, dim).unwrap();
    let band = Band::full(rows, rows).unwrap();
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| local_cost(&JobContext::new(), &signal, &signal, LocalCost::SquaredEuclidean, &band).unwrap())
    };
    let one = with_threads(1);
    assert!(one.values().iter().all(|&value| value >= 0.0));
    assert_eq!(one, with_threads(3));
}

#[test]
fn mismatched_or_overflowing_input_is_refused() {
    let t = times(2);
    let (x, y) = ([1.0f32, 2.0, 3.0, 4.0], [1e30f32, -1e30]);
    let ctx = JobContext::new();
    let (two, one) = (Signal::new(&t, &x, 2).unwrap(), Signal::new(&t, &y, 1).unwrap());
    let band = Band::full(2, 2).unwrap();
    let cost = |a, b, band: &Band| local_cost(&ctx, a, b, LocalCost::SquaredEuclidean, band);
    assert!(cost(&two, &one, &band).unwrap_err().to_string().contains("as in the score"));
    assert!(cost(&two, &two, &Band::full(2, 3).unwrap()).unwrap_err().to_string().contains("as the signals"));
    assert!(cost(&one, &one, &band).unwrap_err().to_string().contains("too large"));
    ctx.cancel();
    assert!(matches!(cost(&two, &two, &band), Err(Error::Cancelled)));
}
