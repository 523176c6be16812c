use proptest::prelude::*;

use super::*;
use crate::score::plain_score;

/// Ten seconds per letter, a note every second.
fn letters(count: usize) -> Score {
    let notes: Vec<(f64, f64, u8)> = (0..10 * count).map(|k| (k as f64, 0.9, 40 + (k % 40) as u8)).collect();
    plain_score(&notes)
}

fn section(first: f64, last: f64) -> Range<f64> {
    10.0 * first..10.0 * last
}

/// The kept passes as letters: where written and where played.
fn kept(sections: &[Range<f64>]) -> Vec<(f64, f64, f64)> {
    let tens = |pass: &Pass| (pass.written_s / 10.0, pass.played_s / 10.0, pass.length_s / 10.0);
    passes(sections).iter().filter(|pass| pass.counts).map(tens).collect()
}

#[test]
fn the_passes_that_make_the_score_whole_are_kept() {
    // A B B C: the second B leads on.
    assert_eq!(kept(&[section(0.0, 2.0), section(1.0, 3.0)]), [(0.0, 0.0, 1.0), (1.0, 2.0, 2.0)]);
    // A B C A: da capo, the first A counts.
    assert_eq!(kept(&[section(0.0, 3.0), section(0.0, 1.0)]), [(0.0, 0.0, 3.0)]);
    // A C: a cut.
    assert_eq!(kept(&[section(0.0, 1.0), section(2.0, 3.0)]), [(0.0, 0.0, 1.0), (2.0, 1.0, 1.0)]);
    // A A A B: the last A counts.
    assert_eq!(kept(&[section(0.0, 1.0), section(0.0, 1.0), section(0.0, 2.0)]), [(0.0, 2.0, 2.0)]);
}

#[test]
fn a_section_played_twice_is_leapt_over_and_told() {
    let written = letters(3);
    let reading = Reading::new(&written, &[section(0.0, 2.0), section(1.0, 3.0)]);
    assert_eq!(reading.score.notes.len(), 40);
    let straight = Warp::new(vec![0.0, 40.0], vec![5.0, 45.0]).unwrap();
    let warp = reading.fold_warp(&straight).unwrap();
    for (score_s, performance_s) in [(0.0, 5.0), (9.5, 14.5), (10.0, 25.0), (29.0, 44.0)] {
        assert!((warp.at(score_s) - performance_s).abs() < 1e-3, "{score_s}: {}", warp.at(score_s));
    }
    let told = reading.notices(&written, &straight, &[]);
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("from 15.0 s to 25.0 s of the recording bars"), "{told:?}");
    // A note that ends with the first section ends in the first pass.
    let mut notes = vec![AlignedNote::new(0.0, 99.0, 1.0); 30];
    reading.mend_offsets(&straight, &mut notes);
    assert!((notes[9].offset_s - 14.9).abs() < 1e-6 && (notes[10].offset_s - 25.9).abs() < 1e-6);
}

#[test]
fn over_a_cut_the_warp_stands_still() {
    let written = letters(3);
    let reading = Reading::new(&written, &[section(0.0, 1.0), section(2.0, 3.0)]);
    let straight = Warp::new(vec![0.0, 20.0], vec![5.0, 25.0]).unwrap();
    let warp = reading.fold_warp(&straight).unwrap();
    for (score_s, performance_s) in [(9.0, 14.0), (12.0, 15.0), (19.0, 15.0), (25.0, 20.0)] {
        assert!((warp.at(score_s) - performance_s).abs() < 1e-6, "{score_s}: {}", warp.at(score_s));
    }
    let told = reading.notices(&written, &straight, &[]);
    assert!(told.len() == 1 && told[0].contains("were not played"), "{told:?}");
    let told = reading.notices(&written, &straight, &[10.0..20.0]);
    assert!(told[0].contains("a repeat that was not played"), "{told:?}");
}

proptest! {
    #[test]
    fn every_reading_of_every_warp_can_be_folded(
        rises in prop::collection::vec(0.0f64..3.0, 30..60),
        cut in (1.0f64..14.0, 0.0f64..14.0),
    ) {
        let written = letters(3);
        // Up to one place, then on from another one: a cut, or a stretch played again.
        let sections = [0.0..cut.0, cut.1..30.0];
        let reading = Reading::new(&written, &sections);
        let played_s = reading.score.end_s();
        let knots: Vec<f64> = (0..rises.len()).map(|k| played_s * k as f64 / (rises.len() - 1) as f64).collect();
        let times: Vec<f64> = rises.iter().scan(0.3, |sum, rise| { *sum += rise; Some(*sum) }).collect();
        let folded = reading.fold_warp(&Warp::new(knots, times).unwrap());
        prop_assert!(folded.is_ok(), "{folded:?}");
    }
}
