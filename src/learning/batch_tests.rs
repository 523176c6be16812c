use super::*;
use crate::learning::losses::WarpLoss;
use crate::networks::gru::GruShape;

const SHAPE: GruShape = GruShape { input: 4, hidden: 3 };
const SLICES: usize = 2;
const SCORE: usize = 20;
const PERFORMANCE: usize = 22;
const LAMBDA: f64 = 0.05;

/// Everything that the loss of a batch depends on.
#[derive(Clone)]
struct Example {
    score: Vec<f64>,
    performance: Vec<f64>,
    score_network: Vec<f64>,
    performance_network: Vec<f64>,
}

fn wave(count: usize, step: f64, size: f64) -> Vec<f64> {
    (0..count).map(|i| size * (step * (i + 1) as f64).sin()).collect()
}

fn example() -> Example {
    let count = SHAPE.parameter_count();
    let curve = |time: f64| [(3.0 * time).sin(), (4.0 * time + 0.5).cos(), (5.0 * time).sin(), (2.0 * time).cos()];
    let frames = |count: usize, slower: f64, later: f64| -> Vec<f64> {
        (0..SLICES)
            .flat_map(|k| (0..count).flat_map(move |i| curve(slower * 0.05 * i as f64 - later + k as f64)))
            .collect()
    };
    let network = wave(count, 1.7, 0.8);
    Example {
        score: frames(SCORE, 1.0, 0.0),
        performance: frames(PERFORMANCE, 1.05, 0.08),
        performance_network: network.iter().map(|w| 1.02 * w).collect(),
        score_network: network,
    }
}

fn truths() -> Vec<SliceTruth> {
    let score_s: Vec<f64> = (1..9).map(|i| 0.1 * f64::from(i)).collect();
    let performance_s = score_s.iter().map(|s| 0.09 + s / 1.05 + 0.01 * (9.0 * s).sin()).collect();
    vec![SliceTruth { score_s, performance_s }; SLICES]
}

fn loss(example: &Example, method: Method, lambda: f64) -> BatchLoss<f64> {
    let times = |count: usize| (0..count).map(|i| 0.05 * i as f64).collect::<Vec<f64>>();
    let batch = SliceBatch {
        score_s: &times(SCORE),
        performance_s: &times(PERFORMANCE),
        dim: SHAPE.input,
        score: &example.score,
        performance: &example.performance,
        truths: &truths(),
    };
    let networks = Networks {
        score: GruRef::new(SHAPE, &example.score_network).unwrap(),
        performance: GruRef::new(SHAPE, &example.performance_network).unwrap(),
    };
    batch_loss(&JobContext::new(), method, lambda, networks, &batch, InputGradient::Wanted).unwrap()
}

/// A part of the example that is changed, one value at a time.
type Part = fn(&mut Example) -> &mut Vec<f64>;

fn check_chain(method: Method) {
    let base = example();
    let found = loss(&base, method, LAMBDA);
    let (by_score, by_performance) = found.inputs.as_ref().unwrap();
    let parts: [(&str, Part, &[f64]); 4] = [
        ("score features", |e| &mut e.score, by_score),
        ("performance features", |e| &mut e.performance, by_performance),
        ("score network", |e| &mut e.score_network, &found.score),
        ("performance network", |e| &mut e.performance_network, &found.performance),
    ];
    for (name, part, gradient) in parts {
        let scale = gradient.iter().fold(0.0_f64, |a, g| a.max(g.abs()));
        assert!(scale > 1e-8, "{name}: nothing to check");
        for index in (0..gradient.len()).step_by(7) {
            let at = |change: f64| {
                let mut changed = base.clone();
                part(&mut changed)[index] += change;
                loss(&changed, method, LAMBDA).value
            };
            let h = 1e-5;
            let difference = (at(h) - at(-h)) / (2.0 * h);
            let error = (difference - gradient[index]).abs();
            assert!(error < 2e-4 * scale, "{method:?}, {name} {index}: {difference} {}", gradient[index]);
        }
    }
    let difference = (loss(&base, method, LAMBDA + 1e-6).value - loss(&base, method, LAMBDA - 1e-6).value) / 2e-6;
    assert!((difference - found.lambda).abs() < 1e-4 * found.lambda.abs() + 1e-9, "{difference} {}", found.lambda);
}

#[test]
fn the_gradient_of_the_whole_chain_from_features_to_time_error_is_that_of_finite_differences() {
    // The exact gradient: rounded kinks answer where the solution itself stands still.
    for loss in [WarpLoss::TimeErr, WarpLoss::TimeDev] {
        check_chain(Method::DecDtw { loss, rounding: 0.0, regret: 0.0 });
    }
}

#[test]
fn the_other_methods_chain_likewise() {
    check_chain(Method::SoftDtw { gamma: 1.0 });
    check_chain(Method::AlongTruth);
    check_chain(Method::Dilate { alpha: 0.0, gamma: 0.1 });
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| loss(&example(), Method::decdtw(WarpLoss::TimeErr), LAMBDA))
    };
    let (one, four) = (on(1), on(4));
    assert_eq!((one.value, one.lambda), (four.value, four.lambda));
    assert_eq!((one.score, one.performance), (four.score, four.performance));
}
