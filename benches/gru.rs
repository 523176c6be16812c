//! How long the extractor takes: a training step of ten slices, and whole pieces.
//!
//! Usage: cargo bench --no-default-features --bench gru

use std::hint::black_box;
use std::time::Instant;

use agogic::JobContext;
use agogic::training::Gru;
use agogic::training::{Batch, GruRef, GruShape, InputGradient, backward, encode, encode_recording};

fn main() {
    let shape = GruShape { input: 128, hidden: 64 };
    let parameters = Gru::random_parameters(shape, 1);
    let Ok(gru) = GruRef::new(shape, &parameters) else { return };
    let ctx = JobContext::new();
    for threads in [1, 2] {
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else {
            continue;
        };
        println!("mel, 128 -> 2 x 64, {threads} thread(s)");
        pool.install(|| {
            let values = wave(10 * 256 * shape.input);
            let batch = Batch { values: &values, sequences: 10, frames: 256, dim: shape.input };
            report("10 slices of 256 frames, forward", || drop(black_box(encode(&ctx, gru, &batch))));
            for wanted in [InputGradient::Skipped, InputGradient::Wanted] {
                report(&format!("the same, forward and backward, gradient of the input {wanted:?}"), || {
                    if let Ok((output, trace)) = encode_recording(&ctx, gru, &batch) {
                        drop(black_box(backward(gru, &batch, trace, &output, wanted)));
                    }
                });
            }
            for frames in [13_000, 52_000] {
                let values = wave(frames * shape.input);
                let batch = Batch { values: &values, sequences: 1, frames, dim: shape.input };
                report(&format!("a piece of {frames} frames"), || drop(black_box(encode(&ctx, gru, &batch))));
            }
        });
    }
}

fn wave(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * 1.3).sin()).collect()
}

/// Prints the shortest of several runs, which other work on the machine disturbs least.
fn report(name: &str, run: impl Fn()) {
    run();
    let times = (0..15).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1e3
    });
    println!("  {name}: {:.1} ms", times.fold(f64::INFINITY, f64::min));
}
