//! Score and staff definitions: parts, clefs, keys, meters, transposition.

use std::collections::HashMap;

use roxmltree::Node;

use super::super::quarters::Quarters;
use super::super::written::{Clef, Key, Meter, Part, Place, TempoMark};
use super::super::xml::Element;
use super::{DEEPEST, Reader};

/// What is known of the staves, by their number in the score.
#[derive(Default)]
pub(super) struct Staves {
    by_number: HashMap<u32, Staff>,
    parts: Vec<Part>,
}

/// A staff of the score.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Staff {
    pub part: u16,
    /// Staff of the part, from 1.
    pub staff: u8,
    pub transposition: i32,
    /// Sharps or flats of the key.
    pub accidentals: i8,
    /// Ticks of a quarter note where lengths are given in ticks.
    pub ppq: i64,
    /// The length of notes that have none.
    pub usual: Option<Quarters>,
    pub usual_octave: Option<i64>,
}

impl Staves {
    pub fn parts(&self) -> Vec<Part> {
        self.parts.clone()
    }

    /// The staff of this number; one that is not defined is a part of its own.
    pub fn get(&mut self, number: u32) -> &mut Staff {
        if !self.by_number.contains_key(&number) {
            self.add(&[(number, String::new())], "");
        }
        self.by_number.entry(number).or_default()
    }

    /// Adds a part of these staves, with their labels, unless they are known.
    fn add(&mut self, staves: &[(u32, String)], label: &str) {
        if staves.iter().any(|(number, _)| self.by_number.contains_key(number)) {
            return;
        }
        let part = u16::try_from(self.parts.len()).unwrap_or(u16::MAX);
        let own = staves.iter().map(|(_, label)| label.as_str()).find(|label| !label.is_empty()).unwrap_or_default();
        let name = if label.is_empty() { own } else { label };
        let name = if name.is_empty() { format!("Part {}", self.parts.len() + 1) } else { name.to_owned() };
        self.parts.push(Part {
            id: format!("P{}", self.parts.len() + 1),
            name,
            staves: staves.len().min(100) as u8,
            program: None,
        });
        for (index, &(number, _)) in staves.iter().enumerate() {
            let staff = Staff { part, staff: index.min(99) as u8 + 1, ppq: 0, ..Staff::default() };
            self.by_number.insert(number, staff);
        }
    }

    fn set_program(&mut self, number: u32, program: u8) {
        if let Some(staff) = self.by_number.get(&number)
            && let Some(part) = self.parts.get_mut(usize::from(staff.part))
        {
            part.program = Some(program);
        }
    }
}

impl<'a, 'b> Reader<'a, 'b> {
    /// Reads a `scoreDef`, at the beginning or between bars.
    pub(super) fn score_definition(&mut self, node: Node<'a, 'b>) {
        node.all("staffGrp").for_each(|group| self.group(group, 0));
        if let Some(meter) = meter_of(node) {
            self.meter = meter;
        }
        let tempo = node.attr("midi.bpm").or(node.attr("mm")).and_then(|tempo| tempo.parse::<f64>().ok());
        if let Some(quarters_per_minute) = tempo.filter(|tempo| (5.0..=1000.0).contains(tempo)) {
            let place = self.next_place();
            self.score.tempi.push(TempoMark { place, quarters_per_minute, text: String::new() });
        }
        if let Some((accidentals, minor)) = key_of(node) {
            let mut numbers: Vec<u32> = self.staves.by_number.keys().copied().collect();
            numbers.sort_unstable();
            numbers.into_iter().for_each(|number| self.key(number, accidentals, minor));
        }
        let staves: Vec<Node<'a, 'b>> = node.descendants().filter(|child| child.is("staffDef")).collect();
        staves.into_iter().for_each(|staff| self.staff_definition(staff));
    }

    /// Finds the parts of a group: staves under a brace, or under a label that they have not themselves, are one.
    fn group(&mut self, group: Node<'a, 'b>, depth: usize) {
        let staves: Vec<Node<'a, 'b>> = group.all("staffDef").collect();
        let label = label_of(group);
        let numbered = |staff: &Node<'a, 'b>| Some((number_of(*staff)?, label_of(*staff)));
        let is_brace = group.attr("symbol") == Some("brace")
            || group.child("grpSym").is_some_and(|symbol| symbol.attr("symbol") == Some("brace"));
        let is_labelled = !label.is_empty() && staves.iter().all(|staff| label_of(*staff).is_empty());
        if (is_brace || is_labelled) && !staves.is_empty() {
            let staves: Vec<(u32, String)> = staves.iter().filter_map(numbered).collect();
            self.staves.add(&staves, &label);
        }
        for child in group.children() {
            if let Some(staff) = Some(child).filter(|child| child.is("staffDef")).and_then(|staff| numbered(&staff)) {
                self.staves.add(&[staff], "");
            } else if child.is("staffGrp") && depth < DEEPEST {
                self.group(child, depth + 1);
            }
        }
    }

    /// Reads a `staffDef`, at the beginning or between bars.
    pub(super) fn staff_definition(&mut self, node: Node<'a, 'b>) {
        let Some(number) = number_of(node) else { return };
        let whole = |name: &str| node.attr(name).and_then(|text| text.parse::<i64>().ok());
        let usual = node.attr("dur.default").and_then(super::layer::length_of);
        let staff = self.staves.get(number);
        staff.ppq = whole("ppq").filter(|ppq| (1..1_000_000).contains(ppq)).unwrap_or(staff.ppq);
        staff.transposition =
            whole("trans.semi").map_or(staff.transposition, |semitones| semitones.clamp(-60, 60) as i32);
        staff.usual = usual.or(staff.usual);
        staff.usual_octave = whole("octave.default").or(staff.usual_octave);
        if let Some(meter) = meter_of(node) {
            self.meter = meter;
        }
        if let Some((accidentals, minor)) = key_of(node) {
            self.key(number, accidentals, minor);
        }
        let program =
            node.child("instrDef").and_then(|instrument| instrument.attr("midi.instrnum")?.parse::<u8>().ok());
        if let Some(program) = program.filter(|&program| program < 128) {
            self.staves.set_program(number, program);
        }
        let clef = node.child("clef");
        let shape = node.attr("clef.shape").or_else(|| clef?.attr("shape"));
        let line = node.attr("clef.line").or_else(|| clef?.attr("line"));
        if let Some(shape) = shape {
            self.clef(number, shape, line, self.next_place());
        }
    }

    /// A clef on a staff.
    pub(super) fn clef(&mut self, number: u32, shape: &str, line: Option<&str>, place: Place) {
        let staff = *self.staves.get(number);
        let line = line.and_then(|line| line.parse().ok()).unwrap_or(2);
        self.score.clefs.push(Clef {
            part: staff.part,
            staff: staff.staff,
            place,
            sign: shape.to_owned(),
            line,
            octaves: 0,
        });
    }

    fn key(&mut self, number: u32, accidentals: i8, minor: bool) {
        let place = self.next_place();
        let staff = self.staves.get(number);
        staff.accidentals = accidentals;
        let (part, transposition) = (staff.part, staff.transposition.clamp(-60, 60) as i8);
        let key = Key { part, place, accidentals, minor, transposition };
        let last = self.score.keys.iter().rev().find(|last| last.part == part);
        if !last.is_some_and(|last| Key { place, ..*last } == key) {
            self.score.keys.push(key);
        }
    }

    /// The beginning of the bar that comes next.
    fn next_place(&self) -> Place {
        Place { bar: self.bars.len() as u32, at: Quarters::ZERO }
    }
}

fn number_of(node: Node<'_, '_>) -> Option<u32> {
    node.attr("n")?.parse().ok()
}

fn label_of(node: Node<'_, '_>) -> String {
    let label = node.child("label").and_then(|label| label.descendants().find_map(|child| child.text()));
    label.or(node.attr("label")).map(|label| label.split_whitespace().collect::<Vec<_>>().join(" ")).unwrap_or_default()
}

/// The time signature that a definition has.
fn meter_of(node: Node<'_, '_>) -> Option<Meter> {
    let child = node.child("meterSig");
    let count = node.attr("meter.count").or_else(|| child?.attr("count"));
    let unit = node.attr("meter.unit").or_else(|| child?.attr("unit"));
    match (count, unit, node.attr("meter.sym").or_else(|| child?.attr("sym"))) {
        (Some(count), Some(unit), _) => {
            let beats =
                count.split('+').filter_map(|part| part.trim().parse::<u32>().ok()).fold(0, u32::saturating_add);
            Meter::new(beats, unit.parse().ok()?)
        }
        (_, _, Some("common")) => Meter::new(4, 4),
        (_, _, Some("cut")) => Meter::new(2, 2),
        _ => None,
    }
}

/// The key signature that a definition has: sharps or flats, minor.
fn key_of(node: Node<'_, '_>) -> Option<(i8, bool)> {
    let child = node.child("keySig");
    let signature = node.attr("key.sig").or(node.attr("keysig")).or_else(|| child?.attr("sig"))?;
    let mode = node.attr("key.mode").or_else(|| child?.attr("mode"));
    let digits = signature.trim_end_matches(['s', 'f']);
    let count: i8 = digits.parse().ok().filter(|count| (0..=7).contains(count))?;
    Some((if signature.ends_with('f') { -count } else { count }, mode == Some("minor")))
}
