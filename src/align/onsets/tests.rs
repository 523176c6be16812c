use std::f64::consts::TAU;

use super::evidence::{HOP, Pattern};
use super::segment::{Mismatch, norms};
use super::*;
use crate::align::start::{LogSpectrum, recording_spectrum};
use crate::audio::AudioClip;
use crate::base::job::JobContext;
use crate::base::time::ANALYSIS_RATE;
use crate::features::{SEMITONE_BANDS, SemitoneAnalyzer, SemitoneParams};
use crate::score::{Score, SynthParams, plain_score, synthesise_mapped};
use crate::warping::Warp;

/// Two voices, a chord every second, 12 seconds.
fn piece() -> Score {
    let melody = [60, 64, 67, 72, 71, 67, 65, 62];
    let mut notes = Vec::new();
    for step in 0..48 {
        let onset = 0.25 * f64::from(step);
        if step % 4 == 0 {
            notes.push((onset, 0.9, [43, 48, 45, 41][step as usize / 4 % 4]));
        }
        notes.push((onset, 0.24, melody[(step * 3 % 8) as usize]));
    }
    plain_score(&notes)
}

/// Slows down, hurries and pauses for half a second after 6 seconds.
fn performed(score_s: f64) -> f64 {
    0.7 + 1.1 * score_s + 0.25 * (0.9 * score_s).sin() + if score_s >= 6.0 { 0.5 } else { 0.0 }
}

struct Heard {
    evidence: Evidence,
    spectrum: LogSpectrum,
}

fn hear(clip: &AudioClip) -> Heard {
    let ctx = JobContext::new();
    Heard { evidence: Evidence::of(&ctx, clip, 0.0, None).unwrap(), spectrum: recording_spectrum(&ctx, clip).unwrap() }
}

fn play(score: &Score, time_map: &dyn Fn(f64) -> f64) -> AudioClip {
    synthesise_mapped(&JobContext::new(), score, &SynthParams::default(), time_map).unwrap()
}

fn find(heard: &Heard, score: &Score, rough: &Warp, anchors: &[(f64, f64)]) -> Placed {
    let known = Rough { centre: rough, tempo: rough, covered_s: (-1.0, score.end_s() + 1.0), anchors };
    place(&JobContext::new(), &heard.evidence, &heard.spectrum, score, known, &OnsetParams::default()).unwrap()
}

/// Knows the tempo only on the whole: up to 0.5 s off.
fn straight() -> Warp {
    Warp::new(vec![0.0, 12.0], vec![performed(0.0), performed(12.0)]).unwrap()
}

#[test]
fn onsets_of_a_synthesised_performance_are_found_to_a_few_milliseconds() {
    let score = piece();
    let placed = find(&hear(&play(&score, &performed)), &score, &straight(), &[]);
    let mut errors: Vec<f64> =
        score.onsets_s().iter().map(|&s| 1e3 * (placed.warp.at(s) - performed(s)).abs()).collect();
    errors.sort_by(f64::total_cmp);
    assert!(errors[24] < 4.0 && errors[47] < 20.0, "{errors:?}");
    assert_eq!(placed.notes.len(), score.notes.len());
    let sure = placed.support.iter().filter(|support| support.confidence() > 0.9).count();
    assert!(sure > 40, "{sure} of 48 onsets are sure");
}

#[test]
fn the_band_widens_where_the_rough_warp_is_far_off() {
    let score = piece();
    let heard = hear(&play(&score, &performed));
    let late = Warp::new(vec![0.0, 12.0], vec![performed(0.0) + 1.5, performed(12.0) + 1.5]).unwrap();
    let placed = find(&heard, &score, &late, &[]);
    let right = score.onsets_s().iter().filter(|&&s| (placed.warp.at(s) - performed(s)).abs() < 0.02).count();
    assert!(right > 44, "{right} of 48 onsets are right");
}

#[test]
fn anchors_hold_even_where_the_recording_disagrees_and_between_onsets() {
    let score = piece();
    let heard = hear(&play(&score, &performed));
    let anchors = [(3.0, performed(3.0) + 0.2), (7.1, performed(7.1) - 0.1)];
    let placed = find(&heard, &score, &straight(), &anchors);
    for (score_s, performance_s) in anchors {
        assert!((placed.warp.at(score_s) - performance_s).abs() < 1e-9, "{}", placed.warp.at(score_s));
    }
    assert_eq!(placed.chords.len(), 49, "an anchor at no onset has a knot of its own");
    assert!((placed.warp.at(11.0) - performed(11.0)).abs() < 0.02);
}

/// Tones with eight partials over faint noise, without the hammer that makes every band of a real piano rise.
fn tones(seconds: f64, notes: &[(f64, f64)]) -> AudioClip {
    let rate = f64::from(ANALYSIS_RATE);
    let sample = |n: usize| {
        let mut sum = 0.02 * ((n as f64 * 12.9898).sin() * 43_758.545).fract();
        for &(onset, midi) in notes {
            let t = n as f64 / rate - onset;
            let hz = 440.0 * ((midi - 69.0) / 12.0).exp2();
            if t >= 0.0 {
                let envelope = (-2.0 * t).exp() * (t / 0.004).min(1.0);
                sum += (1..=8).map(|h| envelope * 0.7f64.powi(h) * (TAU * f64::from(h) * hz * t).sin()).sum::<f64>();
            }
        }
        (0.1 * sum) as f32
    };
    AudioClip { samples: (0..(seconds * rate) as usize).map(sample).collect(), sample_rate: ANALYSIS_RATE }
}

#[test]
fn notes_of_a_chord_stay_together_unless_they_are_played_apart() {
    let chords = plain_score(&[(0.0, 1.0, 60), (0.0, 1.0, 76), (2.0, 1.0, 62), (2.0, 1.0, 79)]);
    let clip = tones(4.0, &[(0.5, 60.0), (0.5, 76.0), (2.48, 62.0), (2.52, 79.0)]);
    let rough = Warp::new(vec![0.0, 3.0], vec![0.5, 3.5]).unwrap();
    let placed = find(&hear(&clip), &chords, &rough, &[]);
    let onset = |note: usize| placed.notes.iter().find(|placed| placed.0 == note).unwrap().1;
    assert!((onset(0) - onset(1)).abs() < 0.012, "{:?}", placed.notes);
    assert!((0.02..0.06).contains(&(onset(3) - onset(2))), "{:?}", placed.notes);
    assert!((placed.warp.at(2.0) - 2.5).abs() < 0.015, "{}", placed.warp.at(2.0));
}

#[test]
fn silence_noise_and_a_single_note_are_no_reason_to_panic() {
    let mut state = 1u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0 - 0.5
    };
    let noise: Vec<f32> = (0..44_100).map(|_| noise()).collect();
    for samples in [vec![0.0; 44_100], noise, vec![0.3; 10]] {
        let heard = hear(&AudioClip { samples, sample_rate: ANALYSIS_RATE });
        for score in [piece(), plain_score(&[(0.0, 1.0, 60)]), plain_score(&[(0.0, 1.0, 5), (1.0, 1.0, 127)])] {
            let placed = find(&heard, &score, &straight(), &[]);
            assert!(placed.warp.performance_s().windows(2).all(|pair| pair[1] >= pair[0]));
            assert!(placed.support.iter().all(|support| (0.0..=1.0).contains(&support.confidence())));
        }
    }
}

#[test]
fn evidence_agrees_with_the_formula_written_out() {
    let clip = play(&plain_score(&[(0.1, 0.3, 50), (0.3, 0.3, 67)]), &|s| s);
    let ctx = JobContext::new();
    let analyzer = SemitoneAnalyzer::new(&ctx, &clip, &SemitoneParams { hop: HOP, tuning_semitones: 0.0 }).unwrap();
    let spectra = analyzer.spectra(&ctx, 0..usize::MAX).unwrap();
    let evidence = Evidence::of(&ctx, &clip, 0.0, None).unwrap();
    assert_eq!(evidence.frames(), spectra.frames());
    let level = |frame: i64, band: usize, short: bool| match usize::try_from(frame) {
        Ok(f) if f < spectra.frames() => (if short { spectra.short(f) } else { spectra.mid(f) })[band],
        _ => 0.0,
    };
    for frame in 0..evidence.frames() {
        for band in [0, 29, 41, 46, 65, 95] {
            let f = frame as i64;
            let rise = |short| (level(f + 2, band, short) - level(f - 2, band, short)).clamp(0.0, 1.5);
            let expected = 2.0 * (0.75 * rise(false) + 0.25 * rise(true));
            let got = evidence.at(frame, &Pattern { bands: vec![(band, 2.0)], ..Pattern::default() });
            assert!((got - expected).abs() < 1e-4, "frame {frame} band {band}: {got} instead of {expected}");
        }
    }
}

#[test]
fn the_mismatch_of_a_stretch_is_the_sum_over_its_frames() {
    let frames = 40;
    let value = |i: usize| ((i * 7 + i / SEMITONE_BANDS * 3) % 11) as f32;
    let values: Vec<f32> = (0..frames * SEMITONE_BANDS).map(value).collect();
    let spectrum = LogSpectrum { hop_s: 0.02, values, tuning_semitones: 0.0 };
    let mut template = [0.0f32; SEMITONE_BANDS];
    template[3] = 0.6;
    template[50] = 0.8;
    let found = Mismatch::over(&spectrum, &norms(&spectrum), &template, (0.2, 0.6));
    let cosine = |frame: usize| {
        let row = spectrum.frame(frame);
        let norm = row.iter().map(|v| f64::from(v * v)).sum::<f64>().sqrt();
        (0.6 * f64::from(row[3]) + 0.8 * f64::from(row[50])) / norm
    };
    let expected: f64 = (15..25).map(|f| 0.02 * (1.0 - 0.5 * (cosine(f) + cosine(f + 1)))).sum();
    assert!((found.until(0.5) - found.until(0.3) - expected).abs() < 1e-6);
    assert_eq!(found.until(0.1), 0.0, "before the stretch nothing is known");
}
