//! What is drawn of whole scores.

use std::collections::HashMap;
use std::path::Path;

use proptest::prelude::*;

use super::pen::{Detail, Ink, Pen, Placement};
use super::*;
use crate::score::{Division, MeterMap, Note, Score, TempoMap};

/// A MusicXML score of one part with these attributes and bars.
fn music_xml(attributes: &str, bars: &[&str]) -> String {
    let bars: Vec<String> = bars
        .iter()
        .enumerate()
        .map(|(index, notes)| {
            let head = if index == 0 { format!("<attributes>{attributes}</attributes>") } else { String::new() };
            format!("<measure number=\"{}\">{head}{notes}</measure>", index + 1)
        })
        .collect();
    format!(
        "<score-partwise><part-list><score-part id=\"P1\"><part-name>Flute</part-name></score-part></part-list>\
         <part id=\"P1\">{}</part></score-partwise>",
        bars.join("")
    )
}

/// A note of a step, alteration and octave, as long as so many divisions, with further elements.
fn note(step: char, alter: i32, octave: i32, divisions: u32, more: &str) -> String {
    let chord = if more.contains("<chord/>") { "<chord/>" } else { "" };
    let more = more.replace("<chord/>", "");
    format!(
        "<note>{chord}<pitch><step>{step}</step><alter>{alter}</alter><octave>{octave}</octave></pitch>\
         <duration>{divisions}</duration>{more}</note>"
    )
}

fn engraved(xml: &str) -> Engraving {
    let path = Path::new("test.musicxml");
    Engraving::new(&Score::from_bytes(path, xml.as_bytes()).unwrap())
}

const PLAIN: &str = "<divisions>4</divisions><key><fifths>0</fifths></key><time><beats>4</beats><beat-type>4</beat-type></time>\
                     <clef><sign>G</sign><line>2</line></clef>";

/// Accidentals that are printed, in order of time.
fn accidentals(engraving: &Engraving) -> Vec<Option<i8>> {
    let heads = engraving.chords.all().iter().flat_map(|chord| engraving.heads_of(chord));
    heads.map(|head| head.accidental.map(|_| head.pitch.alter)).collect()
}

#[test]
fn accidentals_hold_until_the_bar_line_and_ties_carry_them_over() {
    let tie = |kind: &str| format!("<tie type=\"{kind}\"/>");
    let first =
        [note('F', 1, 5, 4, ""), note('F', 1, 5, 4, ""), note('F', 0, 5, 4, ""), note('C', 1, 5, 4, &tie("start"))]
            .concat();
    let second = [note('C', 1, 5, 4, &tie("stop")), note('C', 1, 5, 4, ""), note('F', 1, 4, 8, "")].concat();
    let engraving = engraved(&music_xml(PLAIN, &[&first, &second]));
    assert_eq!(
        accidentals(&engraving),
        [Some(1), None, Some(0), Some(1), None, Some(1), Some(1)],
        "the note after a tied one shows its accidental again"
    );
    assert_eq!(engraving.ties.all().len(), 1);
    let tied = engraving.ties.all()[0];
    assert_eq!(engraving.heads[tied.from as usize].note, engraving.heads[tied.to as usize].note);
    assert!(!engraving.heads[tied.to as usize].begins);
}

#[test]
fn the_key_needs_no_accidentals_and_the_file_may_print_one_more() {
    let attributes = PLAIN.replace("<fifths>0</fifths>", "<fifths>-3</fifths>");
    let bar = [
        note('E', -1, 5, 4, ""),
        note('E', 0, 5, 4, ""),
        note('B', -1, 4, 4, "<accidental>flat</accidental>"),
        note('A', -1, 4, 4, ""),
    ]
    .concat();
    assert_eq!(accidentals(&engraved(&music_xml(&attributes, &[&bar]))), [None, Some(0), Some(-1), None]);
}

#[test]
fn stems_follow_the_middle_line_the_voices_and_the_file() {
    let bar =
        [note('A', 0, 4, 4, ""), note('B', 0, 4, 4, ""), note('D', 0, 5, 4, "<stem>up</stem>"), note('E', 0, 4, 4, "")];
    let engraving = engraved(&music_xml(PLAIN, &[&bar.concat()]));
    let stems: Vec<Option<Stem>> = engraving.chords.all().iter().map(|chord| chord.stem).collect();
    assert_eq!(stems, [Some(Stem::Up), Some(Stem::Down), Some(Stem::Up), Some(Stem::Up)]);
    let voice = |number: u32| format!("<voice>{number}</voice>");
    let two = [
        note('G', 0, 5, 16, &voice(1)),
        "<backup><duration>16</duration></backup>".to_owned(),
        note('E', 0, 4, 8, &voice(2)),
        note('D', 0, 5, 8, &voice(2)),
        "<backup><duration>16</duration></backup>".to_owned(),
        note('C', 0, 5, 8, &voice(1)),
        note('E', 0, 4, 8, &voice(1)),
    ];
    let engraving = engraved(&music_xml(PLAIN, &[&two.concat()]));
    for chord in engraving.chords.all().iter().filter(|chord| chord.stem.is_some()) {
        assert_eq!(chord.stem, Some(if chord.voice == 1 { Stem::Up } else { Stem::Down }), "{chord:?}");
    }
}

#[test]
fn eighths_are_beamed_and_chords_with_seconds_displaced() {
    let eighths: String = ['C', 'D', 'E', 'F'].map(|step| note(step, 0, 5, 2, "")).concat();
    let chord = [note('C', 0, 5, 8, ""), note('D', 0, 5, 8, "<chord/>")].concat();
    let engraving = engraved(&music_xml(PLAIN, &[&(eighths + &chord)]));
    assert_eq!(engraving.beams.all().len(), 1);
    assert_eq!(engraving.beams.all()[0].chords.len(), 4);
    let last = engraving.chords.all().last().unwrap();
    let displaced: Vec<bool> = engraving.heads_of(last).iter().map(|head| head.displaced).collect();
    assert_eq!(displaced, [true, false], "with a stem downwards the lower head of a second stands left");
}

#[test]
fn repeats_are_written_out_and_every_time_has_heads_of_its_own() {
    let bar = note('C', 0, 5, 16, "") + "<barline location=\"right\"><repeat direction=\"backward\"/></barline>";
    let engraving = engraved(&music_xml(PLAIN, &[&bar, &note('D', 0, 5, 16, "")]));
    assert_eq!(engraving.bars.iter().map(|bar| bar.label.as_str()).collect::<Vec<_>>(), ["1", "1", "2"]);
    let notes: Vec<u32> = engraving.heads.iter().map(|head| head.note).collect();
    assert_eq!(notes, [0, 1, 2]);
}

#[test]
fn kern_and_mei_have_beams_rests_and_stems_of_their_own() {
    let kern = "**kern\n*clefG2\n*M4/4\n=1\n8c/L\n8d/J\n4r\n[2b\\\n=2\n1b]\n==\n*-\n";
    let mei = "<mei xmlns=\"http://www.music-encoding.org/ns/mei\"><music><body><mdiv><score><scoreDef meter.count=\"4\" meter.unit=\"4\">\
               <staffGrp><staffDef n=\"1\" lines=\"5\" clef.shape=\"G\" clef.line=\"2\"/></staffGrp></scoreDef><section>\
               <measure n=\"1\"><staff n=\"1\"><layer n=\"1\"><beam><note dur=\"8\" pname=\"c\" oct=\"4\" stem.dir=\"up\"/>\
               <note dur=\"8\" pname=\"d\" oct=\"4\" stem.dir=\"up\"/></beam><rest dur=\"4\"/>\
               <note dur=\"2\" pname=\"b\" oct=\"4\" tie=\"i\" stem.dir=\"down\"/></layer></staff></measure>\
               <measure n=\"2\"><staff n=\"1\"><layer n=\"1\"><note dur=\"1\" pname=\"b\" oct=\"4\" tie=\"t\"/></layer></staff></measure>\
               </section></score></mdiv></body></music></mei>";
    for text in [kern, mei] {
        let engraving = engraved(text);
        assert_eq!(engraving.beams.all().len(), 1, "{text}");
        assert_eq!(engraving.rests.all().len(), 1, "{text}");
        assert_eq!(engraving.ties.all().len(), 1, "{text}");
        let stems: Vec<Option<Stem>> = engraving.chords.all().iter().map(|chord| chord.stem).collect();
        assert_eq!(stems, [Some(Stem::Up), Some(Stem::Up), Some(Stem::Down), None], "{text}");
    }
}

#[test]
fn two_voices_a_second_apart_stand_side_by_side() {
    let voice = |number: u32| format!("<voice>{number}</voice>");
    let bar = [
        note('D', 0, 5, 8, &voice(1)),
        note('E', 0, 5, 8, &voice(1)),
        "<backup><duration>16</duration></backup>".to_owned(),
        note('C', 0, 5, 8, &voice(2)),
        note('E', 0, 5, 8, &voice(2)),
    ];
    let engraving = engraved(&music_xml(PLAIN, &[&bar.concat()]));
    let shifted: Vec<bool> = engraving.chords.all().iter().map(|chord| chord.shift > 0.0).collect();
    assert_eq!(shifted, [false, true, false, false], "like heads at one place are one");
}

#[test]
fn neighbours_are_those_of_the_voice() {
    let bar = [note('C', 0, 5, 4, ""), note('D', 0, 5, 4, ""), note('F', 0, 5, 4, "<chord/>"), note('E', 0, 5, 8, "")]
        .concat();
    let engraving = engraved(&music_xml(PLAIN, &[&bar]));
    assert_eq!(engraving.neighbour(0, 1), Some(2), "of a chord the highest, as from a single note");
    assert_eq!(engraving.neighbour(2, 1), Some(3));
    assert_eq!(engraving.neighbour(3, -1), Some(2));
    assert_eq!(engraving.neighbour(0, -1), None);
    assert_eq!(engraving.neighbour(3, 1), None);
}

/// Even places, as in a picture.
struct Even<'a>(&'a Engraving);

impl Placement for Even<'_> {
    fn space(&self) -> f32 {
        8.0
    }
    fn staff_y(&self, staff: usize) -> f32 {
        100.0 * staff as f32
    }
    fn chord_x(&self, chord: u32) -> f32 {
        self.moment_x(self.0.chords.all()[chord as usize].column, 0.0)
    }
    fn head_x(&self, chord: u32, _: u32) -> f32 {
        self.chord_x(chord)
    }
    fn moment_x(&self, column: u32, _: f64) -> f32 {
        30.0 * column as f32
    }
    fn bar_middle(&self, bar: u32) -> f32 {
        30.0 * self.0.bars[bar as usize].first_column as f32
    }
}

fn drawn(engraving: &Engraving, detail: Detail) -> (Vec<Ink>, usize) {
    let placement = Even(engraving);
    let mut pen = Pen::new(engraving, &placement);
    pen.detail = detail;
    for staff in 0..engraving.staves.len() {
        pen.bars(staff, 0..engraving.bars.len());
    }
    (pen.ink, pen.spots.len())
}

#[test]
fn what_is_too_dense_goes_in_order() {
    let mut last = Detail::at_density(3.0);
    assert_eq!(last, Detail::ALL);
    for step in (0..30).rev() {
        let now = Detail::at_density(0.1 * step as f32);
        assert!(now.rests <= now.flags && now.flags <= now.stems && now.stems <= now.heads, "{now:?}");
        assert!(now.heads <= last.heads && now.stems <= last.stems && now.rests <= last.rests);
        last = now;
    }
    assert_eq!(last.heads, 0.0);
    let bar = [note('C', 0, 5, 2, ""), note('D', 1, 5, 2, ""), note('E', 0, 5, 4, ""), note('G', 0, 6, 8, "")].concat();
    let engraving = engraved(&music_xml(PLAIN, &[&bar]));
    let count = |spaces: f32| drawn(&engraving, Detail::at_density(spaces)).0.len();
    assert!(count(3.0) > count(0.9) && count(0.9) > count(0.69) && count(0.1) == 0);
}

/// A score of notes of (onset in 24ths, length in 24ths, pitch, track).
fn midi_score(notes: &[(u32, u32, u8, u16)]) -> Score {
    let tempo = TempoMap::new(Division::PerBeat(480), &[]).unwrap();
    let mut notes: Vec<Note> = notes
        .iter()
        .map(|&(onset, length, pitch, track)| {
            let (onset_tick, offset_tick) = (u64::from(onset) * 20, u64::from(onset + length) * 20);
            Note {
                pitch,
                velocity: 80,
                channel: track as u8,
                track,
                onset_tick,
                offset_tick,
                onset_s: tempo.tick_to_seconds(onset_tick as f64),
                offset_s: tempo.tick_to_seconds(offset_tick as f64),
            }
        })
        .collect();
    notes.sort_by_key(|note| (note.onset_tick, note.pitch, note.track));
    Score {
        title: None,
        notes,
        meter: MeterMap::new(480.0, &[]),
        tempo,
        keys: Vec::new(),
        pedal: Vec::new(),
        programs: Vec::new(),
        notation: Default::default(),
    }
}

/// How often each note of the score begins.
fn beginnings(engraving: &Engraving) -> HashMap<u32, usize> {
    let mut times = HashMap::new();
    for head in engraving.heads.iter().filter(|head| head.begins) {
        *times.entry(head.note).or_default() += 1;
    }
    times
}

#[test]
fn midi_is_split_into_hands_with_ties_over_bar_lines() {
    let score = midi_score(&[(0, 24, 72, 0), (0, 24, 48, 0), (84, 24, 76, 0), (24, 12, 74, 0), (48, 24, 36, 0)]);
    let engraving = Engraving::new(&score);
    assert_eq!(engraving.staves.len(), 2);
    assert_eq!(engraving.standing(0, 0).0, StaffClef::TREBLE);
    assert_eq!(engraving.standing(1, 0).0, StaffClef::BASS);
    assert_eq!(engraving.ties.all().len(), 1, "E5 is tied over the bar line");
    assert!(!engraving.rests.all().is_empty());
}

proptest! {
    #[test]
    fn every_note_is_drawn_exactly_once(
        notes in prop::collection::vec((0u32..600, 1u32..200, 24u8..100, 0u16..3), 1..60),
    ) {
        let score = midi_score(&notes);
        let engraving = Engraving::new(&score);
        let times = beginnings(&engraving);
        prop_assert_eq!(times.len(), score.notes.len());
        prop_assert!(times.values().all(|&times| times == 1));
        prop_assert!((0..score.notes.len()).all(|note| engraving.head_of(note).is_some()));
        let (ink, spots) = drawn(&engraving, Detail::ALL);
        prop_assert_eq!(spots, engraving.heads.len());
        let is_finite = |ink: &Ink| match ink {
            Ink::Glyph { at, .. } | Ink::Text { at, .. } => at.iter().all(|value| value.is_finite()),
            Ink::Line { from, to, .. } | Ink::Curve { from, to, .. } => from.iter().chain(to).all(|value| value.is_finite()),
            Ink::Quad { corners, .. } => corners.iter().flatten().all(|value| value.is_finite()),
        };
        prop_assert!(ink.iter().all(is_finite));
    }

    #[test]
    fn systems_hold_every_bar_once_and_columns_rise(
        notes in prop::collection::vec((0u32..2000, 1u32..100, 40u8..90, 0u16..1), 1..80),
        width in 30.0f32..300.0,
    ) {
        let engraving = Engraving::new(&midi_score(&notes));
        let systems = engraving.wrapped(width);
        let bars: Vec<usize> = systems.systems.iter().flat_map(|system| system.bars.clone()).collect();
        prop_assert_eq!(bars, (0..engraving.bars.len()).collect::<Vec<_>>());
        for system in &systems.systems {
            let columns: Vec<f32> = system.bars.clone().flat_map(|bar| {
                let from = engraving.bars[bar].first_column as usize;
                let to = engraving.bars.get(bar + 1).map_or(engraving.columns.len(), |bar| bar.first_column as usize);
                systems.column_x[from..to].to_vec()
            }).collect();
            prop_assert!(columns.windows(2).all(|pair| pair[0] < pair[1]), "{columns:?}");
            prop_assert!(system.bars.len() == 1 || system.width <= width + 0.1);
        }
    }
}
