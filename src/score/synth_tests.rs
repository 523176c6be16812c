use std::f64::consts::TAU;

use proptest::prelude::*;

use super::*;
use crate::score::{Division, MeterMap, Note, PedalChange, ProgramChange, TempoMap};

/// A score of notes (onset, offset, pitch, velocity) whose ticks are a thousandth of a second long.
fn score(notes: &[(f64, f64, u8, u8)]) -> Score {
    let tempo = TempoMap::new(Division::PerSecond(1000.0), &[]).unwrap();
    let notes = notes.iter().map(|&(onset_s, offset_s, pitch, velocity)| Note {
        pitch,
        velocity,
        channel: 0,
        track: 0,
        onset_tick: (onset_s * 1000.0) as u64,
        offset_tick: (offset_s * 1000.0) as u64,
        onset_s,
        offset_s,
    });
    Score {
        title: None,
        notes: notes.collect(),
        meter: MeterMap::new(500.0, &[]),
        tempo,
        keys: vec![],
        pedal: vec![],
        programs: vec![],
        notation: Default::default(),
    }
}

fn unscaled() -> SynthParams {
    SynthParams { peak: None, ..SynthParams::default() }
}

fn play(score: &Score) -> Vec<f32> {
    synthesise(&JobContext::new(), score, &unscaled()).unwrap().samples
}

fn rms(samples: &[f32], from_s: f64, to_s: f64) -> f64 {
    let range = seconds_to_samples(from_s, ANALYSIS_RATE)..seconds_to_samples(to_s, ANALYSIS_RATE);
    let part = &samples[range];
    (part.iter().map(|s| f64::from(*s).powi(2)).sum::<f64>() / part.len() as f64).sqrt()
}

/// Magnitude of one frequency under a Hann window.
fn magnitude(samples: &[f32], hz: f64) -> f64 {
    let length = samples.len() as f64;
    let (re, im) = samples.iter().enumerate().fold((0.0, 0.0), |(re, im), (i, s)| {
        let window = 1.0 - (TAU * i as f64 / length).cos();
        let (sin, cos) = (TAU * hz * i as f64 / f64::from(ANALYSIS_RATE)).sin_cos();
        (re + window * cos * f64::from(*s), im + window * sin * f64::from(*s))
    });
    re.hypot(im) / length
}

/// Seconds from the note's time to where its sound has risen to a twentieth of its peak.
fn lateness_s(samples: &[f32], onset_s: f64) -> f64 {
    let peak = samples.iter().fold(0.0f32, |p, s| p.max(s.abs()));
    assert!(peak > 1e-4, "nothing sounds");
    let heard = samples.iter().position(|s| s.abs() > 0.05 * peak).unwrap();
    heard as f64 / f64::from(ANALYSIS_RATE) - onset_s
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn onsets_fall_on_the_times_of_the_score_within_two_milliseconds(
        onset_s in 0.0f64..3.0, pitch in 21u8..=108, velocity in 1u8..=127,
    ) {
        let samples = play(&score(&[(onset_s, onset_s + 0.3, pitch, velocity)]));
        let lateness = lateness_s(&samples, onset_s);
        prop_assert!((-0.0005..0.002).contains(&lateness), "{} ms", lateness * 1000.0);
    }

    #[test]
    fn onsets_fall_on_the_mapped_times(onset_s in 0.0f64..2.0, factor in 0.4f64..2.5, shift in 0.0f64..1.0) {
        let score = score(&[(onset_s, onset_s + 0.3, 64, 80)]);
        let map = |second: f64| shift + factor * second;
        let clip = synthesise_mapped(&JobContext::new(), &score, &unscaled(), &map).unwrap();
        let lateness = lateness_s(&clip.samples, map(onset_s));
        prop_assert!((-0.0005..0.002).contains(&lateness), "{} ms", lateness * 1000.0);
        let length_s = map(onset_s + 0.3) + 1.0;
        prop_assert!((clip.duration_s() - length_s).abs() < 1e-4);
    }
}

#[test]
fn notes_at_neighbouring_samples_sound_as_they_do_alone() {
    // One note for each synthesizer, and one more: a shift of a sample must be exactly a shift of a sample.
    let alone = play(&score(&[(0.5, 0.9, 60, 80)]));
    for shift in [1, 5, 15, 16, 8191 * 16 + 3] {
        let at = 0.5 + f64::from(shift) / f64::from(ANALYSIS_RATE);
        let shifted = play(&score(&[(at, at + 0.4, 60, 80)]));
        let shift = shift as usize;
        let difference = alone.iter().zip(&shifted[shift..]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference < 1e-3, "shift {shift}: {difference}");
    }
}

#[test]
fn every_one_of_the_88_keys_sounds_in_tune() {
    for pitch in 21..=108u8 {
        let samples = play(&score(&[(0.0, 1.2, pitch, 80)]));
        let window = if pitch > 84 { 6_000 } else { 22_050 };
        let part = &samples[400..400 + window];
        let nominal = 440.0 * 2f64.powf((f64::from(pitch) - 69.0) / 12.0);
        let cents = (-9..=9).map(|step| f64::from(step) * 2.0);
        let level = |cents: f64| magnitude(part, nominal * 2f64.powf(cents / 1200.0));
        let best = cents.max_by(|a, b| level(*a).total_cmp(&level(*b))).unwrap();
        assert!(best.abs() <= 4.0, "key {pitch} is {best} cents off");
    }
}

#[test]
fn harder_blows_are_louder_and_brighter() {
    for pitch in [30, 48, 60, 72, 90] {
        let mut previous = (0.0, 0.0);
        for velocity in [20, 40, 60, 80, 100, 127] {
            let samples = play(&score(&[(0.0, 0.5, pitch, velocity)]));
            let loudness = rms(&samples, 0.0, 0.4);
            // The level of differences over the level: grows with the centre of the spectrum.
            let difference: Vec<f32> = samples.windows(2).map(|w| w[1] - w[0]).collect();
            let brightness = rms(&difference, 0.0, 0.4) / loudness;
            assert!(loudness > 1.15 * previous.0, "{pitch} at {velocity}: {loudness} after {}", previous.0);
            assert!(brightness > previous.1, "{pitch} at {velocity}: {brightness} after {}", previous.1);
            previous = (loudness, brightness);
        }
    }
}

#[test]
fn held_notes_decay_without_clicks_and_released_ones_fall_silent() {
    for pitch in [23, 40, 60, 75] {
        let samples = play(&score(&[(0.0, 3.0, pitch, 100)]));
        let levels: Vec<f64> = [0.05, 0.6, 1.2, 1.8, 2.4].map(|t| rms(&samples, t, t + 0.4)).into();
        assert!(levels.windows(2).all(|w| w[1] < 0.95 * w[0]), "key {pitch}: {levels:?}");
        assert!(rms(&samples, 3.7, 4.0) < 0.02 * levels[0], "key {pitch} is not damped");
        let bend = |from_s, to_s| {
            let range = seconds_to_samples(from_s, ANALYSIS_RATE)..seconds_to_samples(to_s, ANALYSIS_RATE);
            samples[range].windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).abs()).fold(0.0, f32::max)
        };
        assert!(bend(1.0, 2.9) < 1.1 * bend(0.1, 1.0), "the loop of key {pitch} clicks");
    }
}

#[test]
fn the_pedal_holds_notes_that_end_under_it_until_it_rises() {
    let mut score = score(&[(0.0, 0.3, 60, 80), (2.9, 3.0, 90, 20)]);
    let dry = rms(&play(&score), 1.2, 1.6);
    score.pedal = vec![PedalChange { tick: 100, channel: 0, value: 127 }];
    let held = rms(&play(&score), 1.2, 1.6);
    assert!(held > 50.0 * dry, "{held} against {dry}");
    score.pedal.push(PedalChange { tick: 600, channel: 0, value: 0 });
    let lifted = rms(&play(&score), 1.2, 1.6);
    assert!(lifted < 0.05 * held, "{lifted} against {held}");
    // Changed at once, it still lets the old note go.
    score.pedal.push(PedalChange { tick: 600, channel: 0, value: 127 });
    let changed = rms(&play(&score), 1.2, 1.6);
    assert!(changed < 0.05 * held, "{changed} against {held}");
}

#[test]
fn a_font_that_speaks_late_is_played_early() {
    // The envelope's delay of every zone is set to 2^-6 s, about 16 ms.
    let delayed = crate::score::soundfont::tests::builtin_with(33, -7200);
    let params = SynthParams { soundfont: delayed, ..unscaled() };
    for onset_s in [0.5, 0.7123] {
        let score = score(&[(onset_s, onset_s + 0.3, 60, 80)]);
        let clip = synthesise(&JobContext::new(), &score, &params).unwrap();
        let lateness = lateness_s(&clip.samples, onset_s);
        assert!(lateness.abs() < 0.002, "{} ms", lateness * 1000.0);
    }
}

#[test]
fn a_pedal_of_another_channel_holds_nothing() {
    let mut score = score(&[(0.0, 0.3, 60, 80), (1.9, 2.0, 90, 20)]);
    let dry = rms(&play(&score), 1.0, 1.5);
    score.pedal = vec![PedalChange { tick: 100, channel: 3, value: 127 }];
    assert_eq!(rms(&play(&score), 1.0, 1.5), dry);
}

#[test]
fn a_key_struck_again_while_held_ends_with_its_last_note() {
    // 352 blocks of 16 samples: both notes fall to the same synthesizer.
    let second = 352.0 * 16.0 / f64::from(ANALYSIS_RATE);
    let samples = play(&score(&[(0.0, 0.5, 60, 80), (second, 1.5, 60, 80)]));
    assert!(rms(&samples, 1.2, 1.4) > 0.1 * rms(&samples, 0.3, 0.5), "the first note's end stops the second");
    assert!(rms(&samples, 2.2, 2.4) < 0.01 * rms(&samples, 0.3, 0.5));
}

#[test]
fn every_program_is_the_piano() {
    let mut score = score(&[(0.0, 0.4, 60, 80), (0.5, 0.9, 64, 80)]);
    let piano = play(&score);
    score.programs = vec![ProgramChange { tick: 0, channel: 0, program: 73 }];
    assert_eq!(play(&score), piano);
}

#[test]
fn the_result_has_its_peak_and_length_and_rate_and_is_the_same_every_time() {
    let score = score(&[(0.0, 0.4, 60, 80), (7.0, 7.5, 64, 1)]);
    let clip = synthesise(&JobContext::new(), &score, &SynthParams::default()).unwrap();
    assert!((clip.peak() - 0.9).abs() < 1e-4);
    assert_eq!((clip.sample_rate, clip.samples.len()), (22_050, 22_050 * 17 / 2));
    assert_eq!(synthesise(&JobContext::new(), &score, &SynthParams::default()).unwrap(), clip);
    let params = SynthParams { sample_rate: 44_100, ..SynthParams::default() };
    assert_eq!(synthesise(&JobContext::new(), &score, &params).unwrap().samples.len(), 44_100 * 17 / 2);
}

#[test]
fn impossible_requests_are_refused_and_cancelling_stops() {
    let score = score(&[(0.0, 0.4, 60, 80), (1.0, 1.5, 64, 1)]);
    let ctx = JobContext::new();
    for map in
        [&|_| f64::NAN as _, &|_| f64::INFINITY, &|s: f64| s * 1e9, &|s: f64| s - 100.0] as [&dyn Fn(f64) -> f64; 4]
    {
        assert!(matches!(synthesise_mapped(&ctx, &score, &unscaled(), map), Err(Error::Invalid { .. })));
    }
    let params = SynthParams { sample_rate: 8_000, ..unscaled() };
    assert!(matches!(synthesise(&ctx, &score, &params), Err(Error::Invalid { .. })));
    let late = synthesise_mapped(&ctx, &score, &unscaled(), &|s| s - 0.7).unwrap();
    assert!(lateness_s(&late.samples, 0.3).abs() < 0.002, "the note before zero is left out");
    ctx.cancel();
    assert!(matches!(synthesise(&ctx, &score, &unscaled()), Err(Error::Cancelled)));
}
