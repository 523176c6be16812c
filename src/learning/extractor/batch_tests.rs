//! The whole chain: features through the networks to the loss, and all the way back.

use candle_core::{Device, Var};

use super::*;
use crate::learning::losses::WarpLoss;
use crate::networks::Gru;
use crate::networks::gru::GruShape;

const SHAPE: GruShape = GruShape { input: 4, hidden: 3 };
const SLICES: usize = 2;
const SCORE: usize = 20;
const PERFORMANCE: usize = 22;

/// Score features, performance features, parameters of their networks, λ.
type Example = [Vec<f64>; 5];
const NAMES: [&str; 5] = ["score features", "performance features", "score network", "performance network", "lambda"];

fn example() -> Example {
    let curve = |time: f64| [(3.0 * time).sin(), (4.0 * time + 0.5).cos(), (5.0 * time).sin(), (2.0 * time).cos()];
    let frames = |count: usize, slower: f64, later: f64| -> Vec<f64> {
        (0..SLICES)
            .flat_map(|k| (0..count).flat_map(move |i| curve(slower * 0.05 * i as f64 - later + k as f64)))
            .collect()
    };
    let network: Vec<f64> = (0..SHAPE.parameter_count()).map(|i| 0.8 * (1.7 * (i + 1) as f64).sin()).collect();
    let other = network.iter().map(|w| 1.02 * w).collect();
    [frames(SCORE, 1.0, 0.0), frames(PERFORMANCE, 1.05, 0.08), network, other, vec![0.05]]
}

fn batch() -> SliceBatch {
    let times = |count: usize| (0..count).map(|i| 0.05 * i as f64).collect::<Vec<f64>>();
    let score_s: Vec<f64> = (1..9).map(|i| 0.1 * f64::from(i)).collect();
    let performance_s = score_s.iter().map(|s| 0.09 + s / 1.05 + 0.01 * (9.0 * s).sin()).collect();
    let truths = vec![SliceTruth { score_s, performance_s }; SLICES];
    SliceBatch { score_s: times(SCORE), performance_s: times(PERFORMANCE), truths }
}

/// The loss and its gradient with respect to every part of the example.
fn loss(example: &Example, method: ExtractorMethod) -> (f64, Vec<Vec<f64>>) {
    let dims: [&[usize]; 5] = [
        &[SLICES, SCORE, SHAPE.input],
        &[SLICES, PERFORMANCE, SHAPE.input],
        &[example[2].len()],
        &[example[3].len()],
        &[1],
    ];
    let parts: Vec<Var> = example
        .iter()
        .zip(dims)
        .map(|(values, dims)| Var::from_vec(values.clone(), dims, &Device::Cpu).unwrap())
        .collect();
    let ctx = JobContext::new();
    let encode = |side: usize| {
        let network = Gru::new(SHAPE, parts[2 + side].as_tensor().clone());
        network.encode(&ctx, parts[side].as_tensor()).unwrap()
    };
    let loss = extractor_loss(&ctx, method, batch(), &encode(0), &encode(1), parts[4].as_tensor()).unwrap();
    let gradients = loss.backward().unwrap();
    let of = |part: &Var| gradients.get(part).unwrap().flatten_all().unwrap().to_vec1().unwrap();
    (loss.to_scalar().unwrap(), parts.iter().map(of).collect())
}

fn check_chain(method: ExtractorMethod) {
    let base = example();
    let (_, gradients) = loss(&base, method);
    for (part, gradient) in gradients.iter().enumerate() {
        let scale = gradient.iter().fold(0.0_f64, |a, g| a.max(g.abs()));
        assert!(scale > 1e-8 || part == 4, "{}: nothing to check", NAMES[part]);
        for index in (0..gradient.len()).step_by(7) {
            let at = |change: f64| {
                let mut changed = base.clone();
                changed[part][index] += change;
                loss(&changed, method).0
            };
            let h = if part == 4 { 1e-6 } else { 1e-5 };
            let difference = (at(h) - at(-h)) / (2.0 * h);
            let error = (difference - gradient[index]).abs();
            assert!(
                error < 2e-4 * scale + 1e-9,
                "{method:?}, {} {index}: {difference} {}",
                NAMES[part],
                gradient[index]
            );
        }
    }
}

#[test]
fn the_gradient_of_the_whole_chain_from_features_to_time_error_is_that_of_finite_differences() {
    // The exact gradient: rounded kinks answer where the solution itself stands still.
    for loss in [WarpLoss::TimeErr, WarpLoss::TimeDev] {
        check_chain(ExtractorMethod::DecDtw { loss, rounding: 0.0, regret: 0.0 });
    }
}

#[test]
fn the_other_methods_chain_likewise() {
    check_chain(ExtractorMethod::SoftDtw { gamma: 1.0 });
    check_chain(ExtractorMethod::AlongTruth);
    check_chain(ExtractorMethod::Dilate { alpha: 0.0, gamma: 0.1 });
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| loss(&example(), ExtractorMethod::decdtw(WarpLoss::TimeErr)))
    };
    assert_eq!(on(1), on(4));
}
