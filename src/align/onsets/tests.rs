use std::collections::BTreeMap;
use std::f64::consts::TAU;

use super::evidence::{HOP, Pattern};
use super::*;
use crate::align::heard::PlayedNote;
use crate::align::notes::aligned_notes;
use crate::align::places::places;
use crate::align::result::Place;
use crate::align::settings::{Anchor, FixedNote};
use crate::audio::AudioClip;
use crate::base::job::JobContext;
use crate::base::time::ANALYSIS_RATE;
use crate::features::{SemitoneAnalyzer, SemitoneParams};
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

fn hear(clip: &AudioClip) -> Evidence {
    Evidence::of(&JobContext::new(), clip, 0.0, None).unwrap()
}

fn play(score: &Score, time_map: &dyn Fn(f64) -> f64) -> AudioClip {
    synthesise_mapped(&JobContext::new(), score, &SynthParams::default(), time_map).unwrap()
}

fn find(evidence: &Evidence, score: &Score, rough: &Warp, anchors: &[Anchor]) -> Placed {
    find_fixed(evidence, score, rough, anchors, &[], &BTreeMap::new())
}

fn find_fixed(
    evidence: &Evidence,
    score: &Score,
    rough: &Warp,
    anchors: &[Anchor],
    fixed_notes: &[FixedNote],
    known_spread: &BTreeMap<usize, f64>,
) -> Placed {
    let covered_s = (-1.0, score.end_s() + 1.0);
    let known = Rough { centre: rough, tempo: rough, covered_s, anchors, fixed_notes, known_spread };
    place(&JobContext::new(), evidence, score, known, &OnsetParams::suiting(evidence)).unwrap()
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
    let anchors = [(3.0, performed(3.0) + 0.2), (7.1, performed(7.1) - 0.1)]
        .map(|(score_s, performance_s)| Anchor { score_s, performance_s });
    let placed = find(&heard, &score, &straight(), &anchors);
    for Anchor { score_s, performance_s } in anchors {
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
fn a_fixed_onset_carries_its_notes_and_a_fixed_note_goes_its_own_way() {
    let chords = plain_score(&[(0.0, 1.0, 60), (0.0, 1.0, 76), (2.0, 1.0, 62), (2.0, 1.0, 79)]);
    let heard = hear(&tones(4.0, &[(0.5, 60.0), (0.5, 76.0), (2.48, 62.0), (2.52, 79.0)]));
    let rough = Warp::new(vec![0.0, 3.0], vec![0.5, 3.5]).unwrap();
    let free = find(&heard, &chords, &rough, &[]);
    let onset = |placed: &Placed, note: usize| placed.notes.iter().find(|placed| placed.0 == note).unwrap().1;
    let spread = onset(&free, 3) - onset(&free, 2);
    let anchors = [Anchor { score_s: 2.0, performance_s: 2.7 }];
    let known: BTreeMap<usize, f64> = [2, 3].map(|note| (note, onset(&free, note) - free.warp.at(2.0))).into();
    let moved = find_fixed(&heard, &chords, &rough, &anchors, &[], &known);
    assert!((moved.warp.at(2.0) - 2.7).abs() < 1e-9);
    assert!((onset(&moved, 3) - onset(&moved, 2) - spread).abs() < 1e-9, "the spread is kept");
    assert!((0.5 * (onset(&moved, 2) + onset(&moved, 3)) - 2.7).abs() < 1e-9, "the notes go with the onset");
    assert_eq!(moved.support[1].confidence(), 1.0, "what the user fixed is certain");
    // Without a known spread the recording's own is taken, about the fixed moment.
    let anew = find(&heard, &chords, &rough, &anchors);
    assert!((0.5 * (onset(&anew, 2) + onset(&anew, 3)) - 2.7).abs() < 1e-9);
    let note = [FixedNote { note: 3, performance_s: 2.61 }];
    let single = find_fixed(&heard, &chords, &rough, &[], &note, &BTreeMap::new());
    assert_eq!(onset(&single, 3), 2.61);
    assert!((onset(&single, 2) - onset(&free, 2)).abs() < 1e-9, "the other note stays");
}

/// The places to check where the piece is heard note by note, but for a passage of which something else is played.
fn places_where(is_other: impl Fn(f64) -> bool) -> Vec<Place> {
    let score = piece();
    let played: Vec<PlayedNote> = score
        .notes
        .iter()
        .map(|note| {
            let onset_s = performed(note.onset_s) + if is_other(note.onset_s) { 0.13 } else { 0.0 };
            let pitch = if is_other(note.onset_s) { note.pitch + 1 } else { note.pitch };
            PlayedNote { pitch, onset_s, offset_s: onset_s + 0.2, velocity: 64 }
        })
        .collect();
    let placed = find(&Evidence::of_notes(&played, 16.0), &score, &straight(), &[]);
    let notes = aligned_notes(&score, &placed.warp, &placed.notes, &placed.chords, &placed.support, 1.0);
    places(&score, &notes, &placed.warp)
}

#[test]
fn a_passage_that_is_not_heard_as_written_is_a_place_to_check_and_the_rest_is_none() {
    let none = places_where(|_| false);
    assert!(none.is_empty(), "{none:?}");
    let found = places_where(|score_s| (8.0..10.0).contains(&score_s));
    let first = found.first().expect("a place");
    assert!(first.score_from_s <= 8.5 && first.score_to_s >= 9.25, "{found:?}");
    assert!(first.expected_wrong_notes > 3.0, "{found:?}");
    // What lies within 1.5 s of the recording is part of it.
    assert!(found.iter().all(|place| place.score_from_s > 6.5 && place.score_to_s < 11.4), "{found:?}");
}
