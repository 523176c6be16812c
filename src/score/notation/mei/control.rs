//! What stands beside the notes of a bar and refers to them by name or by beat: ties, ornaments, tempo, dynamics, jumps.

use roxmltree::Node;

use super::super::draft::BarDraft;
use super::super::quarters::Quarters;
use super::super::tempo_words::{jump_of_words, tempo_of_words};
use super::super::written::{Dynamic, PedalMark, Place, Sign, TempoMark};
use super::super::xml::Element;
use super::Reader;
use super::layer::{length_of, ratio_of};
use super::ornaments::mark_of;

impl<'a, 'b> Reader<'a, 'b> {
    /// Remembers what an element says of others by their names, before they are read.
    pub(super) fn refer(&mut self, node: Node<'a, 'b>) {
        let name = |attribute: &str| node.attr(attribute).map(|id| id.trim_start_matches('#'));
        let (start, end) = (name("startid"), name("endid"));
        match node.tag_name().name() {
            "tie" => {
                self.ties_from.extend(start);
                self.ties_to.extend(end);
            }
            "tupletSpan" => {
                if let (Some(start), Some(end)) = (start, end) {
                    self.spans.insert(start, ratio_of(node));
                    self.span_ends.insert(end);
                }
            }
            _ => {
                let Some(mark) = mark_of(node) else { return };
                let listed =
                    node.attr("plist").unwrap_or_default().split_whitespace().map(|id| id.trim_start_matches('#'));
                for id in listed.chain(start) {
                    self.marks.entry(id).or_default().push(mark.clone());
                }
            }
        }
    }

    /// Reads the elements of a bar that are not staves.
    pub(super) fn control_events(&mut self, measure: Node<'a, 'b>, index: u32, bar: &mut BarDraft) {
        for node in measure.children().flat_map(super::unwrap_choice).filter(Node::is_element) {
            let place = Place { bar: index, at: self.place_of(node) };
            match node.tag_name().name() {
                "tempo" => {
                    let text = text_of(node);
                    if let Some(quarters_per_minute) = tempo_of(node, &text) {
                        self.score.tempi.push(TempoMark { place, quarters_per_minute, text });
                    }
                }
                "dynam" => {
                    let staff = *self.staves.get(staff_of(node));
                    let mark = text_of(node);
                    self.score.dynamics.push(Dynamic { part: staff.part, staff: Some(staff.staff), place, mark });
                }
                "pedal" => {
                    let part = self.staves.get(staff_of(node)).part;
                    match node.attr("dir") {
                        Some("down") => self.score.pedal.push(PedalMark { part, place, down: true }),
                        Some("up") => self.score.pedal.push(PedalMark { part, place, down: false }),
                        Some("bounce") => {
                            self.score.pedal.push(PedalMark { part, place, down: false });
                            self.score.pedal.push(PedalMark { part, place, down: true });
                        }
                        _ => {}
                    }
                }
                "dir" => jump_of_words(&text_of(node)).into_iter().for_each(|sign| bar.sign(sign)),
                "repeatMark" => repeat_mark(node).into_iter().for_each(|sign| bar.sign(sign)),
                _ if node.attr("startid").is_none() && node.attr("plist").is_none() => self.mark_at(node, place),
                _ => {}
            }
        }
    }

    /// A mark that names no note is for the highest of its staff at its beat.
    fn mark_at(&mut self, node: Node<'a, 'b>, place: Place) {
        let Some(mark) = mark_of(node) else { return };
        let staff = *self.staves.get(staff_of(node));
        let notes = self.score.notes.iter_mut().rev().take_while(|note| note.place.bar >= place.bar);
        let here = notes.filter(|note| {
            note.place == place && (note.part, note.staff) == (staff.part, staff.staff) && note.grace.is_none()
        });
        if let Some(note) = here.max_by_key(|note| note.pitch) {
            note.marks.push(mark);
        }
    }

    /// The distance from the bar line that a time stamp means: beats are counted from 1.
    fn place_of(&self, node: Node<'a, 'b>) -> Quarters {
        let beat: f64 = node.attr("tstamp").and_then(|stamp| stamp.parse().ok()).unwrap_or(1.0);
        let quarters = (beat - 1.0).clamp(0.0, 1e6) * 4.0 / f64::from(self.meter.beat_type);
        Quarters::nearest(quarters)
    }
}

fn staff_of(node: Node<'_, '_>) -> u32 {
    let first = node.attr("staff").and_then(|staves| staves.split_whitespace().next());
    first.and_then(|staff| staff.parse().ok()).unwrap_or(1)
}

fn text_of(node: Node<'_, '_>) -> String {
    let words: Vec<&str> = node
        .descendants()
        .filter(Node::is_text)
        .filter_map(|text| text.text())
        .flat_map(str::split_whitespace)
        .collect();
    words.join(" ")
}

fn tempo_of(node: Node<'_, '_>, text: &str) -> Option<f64> {
    let number = |name: &str| node.attr(name).and_then(|tempo| tempo.parse::<f64>().ok());
    let metronome = number("mm").map(|count| {
        let unit = node.attr("mm.unit").and_then(length_of).map_or(1.0, Quarters::as_f64);
        let dots = node.attr("mm.dots").and_then(|dots| dots.parse::<i32>().ok()).unwrap_or(0).clamp(0, 4);
        count * unit * (2.0 - 0.5f64.powi(dots))
    });
    let tempo = number("midi.bpm").or(metronome).or_else(|| tempo_of_words(text))?;
    (5.0..=1000.0).contains(&tempo).then_some(tempo)
}

fn repeat_mark(node: Node<'_, '_>) -> Option<Sign> {
    match node.attr("func")? {
        "coda" => Some(Sign::Coda),
        "segno" => Some(Sign::Segno),
        "dalSegno" => Some(Sign::DalSegno),
        "daCapo" => Some(Sign::DaCapo),
        "fine" => Some(Sign::Fine),
        _ => None,
    }
}
