//! The readers together: the same music in every format, and files that mean no good.

use std::io::{Cursor, Write};
use std::path::Path;

use proptest::prelude::*;
use zip::write::SimpleFileOptions;

use super::*;
use crate::score::Score;
use crate::score::written::{Mark, WrittenNote};

const MUSICXML: &str = include_str!("../../../tests/fixtures/notation/scale.musicxml");
const MEI: &str = include_str!("../../../tests/fixtures/notation/scale.mei");
const KERN: &str = include_str!("../../../tests/fixtures/notation/scale.krn");

fn read(text: &str) -> WrittenScore {
    read_written(Path::new("x"), text.as_bytes()).unwrap()
}

fn refusal(bytes: &[u8]) -> String {
    let refusal = read_written(Path::new("song.xml"), bytes).unwrap_err().to_string();
    assert!(refusal.starts_with("song.xml: ") && refusal.contains("; ") && !refusal.contains('\n'), "{refusal}");
    refusal
}

/// Pitch, onset and length in quarters, and whether it is a grace note, in playing order.
fn played(score: &WrittenScore, reading: Reading) -> Vec<(u8, f64, f64, bool)> {
    let played = play_out(Path::new("x"), score, reading).unwrap();
    let mut notes: Vec<_> = played
        .notes
        .iter()
        .map(|one| {
            let note = &score.notes[one.note as usize];
            (note.pitch, one.onset.as_f64(), one.duration.as_f64(), note.grace.is_some())
        })
        .collect();
    notes.sort_by(|a, b| (a.1, a.0, a.2).partial_cmp(&(b.1, b.0, b.2)).unwrap());
    notes
}

fn note<'a>(score: &'a WrittenScore, id: &str) -> &'a WrittenNote {
    score.notes.iter().find(|note| note.id == id).unwrap()
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        zip.start_file(*name, options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn repeats_ties_grace_notes_tuplets_and_transposition_are_played_out() {
    let third = 1.0 / 3.0;
    let section = |at: f64, tied: f64| {
        let (t1, t2) = (at + third, at + 2.0 * third);
        let notes = [
            (48, at, third, false),
            (67, at, 2.0, false),
            (67, at, 3.0, false),
            (71, at, 2.0, false),
            (50, t1, third, false),
            (52, t2, third, false),
            (78, at + 1.875, 0.125, true),
            (76, at + 2.0, tied, false),
        ];
        notes.to_vec()
    };
    let expected = [vec![(62, 0.0, 1.0, false)], section(1.0, 2.0), section(7.0, 4.0)].concat();
    for text in [MUSICXML, MEI, KERN] {
        let found = played(&read(text), Reading::WithRepeats);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(&expected) {
            let near = (found.1 - expected.1).abs() < 1e-6 && (found.2 - expected.2).abs() < 1e-6;
            assert!(near && (found.0, found.3) == (expected.0, expected.3), "{found:?} is not {expected:?}");
        }
        assert_eq!(played(&read(text), Reading::AsWritten).len(), 10);
    }
}

#[test]
fn what_midi_cannot_say_is_kept() {
    for text in [MUSICXML, MEI] {
        let score = read(text);
        assert_eq!(
            (score.title.as_deref(), score.composer.as_deref()),
            (Some("Scale with everything"), Some("Nobody"))
        );
        let parts: Vec<(&str, u8)> = score.parts.iter().map(|part| (part.name.as_str(), part.staves)).collect();
        assert_eq!(parts, [("Piano", 2), ("Clarinet in B flat", 1)]);
        assert_eq!(score.bars.iter().map(|bar| bar.label.as_str()).collect::<Vec<_>>(), ["0", "1", "2", "3"]);
        assert_eq!(score.bars[0].length.as_f64(), 1.0, "the pickup is as long as its note");
        let lyric = Mark::Lyric { verse: "1".into(), text: "la".into() };
        let half = &note(&score, "half").marks;
        assert!(half.contains(&Mark::Fermata) && half.contains(&lyric), "{half:?}");
        assert_eq!(note(&score, "trill").marks, [Mark::Ornament("trill-mark".into())]);
        assert!(note(&score, "trill").tied_to && note(&score, "first").tied_from);
        assert!(note(&score, "grace1").grace.is_some_and(|grace| grace.slashed && grace.steps_before == 1));
        assert_eq!((note(&score, "t2").staff, note(&score, "t2").part), (2, 0));
        let clarinet = note(&score, "clar");
        assert_eq!((clarinet.written.step, clarinet.pitch), ('A', 67));
        assert_eq!(score.dynamics.iter().map(|dynamic| dynamic.mark.as_str()).collect::<Vec<_>>(), ["f"]);
        assert_eq!(score.tempi.iter().map(|tempo| tempo.quarters_per_minute).collect::<Vec<_>>(), [60.0]);
    }
    assert_eq!(read(MUSICXML).notices, ["1 note without pitch in part Clarinet in B flat left out"]);
}

#[test]
fn the_score_that_is_aligned_has_names_bars_and_tempo() {
    let score = Score::from_bytes(Path::new("x"), MUSICXML.as_bytes()).unwrap();
    let id = |pitch: u8, beat: f64| {
        let is_it = |note: &&crate::score::Note| {
            note.pitch == pitch && (score.tempo.tick_to_beat(note.onset_tick as f64) - beat).abs() < 1e-3
        };
        let index = score.notes.iter().position(|note| is_it(&note)).unwrap();
        score.note_id(index).unwrap().to_owned()
    };
    assert_eq!((id(62, 0.0), id(71, 1.0), id(71, 7.0)), ("up".into(), "chord1-1".into(), "chord1-2".into()));
    let bars: Vec<u32> =
        [0.0, 1.0, 4.0, 7.0, 10.0].map(|beat| score.meter.position(score.tempo.beat_to_tick(beat)).bar).into();
    assert_eq!(bars, [0, 1, 2, 1, 3]);
    assert_eq!(score.end_s(), 13.0, "60 quarters a minute");
    assert_eq!(score.keys.iter().map(|key| key.accidentals).collect::<Vec<_>>()[0], 1);
    assert_eq!(score.notation.parts, ["Piano", "Clarinet in B flat"]);
    let loud = score.notes.iter().filter(|note| note.velocity == 96).count();
    assert_eq!(loud, 14, "all of the piano from the f on");
    assert_eq!(
        score.programs.iter().map(|change| (change.channel, change.program)).collect::<Vec<_>>(),
        [(0, 0), (1, 71)]
    );
    assert!(
        score.notes.windows(2).all(|pair| (pair[0].onset_tick, pair[0].pitch) <= (pair[1].onset_tick, pair[1].pitch))
    );
}

#[test]
fn midi_is_written_down_as_far_as_it_tells() {
    let bytes = crate::demo::score_bytes();
    let (written, score) =
        (read_written(Path::new("x"), bytes).unwrap(), Score::from_bytes(Path::new("x"), bytes).unwrap());
    let found = play_out(Path::new("x"), &written, Reading::WithRepeats).unwrap();
    assert_eq!(found.notes.len(), score.notes.len());
    for (one, note) in found.notes.iter().zip(&score.notes) {
        assert!((one.onset.as_f64() - score.tempo.tick_to_beat(note.onset_tick as f64)).abs() < 1e-6);
        assert_eq!(written.notes[one.note as usize].pitch, note.pitch);
    }
}

#[test]
fn bars_first_or_parts_first_is_the_same_music() {
    let by_bars = r#"<score-timewise><part-list><score-part id="A"><part-name>One</part-name></score-part></part-list>
        <measure number="1"><part id="A"><attributes><divisions>1</divisions></attributes>
          <note><pitch><step>C</step><octave>4</octave></pitch><duration>4</duration></note></part>
          <part id="B"><note><pitch><step>E</step><octave>4</octave></pitch><duration>4</duration></note></part></measure>
        <measure number="2"><part id="B"><note><pitch><step>F</step><octave>4</octave></pitch><duration>2</duration></note></part></measure>
        </score-timewise>"#;
    let score = read(by_bars);
    assert_eq!(
        played(&score, Reading::WithRepeats),
        [(60, 0.0, 4.0, false), (64, 0.0, 4.0, false), (65, 4.0, 2.0, false)]
    );
    assert_eq!(score.parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>(), ["One", "Part 2"]);
}

#[test]
fn compressed_and_two_byte_text_is_the_same_music() {
    let container = br#"<container><rootfiles><rootfile full-path="music/one.xml"/></rootfiles></container>"#;
    let zipped = archive(&[
        ("other.xml", b"<x/>"),
        ("META-INF/container.xml", container),
        ("music/one.xml", MUSICXML.as_bytes()),
    ]);
    assert_eq!(read_written(Path::new("x"), &zipped).unwrap(), read(MUSICXML));
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(MUSICXML.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(read_written(Path::new("x"), &wide).unwrap(), read(MUSICXML));
    let latin = br#"<?xml version="1.0" encoding="ISO-8859-1"?><score-partwise><movement-title>"#;
    let latin =
        [&latin[..], &[0xc9], b"tude</movement-title><part id='P1'><measure/></part></score-partwise>"].concat();
    assert_eq!(read_written(Path::new("x"), &latin).unwrap().title.as_deref(), Some("Étude"));
}

#[test]
fn a_repeat_sign_within_a_bar_cuts_it() {
    let note =
        |step: &str| format!("<note><pitch><step>{step}</step><octave>4</octave></pitch><duration>1</duration></note>");
    let text = format!(
        "<score-partwise><part id='P1'><measure number='1'><attributes><divisions>1</divisions><time><beats>2</beats><beat-type>4</beat-type></time></attributes>{}\
         <barline location='middle'><repeat direction='backward'/></barline>{}</measure></part></score-partwise>",
        note("C"),
        note("D"),
    );
    let pitches: Vec<u8> = played(&read(&text), Reading::WithRepeats).iter().map(|note| note.0).collect();
    assert_eq!(pitches, [60, 60, 62]);
}

#[test]
fn files_that_are_no_scores_are_refused_in_one_sentence() {
    assert!(refusal(b"").contains("the file is empty"));
    assert!(refusal(b"hello").contains("this is not a score"));
    assert!(refusal(b"<html></html>").contains("<html>"));
    assert!(refusal(b"<museScore/>").contains("MuseScore's own format"));
    assert!(refusal(b"<score-partwise><part>").contains("not well-formed"));
    assert!(refusal(b"<score-partwise/>").contains("has no parts"));
    assert!(refusal(b"<mei><music/></mei>").contains("no bars"));
    assert!(refusal(b"**kern\t**kern\n4c\n").contains("line 2 has 1 columns where 2 are expected"));
    assert!(refusal(b"PK\x03\x04nonsense").contains("zip archive"));
    assert!(refusal(&archive(&[("readme.txt", b"")])).contains("holds no MusicXML"));
    assert!(refusal(b"<score-partwise>\xff\xff</score-partwise>").contains("not UTF-8 from byte 16 on"));
}

#[test]
fn files_that_grow_when_they_are_read_are_refused() {
    let entity = "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><score-partwise>&b;</score-partwise>";
    assert!(refusal(entity.as_bytes()).contains("entities"));
    let attributes: String = (0..100_000).map(|index| format!(" a{index}=''")).collect();
    assert!(refusal(format!("<score-partwise{attributes}/>").as_bytes()).contains("attributes"));
    let nodes = format!("<score-partwise>{}</score-partwise>", "<a/>".repeat(4_100_000));
    assert!(refusal(nodes.as_bytes()).contains("elements accepted"));
    let bomb = archive(&[("score.xml", &vec![b' '; (xml::LARGEST_XML_BYTES + 1) as usize])]);
    assert!(bomb.len() < 1 << 20 && refusal(&bomb).contains("larger than the 96 MB accepted"));
    let splits: String = (0..40).map(|row| vec!["*^"; 1 << row.min(9)].join("\t") + "\n").collect();
    assert!(refusal(format!("**kern\n{splits}").as_bytes()).contains("columns"));
}

#[test]
fn deep_nesting_is_no_trouble() {
    let deep = |name: &str, inner: &str, depth: usize| {
        format!("{}{inner}{}", format!("<{name}>").repeat(depth), format!("</{name}>").repeat(depth))
    };
    let part = format!(
        "<score-partwise><part id='P1'><measure>{}</measure></part></score-partwise>",
        deep("note", "", 100_000)
    );
    assert!(read(&part).notes.is_empty());
    let sections = deep("section", "<measure/>", 100_000);
    assert!(
        refusal(format!("<mei><music><body><mdiv><score>{sections}</score></mdiv></body></music></mei>").as_bytes())
            .contains("no bars")
    );
    let beams = format!(
        "<measure><staff n='1'><layer>{}</layer></staff></measure>",
        deep("beam", "<note pname='c' oct='4' dur='4'/>", 100_000)
    );
    let score =
        read(&format!("<mei><music><body><mdiv><score><section>{beams}</section></score></mdiv></body></music></mei>"));
    assert!(score.notes.is_empty(), "what is nested deeper than anybody writes is not read");
}

/// A text with bytes changed, taken out, doubled or moved.
fn damaged(text: &str, changes: &[(usize, usize, u8, u8)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for &(at, length, kind, byte) in changes {
        let at = at % bytes.len().max(1);
        let end = (at + length).min(bytes.len());
        match kind {
            0 => bytes.iter_mut().skip(at).take(1).for_each(|old| *old = byte),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => bytes.truncate(at.max(1)),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_files_are_read_or_refused(
        format in 0..4usize,
        changes in proptest::collection::vec((0..10_000usize, 1..400usize, 0..4u8, any::<u8>()), 1..6),
    ) {
        let text = [MUSICXML, MEI, KERN, MUSICXML][format];
        let mut bytes = damaged(text, &changes);
        if format == 3 {
            // An archive that is damaged as a whole, and one that is whole but for what is in it.
            let zipped = archive(&[("score.xml", &bytes)]);
            bytes = if changes.len() > 3 { zipped } else {
                let mut zipped = archive(&[("score.xml", MUSICXML.as_bytes())]);
                for &(at, _, _, byte) in &changes {
                    let at = at % zipped.len();
                    zipped[at] = byte;
                }
                zipped
            };
        }
        match Score::from_bytes(Path::new("x.xml"), &bytes) {
            Ok(score) => prop_assert!(score.notes.iter().all(|note| note.offset_tick > note.onset_tick)),
            Err(error) => prop_assert!(error.to_string().lines().count() == 1, "{error}"),
        }
    }

    /// Numbers that no music has: they may be refused or read, but neither overflow nor take memory.
    #[test]
    fn absurd_numbers_are_survived(number in proptest::sample::select(vec![
        "0", "-1", "1e308", "NaN", "inf", "999999999999999999999", "-9223372036854775808", "0.0000001", "2147483648", "65536", "255", "",
    ]), place in 0..60usize) {
        for text in [MUSICXML, MEI, KERN] {
            let digits: Vec<(usize, &str)> = text.match_indices(|c: char| c.is_ascii_digit()).collect();
            let (at, _) = digits[place * digits.len() / 60];
            let absurd = format!("{}{number}{}", &text[..at], &text[at + 1..]);
            let _ = Score::from_bytes(Path::new("x"), absurd.as_bytes());
        }
    }
}

/// MEI of one staff in 4/4 with these bars.
fn mei_bars(bars: &[&str]) -> WrittenScore {
    let bars: String =
        bars.iter().map(|bar| format!("<measure><staff n=\"1\"><layer>{bar}</layer></staff></measure>")).collect();
    read(&format!(
        "<mei xmlns=\"http://www.music-encoding.org/ns/mei\"><music><body><mdiv><score>\
         <scoreDef meter.count=\"4\" meter.unit=\"4\"><staffGrp><staffDef n=\"1\" lines=\"5\"/></staffGrp></scoreDef>\
         <section>{bars}</section></score></mdiv></body></music></mei>"
    ))
}

#[test]
fn signs_repeat_the_bars_and_beats_before_them() {
    let note = |pname: &str, dur: u8| format!("<note pname=\"{pname}\" oct=\"4\" dur=\"{dur}\"/>");
    let halves = |one: &str, other: &str| note(one, 2) + &note(other, 2);
    let pitches = |score: &WrittenScore| -> Vec<(u8, f64)> {
        played(score, Reading::WithRepeats).into_iter().map(|(pitch, onset, ..)| (pitch, onset)).collect()
    };
    let score = mei_bars(&[&halves("c", "d"), "<mRpt/>", &halves("e", "f")]);
    assert_eq!(pitches(&score), [(60, 0.0), (62, 2.0), (60, 4.0), (62, 6.0), (64, 8.0), (65, 10.0)]);
    assert!(score.notices.is_empty(), "{:?}", score.notices);
    let ids: std::collections::HashSet<&str> = score.notes.iter().map(|note| note.id.as_str()).collect();
    assert_eq!(ids.len(), score.notes.len(), "every note has a name of its own");
    let two = mei_bars(&[&halves("c", "d"), &halves("e", "f"), "<mRpt2/>", "<mSpace/>"]);
    assert_eq!(pitches(&two)[4..], [(60, 8.0), (62, 10.0), (64, 12.0), (65, 14.0)]);
    let many = mei_bars(&[&halves("c", "d"), "<multiRpt num=\"1\"/>"]);
    assert_eq!(pitches(&many)[2..], [(60, 4.0), (62, 6.0)]);
    let beats = mei_bars(&[&(note("c", 8) + &note("d", 8) + "<beatRpt/>" + &note("e", 2))]);
    assert_eq!(pitches(&beats), [(60, 0.0), (62, 0.5), (60, 1.0), (62, 1.5), (64, 2.0)]);
    let half = mei_bars(&[&(note("c", 4) + &note("d", 4) + "<halfmRpt/>")]);
    assert_eq!(pitches(&half), [(60, 0.0), (62, 1.0), (60, 2.0), (62, 3.0)]);
    let nothing = mei_bars(&["<mRpt/>", &halves("c", "d")]);
    assert_eq!((pitches(&nothing).len(), nothing.notices.len()), (2, 1));
}

#[test]
fn ornaments_leave_notes_to_the_player() {
    let note = |step: &str, marks: &str| {
        format!(
            "<note><pitch><step>{step}</step><octave>4</octave></pitch><duration>1</duration>\
             <notations>{marks}</notations></note>"
        )
    };
    let music =
        note("C", "") + &note("D", "<ornaments><trill-mark/></ornaments>") + &note("E", "<fermata/>") + &note("F", "");
    let text = format!(
        "<score-partwise><part-list><score-part id=\"P1\"><part-name>x</part-name></score-part></part-list><part id=\"P1\">\
         <measure number=\"1\"><attributes><divisions>1</divisions></attributes>{music}</measure></part></score-partwise>"
    );
    let score = Score::from_bytes(Path::new("x"), text.as_bytes()).unwrap();
    let free: Vec<Option<Vec<u8>>> =
        score.notes.iter().map(|note| score.liberty_of(note).map(|liberty| liberty.pitches.clone())).collect();
    assert_eq!(free, [None, Some(vec![60, 61, 62, 63, 64]), None, None]);
}
