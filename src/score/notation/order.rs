//! The order in which bars are played: repeats, brackets, da capo and dal segno.

use std::collections::HashMap;

use super::written::{Bar, Sign};

/// Most bars that a score may have when its repeats are written out.
const MOST_BARS_PLAYED: usize = 200_000;

/// A section that is played several times.
#[derive(Debug, Clone, PartialEq)]
struct Section {
    start: usize,
    /// The bars at whose end the player goes back, unless it was the last time.
    ends: Vec<usize>,
    /// The bars under its brackets, one after another.
    brackets: std::ops::Range<usize>,
    times: u8,
}

/// The bars in the order that they are played, by index, and what was taken otherwise than it is written. Signs that contradict one
/// another never fail: a jump without its goal is not taken, a score that would not end is read once. No jump leads out of a movement.
pub(super) fn playing_order(bars: &[Bar]) -> (Vec<u32>, Vec<String>) {
    let ways = Ways::of(bars);
    let mut notices = Vec::new();
    let order = ways.order(bars, &ways.written(), &mut notices);
    (order, notices)
}

/// What a player is free to do: to leave a repeat out, not to follow a da capo, to repeat after it once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    movement: usize,
    what: What,
    /// As the score says.
    pub written: u8,
    /// The values that it can have.
    pub least: u8,
    pub most: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// How often a section is played: its index in the movement.
    Repeat(usize),
    /// Whether the jump after this bar of the movement is followed.
    Jump(usize),
    /// Whether sections are repeated after a jump, too.
    Again,
}

impl Choice {
    /// Whether it is how often a section is played.
    pub fn is_repeat(&self) -> bool {
        matches!(self.what, What::Repeat(_))
    }
}

/// The ways through the bars of a score.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Ways {
    /// Bars of each movement, and the sections that are repeated in it.
    movements: Vec<(std::ops::Range<usize>, Vec<Section>)>,
    pub choices: Vec<Choice>,
}

impl Ways {
    /// The ways that the signs leave open.
    pub fn of(bars: &[Bar]) -> Self {
        let mut ways = Self::default();
        for range in movements(bars) {
            let movement = ways.movements.len();
            let mut choose =
                |what, written, least, most| ways.choices.push(Choice { movement, what, written, least, most });
            let own = &bars[range.clone()];
            let sections = sections(own);
            for (index, section) in sections.iter().enumerate().filter(|(_, section)| section.times > 1) {
                choose(What::Repeat(index), section.times, 1, section.times);
            }
            let jumps = |bar: &Bar| bar.signs.iter().any(|sign| matches!(sign, Sign::DaCapo | Sign::DalSegno));
            for (bar, _) in own.iter().enumerate().filter(|(_, bar)| jumps(bar)) {
                choose(What::Jump(bar), 1, 0, 1);
            }
            if own.iter().any(jumps) && !sections.is_empty() {
                choose(What::Again, 0, 0, 1);
            }
            ways.movements.push((range, sections));
        }
        ways
    }

    /// The choices as the score says.
    pub fn written(&self) -> Vec<u8> {
        self.choices.iter().map(|choice| choice.written).collect()
    }

    /// The bars in the order that they are played if these choices, one value for each, are made.
    pub fn order(&self, bars: &[Bar], values: &[u8], notices: &mut Vec<String>) -> Vec<u32> {
        let mut order = Vec::with_capacity(bars.len());
        for (number, (range, sections)) in self.movements.iter().enumerate() {
            let first = range.start as u32;
            let bars = &bars[range.clone()];
            let mut walk = Walk::new(bars, sections, notices);
            let own = self.choices.iter().zip(values).filter(|(choice, _)| choice.movement == number);
            for (choice, &value) in own {
                match choice.what {
                    What::Repeat(section) => walk.times[section] = value,
                    What::Jump(bar) => walk.taken[bar] = value == 0,
                    What::Again => walk.repeats_again = value > 0,
                }
            }
            let path = walk.go(MOST_BARS_PLAYED.saturating_sub(order.len()));
            let path = path.unwrap_or_else(|| {
                notices.push("the repeats of the score do not end and are left out".to_owned());
                (0..bars.len() as u32).collect()
            });
            order.extend(path.into_iter().map(|bar| first + bar));
        }
        order
    }
}

/// The movements of a score: the numbers of the bars begin anew with each. A trio that is numbered anew is none if its da capo ends at a
/// "Fine" before it.
fn movements(bars: &[Bar]) -> Vec<std::ops::Range<usize>> {
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    let mut start = 0;
    let mut last = 0;
    for (index, bar) in bars.iter().enumerate() {
        if let Ok(number) = bar.label.parse::<u32>() {
            if number <= 1 && last > 1 {
                found.push(start..index);
                start = index;
            }
            last = number;
        }
    }
    found.push(start..bars.len());
    let has =
        |movement: &std::ops::Range<usize>, sign| bars[movement.clone()].iter().any(|bar| bar.signs.contains(&sign));
    let mut joined: Vec<std::ops::Range<usize>> = Vec::new();
    for movement in found {
        let is_trio = has(&movement, Sign::DaCapo) && !has(&movement, Sign::Fine);
        match joined.last_mut() {
            Some(before) if is_trio && has(before, Sign::Fine) && !has(before, Sign::DaCapo) => {
                before.end = movement.end
            }
            _ => joined.push(movement),
        }
    }
    joined
}

/// Finds for every repeat sign the section that it ends, sections within sections included.
fn sections(bars: &[Bar]) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut implicit = 0;
    let mut index = 0;
    while index < bars.len() {
        if bars[index].repeat_start {
            open.push(index);
        }
        if !bars[index].ending.is_empty() {
            // All brackets that follow one another belong to one section.
            let brackets = brackets_from(bars, index);
            let ends: Vec<usize> = brackets.clone().filter(|&bar| bars[bar].repeat_end.is_some()).collect();
            if !ends.is_empty() {
                let start = open.pop().unwrap_or(implicit);
                let numbered = brackets.clone().flat_map(|bar| bars[bar].ending.iter().copied()).max().unwrap_or(1);
                let signed = ends.iter().filter_map(|&bar| bars[bar].repeat_end).max().unwrap_or(2);
                let times = numbered.max(signed);
                implicit = brackets.end;
                index = brackets.end;
                found.push(Section { start, ends, brackets, times });
            } else {
                index = brackets.end;
            }
            continue;
        }
        if let Some(times) = bars[index].repeat_end {
            let start = open.pop().unwrap_or(implicit);
            implicit = index + 1;
            found.push(Section { start, ends: vec![index], brackets: 0..0, times });
        }
        index += 1;
    }
    found
}

/// The bars under brackets from here on: first, second …, until a bar without one or a first bracket again.
fn brackets_from(bars: &[Bar], first: usize) -> std::ops::Range<usize> {
    let mut end = first + 1;
    while end < bars.len() && !bars[end].ending.is_empty() {
        let begins_anew = bars[end].ending_start && bars[end].ending.contains(&1) && !bars[first].ending.is_empty();
        let goes_on = bars[end].ending == bars[end - 1].ending && !bars[end].ending_start;
        if (begins_anew && !goes_on) || bars[end].repeat_start {
            break;
        }
        end += 1;
    }
    first..end
}

struct Walk<'a> {
    bars: &'a [Bar],
    sections: &'a [Section],
    /// Of each bar: the sections that begin with it, the one that may be begun again after it, the one whose bracket it is under.
    beginning: HashMap<usize, Vec<usize>>,
    ending: HashMap<usize, usize>,
    bracketed: HashMap<usize, usize>,
    /// How often each section has been begun, this time included. One that is played less often than written begins with a later time, so that
    /// it ends with the last bracket.
    time: Vec<u8>,
    /// How often each section is to be played.
    times: Vec<u8>,
    /// Sections are repeated after a jump, too.
    repeats_again: bool,
    /// Which jumps have been taken.
    taken: Vec<bool>,
    jumped: bool,
    notices: &'a mut Vec<String>,
}

impl<'a> Walk<'a> {
    fn new(bars: &'a [Bar], sections: &'a [Section], notices: &'a mut Vec<String>) -> Self {
        let mut walk = Self {
            bars,
            sections,
            beginning: HashMap::new(),
            ending: HashMap::new(),
            bracketed: HashMap::new(),
            time: vec![0; sections.len()],
            times: sections.iter().map(|section| section.times).collect(),
            repeats_again: false,
            taken: vec![false; bars.len()],
            jumped: false,
            notices,
        };
        for (number, section) in sections.iter().enumerate() {
            walk.beginning.entry(section.start).or_default().push(number);
            walk.ending.extend(section.ends.iter().map(|&bar| (bar, number)));
            walk.bracketed.extend(section.brackets.clone().map(|bar| (bar, number)));
        }
        walk
    }

    /// The path through the bars, unless it is longer than this.
    fn go(mut self, most: usize) -> Option<Vec<u32>> {
        let mut path = Vec::with_capacity(self.bars.len());
        let mut index = 0;
        // The section that is begun again, if the last step went back.
        let mut again = None;
        while index < self.bars.len() {
            if path.len() >= most {
                return None;
            }
            self.enter(index, again.take());
            if !self.is_played(index) {
                index += 1;
                continue;
            }
            path.push(index as u32);
            if let Some(section) = self.goes_back(index) {
                again = Some(section);
                index = self.sections[section].start;
            } else if let Some(next) = self.follow_signs(index) {
                index = next;
            } else {
                break;
            }
        }
        Some(path)
    }

    /// Counts the sections that begin here. After a jump every section is played as if for the last time, unless it is repeated then, too.
    fn enter(&mut self, index: usize, again: Option<usize>) {
        for &number in self.beginning.get(&index).into_iter().flatten() {
            let last = self.sections[number].times;
            self.time[number] = match (again == Some(number), self.jumped && !self.repeats_again) {
                (true, _) => self.time[number].saturating_add(1),
                (false, true) => last,
                (false, false) => last.saturating_sub(self.times[number]).saturating_add(1),
            };
        }
    }

    /// Whether the bar's bracket, if it has one, is for this time.
    fn is_played(&self, index: usize) -> bool {
        let ending = &self.bars[index].ending;
        if ending.is_empty() {
            return true;
        }
        // Brackets without a repeat: the second is for after the da capo.
        let time = self.bracketed.get(&index).map_or(1 + u8::from(self.jumped), |&section| self.time[section]);
        ending.contains(&time)
    }

    /// The section that is begun again after this bar.
    fn goes_back(&self, index: usize) -> Option<usize> {
        let &number = self.ending.get(&index)?;
        (self.time[number] < self.sections[number].times).then_some(number)
    }

    /// Where the bar's signs send the player, nowhere at the end.
    fn follow_signs(&mut self, index: usize) -> Option<usize> {
        let signs = &self.bars[index].signs;
        let has = |sign: Sign| signs.contains(&sign);
        if self.jumped && has(Sign::Fine) {
            return None;
        }
        if self.jumped && has(Sign::ToCoda) {
            match self.find(Sign::Coda, index + 1..self.bars.len()) {
                Some(coda) => return Some(coda),
                None => self.notice(index, "sends to a coda, but there is none after it"),
            }
        }
        if !self.taken[index] && (has(Sign::DaCapo) || has(Sign::DalSegno)) {
            self.taken[index] = true;
            let goal = if has(Sign::DaCapo) { Some(0) } else { self.find(Sign::Segno, 0..index + 1) };
            match goal {
                Some(goal) => {
                    self.jumped = true;
                    return Some(goal);
                }
                None => self.notice(index, "sends back to a sign, but there is none before it"),
            }
        }
        Some(index + 1)
    }

    /// The bar with a sign that is nearest to the end of a range, or for a coda to its beginning.
    fn find(&self, sign: Sign, mut range: std::ops::Range<usize>) -> Option<usize> {
        let has = |index: &usize| self.bars[*index].signs.contains(&sign);
        if sign == Sign::Coda { range.find(has) } else { range.rev().find(has) }
    }

    fn notice(&mut self, index: usize, what: &str) {
        let notice = format!("bar {} {what}", self.bars[index].label);
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }
}

#[cfg(test)]
#[path = "order_tests.rs"]
pub(super) mod tests;
