//! Every format on scores that no musician wrote: an error or a file, never a panic or a hang.

use super::test_piece::{Piece, alignment_of, piece};
use super::{ExportInput, Format};
use crate::evaluation::TimeMap;
use crate::score::{Division, MeterMap, Note, Score, TempoChange, TempoMap, TimeSignature};

fn odd_score(division: Division, meter: &[TimeSignature], ticks_per_quarter: f64, ticks: &[(u64, u64)]) -> Score {
    let changes = [TempoChange { tick: 3, micros_per_beat: 1 }, TempoChange { tick: 7, micros_per_beat: 16_777_215 }];
    let tempo = TempoMap::new(division, &changes).unwrap();
    let note = |&(onset_tick, offset_tick): &(u64, u64)| Note {
        pitch: 127,
        velocity: 127,
        channel: 15,
        track: u16::MAX,
        onset_tick,
        offset_tick,
        onset_s: tempo.tick_to_seconds(onset_tick as f64),
        offset_s: tempo.tick_to_seconds(offset_tick as f64),
    };
    Score {
        title: Some("--> ]]> \" ' \u{0} \n,".to_owned()),
        notes: ticks.iter().map(note).collect(),
        meter: MeterMap::new(ticks_per_quarter, meter),
        keys: Vec::new(),
        pedal: Vec::new(),
        programs: Vec::new(),
        notation: Default::default(),
        tempo,
    }
}

fn render_all(piece: &Piece) {
    let times = TimeMap::of_alignment(&piece.score, &piece.alignment);
    // The SVG draws the same page as the PNG, without the time that pixels take.
    for format in Format::all().filter(|&format| format != Format::Png) {
        for reference in [None, Some(&times)] {
            let input = ExportInput { reference, ..piece.input() };
            match format.exporter().render(&input) {
                Ok(bytes) => assert!(!bytes.is_empty(), "{}", format.name()),
                Err(error) => {
                    assert!(error.to_string().contains("; choose a"), "{}: {error}", format.name())
                }
            }
        }
    }
}

#[test]
fn no_format_panics_on_odd_scores() {
    let odd = |tick, numerator, denominator| TimeSignature { tick, numerator, denominator };
    let scores = [
        odd_score(Division::PerSecond(1000.0), &[], 500.0, &[(0, 1000), (500, 900)]),
        odd_score(Division::PerSecond(750.0), &[odd(11, 7, 16)], 0.3, &[(10, 11), (400, 900)]),
        odd_score(Division::PerBeat(1), &[odd(0, 255, 32_768), odd(5, 1, 1)], 1.0, &[(0, 1), (8, 9)]),
        odd_score(Division::PerBeat(u16::MAX), &[odd(1, 5, 8)], 65_535.0, &[(0, 1), (0, 1 << 40)]),
        odd_score(Division::PerBeat(96), &[], 96.0, &[(1 << 45, (1 << 45) + 1)]),
    ];
    for score in scores {
        let (start, end) = (score.first_onset_s(), score.end_s() + 1.0);
        for performance in [vec![0.0, 10.0], vec![-5.0, -5.0], vec![3.0, 1e6]] {
            let alignment = alignment_of_long(&score, vec![start, end], performance);
            render_all(&Piece { score: score.clone(), alignment });
        }
    }
}

/// Without a tempo curve, which would have a point for each of billions of beats.
fn alignment_of_long(score: &Score, knots: Vec<f64>, performance: Vec<f64>) -> crate::align::result::Alignment {
    let short = piece();
    let mut alignment = alignment_of(&short.score, knots, performance);
    let time = |score_s: f64| alignment.warp.at(score_s);
    let aligned = |note: &Note| crate::align::result::AlignedNote::new(time(note.onset_s), time(note.offset_s), 0.0);
    alignment.notes = score.notes.iter().map(aligned).collect();
    alignment
}
