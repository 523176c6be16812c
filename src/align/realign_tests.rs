use std::time::Instant;

use super::*;
use crate::align::start::recording_spectrum;
use crate::app::solve::solve;
use crate::app::source::Sources;
use crate::app::tasks::read_piece;

#[test]
fn a_moved_onset_is_met_exactly_and_the_rest_of_the_piece_stays() {
    let ctx = JobContext::new();
    let piece = read_piece(&ctx, Sources::demo()).unwrap();
    let settings = Settings::default();
    let whole = solve(&ctx, &piece, &settings).unwrap();
    let listening = Listening::new(&ctx, &piece, recording_spectrum(&ctx, &piece.recording).unwrap()).unwrap();
    let at_s = piece.onsets_s[piece.onsets_s.len() / 2];
    let target = whole.warp.at(at_s) + 0.12;
    let anchors = vec![Anchor { score_s: at_s, performance_s: target }];
    let corrected = Settings { anchors, ..settings.clone() };
    assert!(suits(&whole, &corrected) && !suits(&whole, &Settings { hop: 512, ..corrected.clone() }));
    let begun = Instant::now();
    let solved = solve_section(&ctx, &piece, &listening, &whole, &corrected, at_s).unwrap();
    println!("a stretch takes {:?}", begun.elapsed());
    assert!((solved.warp.at(at_s) - target).abs() < 1e-9);
    assert_eq!(solved.settings, corrected);
    for &onset in &piece.onsets_s {
        let (before, after) = (whole.warp.at(onset), solved.warp.at(onset));
        if (before - target).abs() > REACH_S + 2.0 {
            assert_eq!(before, after, "onset at {onset}");
        } else if (before - target).abs() > 0.6 * REACH_S {
            assert!((before - after).abs() < 0.02, "onset at {onset} moved from {before} to {after}");
        }
    }
    // Freeing it brings the old place back, for that is what the recording says.
    let freed = solve_section(&ctx, &piece, &listening, &solved, &settings, at_s).unwrap();
    assert!((freed.warp.at(at_s) - whole.warp.at(at_s)).abs() < 0.01, "{}", freed.warp.at(at_s) - whole.warp.at(at_s));
    let notes = freed.notes.iter().zip(&whole.notes);
    assert!(notes.clone().all(|(a, b)| (a.onset_s - b.onset_s).abs() < 0.03 && a.offset_s >= a.onset_s));
}

#[test]
fn anchors_bound_the_stretch() {
    let ctx = JobContext::new();
    let piece = read_piece(&ctx, Sources::demo()).unwrap();
    let settings = Settings::default();
    let whole = solve(&ctx, &piece, &settings).unwrap();
    let listening = Listening::new(&ctx, &piece, recording_spectrum(&ctx, &piece.recording).unwrap()).unwrap();
    let [low, at, high] = [40, 50, 60].map(|index| piece.onsets_s[index]);
    let pin = |score_s: f64, shift: f64| Anchor { score_s, performance_s: whole.warp.at(score_s) + shift };
    let anchors = vec![pin(low, 0.0), pin(at, 0.05), pin(high, 0.0)];
    let solved = solve_section(&ctx, &piece, &listening, &whole, &Settings { anchors, ..settings }, at).unwrap();
    for &onset in piece.onsets_s.iter().filter(|onset| !(low..=high).contains(onset)) {
        assert_eq!(whole.warp.at(onset), solved.warp.at(onset));
    }
    assert!((solved.warp.at(at) - whole.warp.at(at) - 0.05).abs() < 1e-9);
}
