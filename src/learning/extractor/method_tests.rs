use super::*;

const SCORE: usize = 24;
const PERFORMANCE: usize = 27;
const DIM: usize = 3;

struct Example {
    score_s: Vec<f64>,
    performance_s: Vec<f64>,
    score: Vec<f64>,
    performance: Vec<f64>,
    truth: SliceTruth,
}

/// A smooth curve through feature space, passed through a little later and faster by the performance.
fn example() -> Example {
    let frames = |count: usize| (0..count).map(|i| 0.05 * i as f64).collect::<Vec<f64>>();
    let point = |time: f64| [(4.0 * time).sin(), (3.0 * time).cos(), (7.0 * time + 1.0).sin()];
    let (score_s, performance_s) = (frames(SCORE), frames(PERFORMANCE));
    let true_score = |performance: f64| 1.08 * (performance - 0.06) + 0.02 * (5.0 * performance).sin();
    let score = score_s.iter().flat_map(|&t| point(t)).collect();
    let performance = performance_s.iter().flat_map(|&t| point(true_score(t)).map(|v| v + 0.05)).collect();
    let rows: Vec<f64> = (1..10).map(|i| 0.11 * f64::from(i)).collect();
    let truth = SliceTruth {
        score_s: rows.iter().map(|&p| true_score(p)).collect(),
        performance_s: rows.iter().map(|p| p + 0.01).collect(),
    };
    Example { score_s, performance_s, score, performance, truth }
}

fn loss(method: ExtractorMethod, lambda: f64, example: &Example) -> SliceLoss<f64> {
    let slice = EncodedSlice {
        score: Signal::new(&example.score_s, &example.score, DIM).unwrap(),
        performance: Signal::new(&example.performance_s, &example.performance, DIM).unwrap(),
        truth: &example.truth,
    };
    slice_losses(&JobContext::new(), method, lambda, &[slice]).unwrap().remove(0)
}

fn difference(at: impl Fn(f64) -> f64) -> f64 {
    let h = 1e-5;
    (at(h) - at(-h)) / (2.0 * h)
}

#[test]
fn every_method_agrees_with_finite_differences_of_its_loss() {
    let exact =
        [WarpLoss::TimeErr, WarpLoss::TimeDev].map(|loss| ExtractorMethod::DecDtw { loss, rounding: 0.0, regret: 0.0 });
    let others = ExtractorMethod::ALL.into_iter().filter(|method| !matches!(method, ExtractorMethod::DecDtw { .. }));
    for method in others.chain(exact) {
        let base = example();
        let found = loss(method, 0.1, &base);
        let scale = found.score.iter().chain(&found.performance).fold(0.0_f64, |a, g| a.max(g.abs()));
        assert!(scale > 0.0);
        for index in (0..SCORE * DIM).step_by(5) {
            let by_score = difference(|h| {
                let mut changed = example();
                changed.score[index] += h;
                loss(method, 0.1, &changed).value
            });
            let by_performance = difference(|h| {
                let mut changed = example();
                changed.performance[index] += h;
                loss(method, 0.1, &changed).value
            });
            assert!((by_score - found.score[index]).abs() < 1e-3 * scale, "{method:?} {index} {by_score}");
            assert!((by_performance - found.performance[index]).abs() < 1e-3 * scale, "{method:?} {index}");
        }
        let by_lambda = difference(|h| loss(method, 0.1 + h, &base).value);
        assert!((by_lambda - found.lambda).abs() < 1e-3 * found.lambda.abs() + 1e-9, "{method:?} {by_lambda}");
    }
}

#[test]
fn a_row_of_the_truth_in_the_last_frame_is_no_error() {
    let mut example = example();
    example.truth.score_s.push(0.05 * SCORE as f64 - 0.001);
    example.truth.performance_s.push(0.05 * PERFORMANCE as f64 - 0.001);
    for method in ExtractorMethod::ALL {
        assert!(loss(method, 0.1, &example).value.is_finite());
    }
}

#[test]
fn single_precision_agrees_with_double() {
    let example = example();
    let single = |values: &[f64]| values.iter().map(|&v| v as f32).collect::<Vec<f32>>();
    let (score, performance) = (single(&example.score), single(&example.performance));
    for method in ExtractorMethod::ALL {
        let slice = EncodedSlice {
            score: Signal::new(&example.score_s, &score, DIM).unwrap(),
            performance: Signal::new(&example.performance_s, &performance, DIM).unwrap(),
            truth: &example.truth,
        };
        let found = slice_losses(&JobContext::new(), method, 0.1, &[slice]).unwrap().remove(0);
        let expected = loss(method, 0.1, &example).value;
        assert!((found.value - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{method:?}");
    }
}
