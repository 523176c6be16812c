use std::path::Path;

use super::excerpt::{Excerpt, WrittenNote};
use super::expression::{PlayedNote, Player};
use super::instruments::{Family, Instrument, Sound};
use super::material::{Part, Texture};
use super::onset_delay::onset_delay;
use super::*;
use crate::score::{Division, TempoMap, plain_score};

const RATE: f64 = ANALYSIS_RATE as f64;

/// A piece of chords and runs for one keyboard part.
fn source() -> Source {
    let mut notes = Vec::new();
    for k in 0..240u8 {
        let at = f64::from(k) * 0.25;
        notes.push((at, 0.25, 60 + (k % 24) * 7 % 24));
        if k % 4 == 0 {
            notes.extend([36, 43, 52].map(|pitch| (at, 0.9, pitch + k % 5)));
        }
    }
    notes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
    let parts = vec![Part { track: 0, is_keyboard: true }];
    let score = plain_score(&notes);
    Source { name: "study".to_owned(), licence: "CC0".to_owned(), texture: Texture::Keyboard, parts, score }
}

fn pianos() -> Orchestra {
    Orchestra::gather(&JobContext::new(), &[] as &[&Path], &[] as &[&Path]).unwrap()
}

#[test]
fn chords_are_played_in_their_order_and_no_key_is_struck_while_it_is_down() {
    let (sources, orchestra) = ([source()], pianos());
    for seed in 0..40 {
        let plan = Plan::draw(&mut Random::at(seed, &[]), &sources, &orchestra, 12.0).unwrap();
        let means: Vec<f64> = plan
            .excerpt
            .chords()
            .into_iter()
            .map(|chord| plan.notes[chord.clone()].iter().map(|note| note.onset_s).sum::<f64>() / chord.len() as f64)
            .collect();
        assert!(means.windows(2).all(|pair| pair[1] > pair[0] + 1e-3), "seed {seed}");
        assert!(means[0] > 0.05 && means[means.len() - 1] < 12.0 && plan.seconds <= 13.0, "seed {seed}");
        assert_eq!(plan.notes.len(), plan.excerpt.notes.len());
        for (index, note) in plan.notes.iter().enumerate() {
            assert_eq!((note.written, note.pitch), (index, plan.excerpt.notes[index].pitch));
            assert!(note.onset_s < note.release_s && note.release_s <= note.damped_s, "seed {seed}: {note:?}");
            let again = plan.notes[index + 1..].iter().find(|next| next.pitch == note.pitch);
            assert!(again.is_none_or(|next| next.onset_s > note.release_s), "seed {seed}: {note:?} {again:?}");
        }
    }
}

#[test]
fn players_differ_in_tempo_touch_and_pedal() {
    let (sources, orchestra) = ([source()], pianos());
    let plans: Vec<Plan> =
        (0..40).map(|seed| Plan::draw(&mut Random::at(seed, &[]), &sources, &orchestra, 12.0).unwrap()).collect();
    let speed = |plan: &Plan| plan.excerpt.chords().len() as f64 / plan.seconds;
    let fastest = plans.iter().map(speed).fold(0.0, f64::max);
    let slowest = plans.iter().map(speed).fold(f64::INFINITY, f64::min);
    assert!(fastest > 1.6 * slowest, "{slowest} to {fastest} onsets a second");
    let pedalled = plans.iter().filter(|plan| plan.pedals.iter().any(|pedal| !pedal.is_empty())).count();
    assert!((15..38).contains(&pedalled), "{pedalled} of 40 with pedal");
    let softest = plans.iter().flat_map(|plan| &plan.notes).map(|note| note.velocity).min().unwrap();
    let loudest = plans.iter().flat_map(|plan| &plan.notes).map(|note| note.velocity).max().unwrap();
    assert!(softest < 40 && loudest > 100, "{softest} to {loudest}");
}

/// A plan of one note that begins at a second.
fn single_note(pitch: u8, onset_s: f64, instrument: usize, family: Family) -> Plan {
    let tempo = TempoMap::new(Division::PerBeat(960), &[]).unwrap();
    let notes = vec![WrittenNote { tick: 0, pitch, part: 0, end_tick: 960 }];
    let release_s = onset_s + 0.8;
    let note = PlayedNote { written: 0, player: 0, pitch, velocity: 70, onset_s, release_s, damped_s: release_s };
    Plan {
        source: 0,
        excerpt: Excerpt { notes, tempo, signature: (4, 4) },
        players: vec![Player { instrument, family }],
        notes: vec![note],
        pedals: vec![vec![]],
        seconds: 2.5,
    }
}

/// A folder with a recorded violin whose bow takes 120 ms to bring out the tone.
fn slow_violin(folder: &Path) {
    let sample = |k: usize| {
        let t = k as f64 / RATE;
        let level = (t / 0.12).min(1.0) * 0.6;
        (level * (std::f64::consts::TAU * 440.0 * t).sin()) as f32
    };
    let clip = crate::audio::AudioClip { samples: (0..44_100).map(sample).collect(), sample_rate: ANALYSIS_RATE };
    crate::audio::write_wav(&JobContext::new(), &folder.join("a.wav"), &clip).unwrap();
    let list = "file,instrument,articulation,midi_pitch,dynamic,tuning_cents\na.wav,violin,sustain,69,loud,0\n";
    std::fs::write(folder.join("samples.csv"), list).unwrap();
}

#[test]
fn every_kind_of_sound_is_heard_to_begin_where_the_truth_says() {
    let folder = tempfile::tempdir().unwrap();
    slow_violin(folder.path());
    let orchestra = Orchestra::gather(&JobContext::new(), &[] as &[&Path], &[folder.path()]).unwrap();
    let resonance = Resonance::new(100_000);
    for (place, Instrument { name, sound, family, .. }) in orchestra.instruments.iter().enumerate() {
        let pitches: &[u8] =
            if matches!(sound, Sound::Sampled { .. }) { &[67, 69, 71] } else { &[28, 48, 60, 84, 100] };
        for (seed, &pitch) in pitches.iter().enumerate() {
            let onset_s = 0.7 + 0.0137 * f64::from(pitch % 7);
            let plan = single_note(pitch, onset_s, place, *family);
            let mut random = Random::at(seed as u64, &[]);
            let dry = render::render(&JobContext::new(), &mut random, &plan, (&orchestra, &resonance), -23.0).unwrap();
            let heard = onset_delay(&dry[(0.5 * RATE) as usize..], RATE, *family).unwrap() + 0.5;
            assert!((heard - onset_s).abs() < 0.002, "{name} {pitch}: {heard} against {onset_s}");
        }
    }
}

#[test]
fn the_pedal_is_heard() {
    let (orchestra, resonance) = (pianos(), Resonance::new(100_000));
    for (place, instrument) in orchestra.instruments.iter().enumerate() {
        let mut plan = single_note(60, 0.3, place, Family::Piano);
        plan.notes[0].release_s = 0.5;
        let mut late = |damped_s: f64| {
            plan.notes[0].damped_s = damped_s;
            let dry = render::render(&JobContext::new(), &mut Random::at(4, &[]), &plan, (&orchestra, &resonance), 0.0)
                .unwrap();
            let power = |from: f64, to: f64| -> f32 {
                dry[(from * RATE) as usize..(to * RATE) as usize].iter().map(|s| s * s).sum()
            };
            power(1.4, 1.8) / power(0.3, 0.5)
        };
        let (damped, held) = (late(0.5), late(2.0));
        assert!(held > 30.0 * damped, "{}: {held} with, {damped} without pedal", instrument.name);
    }
}
