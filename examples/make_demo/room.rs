//! A small room: early reflections, a diffuse tail, and the faint noise of a recording.

use rustfft::{FftPlanner, num_complex::Complex};

use crate::string::Random;

const TAIL_S: f64 = 0.9;
/// Seconds in which the tail falls by 60 dB.
const REVERBERATION_S: f64 = 0.8;
const TAIL_DELAY_S: f64 = 0.014;
/// Energy of tail and reflections together, relative to the direct sound.
const WET_DB: f64 = -9.0;
const NOISE_DB: f64 = -64.0;
/// Delay in seconds and gain of single reflections.
const REFLECTIONS: [(f64, f64); 5] = [(0.0071, 0.35), (0.0112, -0.28), (0.0159, 0.22), (0.0213, 0.18), (0.0307, -0.15)];

/// The sound as the room answers. The direct sound keeps its time.
pub fn in_room(dry: &[f64], rate: f64) -> Vec<f64> {
    let mut wet = convolve(dry, &impulse_response(rate));
    wet.truncate(dry.len());
    wet
}

/// Adds low-pass filtered noise.
pub fn add_noise(sound: &mut [f64]) {
    let mut random = Random::new(77);
    let level = 10f64.powf(NOISE_DB / 20.0);
    let mut smooth = 0.0;
    for out in sound {
        smooth += 0.25 * (random.signed() - smooth);
        *out += 3.0 * level * smooth;
    }
}

fn impulse_response(rate: f64) -> Vec<f64> {
    let mut random = Random::new(31);
    let mut answer = vec![0.0; (TAIL_S * rate) as usize];
    let mut smooth = 0.0;
    for (i, out) in answer.iter_mut().enumerate() {
        let t = i as f64 / rate - TAIL_DELAY_S;
        // Air and walls swallow the high frequencies.
        smooth += 0.35 * (random.signed() - smooth);
        if t > 0.0 {
            *out = 0.02 * smooth * (-6.908 * t / REVERBERATION_S).exp();
        }
    }
    for (delay, gain) in REFLECTIONS {
        answer[(delay * rate) as usize] += 0.3 * gain;
    }
    let energy: f64 = answer.iter().map(|x| x * x).sum();
    let scale = (10f64.powf(WET_DB / 10.0) / energy).sqrt();
    answer.iter_mut().for_each(|x| *x *= scale);
    answer[0] = 1.0;
    answer
}

fn convolve(signal: &[f64], answer: &[f64]) -> Vec<f64> {
    let length = (signal.len() + answer.len()).next_power_of_two();
    let mut planner = FftPlanner::new();
    let (forward, inverse) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
    let spectrum = |values: &[f64]| {
        let mut buffer: Vec<Complex<f64>> = values.iter().map(|&x| Complex::new(x, 0.0)).collect();
        buffer.resize(length, Complex::default());
        forward.process(&mut buffer);
        buffer
    };
    let mut product: Vec<_> = spectrum(signal).iter().zip(spectrum(answer)).map(|(a, b)| a * b).collect();
    inverse.process(&mut product);
    product.iter().map(|x| x.re / length as f64).collect()
}
