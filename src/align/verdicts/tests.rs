//! Verdicts of small pieces: exactly known, and as an ear hears them, with doubts, misses and inventions.

use super::*;
use crate::align::heard::{Moment, PlayedNote};
use crate::align::verdicts::strokes::CLEAR;
use crate::base::random::Random;
use crate::score::plain_score;

const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn aligned(score: &Score) -> Vec<AlignedNote> {
    score.notes.iter().map(|note| AlignedNote::new(note.onset_s, note.offset_s, 0.9)).collect()
}

fn played(notes: &[(f64, f64, u8)]) -> Vec<PlayedNote> {
    let note = |&(onset_s, length_s, pitch): &(f64, f64, u8)| PlayedNote {
        pitch,
        onset_s,
        offset_s: onset_s + length_s,
        velocity: 64,
    };
    notes.iter().map(note).collect()
}

/// Listens to every pitch, exactly.
fn exactly(notes: &[(f64, f64, u8)]) -> Heard {
    let mut heard = Heard::new(1000);
    (21..109).for_each(|pitch| heard.set(pitch, std::iter::empty()));
    heard.add_notes(&played(notes));
    heard
}

fn verdicts(written: &[(f64, f64, u8)], performed: &[(f64, f64, u8)]) -> Verdicts {
    let score = plain_score(written);
    let standing = vec![Standing::Placed; written.len()];
    judge(&score, &aligned(&score), &standing, &exactly(performed), ALL)
}

fn said(verdicts: &Verdicts) -> Vec<Verdict> {
    verdicts.notes.iter().map(|judged| judged.unwrap().verdict).collect()
}

const SCALE: [(f64, f64, u8); 4] = [(1.0, 0.4, 60), (1.5, 0.4, 62), (2.0, 0.4, 64), (2.5, 0.4, 65)];

#[test]
fn what_is_played_as_written_is_neither_missing_nor_extra() {
    let found = verdicts(&SCALE, &SCALE);
    assert_eq!(said(&found), [Verdict::Played; 4]);
    assert!(found.extra.is_empty() && found.notes.iter().all(|judged| judged.unwrap().confidence > 0.9));
}

#[test]
fn a_note_left_out_a_note_added_and_another_pitch_are_told_apart() {
    let found = verdicts(&SCALE, &[(1.0, 0.4, 60), (1.5, 0.4, 61), (2.25, 0.1, 67), (2.5, 0.4, 65)]);
    use Verdict::{Missing, OtherPitch, Played};
    assert_eq!(said(&found), [Played, OtherPitch { pitch: 61 }, Missing, Played]);
    let extra: Vec<(u8, Option<usize>)> = found.extra.iter().map(|e| (e.stroke.pitch, e.instead_of)).collect();
    assert_eq!(extra, [(61, Some(1)), (67, None)]);
}

#[test]
fn a_stroke_explains_one_note_only() {
    // Four strokes for the six of a repeated note, and six for four.
    let repeated = |count: u8, step_s: f64| -> Vec<_> {
        (0..count).map(|note| (1.0 + step_s * f64::from(note), 0.08, 60)).collect()
    };
    let missing = verdicts(&repeated(6, 0.1), &repeated(4, 0.1));
    assert_eq!(said(&missing).iter().filter(|verdict| **verdict == Verdict::Missing).count(), 2);
    let extra = verdicts(&repeated(4, 0.15), &repeated(6, 0.15));
    assert_eq!((said(&extra), extra.extra.len()), (vec![Verdict::Played; 4], 2));
}

#[test]
fn a_note_that_comes_late_is_neither_missing_nor_extra() {
    let mut performed = SCALE;
    performed[2].0 += 0.2;
    let found = verdicts(&SCALE, &performed);
    assert_eq!((said(&found), found.extra.len()), (vec![Verdict::Played; 4], 0));
}

#[test]
fn where_the_alignment_is_sure_a_doubtful_stroke_is_no_note() {
    let frame = (1.7 / Heard::step_s()).round() as usize;
    let moment = |at| if at == frame { Moment { begins: 0.5, ..Moment::SILENCE } } else { Moment::SILENCE };
    let mut heard = exactly(&SCALE);
    heard.set(70, (0..1000).map(moment));
    let score = plain_score(&SCALE);
    let extra = |confidence: f64| {
        let notes: Vec<AlignedNote> =
            aligned(&score).into_iter().map(|note| AlignedNote { confidence, ..note }).collect();
        judge(&score, &notes, &[Standing::Placed; 4], &heard, ALL).extra.len()
    };
    assert_eq!((extra(0.99), extra(0.3)), (0, 1));
}

/// By hand: all notes sorted by their distance in rank.
#[test]
fn sureness_is_the_mean_of_the_notes_round_a_moment() {
    let notes: Vec<AlignedNote> =
        (0..30).map(|at| AlignedNote::new(0.1 * f64::from(at), 0.0, 0.3 + 0.02 * f64::from(at))).collect();
    let sureness = Sureness::of(&notes, &[Standing::Placed; 30]);
    for (time_s, range) in [(-1.0, 0..6), (1.05, 5..17), (9.0, 24..30)] {
        let odds = |note: &AlignedNote| (note.confidence / (1.0 - note.confidence)).ln();
        let expected = notes[range.clone()].iter().map(odds).sum::<f64>() / range.len() as f64;
        assert!((sureness.at(time_s) - expected).abs() < 1e-9, "{time_s}");
    }
    assert_eq!(Sureness::of(&[], &[]).at(0.0), 0.0);
}

#[test]
fn two_voices_share_a_key_but_not_a_violin() {
    let written = [(1.0, 0.5, 60), (1.0, 1.0, 60), (2.0, 0.5, 62)];
    let performed = [(1.0, 0.5, 60), (2.0, 0.5, 62)];
    use Verdict::{Missing, Played};
    assert_eq!(said(&verdicts(&written, &performed)), [Played, Missing, Played]);
    let mut score = plain_score(&written);
    score.programs = vec![crate::score::ProgramChange { tick: 0, channel: 0, program: 40 }];
    let found = judge(&score, &aligned(&score), &[Standing::Placed; 3], &exactly(&performed), ALL);
    assert_eq!(said(&found), [Played; 3]);
}

#[test]
fn a_faint_octave_that_begins_with_a_loud_note_is_its_partial() {
    let mut heard = exactly(&[(1.0, 0.5, 48)]);
    let frame = (1.0 / Heard::step_s()).round() as usize;
    let faint = |begins: f32| {
        (0..1000).map(
            move |at| if at == frame { Moment { begins, sounds: 0.0, ..Moment::SILENCE } } else { Moment::SILENCE },
        )
    };
    heard.set(60, faint(0.5));
    let score = plain_score(&[(1.0, 0.5, 48)]);
    let found = judge(&score, &aligned(&score), &[Standing::Placed], &heard, ALL);
    assert!(found.extra.is_empty(), "{:?}", found.extra);
}

#[test]
fn what_was_left_out_with_its_section_is_missing_and_takes_no_stroke() {
    let score = plain_score(&[(1.0, 0.4, 60), (1.0, 0.4, 60), (2.0, 0.4, 62)]);
    let standing = [Standing::LeftOut, Standing::Placed, Standing::Placed];
    let found = judge(&score, &aligned(&score), &standing, &exactly(&[(1.0, 0.4, 60), (2.0, 0.4, 62)]), ALL);
    assert_eq!(said(&found), [Verdict::Missing, Verdict::Played, Verdict::Played]);
}

#[test]
fn only_what_lies_within_is_judged_and_a_pitch_that_nobody_listened_for_is_not() {
    let score = plain_score(&SCALE);
    let standing = [Standing::Placed; 4];
    let performed = [(1.0, 0.4, 60), (1.7, 0.2, 70), (2.9, 0.2, 72)];
    let found = judge(&score, &aligned(&score), &standing, &exactly(&performed), (1.4, 2.2));
    assert_eq!(found.extra.len(), 1, "{:?}", found.extra);
    assert!(found.notes[0].is_none() && found.notes[3].is_none() && found.notes[1].is_some());
    let mut deaf = Heard::new(1000);
    deaf.add_notes(&played(&SCALE[..2]));
    let deaf = judge(&score, &aligned(&score), &standing, &deaf, ALL);
    assert!(deaf.notes[0].is_some() && deaf.notes[2].is_none());
    let known = judge(&score, &aligned(&score), &standing, &Heard::of_notes(&played(&SCALE[..2]), 5.0), ALL);
    assert_eq!(said(&known)[2..], [Verdict::Missing; 2], "of a take all is known");
}

/// What an ear makes of notes: odds that scatter, onsets some milliseconds off, faint echoes of the octave, noise between.
fn as_heard(notes: &[(f64, f64, u8)], random: &mut Random) -> Heard {
    let frames = (notes.iter().map(|note| note.0 + note.1).fold(0.0, f64::max) / Heard::step_s()) as usize + 200;
    let mut heard = Heard::new(frames);
    for pitch in 40..90 {
        let mut moments: Vec<Moment> = (0..frames)
            .map(|_| {
                // Faint strokes of nothing, one in three and a half seconds of each pitch: as often as on real pianos.
                let noise = -5.0 + random.between(-1.51, 1.51) as f32;
                Moment { begins: noise, sounds: -3.0 + random.between(-1.7, 1.7) as f32, ends: -5.0, ..Moment::SILENCE }
            })
            .collect();
        let mut add = |onset_s: f64, length_s: f64, begins: f32, sounds: f32| {
            let onset = (onset_s + random.between(-0.01, 0.01)) / Heard::step_s();
            let (first, last) = (onset.round() as usize, ((onset_s + length_s) / Heard::step_s()) as usize);
            for (away, moment) in (first - 1..=first + 1).zip(&mut moments[first - 1..=first + 1]) {
                let distance = (away as f64 - onset).abs() as f32;
                *moment = Moment { begins: begins - 2.5 * distance, offset: (onset - away as f64) as f32, ..*moment };
            }
            moments[first..last.max(first + 8)].iter_mut().for_each(|moment| moment.sounds = sounds);
        };
        for note in notes.iter().filter(|note| note.2 == pitch) {
            let scatter = 2.5 + 1.2 * (note.0 * 977.0).sin() as f32;
            add(note.0, note.1, scatter, 2.5);
        }
        for note in notes.iter().filter(|note| note.2 + 12 == pitch) {
            add(note.0, 0.05, -2.5, -1.0);
        }
        heard.set(pitch, moments.into_iter());
    }
    heard
}

#[test]
fn through_an_ear_with_doubts_most_of_what_differs_is_found_and_most_of_what_is_found_differs() {
    let mut random = Random::at(5, &[]);
    let mut below = |limit: usize| (random.between(0.0, limit as f64)) as usize;
    let written: Vec<(f64, f64, u8)> =
        (0..400).map(|note| (0.5 + 0.15 * note as f64, 0.2, 50 + below(24) as u8)).collect();
    let (mut performed, mut left_out, mut added) = (Vec::new(), 0, 0);
    for (index, note) in written.iter().enumerate() {
        if index % 17 == 5 {
            left_out += 1;
        } else {
            performed.push(*note);
        }
        if index % 23 == 7 {
            performed.push((note.0 + 0.07, 0.15, 80));
            added += 1;
        }
    }
    let score = plain_score(&written);
    let heard = as_heard(&performed, &mut Random::at(6, &[]));
    let found = judge(&score, &aligned(&score), &vec![Standing::Placed; written.len()], &heard, ALL);
    let said = said(&found);
    let right = (0..written.len()).filter(|index| said[*index] != Verdict::Played && index % 17 == 5).count();
    let called = said.iter().filter(|verdict| **verdict != Verdict::Played).count();
    assert!(right * 10 >= left_out * 8 && right * 10 >= called * 8, "{right} of {called} called, {left_out} left out");
    let right = found.extra.iter().filter(|extra| extra.stroke.pitch == 80).count();
    let called = found.extra.len();
    assert!(right * 10 >= added * 8 && right * 10 >= called * 8, "{right} of {called} called, {added} added");
}

#[test]
fn known_strokes_are_clear_wherever_they_fall_between_frames() {
    for shift in 0..10 {
        let onset_s = 1.0 + 0.1 * f64::from(shift) * Heard::step_s();
        let found = strokes::strokes(&exactly(&[(onset_s, 0.3, 60)]), (0.0, 5.0));
        let stroke = found[60][0];
        assert!(found[60].len() == 1 && stroke.begins >= CLEAR - 0.1 && stroke.sounds >= CLEAR - 0.1, "{stroke:?}");
        assert!((stroke.onset_s - onset_s).abs() < 2e-4, "{stroke:?}");
    }
}

#[test]
fn an_ornament_may_have_as_many_notes_as_were_played() {
    let written = [(1.0, 1.0, 72), (2.0, 0.5, 60)];
    let mut score = plain_score(&written);
    let standing = [Standing::Placed; 2];
    // A trill of the written note and the one above, and a note that no ornament has.
    let trill = (0..10).map(|stroke: u8| (1.0 + 0.09 * f64::from(stroke), 0.08, 72 + 2 * (stroke % 2)));
    let performed: Vec<_> = trill.chain([(1.5, 0.2, 50), (2.0, 0.5, 60)]).collect();
    let extra = |score: &Score| judge(score, &aligned(score), &standing, &exactly(&performed), ALL).extra;
    assert_eq!(extra(&score).len(), 10);
    let pitches = vec![70, 71, 72, 73, 74];
    let liberty = crate::score::Liberty { tick: 1000, track: 0, pitch: 72, pitches };
    score.notation.liberties.push(liberty);
    let left: Vec<u8> = extra(&score).iter().map(|extra| extra.stroke.pitch).collect();
    assert_eq!(left, [50]);
}
