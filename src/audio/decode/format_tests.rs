//! Every format decodes to the same signal, at the same time, at the same length.

use std::f64::consts::TAU;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::*;

pub(super) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/audio").join(name)
}

/// The signal of the fixtures; the formula of tests/fixtures/audio/signal.py.
fn signal(t: f64) -> f64 {
    let tones = [(0.2, 440.0), (0.5, 660.0), (0.83, 554.0), (1.1, 880.0)];
    let tone = |(onset, frequency): (f64, f64)| {
        let since = t - onset;
        let pluck = 0.4 * (-12.0 * since).exp() * (TAU * frequency * since).sin();
        let click = 0.3 * (-400.0 * since).exp() * (TAU * 3000.0 * since).sin();
        if since >= 0.0 { pluck + click } else { 0.0 }
    };
    tones.into_iter().map(tone).sum()
}

fn reference() -> Vec<f32> {
    (0..33_075).map(|k| signal(f64::from(k) / f64::from(ANALYSIS_RATE)) as f32).collect()
}

/// By how many samples `late` is behind `reference` (within ±45 ms), and the correlation there.
fn lag_and_correlation(reference: &[f32], late: &[f32]) -> (i64, f64) {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(x * y)).sum::<f64>();
    // Two onsets decide the lag; the whole decides the correlation.
    let onsets = 4_000..12_000;
    let at = |lag: i64| dot(&reference[onsets.clone()], &late[(onsets.start as i64 + lag) as usize..]);
    let lag = (-1000..=1000).max_by(|&a, &b| at(a).total_cmp(&at(b))).unwrap();
    let (from, late_from) = ((-lag).max(0) as usize, lag.max(0) as usize);
    let energy = (dot(reference, reference) * dot(late, late)).sqrt();
    (lag, dot(&reference[from..], &late[late_from..]) / energy)
}

struct Expected {
    file: &'static str,
    codec: &'static str,
    channels: usize,
    rate: u32,
    /// How much longer than 1.5 s the clip may be, in samples: padding that the format does not tell.
    surplus: usize,
}

const fn expected(file: &'static str, codec: &'static str, channels: usize, rate: u32, surplus: usize) -> Expected {
    Expected { file, codec, channels, rate, surplus }
}

const FORMATS: [Expected; 15] = [
    expected("pcm.wav", "pcm_s16le", 1, 22_050, 0),
    expected("mulaw.wav", "pcm_mulaw", 1, 8_000, 0),
    expected("pcm.aiff", "pcm_s16be", 1, 11_025, 0),
    expected("stereo.flac", "flac", 2, 44_100, 0),
    expected("flac.mkv", "flac", 1, 22_050, 0),
    expected("alac.m4a", "alac", 1, 22_050, 0),
    expected("alac.caf", "alac", 1, 44_100, 0),
    expected("stereo.ogg", "vorbis", 2, 48_000, 0),
    expected("vorbis.webm", "vorbis", 1, 48_000, 1024),
    expected("lame.mp3", "mp3", 1, 44_100, 0),
    expected("no-header.mp3", "mp3", 1, 44_100, 1152),
    expected("layer2.mp2", "mp2", 1, 44_100, 1152),
    expected("aac.m4a", "aac", 1, 44_100, 0),
    expected("aac.aac", "aac", 1, 44_100, 1024),
    expected("aac.mkv", "aac", 1, 44_100, 1024),
];

#[test]
fn every_format_agrees_with_the_signal_in_time_length_and_shape() {
    let reference = reference();
    let mut bad = Vec::new();
    for format in &FORMATS {
        let decoded = decode(&JobContext::new(), &fixture(format.file)).unwrap();
        let samples = &decoded.clip.samples;
        let (lag, correlation) = lag_and_correlation(&reference, samples);
        let surplus = samples.len() as i64 - reference.len() as i64;
        println!("{}: lag {lag}, correlation {correlation:.5}, surplus {surplus}, {:?}", format.file, decoded.source);
        // 1 ms is 22 samples; what remains here is the codec's own smearing.
        let on_time = lag.abs() <= 5 && correlation > 0.99;
        // 1.5 s is half a sample too much at 11,025 Hz.
        let right_length = (-1..=format.surplus as i64).contains(&surplus);
        let facts = &decoded.source;
        let right_facts = facts.codec == format.codec
            && facts.channels == format.channels
            && facts.sample_rate == format.rate
            && facts.damage.is_none();
        if !(on_time && right_length && right_facts && decoded.clip.sample_rate == ANALYSIS_RATE) {
            bad.push(format.file);
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn bytes_in_memory_decode_as_the_file_does() {
    let path = fixture("stereo.ogg");
    let from_file = decode(&JobContext::new(), &path).unwrap();
    let from_bytes = decode_bytes(&JobContext::new(), "demo.ogg", std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(from_file, from_bytes);
}

#[test]
fn a_wrong_extension_does_not_matter() {
    let bytes = std::fs::read(fixture("lame.mp3")).unwrap();
    assert_eq!(decode_bytes(&JobContext::new(), "liar.wav", bytes).unwrap().source.codec, "mp3");
}

/// A float WAV file whose channel `c` holds `signal * gains[c]`.
pub(super) fn float_wav(rate: u32, gains: &[f32], seconds: f64, signal: impl Fn(f64) -> f64) -> Vec<u8> {
    let spec = hound::WavSpec {
        channels: gains.len() as u16,
        sample_rate: rate,
        bits_per_sample: 32,
        sample_format: hound::SampleFormat::Float,
    };
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = hound::WavWriter::new(&mut bytes, spec).unwrap();
    for k in 0..(seconds * f64::from(rate)).round() as usize {
        for gain in gains {
            writer.write_sample(signal(k as f64 / f64::from(rate)) as f32 * gain).unwrap();
        }
    }
    writer.finalize().unwrap();
    bytes.into_inner()
}

#[test]
fn channels_are_averaged_from_8_khz_mono_to_192_khz_7_1() {
    let tone = |t: f64| 0.5 * (TAU * 440.0 * t).sin();
    let eight = [1.0, 0.0, 0.5, 0.25, -0.25, 0.5, 1.0, 0.2];
    for (rate, gains) in [(8_000, &[1.0][..]), (192_000, &eight), (96_000, &[1.0, 1.0]), (44_100, &[1.0, -1.0, 0.6])] {
        let decoded = decode_bytes(&JobContext::new(), "made.wav", float_wav(rate, gains, 0.5, tone)).unwrap();
        assert_eq!((decoded.source.channels, decoded.source.sample_rate), (gains.len(), rate));
        assert_eq!(decoded.clip.samples.len(), 11_025);
        let mean = f64::from(gains.iter().sum::<f32>()) / gains.len() as f64;
        for (k, &x) in decoded.clip.samples.iter().enumerate().take(10_000).skip(1_000) {
            let wanted = mean * tone(k as f64 / 22_050.0);
            assert!((f64::from(x) - wanted).abs() < 1e-3, "{rate} Hz, sample {k}: {x} against {wanted}");
        }
    }
}

#[test]
fn progress_rises_to_one_and_cancelling_stops() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let ctx = JobContext::with_progress(move |p| log.lock().unwrap().push((p.stage.to_owned(), p.fraction)));
    decode(&ctx, &fixture("lame.mp3")).unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen.len() > 10 && seen.is_sorted_by(|a, b| a.1 <= b.1), "{seen:?}");
    assert_eq!(seen.last().unwrap(), &("decoding".to_owned(), 1.0));

    let midway = Arc::new(Mutex::new(None::<JobContext>));
    let handle = Arc::clone(&midway);
    let ctx = JobContext::with_progress(move |p| {
        if let (true, Some(ctx)) = (p.fraction > 0.3, &*handle.lock().unwrap()) {
            ctx.cancel();
        }
    });
    *midway.lock().unwrap() = Some(ctx.clone());
    assert!(matches!(decode(&ctx, &fixture("lame.mp3")), Err(Error::Cancelled)));
}
