//! Performances that are not what is written: every onset that was played is found all the same.

use crate::align::settings::Settings;
use crate::align::{Named, Performance, Stopwatch, align};
use crate::base::job::JobContext;
use crate::networks::Device;
use crate::score::{Score, Take, plain_score};

/// Onset, length, pitch.
type Note = (f64, f64, u8);

/// Numbers that look random.
fn noise(seed: u32) -> impl FnMut(u32) -> u32 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    }
}

/// A melody in quavers over a bass in crotchets, 40 s.
fn piece() -> Vec<Note> {
    let mut below = noise(11);
    let mut notes = Vec::new();
    let mut pitch = 72u8;
    for step in 0..160 {
        let onset = 0.25 * f64::from(step);
        pitch = (pitch + [0, 2, 3, 5][below(4) as usize]).saturating_sub([1, 2, 4][below(3) as usize]).clamp(62, 84);
        notes.push((onset, 0.24, pitch));
        if step % 2 == 0 {
            notes.push((onset, 0.45, 40 + below(14) as u8));
        }
    }
    notes
}

/// Rubato: 15 % faster and slower, in waves of about 9 s.
fn rubato(score_s: f64) -> f64 {
    1.0 + 1.2 * score_s + 0.25 * (0.7 * score_s).sin()
}

/// What was played: the notes of the score that `keeps` lets pass, at the times of `time`, and others besides.
fn played(score: &[Note], time: &dyn Fn(f64) -> f64, keeps: &dyn Fn(f64) -> bool, besides: &[Note]) -> Score {
    let kept = score.iter().filter(|note| keeps(note.0));
    let mut notes: Vec<Note> = kept.map(|&(s, length, pitch)| (time(s), length, pitch)).collect();
    notes.extend_from_slice(besides);
    notes.sort_by(|a, b| a.0.total_cmp(&b.0));
    plain_score(&notes)
}

/// Onsets of the score, of those that were played, that are not where they were played, with how far they are off.
fn misplaced(
    score: &[Note],
    performance: Score,
    time: &dyn Fn(f64) -> f64,
    keeps: &dyn Fn(f64) -> bool,
) -> Vec<(f64, f64)> {
    let score = plain_score(score);
    let (take, settings) = (Performance::from(Take { played: performance }), Settings::default());
    let (recording, written) = (Named { name: "take", content: &take }, Named { name: "score", content: &score });
    let ctx = JobContext::new();
    let (found, _) = align(&ctx, recording, written, &settings, &Device::Cpu, &mut Stopwatch::default()).unwrap();
    let warp = found.warp;
    let off = |s: f64| (s, warp.at(s) - time(s));
    score.onsets_s().into_iter().filter(|&s| keeps(s)).map(off).filter(|(_, off)| off.abs() > 0.03).collect()
}

fn always(_: f64) -> bool {
    true
}

#[test]
fn a_cadenza_that_nobody_wrote_moves_no_other_onset() {
    let score = piece();
    let mut below = noise(5);
    let time = |s: f64| rubato(s) + if s >= 20.0 { 8.0 } else { 0.0 };
    let begin = rubato(19.75) + 0.3;
    let cadenza: Vec<Note> = (0..80).map(|k| (begin + 0.1 * f64::from(k), 0.1, 60 + below(25) as u8)).collect();
    let off = misplaced(&score, played(&score, &time, &always, &cadenza), &time, &always);
    assert!(off.is_empty(), "{off:?}");
}

#[test]
fn a_long_fermata_moves_no_other_onset() {
    let score = piece();
    let time = |s: f64| rubato(s) + if s >= 12.25 { 6.0 } else { 0.0 };
    let off = misplaced(&score, played(&score, &time, &always, &[]), &time, &always);
    assert!(off.is_empty(), "{off:?}");
}

#[test]
fn a_trill_of_twice_the_notes_and_twice_as_long_moves_no_other_onset() {
    // A trill of 32 notes in the place of the bars from 16 s to 18 s, over nothing but a bass at its beginning.
    let is_trill = |s: f64| (16.0..18.0).contains(&s);
    let mut score: Vec<Note> = piece().into_iter().filter(|note| !is_trill(note.0)).collect();
    let turn = |k: u32| if k.is_multiple_of(2) { 76 } else { 77 };
    score.extend((0..32).map(|k| (16.0 + f64::from(k) / 16.0, 0.06, turn(k))));
    score.sort_by(|a, b| a.0.total_cmp(&b.0));
    let time = |s: f64| rubato(s) + if s >= 18.0 { 2.4 } else { 0.0 };
    let (begin, end) = (time(16.0), time(18.0));
    let trill: Vec<Note> = (0..64).map(|k| (begin + (end - begin) * f64::from(k) / 64.0, 0.06, turn(k))).collect();
    let keeps = |s: f64| !is_trill(s);
    let off = misplaced(&score, played(&score, &time, &keeps, &trill), &time, &keeps);
    assert!(off.is_empty(), "{off:?}");
}

#[test]
fn a_bar_that_is_left_out_moves_no_other_onset() {
    let score = piece();
    let keeps = |s: f64| !(24.0..26.0).contains(&s);
    let time = |s: f64| if s < 24.0 { rubato(s) } else { rubato(s - 2.0) };
    let off = misplaced(&score, played(&score, &time, &keeps, &[]), &time, &keeps);
    assert!(off.is_empty(), "{off:?}");
}

#[test]
fn a_passage_of_wrong_notes_moves_no_other_onset() {
    let score = piece();
    let is_wrong = |s: f64| (9.0..13.0).contains(&s);
    let wrong: Vec<Note> = score
        .iter()
        .filter(|note| is_wrong(note.0))
        .map(|&(s, length, pitch)| (rubato(s), length, if pitch % 2 == 0 { pitch + 1 } else { pitch - 2 }))
        .collect();
    let keeps = |s: f64| !is_wrong(s);
    let off = misplaced(&score, played(&score, &rubato, &keeps, &wrong), &rubato, &keeps);
    assert!(off.is_empty(), "{off:?}");
}

#[test]
fn small_notes_without_a_measure_are_found_where_they_were_played() {
    // Forty small notes that the score squeezes into a tenth of a second are played in five seconds.
    let (first, step) = (16.05, 0.0025);
    let mut below = noise(23);
    let mut score = piece();
    score.extend((0..40).map(|k| (first + step * f64::from(k), step, 60 + below(25) as u8)));
    score.sort_by(|a, b| a.0.total_cmp(&b.0));
    let time = |s: f64| {
        let small = ((s - first) / step).round().clamp(0.0, 40.0);
        let beats = if s < first { s } else { (s - 0.1).max(first) };
        rubato(beats) + 0.125 * small
    };
    let off = misplaced(&score, played(&score, &time, &always, &[]), &time, &always);
    assert!(off.len() < 3, "{off:?}");
}
