//! Makes the built-in SoundFont from a model of piano strings:
//! `cargo run --release --no-default-features --example make_soundfont` writes `assets/agogic-piano.sf2`.
//! Every run makes the same bytes.

mod sf2;
mod string;

use std::f64::consts::TAU;
use std::path::Path;

use sf2::{Sample, Zone, generator};
use string::{Partial, Piano, Random, fundamental_rate};

const RATE: u32 = 22_050;
/// Partials above this would fold back when the highest key of a zone is played.
const LIMIT_HZ: f64 = 9_600.0;
/// Keys that are sampled: every fourth one.
const FIRST_SAMPLED_KEY: u8 = 23;
const LAST_SAMPLED_KEY: u8 = 107;
const KEY_STEP: u8 = 4;
/// Root mean square of the first quarter second, full scale being 1.
const LEVEL: f64 = 0.11;

/// A sampled strength of blow, and how its velocities are shaded by the filter: highest velocity and cutoff factor.
struct Layer {
    name: &'static str,
    hardness: f64,
    shades: [(u8, Option<f64>); 3],
}

const LAYERS: [Layer; 2] = [
    Layer { name: "soft", hardness: 0.3, shades: [(30, Some(0.45)), (48, Some(0.8)), (66, None)] },
    Layer { name: "loud", hardness: 0.95, shades: [(84, Some(0.85)), (104, Some(1.5)), (127, None)] },
];

fn main() -> std::io::Result<()> {
    let piano = Piano {
        stiffness: 1.0,
        brightness: 1.0,
        strike_position: 1.0 / 8.0,
        detuning_cents: 0.5,
        damping: 1.0,
        knock: 0.05,
        resonance_db: 3.0,
        seed: 20_230_501,
    };
    let mut samples = Vec::new();
    let mut zones = Vec::new();
    for key in (FIRST_SAMPLED_KEY..=LAST_SAMPLED_KEY).step_by(KEY_STEP.into()) {
        let mut lowest_velocity = 0;
        for layer in &LAYERS {
            let sample = u16::try_from(samples.len()).expect("a few dozen samples");
            samples.push(sampled(&piano, key, layer));
            for (highest_velocity, cutoff) in layer.shades {
                zones.push(Zone {
                    keys: zone_keys(key),
                    velocities: (lowest_velocity, highest_velocity),
                    generators: zone_generators(key, cutoff.map(|factor| factor * brightest_hz(key))),
                    sample,
                });
                lowest_velocity = highest_velocity + 1;
            }
        }
    }
    let bytes = sf2::soundfont("Agogic piano", "CC0 1.0, dedicated to the public domain", &samples, &zones);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/agogic-piano.sf2");
    std::fs::write(&path, &bytes)?;
    println!("{}: {} samples, {} zones, {} bytes", path.display(), samples.len(), zones.len(), bytes.len());
    Ok(())
}

/// The keys that play a sample; the outermost zones reach to the ends of MIDI.
fn zone_keys(key: u8) -> (u8, u8) {
    let low = if key == FIRST_SAMPLED_KEY { 0 } else { key - 2 };
    let high = if key == LAST_SAMPLED_KEY { 127 } else { key + 1 };
    (low, high)
}

/// Cutoff of the filter at which it begins to be heard.
fn brightest_hz(key: u8) -> f64 {
    1_800.0 + 3.0 * string::key_hz(key)
}

fn zone_generators(key: u8, cutoff_hz: Option<f64>) -> Vec<(u16, i16)> {
    // Volume falls by e^9.226 (80 dB) in the decay time; the after-sound of the first partial gives its rate.
    let decay_s = 9.226 / fundamental_rate(key);
    // The highest strings have no dampers.
    let release_s = if key > 90 { 1.2 } else { 0.25 + 0.35 * (f64::from(90 - key) / 69.0) };
    // Left out, delay, attack and hold would be a millisecond each.
    let mut generators = vec![
        (generator::VOLUME_DELAY, i16::MIN),
        (generator::VOLUME_ATTACK, i16::MIN),
        (generator::VOLUME_HOLD, i16::MIN),
        (generator::VOLUME_DECAY, timecents(decay_s)),
        (generator::VOLUME_SUSTAIN, 1000),
        (generator::VOLUME_RELEASE, timecents(release_s)),
        (generator::SAMPLE_MODES, 1),
    ];
    if let Some(hz) = cutoff_hz.filter(|hz| *hz < 10_000.0) {
        generators.insert(0, (generator::FILTER_CUTOFF, (1200.0 * (hz / 8.176).log2()).round() as i16));
    }
    generators
}

fn timecents(seconds: f64) -> i16 {
    (1200.0 * seconds.log2()).round() as i16
}

/// Renders a key: the blow and the first decay, then a loop whose decay is left to the volume envelope.
fn sampled(piano: &Piano, key: u8, layer: &Layer) -> Sample {
    let partials = piano.partials(key, layer.hardness, LIMIT_HZ);
    let rate = f64::from(RATE);
    let (before_s, loop_s) = lengths_s(key);
    let loop_start = (before_s * rate).round() as usize;
    // The loop holds whole periods of the first partial, so that it stays in tune.
    let first_hz = partials[0].mean_hz();
    let periods = (loop_s * first_hz).round().max(1.0);
    let loop_length = (periods * rate / first_hz).round() as usize;
    let total = loop_start + loop_length;
    let envelope_rate = fundamental_rate(key);
    let mut sound = vec![0.0; total + 1];
    for partial in &partials {
        add_partial(&mut sound, partial, envelope_rate, loop_start, loop_length);
    }
    normalise(&mut sound);
    add_knock(&mut sound[..loop_start], piano, key, layer.hardness);
    // The last sample, beyond the loop, is only there for interpolation.
    let data = sound.iter().map(|x| (x.clamp(-1.0, 1.0) * 32_767.0).round() as i16).collect();
    Sample {
        name: format!("{} {key}", layer.name),
        data,
        loop_start: u32::try_from(loop_start).expect("seconds"),
        loop_end: u32::try_from(total).expect("seconds"),
        rate: RATE,
        key,
    }
}

/// Seconds before the loop and of the loop: low strings change for longer.
fn lengths_s(key: u8) -> (f64, f64) {
    let height = (f64::from(key) - 21.0) / 87.0;
    (1.25 - 0.95 * height, 0.42 - 0.3 * height)
}

/// Adds a partial without the decay that the volume envelope supplies. From the loop on it keeps its level, and its
/// frequency is the nearest one that fits the loop.
fn add_partial(sound: &mut [f64], partial: &Partial, envelope_rate: f64, loop_start: usize, loop_length: usize) {
    let rate = f64::from(RATE);
    for (i, out) in sound[..loop_start].iter_mut().enumerate() {
        let t = i as f64 / rate;
        *out += partial.phasor(t).1 * (envelope_rate * t).exp();
    }
    let t = loop_start as f64 / rate;
    let (re, im) = partial.phasor(t);
    let level = re.hypot(im) * (envelope_rate * t).exp();
    let phase = im.atan2(re);
    let turns = (partial.mean_hz() * loop_length as f64 / rate).round();
    for (i, out) in sound[loop_start..].iter_mut().enumerate() {
        *out += level * (phase + TAU * turns * i as f64 / loop_length as f64).sin();
    }
}

fn add_knock(sound: &mut [f64], piano: &Piano, key: u8, hardness: f64) {
    let mut random = Random::new(piano.seed ^ u64::from(key));
    for (i, out) in sound.iter_mut().enumerate().take(RATE as usize / 5) {
        *out += piano.knock_at(key, hardness, i as f64 / f64::from(RATE), &mut random);
    }
}

fn normalise(sound: &mut [f64]) {
    let beginning = &sound[..sound.len().min(RATE as usize / 4)];
    let energy = beginning.iter().map(|x| x * x).sum::<f64>() / beginning.len() as f64;
    let peak = sound.iter().fold(0.0, |peak: f64, x| peak.max(x.abs()));
    let gain = (LEVEL / energy.sqrt()).min(0.9 / peak);
    sound.iter_mut().for_each(|x| *x *= gain);
}
