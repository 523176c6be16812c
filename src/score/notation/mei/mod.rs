//! MEI, the repertoire of common Western notation, versions 2012 to 5.

mod control;
mod definitions;
mod layer;
mod look;
mod ornaments;
mod pitch;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use roxmltree::{Document, Node};

use super::draft::{BarDraft, lay_out};
use super::musicxml::{MOST_BARS, sort};
use super::numbers::numbers;
use super::quarters::Quarters;
use super::written::{Mark, Meter, WrittenScore};
use super::xml::{Element, NoteNumbers};
use crate::base::error::{Error, Result};
use definitions::Staves;

/// Deepest nesting of sections, and of beams and tuplets, that is followed.
const DEEPEST: usize = 64;

/// Reads a document whose root is `mei`, or one of the elements within it that hold music.
pub(super) fn read(name: &Path, document: &Document<'_>) -> Result<WrittenScore> {
    let root = document.root_element();
    let mut reader = Reader::new(root, NoteNumbers::of(document));
    reader.head(root);
    for movement in movements(root) {
        reader.movement(movement);
    }
    if reader.bars.len() > MOST_BARS {
        let cause = format!("it has {} bars, more than the {MOST_BARS} accepted", reader.bars.len());
        return Err(Error::limit(name, cause, "check that this is the score, or split it"));
    }
    if reader.bars.is_empty() {
        return Err(Error::malformed(
            name,
            "the MEI holds no bars",
            "choose an encoding with the music in common notation",
        ));
    }
    Ok(reader.finish())
}

/// The innermost divisions, each of which is a movement: a score, or parts beside one another.
fn movements<'a, 'b>(root: Node<'a, 'b>) -> Vec<Node<'a, 'b>> {
    let is_movement = |node: &Node<'a, 'b>| {
        (node.is("score") || node.is("parts")) && node.ancestors().skip(1).all(|above| !above.is("incip"))
    };
    let mut movements: Vec<Node<'a, 'b>> = root.descendants().filter(is_movement).collect();
    // A division may hold both: they are the same music.
    movements.dedup_by(|later, earlier| later.parent() == earlier.parent() && earlier.is("score"));
    movements
}

/// Reads the music of a document.
struct Reader<'a, 'b> {
    score: WrittenScore,
    numbers: NoteNumbers,
    bars: Vec<BarDraft>,
    staves: Staves,
    meter: Meter,
    /// Everything that has a name.
    named: HashMap<&'a str, Node<'a, 'b>>,
    /// Names of the notes and chords from which ties lead, and to which.
    ties_from: HashSet<&'a str>,
    ties_to: HashSet<&'a str>,
    /// Marks of notes and chords by name.
    marks: HashMap<&'a str, Vec<Mark>>,
    /// Where groups begin and end that are not written as such: a ratio at the first name, the end at the last.
    spans: HashMap<&'a str, (i64, i64)>,
    span_ends: HashSet<&'a str>,
    /// The bars of each section by name, for the order that the file prescribes.
    sections: HashMap<&'a str, std::ops::Range<u32>>,
    expansion: Option<Vec<&'a str>>,
    expansions: usize,
    /// The file says how notes sound wherever that is not how they are written; otherwise key and bar decide.
    is_explicit: bool,
    /// The bracket that is open: its times, and whether it has just begun.
    ending: Option<(Vec<u8>, bool)>,
    /// The next bar begins a section that is repeated.
    repeat_start: bool,
    left_out: usize,
}

impl<'a, 'b> Reader<'a, 'b> {
    fn new(root: Node<'a, 'b>, numbers: NoteNumbers) -> Self {
        let named = root.descendants().filter_map(|node| Some((node.attr("id")?, node))).collect();
        let is_explicit = root.descendants().any(|node| node.attr("accid.ges").is_some());
        let mut reader = Self {
            score: WrittenScore::default(),
            numbers,
            bars: Vec::new(),
            staves: Staves::default(),
            meter: Meter::default(),
            named,
            ties_from: HashSet::new(),
            ties_to: HashSet::new(),
            marks: HashMap::new(),
            spans: HashMap::new(),
            span_ends: HashSet::new(),
            sections: HashMap::new(),
            expansion: None,
            expansions: 0,
            is_explicit,
            ending: None,
            repeat_start: false,
            left_out: 0,
        };
        root.descendants().for_each(|node| reader.refer(node));
        reader
    }

    fn head(&mut self, root: Node<'a, 'b>) {
        let Some(head) = root.child("meiHead") else { return };
        let statement = head.descendants().find(|node| node.is("titleStmt"));
        let is_title = |node: &Node<'a, 'b>| node.is("title") && !node.words().is_empty();
        let title = statement.and_then(|statement| statement.descendants().find(is_title));
        self.score.title = title.map(|node| node.words().split_whitespace().collect::<Vec<_>>().join(" "));
        let is_composer = |node: &Node<'a, 'b>| {
            node.is("composer") || node.attr("role").is_some_and(|role| role.contains("composer") || role == "cmp")
        };
        let composer = statement.and_then(|statement| statement.descendants().find(is_composer));
        let name = composer.and_then(|node| node.descendants().find_map(|node| node.text()).map(str::trim));
        self.score.composer = name.filter(|name| !name.is_empty()).map(str::to_owned);
    }

    fn movement(&mut self, movement: Node<'a, 'b>) {
        let first = self.bars.len();
        if movement.is("parts") {
            for part in movement.all("part") {
                self.contents(part, first, 0);
            }
        } else {
            self.contents(movement, first, 0);
        }
        self.ending = None;
    }

    /// Reads what stands in a section or something like it; bars are written from `at` on. Returns where the next bar stands.
    fn contents(&mut self, node: Node<'a, 'b>, mut at: usize, depth: usize) -> usize {
        if depth > DEEPEST {
            return at;
        }
        for child in node.children().filter(Node::is_element) {
            let begin = at;
            match child.tag_name().name() {
                "scoreDef" => self.score_definition(child),
                "staffDef" => self.staff_definition(child),
                "measure" => {
                    self.measure(child, at);
                    at += 1;
                }
                "ending" => {
                    let times = numbers(child.attr("n").unwrap_or_default());
                    self.ending = (!times.is_empty()).then_some((times, true));
                    at = self.contents(child, at, depth + 1);
                    self.ending = None;
                }
                "expansion" => self.expansion(child),
                // Of readings that differ the first is read.
                "app" | "choice" => {
                    if let Some(reading) = preferred(child) {
                        at = self.contents(reading, at, depth + 1);
                    }
                }
                "section" | "supplied" | "add" | "unclear" | "corr" | "reg" | "orig" | "sic" | "lem" | "rdg"
                | "damage" => {
                    at = self.contents(child, at, depth + 1);
                }
                _ => {}
            }
            if let Some(id) = child.attr("id").filter(|_| at > begin) {
                self.sections.insert(id, begin as u32..at as u32);
            }
        }
        at
    }

    fn expansion(&mut self, node: Node<'a, 'b>) {
        self.expansions += 1;
        let list = node.attr("plist").unwrap_or_default();
        self.expansion = Some(list.split_whitespace().map(|id| id.trim_start_matches('#')).collect());
    }

    fn measure(&mut self, node: Node<'a, 'b>, index: usize) {
        if self.bars.len() <= index {
            self.bars.resize_with(index + 1, BarDraft::default);
        }
        let mut bar = std::mem::take(&mut self.bars[index]);
        bar.meter = bar.meter.or(Some(self.meter));
        if let (true, Some(label)) = (bar.label.is_empty(), node.attr("n")) {
            label.clone_into(&mut bar.label);
        }
        let (left, right) = (node.attr("left").unwrap_or_default(), node.attr("right").unwrap_or_default());
        bar.repeat_start |= std::mem::take(&mut self.repeat_start) || matches!(left, "rptstart" | "rptboth");
        if matches!(right, "rptend" | "rptboth") {
            bar.repeat_end = Some(2);
        }
        self.repeat_start = right == "rptboth";
        if let Some((times, begins)) = &mut self.ending {
            bar.ending.clone_from(times);
            bar.ending_start |= std::mem::take(begins);
        }
        for staff in node.children().flat_map(unwrap_choice).filter(|child| child.is("staff")) {
            self.staff(staff, index as u32, &mut bar);
        }
        self.control_events(node, index as u32, &mut bar);
        self.bars[index] = bar;
    }

    fn finish(mut self) -> WrittenScore {
        let order = self.expansion.take().filter(|_| self.expansions == 1).map(|list| {
            list.into_iter().filter_map(|id| self.sections.get(id)).flat_map(Clone::clone).collect::<Vec<u32>>()
        });
        self.score.prescribed = order.filter(|order| !order.is_empty() && order.len() < 100 * self.bars.len());
        self.score.parts = self.staves.parts();
        if self.left_out > 0 {
            let notice =
                format!("{} signs for a repeated bar or beat have nothing before them to repeat", self.left_out);
            self.score.notices.push(notice);
        }
        let bars = self.bars.len();
        self.score.notes.retain(|note| (note.place.bar as usize) < bars);
        sort(&mut self.score);
        lay_out(self.bars, &mut self.score);
        self.score
    }

    /// The length of a bar in the meter that is in force.
    fn bar_length(&self) -> Quarters {
        self.meter.bar()
    }
}

/// Of readings that differ, the one that is read: the editor's, or else the first.
fn preferred<'a, 'b>(node: Node<'a, 'b>) -> Option<Node<'a, 'b>> {
    let editors = node.children().find(|child| child.is("lem") || child.is("corr") || child.is("reg"));
    editors.or_else(|| node.children().find(Node::is_element))
}

/// The children of an element that only says how certain they are, or the element itself.
fn unwrap_choice<'a, 'b>(node: Node<'a, 'b>) -> Vec<Node<'a, 'b>> {
    match node.tag_name().name() {
        "app" | "choice" => preferred(node).map(|reading| reading.children().collect()).unwrap_or_default(),
        "supplied" | "add" | "unclear" | "damage" => node.children().collect(),
        _ => vec![node],
    }
}
