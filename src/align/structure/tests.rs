use super::super::{Named, Stopwatch, align};
use super::*;
use crate::align::settings::Settings;
use crate::networks::Device;
use crate::score::{SynthParams, plain_score, synthesise_mapped};

/// A score of sections, each a melody of its own of 40 notes in 10 seconds with a bass note every second.
fn score(sections: &[u8]) -> Score {
    let mut notes = Vec::new();
    let mut add = |onset_s: f64, length: f64, pitch: u8| notes.push((onset_s, length, pitch));
    for (index, &section) in sections.iter().enumerate() {
        let mut state = u32::from(section).wrapping_mul(1_000_003);
        for step in 0..40 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let onset = 10.0 * index as f64 + 0.25 * f64::from(step);
            if step % 4 == 0 {
                add(onset, 0.9, 36 + (state >> 28) as u8);
            }
            add(onset, 0.24, 60 + (state >> 24 & 15) as u8);
        }
    }
    plain_score(&notes)
}

/// Slower than written, and not steady.
fn performed(score_s: f64) -> f64 {
    0.5 + 1.15 * score_s + 0.2 * (0.6 * score_s).sin()
}

fn aligned(written: &Score, played: &Score) -> crate::align::result::Alignment {
    let ctx = JobContext::new();
    let clip = synthesise_mapped(&ctx, played, &SynthParams::default(), &performed).unwrap().into();
    let (recording, score) = (Named { name: "clip", content: &clip }, Named { name: "score", content: written });
    align(&ctx, recording, score, &Settings::default(), &Device::Cpu, &mut Stopwatch::default()).unwrap().0
}

#[test]
fn repeats_are_found_with_and_without_their_endings() {
    assert_eq!(shortcuts(&score(&[1, 2, 3, 4])), []);
    let plain = shortcuts(&score(&[1, 2, 2, 3]));
    assert_eq!(plain.len(), 1);
    assert!((plain[0].from_s - 20.0).abs() < 1e-6 && (plain[0].to_s - 30.0).abs() < 1e-6, "{plain:?}");
    // Two sections and an ending each: left out are the first ending and what both passes share, once.
    let endings = shortcuts(&score(&[1, 2, 3, 4, 1, 2, 3, 5]));
    assert_eq!(endings.len(), 1);
    assert!((endings[0].from_s - 30.0).abs() < 1e-6 && (endings[0].to_s - 70.0).abs() < 1e-6, "{endings:?}");
}

#[test]
fn a_repeat_that_was_not_played_is_left_out_and_told() {
    let (written, played) = (score(&[1, 2, 2, 3]), score(&[1, 2, 3]));
    let alignment = aligned(&written, &played);
    let told = alignment.warnings.iter().any(|warning| warning.contains("a repeat that was not played"));
    assert!(told, "{:?}", alignment.warnings);
    for score_s in [2.0, 15.0, 19.0] {
        assert!((alignment.warp.at(score_s) - performed(score_s)).abs() < 0.03, "{score_s}");
    }
    for score_s in [31.0, 35.5, 39.0] {
        assert!((alignment.warp.at(score_s) - performed(score_s - 10.0)).abs() < 0.03, "{score_s}");
    }
    for (note, aligned) in written.notes.iter().zip(&alignment.notes) {
        assert_eq!(aligned.confidence == 0.0, (20.0..30.0).contains(&note.onset_s), "{note:?}");
    }
}

#[test]
fn a_repeat_that_was_played_stays() {
    let written = score(&[1, 2, 2, 3]);
    let alignment = aligned(&written, &written);
    assert!(alignment.warnings.is_empty(), "{:?}", alignment.warnings);
    assert!((alignment.warp.at(25.0) - performed(25.0)).abs() < 0.03);
}

#[test]
fn a_cut_is_left_out_and_told() {
    let (written, played) = (score(&[1, 2, 3, 4]), score(&[1, 2, 4]));
    let alignment = aligned(&written, &played);
    let told = alignment.warnings.iter().any(|warning| warning.contains("were not played"));
    assert!(told, "{:?}", alignment.warnings);
    for score_s in [2.0, 15.0, 19.0] {
        assert!((alignment.warp.at(score_s) - performed(score_s)).abs() < 0.03, "{score_s}");
    }
    for score_s in [31.0, 35.5, 39.0] {
        assert!((alignment.warp.at(score_s) - performed(score_s - 10.0)).abs() < 0.03, "{score_s}");
    }
}

#[test]
fn of_a_section_played_twice_the_second_pass_is_aligned_and_the_first_told() {
    let (written, played) = (score(&[1, 2, 3]), score(&[1, 2, 2, 3]));
    let alignment = aligned(&written, &played);
    let told = alignment.warnings.iter().any(|warning| warning.contains("once more than written"));
    assert!(told, "{:?}", alignment.warnings);
    for score_s in [2.0, 9.0] {
        assert!((alignment.warp.at(score_s) - performed(score_s)).abs() < 0.03, "{score_s}");
    }
    for score_s in [11.0, 15.5, 25.0, 29.0] {
        assert!((alignment.warp.at(score_s) - performed(score_s + 10.0)).abs() < 0.03, "{score_s}");
    }
    // The last notes of the first section end with it, not with the pass that follows.
    let longest = alignment.notes.iter().map(|note| note.offset_s - note.onset_s).fold(0.0, f64::max);
    assert!(longest < 2.0, "{longest}");
}

#[test]
fn after_a_da_capo_the_first_time_counts() {
    let (written, played) = (score(&[1, 2, 3]), score(&[1, 2, 3, 1]));
    let alignment = aligned(&written, &played);
    let told = alignment.warnings.iter().any(|warning| warning.contains("once more than written"));
    assert!(told, "{:?}", alignment.warnings);
    for score_s in [2.0, 9.0, 15.5, 25.0, 29.0] {
        assert!((alignment.warp.at(score_s) - performed(score_s)).abs() < 0.03, "{score_s}");
    }
}

#[test]
fn a_warp_that_hurries_waits_or_leaves_much_of_the_recording_out_is_not_whole() {
    let warp = |steps: &dyn Fn(f64) -> f64| {
        let score_s: Vec<f64> = (0..=240).map(|k| 0.25 * f64::from(k)).collect();
        let performance_s = score_s.iter().map(|&s| steps(s)).collect();
        Warp::new(score_s, performance_s).unwrap()
    };
    let steady = |s: f64| 1.0 + 1.3 * s + 0.5 * (0.4 * s).sin();
    assert!(is_whole(&warp(&steady), 82.0));
    assert!(!is_whole(&warp(&steady), 100.0), "20 s of the recording are left");
    assert!(!is_whole(&warp(&|s| steady(s.min(20.0) + (s - 30.0).max(0.0))), 70.0), "10 s are hurried through");
    assert!(!is_whole(&warp(&|s| steady(s) + if s > 25.0 { 12.0 } else { 0.0 }), 94.0), "12 s are waited for");
}
