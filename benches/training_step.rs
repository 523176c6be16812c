//! How long a DecDTW training step takes: five slices of 256 x 282 mel frames through networks, solver and back.
//!
//! Usage: cargo bench --no-default-features --bench training_step

use std::hint::black_box;
use std::time::Instant;

use agogic::Device;
use agogic::JobContext;
use agogic::training::Gru;
use agogic::training::GruShape;
use agogic::training::{Adam, AdamParams, ExtractorMethod, SliceBatch, SliceParams, SliceTruth, extractor_loss};
use candle_core::{Tensor, Var};

const SLICES: usize = 5;
const FRAME_S: f64 = 1024.0 / 22_050.0;
const DIM: usize = 128;
const LAMBDA: f64 = 0.9;

fn main() {
    let params = SliceParams::default();
    let times = |frames: usize| (0..frames).map(|i| i as f64 * FRAME_S).collect::<Vec<f64>>();
    let (score_s, performance_s) = (times(params.score_frames), times(params.performance_frames()));
    let (score, performance) = (notes(&score_s, 1.0, 0.0), notes(&performance_s, 1.04, 0.4));
    let score_rows: Vec<f64> = (1..40).map(|i| f64::from(i) * 0.28).collect();
    let performance_rows = score_rows.iter().map(|s| s / 1.04 + 0.4).collect();
    let truths = vec![SliceTruth { score_s: score_rows, performance_s: performance_rows }; SLICES];
    let batch = SliceBatch { score_s, performance_s, truths };
    let shape = GruShape { input: DIM, hidden: 64 };
    let parameters = Gru::random_parameters(shape, 1);
    for threads in [1, 2] {
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else { continue };
        for method in ExtractorMethod::ALL {
            let step = || train(&batch, shape, &parameters, method, &score, &performance).expect("a sound batch");
            let best = pool.install(|| {
                step();
                let run = |_| {
                    let start = Instant::now();
                    step();
                    start.elapsed().as_secs_f64() * 1e3
                };
                (0..12).map(run).fold(f64::INFINITY, f64::min)
            });
            println!("{threads} thread(s), {}: {best:.1} ms", method.name());
        }
    }
}

/// One step of both networks, as the trainer does it.
fn train(
    batch: &SliceBatch,
    shape: GruShape,
    parameters: &[f32],
    method: ExtractorMethod,
    score: &[f32],
    performance: &[f32],
) -> candle_core::Result<()> {
    let ctx = JobContext::new();
    let count = shape.parameter_count();
    let both = [0, 1].map(|_| Var::from_slice(parameters, count, &Device::Cpu));
    let [of_score, of_performance] = both;
    let (of_score, of_performance) = (of_score?, of_performance?);
    let encode = |values: &[f32], frames: usize, network: &Var| {
        let input = Tensor::from_slice(values, (SLICES, frames, DIM), &Device::Cpu)?;
        Gru::new(shape, network.as_tensor().clone()).encode(&ctx, &input)
    };
    let score = encode(score, batch.score_s.len(), &of_score)?;
    let performance = encode(performance, batch.performance_s.len(), &of_performance)?;
    let lambda = Tensor::from_slice(&[LAMBDA as f32], 1, &Device::Cpu)?;
    let loss = extractor_loss(&ctx, method, batch.clone(), &score, &performance, &lambda)?;
    let gradients = loss.backward()?;
    let mut gradient: Vec<f32> = Vec::new();
    for network in [&of_score, &of_performance] {
        gradient.extend(gradients.get(network).map(Tensor::to_vec1::<f32>).transpose()?.unwrap_or_default());
    }
    let mut weights = parameters.repeat(2);
    let mut adam = Adam::new(AdamParams::default(), weights.len()).expect("the defaults are legal");
    adam.step(&mut weights, &gradient).expect("the gradient is finite");
    black_box(weights);
    Ok(())
}

/// Bands that light up in turn and decay, slice after slice, each a little different.
fn notes(times: &[f64], faster: f64, later: f64) -> Vec<f32> {
    let value = |slice: usize, time: f64, band: usize| {
        let at = ((time - later) * faster).max(0.0) / 0.28 + slice as f64 * 7.0;
        let (note, age) = (at.floor() as usize, at.fract());
        let distance = band.abs_diff(note * 37 % DIM) as f64;
        (0.3 - 0.02 * distance.min(20.0) - 0.1 * age + 0.01 * (band as f64 * at).sin()) as f32
    };
    (0..SLICES)
        .flat_map(|slice| times.iter().flat_map(move |&time| (0..DIM).map(move |band| value(slice, time, band))))
        .collect()
}
