//! The note: pitch, length, ties, and what is written at it.

use roxmltree::Node;

use super::super::draft::BarDraft;
use super::super::quarters::Quarters;
use super::super::written::{Between, Grace, Mark, WrittenNote, WrittenPitch, WrittenRest};
use super::super::xml::Element;
use super::look;
use super::part::{PartReader, staff_of};

impl PartReader<'_> {
    /// Reads a `note`: a note, a rest, or one note more of a chord.
    pub(super) fn note(&mut self, node: Node<'_, '_>, bar: &mut BarDraft) {
        let grace = node.child("grace");
        let is_chord = node.child("chord").is_some();
        let length = if grace.is_some() { Quarters::ZERO } else { self.duration(node) };
        let place = if is_chord { self.chord } else { self.cursor };
        if !is_chord {
            self.chord = self.cursor;
            self.cursor.at += length;
        }
        let voice = self.voice(node.child_words("voice").unwrap_or("1"));
        match node.child("rest") {
            None => bar.note(place.at, place.at + length),
            Some(rest) if grace.is_none() && node.attr("print-object") != Some("no") => {
                self.score.rests.push(WrittenRest {
                    part: self.part,
                    staff: staff_of(node.child_words("staff")),
                    voice,
                    place,
                    duration: length,
                    whole_bar: rest.attr("measure") == Some("yes"),
                    value: look::value(node),
                });
            }
            Some(_) => {}
        }
        bar.reach(place.at + length);
        if grace.is_none()
            && let Some(graces) = self.graces.get_mut(&voice)
        {
            graces.settle(&mut self.score.notes);
        }
        if node.child("unpitched").is_some() {
            self.unpitched += 1;
        }
        let Some(written) = node.child("pitch").and_then(read_pitch) else { return };
        let Some(pitch) = written.sounding(self.transposition) else { return };
        let grace = grace.map(|grace| {
            self.graces.entry(voice).or_default().push(self.score.notes.len(), is_chord);
            Grace { slashed: grace.attr("slash") == Some("yes"), steps_before: 1 }
        });
        let id = self.numbers.name(node);
        let (tied_from, tied_to) = ties(node);
        self.score.notes.push(WrittenNote {
            id,
            part: self.part,
            staff: staff_of(node.child_words("staff")),
            voice,
            place,
            duration: length,
            written,
            pitch,
            tied_from,
            tied_to,
            grace,
            marks: marks(node),
            look: look::look(node),
        });
    }

    /// The number of a voice; one that is not called by a number gets the next above 1000.
    fn voice(&mut self, text: &str) -> u16 {
        let fresh = 1001u16.saturating_add(self.voices.len() as u16);
        match text.parse() {
            Ok(number) => number,
            Err(_) => *self.voices.entry(text.to_owned()).or_insert(fresh),
        }
    }
}

fn read_pitch(pitch: Node<'_, '_>) -> Option<WrittenPitch> {
    let step = pitch.child_words("step")?.chars().next()?.to_ascii_uppercase();
    let octave = pitch.child_number("octave")?;
    let alter = pitch.child_words("alter").and_then(|alter| alter.parse::<f64>().ok()).unwrap_or(0.0);
    if !('A'..='G').contains(&step) || !(-1..=10).contains(&octave) || !alter.is_finite() {
        return None;
    }
    Some(WrittenPitch { step, alter: alter.trunc().clamp(-4.0, 4.0) as i8, octave: octave as i8 })
}

/// Whether a tie leads here and from here. Some files have only the sounding ties, some only the drawn ones.
fn ties(node: Node<'_, '_>) -> (bool, bool) {
    let drawn = node.all("notations").flat_map(|notations| notations.all("tied").collect::<Vec<_>>());
    let (mut from, mut to) = (false, false);
    for tie in node.all("tie").chain(drawn) {
        match tie.attr("type") {
            Some("stop") => from = true,
            Some("start") => to = true,
            Some("continue") => (from, to) = (true, true),
            _ => {}
        }
    }
    (from, to)
}

fn marks(node: Node<'_, '_>) -> Vec<Mark> {
    let mut marks = Vec::new();
    for notation in node.all("notations").flat_map(|notations| notations.children().collect::<Vec<_>>()) {
        match notation.tag_name().name() {
            "fermata" => marks.push(Mark::Fermata),
            "arpeggiate" => marks.push(Mark::Arpeggio { down: notation.attr("direction") == Some("down") }),
            "articulations" => {
                let names = notation.children().filter(Node::is_element).map(|sign| sign.tag_name().name());
                marks.extend(names.map(|name| Mark::Articulation(name.to_owned())));
            }
            "ornaments" => marks.extend(notation.children().filter_map(ornament)),
            _ => {}
        }
    }
    for lyric in node.all("lyric") {
        let syllables: Vec<&str> = lyric.all("text").map(|text| text.words()).filter(|text| !text.is_empty()).collect();
        if !syllables.is_empty() {
            let verse = lyric.attr("number").unwrap_or("1").to_owned();
            marks.push(Mark::Lyric { verse, text: syllables.join(" ") });
        }
    }
    marks
}

fn ornament(node: Node<'_, '_>) -> Option<Mark> {
    match node.tag_name().name() {
        "tremolo" => {
            let between = match node.attr("type") {
                Some("start") => Some(Between::First),
                Some("stop") => Some(Between::Second),
                _ => None,
            };
            Some(Mark::Tremolo { strokes: node.words().parse().unwrap_or(3).min(8), between })
        }
        "wavy-line" if node.attr("type") != Some("start") => None,
        "" | "accidental-mark" => None,
        name => Some(Mark::Ornament(name.to_owned())),
    }
}
