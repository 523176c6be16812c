//! Ends of single notes.

use super::*;
use crate::align::heard::{Moment, PlayedNote};

fn heard(notes: &[(f64, f64)]) -> Heard {
    let note = |&(onset_s, offset_s): &(f64, f64)| PlayedNote { pitch: 60, onset_s, offset_s, velocity: 64 };
    Heard::of_notes(&notes.iter().map(note).collect::<Vec<_>>(), 6.0)
}

fn sounding(written_s: Option<f64>, next_s: Option<f64>) -> Sounding {
    Sounding { pitch: 60, onset_s: 1.0, written_s, next_s }
}

#[test]
fn a_note_ends_where_it_is_heard_to_end_not_where_it_is_written() {
    for end_s in [1.1, 1.4, 1.58] {
        let found = end(&heard(&[(1.0, end_s)]), &sounding(Some(1.5), None));
        assert!((found.offset_s - end_s).abs() < 0.012, "{end_s} {found:?}");
        assert!(found.confidence > 0.55, "{found:?}");
    }
}

#[test]
fn a_note_that_the_pedal_holds_ends_by_the_score() {
    for end_s in [1.7, 4.0] {
        let found = end(&heard(&[(1.0, end_s)]), &sounding(Some(1.5), None));
        assert_eq!(found, End { offset_s: 1.5, confidence: BY_PROPORTION });
    }
}

#[test]
fn a_note_ends_before_its_key_is_struck_again() {
    let both = heard(&[(1.0, 3.0), (1.6, 3.0)]);
    let written = end(&both, &sounding(Some(1.55), Some(1.6)));
    assert!(written.offset_s <= 1.6 - RELEASE_S + 1e-9 && written.offset_s > 1.4, "{written:?}");
    let too_long = end(&both, &sounding(Some(2.5), Some(1.6)));
    assert!((too_long.offset_s - 1.58).abs() < 1e-9, "{too_long:?}");
}

#[test]
fn sound_that_dies_away_ends_where_the_odds_are_even() {
    let mut heard = Heard::new(400);
    let sounds = |frame: usize| if frame < 100 { 3.0 } else { -3.0 };
    heard.set(60, (0..400).map(|frame| Moment { sounds: sounds(frame), ..Moment::SILENCE }));
    let found = end(&heard, &Sounding { onset_s: 0.5, ..sounding(Some(1.2), None) });
    assert!((found.offset_s - 99.5 * Heard::step_s()).abs() < 1e-6, "{found:?}");
}

#[test]
fn a_note_of_which_no_end_is_heard_ends_by_the_score() {
    let mut heard = Heard::new(200);
    heard.set(60, (0..200).map(|_| Moment { sounds: 3.0, ..Moment::SILENCE }));
    assert_eq!(end(&heard, &sounding(Some(1.5), None)), End { offset_s: 1.5, confidence: BY_PROPORTION });
    assert!(end(&heard, &sounding(None, None)).offset_s > 1.0);
}
