//! MusicXML and MEI with times: what is written is read back as the same score, and every name and time is there.

use std::path::Path;

use super::test_piece::piece;
use super::xml_edit::tags;
use super::{ExportInput, Format};
use crate::align::result::{AlignedNote, Alignment, Judged, Verdict};
use crate::score::Score;
use crate::warping::Warp;

const MUSICXML: &str = include_str!("../../tests/fixtures/notation/scale.musicxml");
const MEI: &str = include_str!("../../tests/fixtures/notation/scale.mei");
const KERN: &str = include_str!("../../tests/fixtures/notation/scale.krn");

fn read(text: &str) -> Score {
    Score::from_bytes(Path::new("scale"), text.as_bytes()).unwrap()
}

/// Twice as slow as written, after a second of silence.
fn alignment(score: &Score) -> Alignment {
    let end = score.end_s() + 1.0;
    let notes = score.notes.iter();
    let notes = notes.map(|note| AlignedNote::new(1.0 + 2.0 * note.onset_s, 1.0 + 2.0 * note.offset_s, 0.9));
    Alignment {
        warp: Warp::new(vec![0.0, end], vec![1.0, 1.0 + 2.0 * end]).unwrap(),
        notes: notes.collect(),
        ..piece().alignment
    }
}

fn render(score: &Score, alignment: &Alignment, format: Format) -> String {
    String::from_utf8(format.exporter().render(&ExportInput::new(score, alignment)).unwrap()).unwrap()
}

/// Pitches and quarters.
fn music(score: &Score) -> Vec<(u8, u64)> {
    let quarters = |tick: u64| (score.tempo.tick_to_beat(tick as f64) * 1000.0).round() as u64;
    let mut music: Vec<_> = score.notes.iter().map(|note| (note.pitch, quarters(note.onset_tick))).collect();
    music.sort_unstable();
    music
}

#[test]
fn musicxml_plays_at_the_tempo_of_the_performance() {
    for source in [MUSICXML, MEI, KERN] {
        let score = read(source);
        let alignment = alignment(&score);
        let text = render(&score, &alignment, Format::MusicXml);
        let again = read(&text);
        assert_eq!(music(&again).first(), music(&score).first());
        // The order that kern prescribes is no repeat sign.
        assert!(source == KERN || music(&again).len() == music(&score).len());
        assert!(tags(&text).filter(|tag| tag.opens("note")).all(|tag| tag.attribute("id").is_some()));
        if source == MUSICXML {
            assert_eq!(music(&again), music(&score));
            // Half the tempo all along, but for the silence before, and the beat that a printed metronome mark stands at.
            assert!((again.end_s() - 2.0 * score.end_s()).abs() < 1.1, "{} {}", again.end_s(), score.end_s());
            assert!(text.contains("time-only=\"2\""), "what is repeated has a tempo for each time");
        }
    }
}

#[test]
fn mei_has_the_time_of_every_note_that_was_played() {
    for source in [MEI, MUSICXML, KERN] {
        let score = read(source);
        let mut alignment = alignment(&score);
        alignment.notes[0].verdict = Some(Judged { verdict: Verdict::Missing, confidence: 0.9 });
        let text = render(&score, &alignment, Format::Mei);
        let again = read(&text);
        assert!(source == KERN || music(&again).len() == music(&score).len(), "{text}");
        let whens: Vec<_> = tags(&text).filter(|tag| tag.opens("when")).collect();
        assert_eq!(whens.len(), score.notes.len() - 1);
        let notes: Vec<_> = tags(&text).filter(|tag| tag.opens("note")).collect();
        let mut ids: Vec<&str> = notes.iter().filter_map(|note| note.attribute("id")).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "no two notes have one name");
        for when in whens {
            let id = when.attribute("data").unwrap().trim_start_matches('#');
            let note = notes.iter().find(|note| note.attribute("id") == Some(id)).unwrap();
            assert!(note.attribute("when").is_some() && note.attribute("tstamp.real").is_some());
            assert!(when.attribute("absolute").unwrap().starts_with("00:00:"));
        }
        if source == MEI {
            assert_eq!(music(&again), music(&score));
            assert!(text.contains("<meiHead"), "the rest of the file is there");
        }
    }
}

#[test]
fn midi_becomes_plain_notation() {
    let piece = piece();
    for format in [Format::MusicXml, Format::Mei] {
        let again = read(&render(&piece.score, &piece.alignment, format));
        assert_eq!(again.notes.len(), piece.score.notes.len());
        assert_eq!(
            again.notes.iter().map(|note| note.pitch).max(),
            piece.score.notes.iter().map(|note| note.pitch).max()
        );
    }
}
