//! Features of one made signal, compared with librosa's. The values come from `tests/golden/features/make.py`.

use std::f64::consts::TAU;

use super::{FeatureKind, FeatureParams, cqt, extract};
use crate::audio::AudioClip;
use crate::base::job::JobContext;
use crate::base::time::ANALYSIS_RATE;

/// The formula of `make.py`.
fn golden_clip() -> AudioClip {
    let rate = f64::from(ANALYSIS_RATE);
    let sample = |n: usize| {
        let t = n as f64 / rate;
        if !(0.25..2.3).contains(&t) {
            return 0.0;
        }
        let mut x = 0.05 * (TAU * (100.0 * t + 600.0 * t * t)).sin();
        for (onset, midi) in [(0.3, 48.0), (0.9, 64.0), (1.4, 55.0), (1.9, 76.0)] {
            let since = t - onset;
            if since >= 0.0 {
                let hz = 440.0 * 2f64.powf((midi - 69.0) / 12.0);
                x += (1..=6)
                    .map(|h| 0.3 / f64::from(h) * (-3.0 * since).exp() * (TAU * f64::from(h) * hz * since).sin())
                    .sum::<f64>();
            }
        }
        x as f32
    };
    AudioClip { samples: (0..(2.6 * rate) as usize).map(sample).collect(), sample_rate: ANALYSIS_RATE }
}

fn parse(csv: &str) -> Vec<f32> {
    csv.lines().flat_map(|line| line.split(',')).map(|value| value.parse().unwrap()).collect()
}

/// Absolute differences, ascending.
fn differences(got: &[f32], expected: &[f32]) -> Vec<f32> {
    assert_eq!(got.len(), expected.len());
    let mut differences: Vec<f32> = got.iter().zip(expected).map(|(a, b)| (a - b).abs()).collect();
    differences.sort_by(f32::total_cmp);
    differences
}

fn raw(kind: FeatureKind) -> Vec<f32> {
    extract(&JobContext::new(), &golden_clip(), &FeatureParams { kind, hop: 1024 }).unwrap().values
}

#[test]
fn mel_agrees_with_librosa_within_0_02_db() {
    let expected = parse(include_str!("../../tests/golden/features/mel.csv"));
    let worst = *differences(&raw(FeatureKind::Mel), &expected).last().unwrap();
    assert!(worst < 0.02, "{worst} dB");
}

#[test]
fn chroma_agrees_with_librosa_within_0_02_db() {
    let expected = parse(include_str!("../../tests/golden/features/chroma.csv"));
    let worst = *differences(&raw(FeatureKind::Chroma), &expected).last().unwrap();
    assert!(worst < 0.02, "{worst} dB");
}

/// librosa halves the rate octave by octave, which moves its windows by up to half a sample of the halved rate: it
/// differs from the exact sum where a weak bin lies beside a strong one.
#[test]
fn cqt_agrees_with_librosa_within_1_db_down_to_40_db_below_the_loudest_and_0_1_db_in_the_median() {
    let expected = parse(include_str!("../../tests/golden/features/cqt.csv"));
    let clip = golden_clip();
    let levels = cqt::log_cqt(&JobContext::new(), &clip.samples, 1024, expected.len() / 48).unwrap();
    let all = differences(&levels, &expected);
    assert!(all[all.len() / 2] < 0.1, "median {} dB", all[all.len() / 2]);
    let (loud, loud_expected): (Vec<f32>, Vec<f32>) = levels.iter().zip(&expected).filter(|(_, e)| **e > -40.0).unzip();
    let loud = differences(&loud, &loud_expected);
    assert!(loud.len() > 500 && loud[loud.len() - 1] < 1.0, "worst {} dB", loud[loud.len() - 1]);
}

#[test]
fn cqt_frames_of_unit_length_point_where_librosas_do() {
    let expected = parse(include_str!("../../tests/golden/features/cqt.csv"));
    for (frame, levels) in raw(FeatureKind::Cqt).chunks(48).zip(expected.chunks(48)) {
        let length = levels.iter().map(|v| v * v).sum::<f32>().sqrt();
        let cosine: f32 = frame.iter().zip(levels).map(|(a, b)| a * b / length).sum();
        assert!(cosine > 0.9998, "{cosine}");
    }
}
