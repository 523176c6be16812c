//! Pictures are looked at by people; these tests see to size, content, speed and odd input.

use std::time::{Duration, Instant};

use super::super::test_piece::{alignment_of, judged_piece, piece};
use super::super::{ExportInput, Exporter, Format};
use super::drawing::{Colour, Shape};
use super::page::page;
use super::theme;
use crate::align::result::Alignment;
use crate::evaluation::{Discrepancy, Sounding, TimeMap, discrepancies, evaluate};
use crate::score::{Division, MeterMap, Note, Score, TempoMap};

fn decode(bytes: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

fn has_colour(pixels: &[u8], colour: Colour) -> bool {
    pixels.chunks_exact(3).any(|pixel| pixel == [colour.0, colour.1, colour.2])
}

fn fills(input: &ExportInput, colour: Colour) -> usize {
    let filled = |shape: &&Shape| matches!(shape, Shape::Rectangle { fill: Some(fill), .. } if *fill == colour);
    page(input).shapes.iter().filter(filled).count()
}

#[test]
fn a_picture_with_a_reference_shows_where_both_differ() {
    let piece = piece();
    let times = TimeMap::of_alignment(&piece.score, &piece.alignment);
    let moved = times.score_s.iter().zip(&times.performance_s).map(|(&s, &p)| (s, p + if s > 2.0 { 0.2 } else { 0.0 }));
    let reference = TimeMap::from_pairs(moved.collect()).unwrap();
    let metrics = evaluate(&times, &reference);
    let input = ExportInput { reference: Some(&reference), metrics: Some(&metrics), ..piece.input() };
    let (width, height, pixels) = decode(&super::Png.render(&input).unwrap());
    assert_eq!(width, 1600);
    assert!((900..1400).contains(&height), "{height}");
    for colour in [theme::NOTE, theme::PREDICTION_ONLY, theme::REFERENCE_ONLY, theme::REFERENCE, theme::CURVE] {
        assert!(has_colour(&pixels, colour), "{colour:?}");
    }
    let legend_only = 1;
    assert_eq!(fills(&piece.input(), theme::PREDICTION_ONLY), 0);
    assert!(fills(&input, theme::PREDICTION_ONLY) > legend_only);
}

#[test]
fn a_picture_without_a_reference_shows_what_was_played_differently() {
    let (plain, judged) = (piece(), judged_piece());
    assert_eq!(fills(&plain.input(), theme::REFERENCE_ONLY) + fills(&plain.input(), theme::PREDICTION_ONLY), 0);
    let legend = 1;
    assert_eq!(fills(&judged.input(), theme::REFERENCE_ONLY), 2 + legend, "two notes were not played");
    assert_eq!(fills(&judged.input(), theme::PREDICTION_ONLY), 2 + legend, "two are not in the score");
    let said = |shape: &Shape| matches!(shape, Shape::Text { text, .. } if text == "in the score, not played");
    assert!(page(&judged.input()).shapes.iter().any(said) && !page(&plain.input()).shapes.iter().any(said));
}

#[test]
fn an_end_that_was_heard_is_no_discrepancy() {
    let mut piece = piece();
    let reference = TimeMap::of_alignment(&piece.score, &piece.alignment);
    for note in &mut piece.alignment.notes {
        note.offset_s = note.onset_s + 0.5 * (note.offset_s - note.onset_s);
    }
    let seen = |stretch: &Discrepancy| stretch.sounding != Sounding::Both && stretch.end_s - stretch.start_s > 1e-9;
    assert!(!discrepancies(&piece.score, &piece.alignment, &reference).iter().any(seen));
    let late = TimeMap { performance_s: reference.performance_s.iter().map(|time| time + 0.05).collect(), ..reference };
    let found = discrepancies(&piece.score, &piece.alignment, &late);
    let ours: Vec<&Discrepancy> = found.iter().filter(|stretch| stretch.sounding == Sounding::PredictionOnly).collect();
    assert_eq!(ours.len(), piece.score.notes.len());
    assert!(ours.iter().all(|stretch| (stretch.end_s - stretch.start_s - 0.05).abs() < 1e-9));
}

#[test]
fn the_embedded_font_draws_text() {
    let width = |text: &str| super::raster::text_width(text, 20.0, false);
    assert!(width("iiii") > 5.0 && width("WWWW") > 2.0 * width("iiii"), "a proportional font was found");
    assert!(width("é…\u{2212}") > 20.0);
}

#[test]
fn an_svg_is_text_of_the_same_size_with_escaped_names() {
    let text = piece().render_text(Format::Svg);
    assert!(text.starts_with("<svg width=\"1600\" height=\""), "{}", &text[..200]);
    assert!(text.contains("&lt;1&gt;") && !text.contains("<1>"), "the title is escaped");
    assert!(text.trim_end().ends_with("</svg>"));
}

fn many_notes(count: u64, ticks_apart: u64) -> (Score, Alignment) {
    let tempo = TempoMap::new(Division::PerBeat(480), &[]).unwrap();
    let note = |i: u64| {
        let (onset_tick, offset_tick) = (i * ticks_apart, i * ticks_apart + 200);
        Note {
            pitch: 30 + (i * 7 % 60) as u8,
            velocity: 64,
            channel: 0,
            track: 0,
            onset_tick,
            offset_tick,
            onset_s: tempo.tick_to_seconds(onset_tick as f64),
            offset_s: tempo.tick_to_seconds(offset_tick as f64),
        }
    };
    let score = Score {
        title: None,
        notes: (0..count).map(note).collect(),
        meter: MeterMap::new(480.0, &[]),
        keys: Vec::new(),
        pedal: Vec::new(),
        programs: Vec::new(),
        notation: Default::default(),
        tempo,
    };
    let end = score.end_s();
    let knots: Vec<f64> = (0..=1000).map(|i| end * f64::from(i) / 1000.0).collect();
    let performance = knots.iter().map(|s| 1.2 * s + 0.3 * (s / 7.0).sin() + 1.0).collect();
    let alignment = alignment_of(&score, knots, performance);
    (score, alignment)
}

#[test]
fn fifty_thousand_notes_are_drawn_in_seconds() {
    let (score, alignment) = many_notes(50_000, 100);
    let times = TimeMap::of_alignment(&score, &alignment);
    let reference =
        TimeMap::from_pairs(times.score_s.iter().map(|&s| (s, alignment.warp.at(s) + 0.02)).collect()).unwrap();
    let input = ExportInput { reference: Some(&reference), ..ExportInput::new(&score, &alignment) };
    let started = Instant::now();
    let bytes = super::Png.render(&input).unwrap();
    let elapsed = started.elapsed();
    // Three seconds on an idle machine; the suite may share it.
    assert!(elapsed < Duration::from_secs(60), "{elapsed:?}");
    let (_, height, _) = decode(&bytes);
    assert!(height < 10_000, "{height}");
}

#[test]
fn odd_alignments_are_drawn_too() {
    let (score, mut alignment) = many_notes(1, 100);
    alignment.tempo.clear();
    let standing = alignment_of(&score, vec![0.0, 1.0], vec![5.0, 5.0]);
    for alignment in [&alignment, &standing] {
        let input = ExportInput::new(&score, alignment);
        assert!(!super::Png.render(&input).unwrap().is_empty());
        assert!(!super::Svg.render(&input).unwrap().is_empty());
    }
    let mut piece = piece();
    piece.alignment = alignment_of(&piece.score, vec![0.0, 4.5], vec![-30.0, 4000.0]);
    piece.alignment.notes.iter_mut().for_each(|note| note.confidence = 0.1);
    assert!(fills(&piece.input(), theme::UNSURE_NOTE) > 1);
    assert!(!piece.render(Format::Png).is_empty());
}
