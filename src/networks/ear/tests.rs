use serde::Deserialize;

use super::*;
use crate::audio::AudioClip;
use crate::base::time::ANALYSIS_RATE;
use crate::networks::card::ProblemWeights;

#[derive(Deserialize)]
struct Golden {
    frames: usize,
    pitches: Vec<usize>,
    outputs: Vec<Vec<f64>>,
}

const USUAL: ProblemWeights = ProblemWeights { rises: 1.0, ear: 1.0, tempo: 1.0 };
const TINY: EarSpec = EarSpec { hop: 256, channels: 6, hidden: 4, summary: 3, head: 5, problem: USUAL };

/// The formula of `tests/golden/ear/make.py`.
fn wave(count: usize, step: f64, scale: f64) -> Vec<f32> {
    (1..=count).map(|i| (scale * (step * i as f64).sin()) as f32).collect()
}

fn tiny_weights() -> Vec<f32> {
    wave(Layers::of(&TINY).parameter_count(), 0.7, 0.3)
}

fn rows(frames: usize) -> Vec<f32> {
    wave(frames * EAR_ROW, 0.37, 3.0).into_iter().map(|value| 3.0 + value).collect()
}

#[test]
fn outputs_are_those_of_pytorch() {
    let golden: Golden = serde_json::from_str(include_str!("../../../tests/golden/ear/values.json")).unwrap();
    let weights = tiny_weights();
    let network = Packed::new(&TINY, &weights).unwrap();
    let found = network.hear(&JobContext::new(), &rows(golden.frames), &golden.pitches).unwrap();
    let expected = golden.outputs.concat();
    assert_eq!(found.len(), expected.len());
    for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!((f64::from(*found) - expected).abs() < 2e-5, "{index}: {found} {expected}");
    }
}

#[test]
fn a_pitch_is_heard_the_same_in_any_company() {
    let weights = tiny_weights();
    let network = Packed::new(&TINY, &weights).unwrap();
    let hear = |asked: &[usize]| network.hear(&JobContext::new(), &rows(30), asked).unwrap();
    let all: Vec<usize> = (0..PITCHES).collect();
    let together = hear(&all);
    for pitch in [0, 3, 44, 87] {
        assert_eq!(hear(&[pitch]), together[pitch * 30 * OUTPUTS..(pitch + 1) * 30 * OUTPUTS], "{pitch}");
    }
}

fn clip(seconds: f64) -> AudioClip {
    let count = (seconds * f64::from(ANALYSIS_RATE)) as usize;
    let samples = (0..count).map(|i| {
        let t = i as f64 / f64::from(ANALYSIS_RATE);
        let hz = 220.0 + 110.0 * (t / 0.7).floor();
        ((-6.0 * (t % 0.7)).exp() * (std::f64::consts::TAU * hz * t).sin()) as f32
    });
    AudioClip { samples: samples.collect(), sample_rate: ANALYSIS_RATE }
}

fn tiny() -> Ear {
    Ear::new(ModelCard::new("tiny", TINY), tiny_weights(), &Device::Cpu).unwrap()
}

#[test]
fn a_recording_heard_in_stretches_is_that_heard_at_once() {
    let (ctx, clip) = (JobContext::new(), clip(20.0));
    let analyzer = EarAnalyzer::new(&ctx, &clip, 0.0).unwrap();
    let frames = analyzer.frames();
    assert!(frames > 2 * STRETCH, "more than two stretches");
    let pitches = [60, 57, 60, 10, 120];
    let heard = tiny().listen(&ctx, &analyzer, &pitches, |answer| answer).unwrap();
    assert_eq!(heard.iter().map(|(pitch, _)| *pitch).collect::<Vec<_>>(), [57, 60], "in order, on the keyboard, once");
    let weights = tiny_weights();
    let rows = analyzer.levels(&ctx, 0..frames).unwrap();
    let whole = Packed::new(&TINY, &weights).unwrap().hear(&ctx, &rows, &keys(&pitches)).unwrap();
    let mut worst = 0.0_f32;
    for ((_, answers), whole) in heard.iter().zip(whole.chunks_exact(frames * OUTPUTS)) {
        assert_eq!(answers.len(), frames);
        for (answer, values) in answers.iter().zip(whole.as_chunks().0) {
            let whole = Answer::new(*values);
            worst = worst.max((answer.begins - whole.begins).abs()).max((answer.scale - whole.scale).abs());
        }
    }
    assert!(worst < 1e-4, "{worst}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (ctx, clip) = (JobContext::new(), clip(12.0));
    let analyzer = EarAnalyzer::new(&ctx, &clip, 0.0).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| tiny().listen(&ctx, &analyzer, &[60, 64, 67], |answer| answer).unwrap())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn listening_reports_and_can_be_cancelled() {
    let clip = clip(12.0);
    let analyzer = EarAnalyzer::new(&JobContext::new(), &clip, 0.0).unwrap();
    let ctx = JobContext::new();
    ctx.cancel();
    assert!(matches!(tiny().listen(&ctx, &analyzer, &[60], |_| ()), Err(Error::Cancelled)));
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = std::sync::Arc::clone(&seen);
    let ctx = JobContext::with_progress(move |p| log.lock().unwrap().push((p.stage.to_owned(), p.fraction)));
    tiny().listen(&ctx, &analyzer, &[60], |_| ()).unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen.len() > 2 && seen.iter().all(|(stage, _)| stage == "listening") && seen[seen.len() - 1].1 == 1.0);
}

#[test]
fn weights_that_do_not_fit_are_refused_and_an_untrained_ear_expects_few_notes() {
    let card = ModelCard::new("tiny", TINY);
    assert!(Ear::new(card.clone(), vec![0.0; 7], &Device::Cpu).is_err());
    let absurd = ModelCard::new("tiny", EarSpec { channels: 0, ..TINY });
    assert!(Ear::untrained(absurd, 1, &Device::Cpu).is_err());
    let ear = Ear::untrained(card, 1, &Device::Cpu).unwrap();
    let (ctx, clip) = (JobContext::new(), clip(1.0));
    let analyzer = EarAnalyzer::new(&ctx, &clip, 0.0).unwrap();
    let heard = ear.listen(&ctx, &analyzer, &[60], |answer| answer.begins).unwrap();
    assert!(heard[0].1.iter().all(|&odds| odds < -2.0));
}

fn scenes() -> Vec<Scene> {
    let all = rows(50);
    let scene = |first: usize, asked: &[usize]| Scene {
        rows: all[first * EAR_ROW..(first + 20) * EAR_ROW].to_vec(),
        asked: asked.to_vec(),
    };
    vec![scene(0, &[0, 5, 39, 70, 87]), scene(30, &[60, 12])]
}

#[test]
fn the_graph_says_the_same_as_the_packed_network() {
    let scenes = scenes();
    let ear = tiny();
    let graph = hear(&JobContext::new(), &TINY, &ear.parameters, &scenes).unwrap();
    assert_eq!(graph.dims(), [7, 20, OUTPUTS]);
    let graph: Vec<f32> = graph.flatten_all().unwrap().to_vec1().unwrap();
    let packed = ear.answers(&JobContext::new(), &scenes).unwrap();
    assert_eq!(graph.len(), packed.len());
    for (index, (a, b)) in graph.iter().zip(&packed).enumerate() {
        assert!((a - b).abs() < 2e-5, "{index}: {a} {b}");
    }
}

#[test]
fn the_gradient_of_every_weight_is_that_of_finite_differences() {
    use candle_core::Var;
    let weights: Vec<f64> = tiny_weights().into_iter().map(f64::from).collect();
    let count = weights.len();
    // Weights of the answers that do not cancel each other.
    let factors: Vec<f64> = (0..7 * 20 * OUTPUTS).map(|i| (0.37 * i as f64).sin()).collect();
    let factors = Tensor::from_vec(factors, (7, 20, OUTPUTS), &Device::Cpu).unwrap();
    let scenes = scenes();
    let loss = |weights: &Tensor| {
        let answers = hear(&JobContext::new(), &TINY, weights, &scenes).unwrap();
        (answers * &factors).unwrap().sum_all().unwrap()
    };
    let variable = Var::from_slice(&weights, count, &Device::Cpu).unwrap();
    let gradients = loss(variable.as_tensor()).backward().unwrap();
    let gradient: Vec<f64> = gradients.get(&variable).unwrap().to_vec1().unwrap();
    let largest = gradient.iter().fold(0.0_f64, |most, slope| most.max(slope.abs()));
    let layers = Layers::of(&TINY);
    let ranges = layers.convolutions().map(|(_, range)| range.clone()).chain([layers.gru.1.clone()]);
    for range in ranges {
        assert!(gradient[range.clone()].iter().any(|slope| slope.abs() > 1e-6), "nothing flows to {range:?}");
        // The first, the last, and some between.
        for index in range.clone().step_by(range.len() / 6 + 1).chain([range.end - 1]) {
            let at = |by: f64| {
                let mut moved = weights.clone();
                moved[index] += by;
                loss(&Tensor::from_vec(moved, count, &Device::Cpu).unwrap()).to_scalar::<f64>().unwrap()
            };
            let expected = (at(1e-6) - at(-1e-6)) / 2e-6;
            let error = (gradient[index] - expected).abs();
            assert!(error < 1e-5 * largest.max(1.0), "{index}: {} {expected}", gradient[index]);
        }
    }
}

#[test]
#[cfg(feature = "gpu")]
fn a_graphics_card_hears_the_same() {
    let Some(gpu) = crate::devices::devices_for_tests::gpu_context() else { return };
    let (clip, ear) = (clip(12.0), tiny());
    let analyzer = EarAnalyzer::new(&JobContext::new(), &clip, 0.0).unwrap();
    let on = |ctx: &JobContext| ear.listen(ctx, &analyzer, &[57, 60, 64], |answer| answer).unwrap();
    let (on_cpu, on_gpu) = (on(&JobContext::new()), on(&gpu));
    assert!(gpu.device_used().is_some());
    for ((_, on_cpu), (_, on_gpu)) in on_cpu.iter().zip(&on_gpu) {
        assert_eq!(on_cpu.len(), on_gpu.len());
        for (a, b) in on_cpu.iter().zip(on_gpu) {
            assert!((a.begins - b.begins).abs() < 1e-4 && (a.offset - b.offset).abs() < 1e-4, "{a:?} {b:?}");
        }
    }
}
