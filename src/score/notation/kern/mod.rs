//! Humdrum **kern: columns of notes, one staff each, whose rows are moments.

mod interpretation;
mod note;
mod spines;

use std::collections::HashMap;
use std::path::Path;

use super::draft::{BarDraft, lay_out};
use super::graces::Graces;
use super::musicxml::{MOST_BARS, sort};
use super::quarters::Quarters;
use super::tempo_words::tempo_of_words;
use super::written::{Dynamic, Mark, Part, Place, TempoMark, WrittenScore};
use crate::base::error::{Error, Result};
use spines::{Kind, Spine};

/// Most columns that a row may have: splits can double them row by row.
const MOST_SPINES: usize = 500;
/// Most notes and rests, and most bytes in a line: an opera has a tenth.
const MOST_NOTES: usize = 1_000_000;
const LONGEST_LINE: usize = 1 << 20;
const REMEDY: &str = "export or download it again";

/// Reads a Humdrum file with at least one **kern spine.
pub(super) fn read(name: &Path, text: &str) -> Result<WrittenScore> {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        // A line alone may be the whole file.
        if line.len() > LONGEST_LINE {
            return Err(too_large(name, format!("line {} is longer than 1 MB", index + 1)));
        }
        reader.row(name, index + 1, line.trim_end_matches('\r'))?;
        if reader.bars.len() > MOST_BARS {
            return Err(too_large(name, format!("it has more than the {MOST_BARS} bars accepted")));
        }
        if reader.score.notes.len() + reader.score.rests.len() > MOST_NOTES {
            return Err(too_large(name, format!("it has more than the {MOST_NOTES} notes and rests accepted")));
        }
    }
    Ok(reader.finish())
}

fn too_large(name: &Path, cause: String) -> Error {
    Error::limit(name, cause, "check that this is the score, or split it")
}

#[derive(Default)]
struct Reader {
    score: WrittenScore,
    bars: Vec<BarDraft>,
    spines: Vec<Spine>,
    /// The staves from the left, as the first row names them.
    staves: Vec<StaffHead>,
    /// Where the current row stands, from the beginning of its bar.
    now: Quarters,
    graces: HashMap<(usize, usize), Graces>,
    /// Where sections begin: bar and name.
    sections: Vec<(u32, String)>,
    expansion: Option<Vec<String>>,
    /// The words of the tempo in the header.
    movement: String,
    is_over: bool,
}

/// What is said of a staff before and between the notes.
#[derive(Debug, Clone, Default)]
struct StaffHead {
    part: Option<u32>,
    staff: Option<u32>,
    name: String,
    abbreviation: String,
}

impl Reader {
    fn row(&mut self, name: &Path, number: usize, line: &str) -> Result<()> {
        if let Some(record) = line.strip_prefix("!!!") {
            self.record(record);
            return Ok(());
        }
        if line.is_empty() || line.starts_with("!!") || self.is_over {
            return Ok(());
        }
        let fields: Vec<&str> = line.split('\t').collect();
        if line.starts_with("**") {
            return self.begin(name, &fields);
        }
        if fields.len() != self.spines.len() {
            let cause = format!("line {number} has {} columns where {} are expected", fields.len(), self.spines.len());
            return Err(Error::malformed(name, cause, REMEDY));
        }
        match line.as_bytes()[0] {
            b'!' => {}
            b'*' => {
                if fields.iter().any(|field| ["*^", "*v", "*+", "*-", "*x"].contains(field)) {
                    self.spines = spines::manipulated(&self.spines, &fields);
                    self.is_over = self.spines.is_empty();
                    if self.spines.len() > MOST_SPINES {
                        let cause = format!("line {number} splits into more than {MOST_SPINES} columns");
                        return Err(Error::limit(name, cause, REMEDY));
                    }
                } else {
                    self.interpretations(&fields);
                }
            }
            b'=' => self.barline(fields[0]),
            _ => self.moment(number, &fields),
        }
        Ok(())
    }

    fn begin(&mut self, name: &Path, fields: &[&str]) -> Result<()> {
        if !self.spines.is_empty() || fields.len() > MOST_SPINES {
            let cause = "its columns begin anew before they end, or are too many";
            return Err(Error::malformed(name, cause, REMEDY));
        }
        for field in fields {
            let kind = match *field {
                "**kern" => {
                    self.staves.push(StaffHead::default());
                    Kind::Kern
                }
                "**dynam" => Kind::Dynamics,
                "**text" | "**silbe" => Kind::Text,
                _ => Kind::Other,
            };
            // Words and dynamics belong to the notes on their left.
            self.spines.push(Spine::new(kind, self.staves.len().saturating_sub(1)));
        }
        self.bars.push(BarDraft { label: "0".to_owned(), ..BarDraft::default() });
        Ok(())
    }

    fn record(&mut self, record: &str) {
        let Some((key, value)) = record.split_once(':') else { return };
        let value = value.trim();
        match key {
            "COM" => self.score.composer = Some(value.to_owned()),
            "OMD" => value.clone_into(&mut self.movement),
            "OTL" if self.score.title.is_none() => self.score.title = Some(value.to_owned()),
            _ if key.starts_with("OTL@@") => self.score.title = Some(value.to_owned()),
            _ => {}
        }
    }

    /// The bar that is being read.
    fn bar(&mut self) -> &mut BarDraft {
        if self.bars.is_empty() {
            self.bars.push(BarDraft::default());
        }
        let last = self.bars.len() - 1;
        &mut self.bars[last]
    }

    fn place(&self) -> Place {
        Place { bar: self.bars.len().saturating_sub(1) as u32, at: self.now }
    }

    /// Ends the bar, if anything stands in it.
    fn next_bar(&mut self, label: String) {
        for graces in self.graces.values_mut() {
            graces.settle(&mut self.score.notes);
        }
        if self.now.is_positive() {
            let end = self.now;
            let bar = self.bar();
            bar.reach(end);
            bar.close(end);
            self.bars.push(BarDraft::default());
            self.now = Quarters::ZERO;
            self.spines.iter_mut().for_each(|spine| spine.until = spine.until - end);
        }
        self.bar().label = label;
    }

    fn barline(&mut self, field: &str) {
        let sign = field.trim_start_matches('=');
        let digits = sign.find(|c: char| !c.is_ascii_digit()).unwrap_or(sign.len());
        let style = sign[digits..].trim_start_matches(|c: char| c.is_ascii_lowercase());
        let style: String = style.chars().filter(|c| ":|!".contains(*c)).collect();
        if style.starts_with(':') {
            self.bar().repeat_end = Some(2);
        }
        // A sign within a bar has no number: what follows is still that bar.
        let label =
            if digits > 0 { sign[..digits].to_owned() } else { format!("{}+", self.bar().label.trim_end_matches('+')) };
        self.next_bar(label);
        if style.len() > 1 && style.ends_with(':') {
            self.bar().repeat_start = true;
        }
    }

    /// Reads a row of notes: they begin now, and the next row is where the first of all notes ends.
    fn moment(&mut self, number: usize, fields: &[&str]) {
        let mut is_timed = false;
        let mut newest: Option<(usize, std::ops::Range<usize>)> = None;
        for (column, field) in fields.iter().enumerate() {
            if *field == "." || field.is_empty() {
                continue;
            }
            let (kind, staff) = (self.spines[column].kind, self.spines[column].staff);
            match kind {
                Kind::Kern => {
                    let first = self.score.notes.len();
                    is_timed |= self.notes(number, column, field);
                    newest = Some((staff, first..self.score.notes.len()));
                }
                Kind::Text => {
                    let of_staff =
                        newest.as_ref().filter(|(newest, _)| *newest == staff).map(|(_, notes)| notes.clone());
                    if let Some(note) = of_staff.and_then(|mut notes| notes.next()) {
                        let text = field.trim_matches(['-', '_', ' ']).to_owned();
                        self.score.notes[note].marks.push(Mark::Lyric { verse: "1".to_owned(), text });
                    }
                }
                Kind::Dynamics => {
                    let mark: String = field.chars().filter(|c| "pmfszr".contains(*c)).collect();
                    if !mark.is_empty() {
                        let place = self.place();
                        self.score.dynamics.push(Dynamic { part: staff as u16, staff: None, place, mark });
                    }
                }
                Kind::Other => {}
            }
        }
        if is_timed {
            let now = self.now;
            let ends = self.spines.iter().filter(|spine| spine.kind == Kind::Kern).map(|spine| spine.until);
            self.now = ends.filter(|&until| until > now).min().unwrap_or(now);
        }
    }

    fn finish(mut self) -> WrittenScore {
        let label = self.bar().label.clone();
        self.next_bar(label);
        // What follows the last bar line is nothing.
        self.bars.pop();
        let count = self.bars.len() as u32;
        self.score.prescribed = self.expansion.take().and_then(|order| prescribed(&order, &self.sections, count));
        if self.score.tempi.is_empty()
            && let Some(quarters_per_minute) = tempo_of_words(&self.movement)
        {
            let text = std::mem::take(&mut self.movement);
            self.score.tempi.push(TempoMark { place: Place::default(), quarters_per_minute, text });
        }
        self.name_parts();
        sort(&mut self.score);
        lay_out(self.bars, &mut self.score);
        self.score
    }

    /// Makes parts of the staves: those of one part number are one, the upper staff first.
    fn name_parts(&mut self) {
        let staves = std::mem::take(&mut self.staves);
        let count = staves.len();
        // Without numbers the rightmost column is the top of the page.
        let number = |index: usize| staves[index].part.map_or((1, count - index), |part| (0, part as usize));
        let mut parts: Vec<(u8, usize)> = (0..count).map(|index| (number(index).0 as u8, number(index).1)).collect();
        parts.sort_unstable();
        parts.dedup();
        let mut places = vec![(0u16, 1u8); count];
        for (part, key) in parts.iter().enumerate() {
            let mut members: Vec<usize> =
                (0..count).filter(|&index| (number(index).0 as u8, number(index).1) == *key).collect();
            members.sort_by_key(|&index| (staves[index].staff.unwrap_or(0), count - index));
            let names = members.iter().flat_map(|&index| [&staves[index].name, &staves[index].abbreviation]);
            let name = names
                .into_iter()
                .find(|name| !name.is_empty())
                .cloned()
                .unwrap_or_else(|| format!("Part {}", part + 1));
            for (staff, &index) in members.iter().enumerate() {
                places[index] = (part as u16, staff.min(99) as u8 + 1);
            }
            let staves = members.len().min(100) as u8;
            self.score.parts.push(Part { id: format!("P{}", part + 1), name, staves, program: None });
        }
        // So far parts were the numbers of the staves from the left.
        let place = |part: u16| places.get(usize::from(part)).copied().unwrap_or((0, 1));
        for note in &mut self.score.notes {
            (note.part, note.staff) = place(note.part);
            note.voice += u16::from(note.staff - 1) * 4;
        }
        for rest in &mut self.score.rests {
            (rest.part, rest.staff) = place(rest.part);
            rest.voice += u16::from(rest.staff - 1) * 4;
        }
        for clef in &mut self.score.clefs {
            (clef.part, clef.staff) = place(clef.part);
        }
        self.score.keys.iter_mut().for_each(|key| key.part = place(key.part).0);
        self.score.dynamics.iter_mut().for_each(|dynamic| dynamic.part = place(dynamic.part).0);
        self.score.keys.dedup_by(|later, earlier| later == earlier);
    }
}

/// The bars of the sections in the order that the file prescribes.
fn prescribed(order: &[String], sections: &[(u32, String)], bars: u32) -> Option<Vec<u32>> {
    let mut path = Vec::new();
    for name in order {
        let index = sections.iter().position(|(_, section)| section == name)?;
        let end = sections.get(index + 1).map_or(bars, |(next, _)| *next);
        path.extend(sections[index].0..end.max(sections[index].0));
    }
    (!path.is_empty() && path.len() <= 1_000_000).then_some(path)
}
