use super::*;
use crate::align::settings::{FixedNote, FrameMethod};
use crate::align::{Named, Performance, Stopwatch, align};
use crate::audio::decode_bytes;
use crate::demo;
use crate::networks::Device;
use crate::score::{SynthParams, plain_score, synthesise_mapped};

struct Aligned {
    score: Score,
    whole: Alignment,
    listening: Listening,
}

fn aligned() -> Aligned {
    let clip = decode_bytes(&JobContext::new(), "demo.ogg", demo::performance_bytes()).unwrap().clip;
    align_piece(clip, Score::from_bytes("demo.mid".as_ref(), demo::score_bytes()).unwrap())
}

/// A chord of three notes every half second.
fn aligned_chords() -> Aligned {
    let chord = |step: i32| [48, 60, 64].map(|pitch| (0.5 * f64::from(step), 0.4, pitch + (step * 5 % 7) as u8));
    let score = plain_score(&(0..40).flat_map(chord).collect::<Vec<_>>());
    let performed = |s: f64| 0.5 + 1.1 * s;
    let clip = synthesise_mapped(&JobContext::new(), &score, &SynthParams::default(), &performed).unwrap();
    align_piece(clip, score)
}

fn align_piece(performance: impl Into<Performance>, score: Score) -> Aligned {
    let ctx = JobContext::new();
    let performance = performance.into();
    let (recording, named) =
        (Named { name: "demo.ogg", content: &performance }, Named { name: "demo.mid", content: &score });
    let (whole, listening) =
        align(&ctx, recording, named, &Settings::default(), &Device::Cpu, &mut Stopwatch::default()).unwrap();
    Aligned { score, whole, listening }
}

impl Aligned {
    fn realign(&self, from: &Alignment, settings: &Settings, at_s: f64) -> Alignment {
        realign(&JobContext::new(), &self.score, &self.listening, from, settings, at_s).unwrap()
    }
}

#[test]
fn a_moved_onset_is_met_exactly_and_the_rest_of_the_piece_stays() {
    let demo = aligned();
    let (whole, onsets) = (&demo.whole, demo.score.onsets_s());
    let at_s = onsets[onsets.len() / 2];
    let target = whole.warp.at(at_s) + 0.12;
    let anchors = vec![Anchor { score_s: at_s, performance_s: target }];
    let corrected = Settings { anchors, ..Settings::default() };
    assert!(can_realign(whole, &corrected, &demo.listening));
    let frames = Settings { method: Method::Frames(FrameMethod::default()), ..corrected.clone() };
    assert!(!can_realign(whole, &frames, &demo.listening));
    let solved = demo.realign(whole, &corrected, at_s);
    assert!((solved.warp.at(at_s) - target).abs() < 1e-9);
    assert_eq!(solved.settings, corrected);
    for &onset in &onsets {
        let (before, after) = (whole.warp.at(onset), solved.warp.at(onset));
        if (before - target).abs() > REACH_S + 2.0 {
            assert_eq!(before, after, "onset at {onset}");
        } else if (before - target).abs() > 0.6 * REACH_S {
            assert!((before - after).abs() < 0.02, "onset at {onset} moved from {before} to {after}");
        }
    }
    // Freeing it brings the old place back, for that is what the recording says.
    let freed = demo.realign(&solved, &Settings::default(), at_s);
    assert!((freed.warp.at(at_s) - whole.warp.at(at_s)).abs() < 0.01, "{}", freed.warp.at(at_s) - whole.warp.at(at_s));
    let notes = freed.notes.iter().zip(&whole.notes);
    assert!(notes.clone().all(|(a, b)| (a.onset_s - b.onset_s).abs() < 0.03 && a.offset_s >= a.onset_s));
}

#[test]
fn a_corrected_chord_carries_its_notes_and_is_certain() {
    let demo = aligned_chords();
    let notes = &demo.score.notes;
    let at_s = 10.0;
    let chord: Vec<usize> = (0..notes.len()).filter(|&i| (notes[i].onset_s - at_s).abs() < SAME_MOMENT_S).collect();
    let target = demo.whole.warp.at(at_s) - 0.033;
    let anchors = vec![Anchor { score_s: at_s, performance_s: target }];
    let solved = demo.realign(&demo.whole, &Settings { anchors, ..Settings::default() }, at_s);
    for &note in &chord {
        let spread = demo.whole.notes[note].onset_s - demo.whole.warp.at(at_s);
        assert!((solved.notes[note].onset_s - target - spread).abs() < 1e-9, "note {note} keeps its spread");
        assert_eq!(solved.notes[note].confidence, 1.0);
    }
    let mut settings = solved.settings.clone();
    settings.fixed_notes.push(FixedNote { note: chord[0], performance_s: target + 0.05 });
    let single = demo.realign(&solved, &settings, at_s);
    assert_eq!(single.notes[chord[0]].onset_s, target + 0.05);
    assert_eq!(single.notes[chord[1]].onset_s, solved.notes[chord[1]].onset_s, "the other notes stay");
}

#[test]
fn anchors_bound_the_passage() {
    let demo = aligned();
    let (whole, onsets) = (&demo.whole, demo.score.onsets_s());
    let [low, at, high] = [40, 50, 60].map(|index| onsets[index]);
    let pin = |score_s: f64, shift: f64| Anchor { score_s, performance_s: whole.warp.at(score_s) + shift };
    let anchors = vec![pin(low, 0.0), pin(at, 0.05), pin(high, 0.0)];
    let solved = demo.realign(whole, &Settings { anchors, ..Settings::default() }, at);
    for &onset in onsets.iter().filter(|onset| !(low..=high).contains(onset)) {
        assert_eq!(whole.warp.at(onset), solved.warp.at(onset));
    }
    assert!((solved.warp.at(at) - whole.warp.at(at) - 0.05).abs() < 1e-9);
}

#[test]
fn a_moved_warp_passes_through_the_moved_point_and_stays_put_beyond_its_neighbours() {
    let knots: Vec<f64> = (0..=100).map(|k| f64::from(k) * 0.1).collect();
    let warp = Warp::new(knots.clone(), knots.iter().map(|k| 2.0 * k).collect()).unwrap();
    let anchors = [2.0, 8.0].map(|s| Anchor { score_s: s, performance_s: 2.0 * s });
    let moved = Anchor { score_s: 5.05, performance_s: 10.6 };
    let bent = moved_warp(&warp, &anchors, moved).unwrap();
    assert!((bent.at(5.05) - 10.6).abs() < 1e-9);
    for fixed in [0.0, 1.0, 2.0, 8.0, 9.5] {
        assert!((bent.at(fixed) - 2.0 * fixed).abs() < 1e-9, "{fixed}");
    }
    assert!(bent.at(4.0) > 8.0 && bent.at(6.0) > 12.0);
    assert!(moved_warp(&warp, &anchors, Anchor { score_s: 5.0, performance_s: 30.0 }).is_none(), "backwards");
}
