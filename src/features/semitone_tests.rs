use std::f64::consts::TAU;

use super::*;

fn clip_of(seconds: f64, wave: impl Fn(f64) -> f64) -> AudioClip {
    let rate = f64::from(ANALYSIS_RATE);
    let samples = (0..(seconds * rate) as usize).map(|n| wave(n as f64 / rate) as f32).collect();
    AudioClip { samples, sample_rate: ANALYSIS_RATE }
}

fn hz(midi: f64) -> f64 {
    440.0 * ((midi - 69.0) / 12.0).exp2()
}

fn all_spectra(clip: &AudioClip, hop: usize, tuning_semitones: f64) -> SemitoneSpectra {
    let ctx = JobContext::new();
    let analyzer = SemitoneAnalyzer::new(&ctx, clip, &SemitoneParams { hop, tuning_semitones }).unwrap();
    analyzer.spectra(&ctx, 0..analyzer.frames()).unwrap()
}

/// One band straight from its definition, at the full rate.
fn naive_amplitude(samples: &[f32], centre: usize, window: usize, midi: usize) -> f64 {
    let spacing = f64::from(ANALYSIS_RATE) / window as f64;
    let pitch = hz(midi as f64);
    let mut sum = 0.0;
    for bin in 0..=window / 2 {
        let by_pitch = 1.0 - (12.0 * (bin as f64 * spacing / pitch).log2()).abs();
        let weight = by_pitch.max(1.0 - (bin as f64 - pitch / spacing).abs());
        if weight <= 0.0 {
            continue;
        }
        let (mut re, mut im) = (0.0, 0.0);
        for n in 0..window {
            let position = (centre + n).checked_sub(window / 2);
            let sample = position.and_then(|p| samples.get(p)).copied().unwrap_or(0.0);
            let windowed = f64::from(sample) * (0.5 - 0.5 * (TAU * n as f64 / window as f64).cos());
            let angle = TAU * (bin * n % window) as f64 / window as f64;
            re += windowed * angle.cos();
            im += windowed * angle.sin();
        }
        sum += weight * re.hypot(im) * 4.0 / window as f64;
    }
    sum
}

#[test]
fn amplitudes_agree_with_the_definition_at_the_full_rate() {
    let notes = [26.0, 40.0, 52.3, 57.0, 66.4, 71.0, 90.0, 110.0];
    let clip = clip_of(0.5, |t| notes.iter().map(|&m| 0.1 * (TAU * hz(m) * t).sin()).sum());
    let ctx = JobContext::new();
    for (hop, centre) in [(128, 0), (128, 5120), (100, 10_900), (125, 6000)] {
        let params = SemitoneParams { hop, tuning_semitones: 0.0 };
        let analyzer = SemitoneAnalyzer::new(&ctx, &clip, &params).unwrap();
        let mut row = vec![0.0; ROW];
        analyzer.amplitudes(&mut analyzer.scratch(), centre, &mut row);
        for midi in [21, 26, 33, 40, 52, 54, 55, 57, 59, 60, 66, 71, 72, 90, 116] {
            let mid_window = [4096, 2048, 1024][usize::from(midi >= 60) + usize::from(midi >= 72)];
            let short_window = if midi < 55 { 2048 } else { 1024 };
            for (kind, window) in [mid_window, short_window].into_iter().enumerate() {
                let got = f64::from(row[kind * SEMITONE_BANDS + midi - LOWEST_SEMITONE]);
                let expected = naive_amplitude(&clip.samples, centre, window, midi);
                assert!((got - expected).abs() < 5e-4, "hop {hop} at {centre}, MIDI {midi}: {got} {expected}");
            }
        }
    }
}

#[test]
fn a_note_is_loudest_in_its_own_band_and_tuning_moves_the_bands() {
    for (midi, tuning) in [(40, 0.0), (60, 0.4), (81, -0.3)] {
        let clip = clip_of(1.0, |t| (TAU * hz(f64::from(midi) + tuning) * t).sin());
        let spectra = all_spectra(&clip, 512, tuning);
        for levels in [spectra.mid(20), spectra.short(20)] {
            let best = (0..SEMITONE_BANDS).max_by(|&a, &b| levels[a].total_cmp(&levels[b])).unwrap();
            assert_eq!(best + LOWEST_SEMITONE, midi as usize);
        }
    }
}

#[test]
fn levels_do_not_depend_on_hop_or_on_the_range_asked_for() {
    let clip = clip_of(1.5, |t| (TAU * 200.0 * t * (1.0 + t)).sin() * (-t).exp());
    let fine = all_spectra(&clip, 128, 0.0);
    let coarse = all_spectra(&clip, 512, 0.0);
    for frame in 0..coarse.frames() {
        assert_eq!(coarse.mid(frame), fine.mid(4 * frame));
    }
    let ctx = JobContext::new();
    let analyzer = SemitoneAnalyzer::new(&ctx, &clip, &SemitoneParams { hop: 128, tuning_semitones: 0.0 }).unwrap();
    let part = analyzer.spectra(&ctx, 100..1_000_000).unwrap();
    assert_eq!((part.first_frame, part.frames()), (100, fine.frames() - 100));
    assert_eq!(part.short(7), fine.short(107));
    assert_eq!(analyzer.spectra(&ctx, 900_000..1_000_000).unwrap().frames(), 0);
}

#[test]
fn silence_and_scraps_give_finite_levels() {
    for clip in [clip_of(0.2, |_| 0.0), clip_of(0.0002, |_| 1.0)] {
        let spectra = all_spectra(&clip, 128, 0.0);
        assert!(spectra.rows.iter().all(|level| level.is_finite()));
    }
}
