//! One part: its bars in order, with a cursor that moves forwards and backwards through each.

use std::collections::HashMap;

use roxmltree::Node;

use super::super::draft::BarDraft;
use super::super::graces::Graces;
use super::super::quarters::Quarters;
use super::super::written::{Clef, Key, Meter, PedalMark, Place, WrittenScore};
use super::super::xml::{Element, NoteNumbers, whole};
use super::barline::{OpenEnding, read_barline};
use super::direction;

/// Reads the bars of one part.
pub(super) struct PartReader<'a> {
    pub part: u16,
    pub score: &'a mut WrittenScore,
    pub numbers: &'a NoteNumbers,
    /// Divisions of a quarter note.
    divisions: i64,
    /// Semitones that the part sounds higher than it is written.
    pub transposition: i32,
    concert_pitch: bool,
    /// There are other parts.
    among_others: bool,
    /// Where the next note stands.
    pub cursor: Place,
    /// Where the last note stood: the next note of its chord stands there too.
    pub chord: Place,
    /// Grace notes whose main note has not come yet, by voice.
    pub graces: HashMap<u16, Graces>,
    /// Voices that are not called by a number.
    pub voices: HashMap<String, u16>,
    ending: OpenEnding,
    /// How many notes without pitch were left out.
    pub unpitched: usize,
    /// How many bars with nothing but small notes were left out.
    cues: usize,
}

impl<'a> PartReader<'a> {
    pub fn new(
        part: u16,
        numbers: &'a NoteNumbers,
        concert_pitch: bool,
        among_others: bool,
        score: &'a mut WrittenScore,
    ) -> Self {
        Self {
            part,
            score,
            numbers,
            divisions: 1,
            transposition: 0,
            concert_pitch,
            among_others,
            cursor: Place::default(),
            chord: Place::default(),
            graces: HashMap::new(),
            voices: HashMap::new(),
            ending: OpenEnding::default(),
            unpitched: 0,
            cues: 0,
        }
    }

    /// Reads a bar.
    pub fn measure(&mut self, measure: Node<'_, '_>, index: u32, bars: &mut [BarDraft]) {
        self.cursor = Place { bar: index, at: Quarters::ZERO };
        self.chord = self.cursor;
        let bar = &mut bars[index as usize];
        if let (true, Some(number)) = (bar.label.is_empty(), measure.attr("number")) {
            number.clone_into(&mut bar.label);
        }
        self.ending.enter(bar);
        let first = self.score.notes.len();
        for element in measure.children().filter(Node::is_element) {
            match element.tag_name().name() {
                "note" => self.note(element, bar),
                "backup" => self.move_by(element, -1, bar),
                "forward" => self.move_by(element, 1, bar),
                "attributes" => self.attributes(element, bar),
                "direction" => direction::read(self, element, bar),
                "sound" => direction::read_sound(self, element, bar, self.cursor.at),
                "barline" => read_barline(element, self.cursor.at, bar, &mut self.ending),
                _ => {}
            }
        }
        bar.close(self.cursor.at);
        self.settle_graces();
        if self.is_cue(measure) {
            self.score.notes.truncate(first);
            self.cues += 1;
        }
    }

    /// Whether a bar has nothing but another part's notes, to listen to. Small notes beside others, or where there is no other part, are played:
    /// much music is printed so.
    fn is_cue(&self, measure: Node<'_, '_>) -> bool {
        let mut notes = measure.all("note").filter(|note| note.child("rest").is_none()).peekable();
        self.among_others && notes.peek().is_some() && notes.all(|note| note.child("cue").is_some())
    }

    /// Says what was left out.
    pub fn finish(self) {
        if self.unpitched > 0 {
            let name = &self.score.parts[usize::from(self.part)].name;
            let notes = if self.unpitched == 1 { "note" } else { "notes" };
            let notice = format!("{} {notes} without pitch in part {name} left out", self.unpitched);
            self.score.notices.push(notice);
        }
        if self.cues > 0 {
            let name = &self.score.parts[usize::from(self.part)].name;
            let bars = if self.cues == 1 { "bar" } else { "bars" };
            self.score.notices.push(format!("cue notes in {} {bars} of part {name} are left out", self.cues));
        }
    }

    /// A number of divisions as a length.
    pub fn length(&self, divisions: f64) -> Quarters {
        if divisions.fract() == 0.0 && divisions.abs() < 1e12 {
            Quarters::ratio(divisions as i64, self.divisions)
        } else {
            Quarters::nearest(divisions / self.divisions as f64)
        }
    }

    /// The duration of an element.
    pub fn duration(&self, element: Node<'_, '_>) -> Quarters {
        let divisions = element.child_words("duration").and_then(|text| text.parse::<f64>().ok());
        self.length(divisions.filter(|divisions| divisions.is_finite()).unwrap_or(0.0)).max(Quarters::ZERO)
    }

    fn move_by(&mut self, element: Node<'_, '_>, direction: i64, bar: &mut BarDraft) {
        let at = self.cursor.at + self.duration(element).scaled(direction, 1);
        self.cursor.at = at.max(Quarters::ZERO);
        bar.space(self.cursor.at);
    }

    fn attributes(&mut self, element: Node<'_, '_>, bar: &mut BarDraft) {
        let divisions = element.child_words("divisions").and_then(|text| text.parse::<f64>().ok());
        if let Some(divisions) = divisions.filter(|divisions| (1.0..1e9).contains(divisions)) {
            self.divisions = divisions.round() as i64;
        }
        if let Some(staves) = element.child_number("staves") {
            self.score.parts[usize::from(self.part)].staves = staves.clamp(1, 100) as u8;
        }
        if let Some(transpose) = element.child("transpose").filter(|_| !self.concert_pitch) {
            let number = |name| transpose.child_number(name).unwrap_or(0).clamp(-36, 36) as i32;
            self.transposition = (number("chromatic") + 12 * number("octave-change")).clamp(-60, 60);
        }
        if let Some(meter) = element.child("time").and_then(read_meter) {
            bar.meter = Some(meter);
        }
        for key in element.all("key") {
            self.key(key);
        }
        for clef in element.all("clef") {
            self.clef(clef);
        }
    }

    fn key(&mut self, key: Node<'_, '_>) {
        let Some(fifths) = key.child_number("fifths").filter(|fifths| (-7..=7).contains(fifths)) else { return };
        let key = Key {
            part: self.part,
            place: self.cursor,
            accidentals: fifths as i8,
            minor: key.child_words("mode").is_some_and(|mode| mode.eq_ignore_ascii_case("minor")),
            transposition: self.transposition as i8,
        };
        let last = self.score.keys.iter().rev().find(|last| last.part == self.part);
        if !last.is_some_and(|last| Key { place: key.place, ..*last } == key) {
            self.score.keys.push(key);
        }
    }

    fn clef(&mut self, clef: Node<'_, '_>) {
        let sign = clef.child_words("sign").unwrap_or_default();
        let usual = match sign {
            "F" => 4,
            "C" => 3,
            _ => 2,
        };
        self.score.clefs.push(Clef {
            part: self.part,
            staff: staff_of(clef.attr("number")),
            place: self.cursor,
            sign: sign.to_owned(),
            line: clef.child_number("line").unwrap_or(usual).clamp(-20, 20) as i8,
            octaves: clef.child_number("clef-octave-change").unwrap_or(0).clamp(-4, 4) as i8,
        });
    }

    /// The pedal goes down or up here.
    pub fn pedal(&mut self, down: bool) {
        self.score.pedal.push(PedalMark { part: self.part, place: self.cursor, down });
    }

    fn settle_graces(&mut self) {
        self.graces.values_mut().for_each(|graces| graces.settle(&mut self.score.notes));
    }
}

/// A staff by its number, from 1.
pub(super) fn staff_of(text: Option<&str>) -> u8 {
    text.and_then(whole).map_or(1, |staff| staff.clamp(1, 100) as u8)
}

/// The time signature of a `time` element: 3+2/8 and several side by side are added up.
fn read_meter(time: Node<'_, '_>) -> Option<Meter> {
    let (mut sum, mut unit) = (0u32, 0u32);
    let mut beats = 0u32;
    for child in time.children() {
        if child.is("beats") {
            let added = child.words().split('+').filter_map(|part| part.trim().parse::<u32>().ok());
            beats = added.fold(0, u32::saturating_add);
        } else if child.is("beat-type") {
            let next: u32 = child.words().parse().ok()?;
            if next == 0 || next > 128 {
                return None;
            }
            let common = unit.max(next);
            sum = (sum * (common / unit.max(1))).saturating_add(beats.saturating_mul(common / next));
            unit = common;
        }
    }
    Meter::new(sum, unit)
}
