use super::super::test_signals::{Curve, DIM};
use super::*;

const STEP: f64 = 0.1;
const LENGTH_S: f64 = 60.0;

/// Score times that a performance passes through, at a tempo that sways.
fn played(sections: &[(f64, f64)]) -> Vec<f64> {
    let mut places = Vec::new();
    let mut frame = 0.0;
    for &(start, end) in sections {
        let mut at = start;
        while at < end {
            places.push(at);
            at += STEP * (1.0 + 0.25 * (0.05_f64 * frame).sin());
            frame += 1.0;
        }
    }
    places
}

struct Piece {
    times: Vec<f64>,
    score: Vec<f32>,
}

impl Piece {
    fn new() -> (Self, Curve) {
        let curve = Curve::new(LENGTH_S, 17);
        let times: Vec<f64> = (0..(LENGTH_S / STEP) as usize).map(|i| i as f64 * STEP).collect();
        let score = times.iter().flat_map(|&t| curve.at(t)).collect();
        (Self { times, score }, curve)
    }

    fn signal(&self) -> Signal<'_> {
        Signal::new(&self.times, &self.score, DIM).unwrap()
    }
}

fn options() -> Vec<JumpOption> {
    let jump = |from_s, to_s, label: &str| JumpOption { from_s, to_s, cost: 0.5, label: label.to_owned() };
    vec![
        jump(20.0, 10.0, "first part repeated"),
        jump(30.0, 40.0, "repeat of the middle skipped"),
        jump(45.0, 52.0, "cut before the coda"),
        jump(58.0, 52.0, "coda repeated"),
    ]
}

/// Finds the structure of a performance of these sections.
fn recover(sections: &[(f64, f64)], coverage: Coverage) -> Structure {
    let (piece, curve) = Piece::new();
    let places = played(sections);
    let times: Vec<f64> = (0..places.len()).map(|i| i as f64 * STEP).collect();
    let values: Vec<f32> = places.iter().flat_map(|&p| curve.at(p)).collect();
    let performance = Signal::new(&times, &values, DIM).unwrap();
    let params = StructureParams { tempo_weight: 0.02, coverage, ..StructureParams::default() };
    find_structure(&JobContext::new(), &piece.signal(), &performance, &options(), &params).unwrap()
}

fn labels(structure: &Structure) -> Vec<&str> {
    structure.jumps_taken.iter().map(|j| j.label.as_str()).collect()
}

#[test]
fn a_straight_performance_takes_no_jump() {
    let structure = recover(&[(0.0, LENGTH_S)], Coverage::Whole);
    assert!(structure.jumps_taken.is_empty(), "{structure:?}");
    assert_eq!(structure.sections.len(), 1);
}

#[test]
fn a_skipped_repeat_an_extra_repeat_and_a_cut_are_recovered() {
    let played = [(0.0, 20.0), (10.0, 20.0), (10.0, 30.0), (40.0, 45.0), (52.0, LENGTH_S)];
    let structure = recover(&played, Coverage::Whole);
    assert_eq!(
        labels(&structure),
        ["first part repeated", "first part repeated", "repeat of the middle skipped", "cut before the coda"]
    );
    for (section, (start, end)) in structure.sections.iter().zip(played) {
        assert_eq!(section.score_s.start, start);
        assert!((section.score_s.end - end).abs() < 0.5, "{section:?}");
    }
}

#[test]
fn a_part_of_the_score_is_found() {
    let structure = recover(&[(15.0, 20.0), (10.0, 30.0), (40.0, 44.0)], Coverage::PartOfBoth(1.0));
    assert_eq!(labels(&structure), ["first part repeated", "repeat of the middle skipped"]);
    assert!((structure.sections[0].score_s.start - 15.0).abs() < 0.6, "{structure:?}");
    assert!((structure.sections[2].score_s.end - 44.0).abs() < 0.6, "{structure:?}");
}

#[test]
fn bad_jumps_are_named_and_huge_searches_refused() {
    let (piece, _) = Piece::new();
    let ask = |change: &dyn Fn(&mut JumpOption, &mut StructureParams)| {
        let (mut jump, mut params) = (options().remove(0), StructureParams::default());
        change(&mut jump, &mut params);
        let signal = piece.signal();
        find_structure(&JobContext::new(), &signal, &signal, &[jump], &params).unwrap_err().to_string()
    };
    assert!(ask(&|j, _| j.from_s = 99.0).contains("first part repeated"));
    assert!(ask(&|j, _| j.to_s = f64::NAN).contains("within the score"));
    assert!(ask(&|j, _| j.to_s = j.from_s).contains("another place"));
    assert!(ask(&|j, _| j.cost = -1.0).contains("cost of the jump"));
    assert!(ask(&|_, p| p.frame_s = 0.0).contains("above 0"));
    assert!(ask(&|_, p| p.frame_s = 1e-4).contains("cells"));
    assert!(ask(&|_, p| p.frame_s = 1e-9).contains("longer"));
    assert!(ask(&|_, p| p.tempo_weight = f64::NAN).contains("tempo"));
}
