//! The layers of a staff in a bar: notes, chords and rests one after another.

use roxmltree::Node;

use super::super::draft::BarDraft;
use super::super::graces::Graces;
use super::super::quarters::Quarters;
use super::super::written::{Between, Grace, Mark, Place, WrittenNote, WrittenRest};
use super::super::xml::Element;
use super::definitions::Staff;
use super::ornaments::marks_of;
use super::pitch::{BarAccidentals, pitch_of};
use super::{DEEPEST, Reader, look, preferred};

/// Most bars that one sign repeats.
const MOST_REPEATED: u32 = 16;
/// Between the name of a note and the number of the bar that a sign repeats it in.
const COPY: &str = ".m";

/// Where a layer is read.
struct Layer {
    number: u32,
    staff: Staff,
    voice: u16,
    cursor: Place,
    graces: Graces,
    accidentals: BarAccidentals,
    /// Tuplets that are open: lengths are multiplied by these.
    ratios: Vec<(i64, i64)>,
    /// A tremolo that is open, and which of its two notes comes next.
    tremolo: Option<(u8, Option<Between>)>,
    depth: usize,
}

impl<'a, 'b> Reader<'a, 'b> {
    /// Reads a `staff` of a bar.
    pub(super) fn staff(&mut self, node: Node<'a, 'b>, bar_index: u32, bar: &mut BarDraft) {
        let number = node.attr("n").and_then(|number| number.parse().ok()).unwrap_or(1);
        let staff = *self.staves.get(number);
        let mut accidentals = BarAccidentals::new();
        for (index, layer) in
            node.children().flat_map(super::unwrap_choice).filter(|child| child.is("layer")).enumerate()
        {
            let named = layer.attr("n").and_then(|number| number.parse::<u16>().ok()).unwrap_or(index as u16 + 1);
            let mut at = Layer {
                number,
                staff,
                // Voices of the second staff of a part follow those of the first.
                voice: u16::from(staff.staff - 1) * 4 + named.clamp(1, 1000),
                cursor: Place { bar: bar_index, at: Quarters::ZERO },
                graces: Graces::default(),
                accidentals: std::mem::take(&mut accidentals),
                ratios: Vec::new(),
                tremolo: None,
                depth: 0,
            };
            self.events(layer, &mut at, bar, false);
            at.graces.settle(&mut self.score.notes);
            bar.close(at.cursor.at);
            accidentals = at.accidentals;
        }
    }

    fn events(&mut self, node: Node<'a, 'b>, at: &mut Layer, bar: &mut BarDraft, grace: bool) {
        if at.depth > DEEPEST {
            return;
        }
        at.depth += 1;
        for child in node.children().filter(Node::is_element) {
            let child = self.original(child);
            match child.tag_name().name() {
                "note" => self.note(child, at, bar, grace),
                "chord" => self.chord(child, at, bar, grace),
                "rest" | "space" => {
                    self.begin_span(child, at);
                    let length = self.length(child, at);
                    at.graces.settle(&mut self.score.notes);
                    at.cursor.at += length;
                    if child.is("rest") {
                        bar.reach(at.cursor.at);
                        self.rest(child, at, length, false);
                    } else {
                        bar.space(at.cursor.at)
                    }
                    self.end_span(child, at);
                }
                "mRpt" => self.repeat_bars(child, 1, at, bar),
                "mRpt2" => self.repeat_bars(child, 2, at, bar),
                "multiRpt" => {
                    let number = child.attr("num").and_then(|number| number.parse().ok()).unwrap_or(1);
                    self.repeat_bars(child, number, at, bar);
                }
                "beatRpt" => self.repeat(Quarters::ratio(4, self.meter.beat_type.into()), at, bar),
                "halfmRpt" => self.repeat(self.bar_length().scaled(1, 2), at, bar),
                "mRest" | "mSpace" | "multiRest" => {
                    let times = child
                        .attr("num")
                        .and_then(|times| times.parse().ok())
                        .filter(|times| (1..1000).contains(times));
                    let length = self.bar_length();
                    at.cursor.at += length.scaled(times.filter(|_| child.is("multiRest")).unwrap_or(1), 1);
                    if child.is("mRest") {
                        self.rest(child, at, length, true);
                    }
                    bar.space(at.cursor.at);
                }
                "tuplet" => {
                    at.ratios.push(ratio_of(child));
                    let first = self.score.notes.len();
                    self.events(child, at, bar, grace);
                    at.ratios.pop();
                    if child.attr("num.visible") != Some("false") {
                        look::join_tuplet(&mut self.score.notes[first..]);
                    }
                }
                "beam" => {
                    let first = self.score.notes.len();
                    self.events(child, at, bar, grace);
                    look::join_beam(&mut self.score.notes[first..]);
                }
                "graceGrp" => self.events(child, at, bar, true),
                "bTrem" => self.tremolo(child, at, bar, None),
                "fTrem" => self.tremolo(child, at, bar, Some(Between::First)),
                "clef" => {
                    if let Some(shape) = child.attr("shape") {
                        self.clef(at.number, shape, child.attr("line"), at.cursor);
                    }
                }
                "app" | "choice" => {
                    if let Some(reading) = preferred(child) {
                        self.events(reading, at, bar, grace);
                    }
                }
                "ligature" | "supplied" | "add" | "unclear" | "damage" | "corr" | "reg" | "orig" | "sic" => {
                    self.events(child, at, bar, grace);
                }
                _ => {}
            }
        }
        at.depth -= 1;
    }

    /// The layer goes on with what it had in so many bars before this one, in as many bars from this one on.
    fn repeat_bars(&mut self, node: Node<'a, 'b>, number: u32, at: &mut Layer, bar: &mut BarDraft) {
        let here = at.cursor.bar;
        let number = number.min(MOST_REPEATED);
        if number == 0 || number > here {
            // There is nothing before it to repeat.
            self.left_out += 1;
        } else {
            let before = |note: &WrittenNote| (here - number..here).contains(&note.place.bar);
            self.copy(at, before, |place| Place { bar: place.bar + number, ..place }, bar);
        }
        let length = self.length(node, at);
        at.cursor.at += if length.is_positive() { length } else { self.bar_length() };
        bar.space(at.cursor.at);
    }

    /// The layer goes on with what it had just before.
    fn repeat(&mut self, length: Quarters, at: &mut Layer, bar: &mut BarDraft) {
        let here = at.cursor;
        if here.at < length {
            self.left_out += 1;
        } else {
            let before = |note: &WrittenNote| note.place.bar == here.bar && here.at - length <= note.place.at;
            self.copy(at, before, |place| Place { at: place.at + length, ..place }, bar);
        }
        at.cursor.at += length;
        bar.space(at.cursor.at);
    }

    /// Writes notes of a layer once more elsewhere, under names of their own.
    fn copy(&mut self, at: &Layer, of: impl Fn(&WrittenNote) -> bool, to: impl Fn(Place) -> Place, bar: &mut BarDraft) {
        let own =
            |note: &&WrittenNote| (note.part, note.staff, note.voice) == (at.staff.part, at.staff.staff, at.voice);
        let mut copies: Vec<WrittenNote> =
            self.score.notes.iter().filter(own).filter(|note| of(note)).cloned().collect();
        for copy in &mut copies {
            copy.place = to(copy.place);
            copy.id += &format!("{COPY}{}", copy.place.bar + 1);
            if copy.place.bar == at.cursor.bar {
                bar.note(copy.place.at, copy.place.at + copy.duration);
            }
        }
        self.score.notes.extend(copies);
    }

    /// What an element stands for: itself, or the one that it is a copy of.
    fn original(&self, node: Node<'a, 'b>) -> Node<'a, 'b> {
        let copied = node
            .attr("copyof")
            .or(node.attr("sameas"))
            .filter(|_| node.children().next().is_none() && node.attr("pname").is_none());
        let found = copied.and_then(|id| self.named.get(id.trim_start_matches('#')).copied());
        found.filter(|found| found.tag_name().name() == node.tag_name().name()).unwrap_or(node)
    }

    fn tremolo(&mut self, node: Node<'a, 'b>, at: &mut Layer, bar: &mut BarDraft, between: Option<Between>) {
        let strokes = node.attr("beams").and_then(|beams| beams.parse().ok()).unwrap_or(3u8).min(8);
        at.tremolo = Some((strokes, between));
        // Both notes of a tremolo are written with the length of the whole.
        at.ratios.push(if between.is_some() { (1, 2) } else { (1, 1) });
        self.events(node, at, bar, false);
        at.ratios.pop();
        at.tremolo = None;
    }

    fn note(&mut self, node: Node<'a, 'b>, at: &mut Layer, bar: &mut BarDraft, grace: bool) {
        self.begin_span(node, at);
        let grace = self.grace(node, grace);
        let length = if grace.is_some() { Quarters::ZERO } else { self.length(node, at) };
        if grace.is_none() {
            at.graces.settle(&mut self.score.notes);
        }
        self.push(node, None, at, length, grace, false);
        self.advance(node, at, bar, length);
    }

    fn chord(&mut self, node: Node<'a, 'b>, at: &mut Layer, bar: &mut BarDraft, grace: bool) {
        self.begin_span(node, at);
        let grace = self.grace(node, grace);
        let length = if grace.is_some() { Quarters::ZERO } else { self.length(node, at) };
        if grace.is_none() {
            at.graces.settle(&mut self.score.notes);
        }
        let notes: Vec<Node<'a, 'b>> =
            node.children().flat_map(super::unwrap_choice).filter(|child| child.is("note")).collect();
        for (index, note) in notes.into_iter().enumerate() {
            self.push(note, Some(node), at, length, grace, index > 0);
        }
        self.advance(node, at, bar, length);
    }

    fn advance(&mut self, node: Node<'a, 'b>, at: &mut Layer, bar: &mut BarDraft, length: Quarters) {
        bar.note(at.cursor.at, at.cursor.at + length);
        at.cursor.at += length;
        if let Some((_, between @ Some(Between::First))) = &mut at.tremolo {
            *between = Some(Between::Second);
        }
        self.end_span(node, at);
    }

    fn grace(&self, node: Node<'a, 'b>, in_group: bool) -> Option<Grace> {
        let kind = node.attr("grace");
        let slashed = node.attr("stem.mod").is_some_and(|stem| stem.contains("slash"));
        (in_group || kind.is_some()).then_some(Grace { slashed: slashed || kind == Some("unacc"), steps_before: 1 })
    }

    fn push(
        &mut self,
        node: Node<'a, 'b>,
        chord: Option<Node<'a, 'b>>,
        at: &mut Layer,
        duration: Quarters,
        grace: Option<Grace>,
        is_chord: bool,
    ) {
        let in_bar = (!self.is_explicit).then_some(&mut at.accidentals);
        let Some(written) = pitch_of(node, &at.staff, in_bar) else { return };
        let Some(pitch) = written.sounding(at.staff.transposition) else { return };
        let (mut tied_from, mut tied_to) = (false, false);
        let mut marks = Vec::new();
        for element in [Some(node), chord].into_iter().flatten() {
            let tie = element.attr("tie").unwrap_or_default();
            tied_to |= tie.contains(['i', 'm']);
            tied_from |= tie.contains(['m', 't']);
            if let Some(id) = element.attr("id") {
                tied_to |= self.ties_from.contains(id);
                tied_from |= self.ties_to.contains(id);
                marks.extend(self.marks.get(id).into_iter().flatten().cloned());
            }
            marks.extend(marks_of(element));
        }
        if !marks.iter().any(|mark| matches!(mark, Mark::Tremolo { between: None, .. })) {
            marks.extend(at.tremolo.map(|(strokes, between)| Mark::Tremolo { strokes, between }));
        }
        if grace.is_some() {
            at.graces.push(self.score.notes.len(), is_chord);
        }
        let id = self.numbers.name(node);
        self.score.notes.push(WrittenNote {
            id,
            part: at.staff.part,
            staff: at.staff.staff,
            voice: at.voice,
            place: at.cursor,
            duration,
            written,
            pitch,
            tied_from,
            tied_to,
            grace,
            marks,
            look: look::look(node, chord, &at.ratios),
        });
    }

    /// A rest that ends at the cursor.
    fn rest(&mut self, node: Node<'a, 'b>, at: &Layer, duration: Quarters, whole_bar: bool) {
        let place = Place { at: at.cursor.at - duration, ..at.cursor };
        self.score.rests.push(WrittenRest {
            part: at.staff.part,
            staff: at.staff.staff,
            voice: at.voice,
            place,
            duration,
            whole_bar,
            value: look::value(node, None, &at.ratios),
        });
    }

    /// How long an element is.
    fn length(&self, node: Node<'a, 'b>, at: &Layer) -> Quarters {
        // The old way to say how long a note sounds is in ticks.
        let ticks = node.attr("dur.ppq").or(node.attr("dur.ges"));
        let ticks = ticks.and_then(|ticks| ticks.trim_end_matches('p').parse::<i64>().ok());
        if let Some(ticks) = ticks.filter(|&ticks| at.staff.ppq > 0 && (0..1_000_000_000).contains(&ticks)) {
            return Quarters::ratio(ticks, at.staff.ppq);
        }
        let written = node.attr("dur").and_then(length_of);
        // In a chord the notes may have the length that the chord has not.
        let written = written.or_else(|| node.all("note").find_map(|note| length_of(note.attr("dur")?)));
        let length = match written {
            Some(length) => {
                let attribute = node.attr("dots").and_then(|dots| dots.parse::<u32>().ok());
                let dots = attribute.unwrap_or_else(|| node.all("dot").count() as u32).min(6);
                let denominator = 1i64 << dots;
                length.scaled(2 * denominator - 1, denominator)
            }
            None if !node.is("note") && !node.is("chord") => return Quarters::ZERO,
            // A note without a length is as long as what is left of the bar.
            None => at.staff.usual.unwrap_or_else(|| (self.bar_length() - at.cursor.at).max(Quarters::ZERO)),
        };
        if at.ratios.is_empty() && node.attr("tuplet").is_some() {
            return length.scaled(2, 3);
        }
        at.ratios.iter().fold(length, |length, &(numerator, denominator)| length.scaled(numerator, denominator))
    }

    /// A tuplet that is not written round its notes may begin here.
    fn begin_span(&self, node: Node<'a, 'b>, at: &mut Layer) {
        if let Some(&ratio) = node.attr("id").and_then(|id| self.spans.get(id)) {
            at.ratios.push(ratio);
        }
    }

    fn end_span(&self, node: Node<'a, 'b>, at: &mut Layer) {
        if node.attr("id").is_some_and(|id| self.span_ends.contains(id)) {
            at.ratios.pop();
        }
    }
}

/// The length of a note value.
pub(super) fn length_of(value: &str) -> Option<Quarters> {
    match value {
        "maxima" => Some(Quarters::ratio(32, 1)),
        "long" => Some(Quarters::ratio(16, 1)),
        "breve" => Some(Quarters::ratio(8, 1)),
        _ => {
            let part: i64 = value.parse().ok().filter(|part| (1..=4096).contains(part))?;
            Some(Quarters::ratio(4, part))
        }
    }
}

/// By what a tuplet multiplies the lengths in it. Without a second number it is that of the next smaller power of two.
pub(super) fn ratio_of(node: Node<'_, '_>) -> (i64, i64) {
    let number = |name: &str| {
        node.attr(name).and_then(|text| text.parse::<i64>().ok()).filter(|number| (1..=1024).contains(number))
    };
    let num = number("num").unwrap_or(3);
    let base = number("numbase")
        .unwrap_or_else(|| (0..10).map(|power| 1 << power).take_while(|&power| power < num).last().unwrap_or(1));
    (base, num)
}
