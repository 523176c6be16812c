//! Makes the demo piece: score, performance and ground truth.
//!
//! ```text
//! cargo run --release --no-default-features --example make_demo
//! ffmpeg -y -bitexact -i target/demo/performance.wav -map_metadata -1 -c:a libvorbis -q:a 1 assets/demo/performance.ogg
//! ```
//! The first command writes `assets/demo/score.mid`, `assets/demo/truth.csv` and `target/demo/performance.wav`; every
//! run makes the same bytes. The second needs ffmpeg.

mod performance;
mod piece;
mod room;
#[path = "../make_soundfont/string.rs"]
#[allow(dead_code, reason = "the SoundFont uses the rest of the string model")]
mod string;

use std::error::Error;
use std::f64::consts::TAU;
use std::fmt::Write;
use std::path::Path;

use performance::PlayedNote;
use string::{CONTACT_S, Partial, Piano, Random};

const RATE: u32 = 44_100;
const LIMIT_HZ: f64 = 12_000.0;
/// Seconds that ring on after the last damper.
const TAIL_S: f64 = 1.5;
const PEAK: f64 = 0.8;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let played = performance::perform();
    std::fs::write(root.join("assets/demo/score.mid"), piece::midi())?;
    std::fs::write(root.join("assets/demo/truth.csv"), truth(&played))?;
    let mut sound = room::in_room(&dry_sound(&played), f64::from(RATE));
    let peak = sound.iter().fold(0.0, |peak: f64, x| peak.max(x.abs()));
    sound.iter_mut().for_each(|x| *x *= PEAK / peak);
    room::add_noise(&mut sound);
    let wav = root.join("target/demo/performance.wav");
    std::fs::create_dir_all(root.join("target/demo"))?;
    let spec =
        hound::WavSpec { channels: 1, sample_rate: RATE, bits_per_sample: 16, sample_format: hound::SampleFormat::Int };
    let mut writer = hound::WavWriter::create(&wav, spec)?;
    for x in &sound {
        writer.write_sample((x * 32_767.0).round() as i16)?;
    }
    writer.finalize()?;
    println!("{}: {:.1} s, {} notes", wav.display(), sound.len() as f64 / f64::from(RATE), played.len());
    Ok(())
}

/// Where every onset of the score was played: the mean over the notes that begin there.
fn truth(played: &[PlayedNote]) -> String {
    let mut onsets: Vec<u32> = played.iter().map(|note| note.score_onset).collect();
    onsets.dedup();
    let mut csv = "score_beat,score_time_s,performance_time_s\n".to_owned();
    for onset in onsets {
        let times: Vec<f64> = played.iter().filter(|n| n.score_onset == onset).map(|n| n.onset_s).collect();
        let beat = f64::from(onset) / 4.0;
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        writeln!(csv, "{beat:.6},{:.6},{mean:.6}", beat * 60.0 / piece::TEMPO_MARK).expect("a String takes all text");
    }
    csv
}

/// The performance on a piano unlike the built-in SoundFont's, without room.
fn dry_sound(played: &[PlayedNote]) -> Vec<f64> {
    let piano = Piano {
        stiffness: 1.9,
        brightness: 1.7,
        strike_position: 1.0 / 6.7,
        detuning_cents: 1.6,
        damping: 1.35,
        knock: 0.35,
        resonance_db: 6.0,
        seed: 1722,
    };
    let rate = f64::from(RATE);
    let end_s = played.iter().fold(0.0, |end: f64, note| end.max(note.damped_s)) + TAIL_S;
    let mut sound = vec![0.0; (end_s * rate) as usize];
    for (index, note) in played.iter().enumerate() {
        let partials = piano.partials(note.pitch, note.hardness, LIMIT_HZ);
        let mut random = Random::new(piano.seed + index as u64);
        let loudness = note.hardness.powf(1.4);
        let damper_s = 0.05 + 0.002 * f64::from(90 - note.pitch.min(90));
        // The note begins between two samples, exactly at its time, and is over when its damper has silenced it.
        let first = (note.onset_s * rate).ceil() as usize;
        let last = ((note.damped_s + 9.0 * damper_s) * rate) as usize;
        let age_s = first as f64 / rate - note.onset_s;
        let mut string = vec![0.0; last - first];
        for partial in &partials {
            add_partial(&mut string, partial, age_s);
        }
        for (i, (out, string)) in sound[first..].iter_mut().zip(&string).enumerate() {
            let age = age_s + i as f64 / rate;
            let damping = (-(note.onset_s + age - note.damped_s).max(0.0) / damper_s).exp();
            *out += loudness * (string * damping + piano.knock_at(note.pitch, note.hardness, age, &mut random));
        }
    }
    sound
}

/// Adds a partial from the age `age_s` on: like [`Partial::phasor`] at each sample, by steady rotation and decay.
fn add_partial(sound: &mut [f64], partial: &Partial, age_s: f64) {
    let step_s = 1.0 / f64::from(RATE);
    let shares = [(partial.fast_rate, 1.0 - partial.slow_share), (partial.slow_rate, partial.slow_share)];
    for hz in &partial.string_hz {
        let (mut sin, mut cos) = (TAU * hz * age_s).sin_cos();
        let (step_sin, step_cos) = (TAU * hz * step_s).sin_cos();
        let [mut fast, mut slow] = shares.map(|(rate, share)| share * (-rate * age_s).exp());
        let [fast_step, slow_step] = shares.map(|(rate, _)| (-rate * step_s).exp());
        let mut unrisen = (-age_s / CONTACT_S).exp();
        let unrisen_step = (-step_s / CONTACT_S).exp();
        let scale = partial.amplitude / partial.string_hz.len() as f64;
        for out in &mut *sound {
            *out += scale * (fast + slow) * (1.0 - unrisen) * sin;
            (sin, cos) = (sin * step_cos + cos * step_sin, cos * step_cos - sin * step_sin);
            fast *= fast_step;
            slow *= slow_step;
            unrisen *= unrisen_step;
        }
    }
}
