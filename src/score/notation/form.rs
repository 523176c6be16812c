//! The form of a score: its sections between repeat signs and jumps, and the ways that a player may take through them.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Serialize;

use super::order::Ways;
use super::playing::Played;
use super::quarters::Quarters;
use super::written::{Bar, WrittenScore};

/// Sections are looked for in so many bars of so many ways at most.
const MOST_WORK: usize = 20_000_000;

/// The sections of a score, and the ways through them.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// Sections in the order of the page.
    pub sections: Vec<FormSection>,
    /// What [`super::super::Score::notes`] hold: the sections in the order that the score prescribes.
    pub written: Vec<FormPass>,
    bars: Vec<Bar>,
    ways: Ways,
}

/// A section: bars that are always played one after another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FormSection {
    /// A letter, A for the first.
    pub label: String,
    /// Its first bar, as printed.
    pub first_bar: String,
    /// Its last bar, as printed.
    pub last_bar: String,
    #[serde(skip)]
    bars: Range<u32>,
}

/// A section at one of the times that it is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormPass {
    /// Index of the section.
    pub section: usize,
    /// Where it begins in the score as it is written out.
    pub from_tick: u64,
    /// Where it ends.
    pub to_tick: u64,
}

impl Form {
    /// The form of a score that was played out as it is written; none if it is one section from beginning to end.
    pub(crate) fn of(score: &WrittenScore, played: &Played, to_ticks: impl Fn(Quarters) -> u64) -> Option<Self> {
        let ways = if score.prescribed.is_some() { Ways::default() } else { Ways::of(&score.bars) };
        let order: Vec<u32> = played.bars.iter().map(|bar| bar.bar).collect();
        let mut cuts = BTreeSet::new();
        cut(&order, &mut cuts);
        if score.bars.len().saturating_mul(ways.choices.len()) <= MOST_WORK {
            for values in variations(&ways) {
                cut(&ways.order(&score.bars, &values, &mut Vec::new()), &mut cuts);
            }
        }
        cuts.extend([0, score.bars.len() as u32]);
        let edges: Vec<u32> = cuts.into_iter().collect();
        let label = |bar: u32| match &score.bars[bar as usize].label {
            label if label.is_empty() => (bar + 1).to_string(),
            label => label.clone(),
        };
        let sections = edges.windows(2).enumerate().map(|(index, edge)| FormSection {
            label: letters(index),
            first_bar: label(edge[0]),
            last_bar: label(edge[1] - 1),
            bars: edge[0]..edge[1],
        });
        let mut form = Self { sections: sections.collect(), written: Vec::new(), bars: score.bars.clone(), ways };
        let path = form.sections_of(&order)?;
        if form.sections.len() <= 1 && path.len() <= 1 {
            return None;
        }
        let mut bars = played.bars.iter();
        for section in path {
            let range = form.sections[section].bars.clone();
            let mut own = bars.by_ref().take(range.len());
            let (Some(first), last) = (own.next(), own.last()) else { return None };
            let last = last.unwrap_or(first);
            let end = last.start + score.bars[last.bar as usize].length;
            form.written.push(FormPass { section, from_tick: to_ticks(first.start), to_tick: to_ticks(end) });
        }
        Some(form)
    }

    /// The sections of bars in playing order, if they are whole.
    fn sections_of(&self, order: &[u32]) -> Option<Vec<usize>> {
        let mut path = Vec::new();
        let mut at = 0;
        while at < order.len() {
            let section = self.sections.binary_search_by_key(&order[at], |section| section.bars.start).ok()?;
            let bars = &self.sections[section].bars;
            let whole = order.get(at..at + bars.len())?.iter().copied().eq(bars.clone());
            path.push(whole.then_some(section)?);
            at += bars.len();
        }
        Some(path)
    }

    /// The way that the score prescribes.
    pub fn as_written(&self) -> Vec<usize> {
        self.written.iter().map(|pass| pass.section).collect()
    }

    /// Every repeat left out; da capo and dal segno are followed.
    pub fn without_repeats(&self) -> Vec<usize> {
        let values: Vec<u8> = self
            .ways
            .choices
            .iter()
            .map(|choice| if choice.is_repeat() { choice.least } else { choice.written })
            .collect();
        self.path(&values).unwrap_or_else(|| self.as_written())
    }

    /// Ways that differ from one in a single choice, each with the choices that lead to it; `None`: the way as written.
    pub(crate) fn neighbours(&self, of: Option<&[u8]>) -> Vec<(Vec<u8>, Vec<usize>)> {
        let values = of.map_or_else(|| self.ways.written(), <[u8]>::to_vec);
        let other = |(index, value): (usize, u8)| {
            let mut values = values.clone();
            values[index] = value;
            let path = self.path(&values)?;
            Some((values, path))
        };
        let choices = self.ways.choices.iter().enumerate();
        let flips = choices.flat_map(|(index, choice)| (choice.least..=choice.most).map(move |value| (index, value)));
        flips.filter(|&(index, value)| values[index] != value).filter_map(other).collect()
    }

    /// The choices that leave every repeat out.
    pub(crate) fn least_choices(&self) -> Vec<u8> {
        self.ways.choices.iter().map(|choice| if choice.is_repeat() { choice.least } else { choice.written }).collect()
    }

    /// The way that choices lead to.
    pub(crate) fn path(&self, values: &[u8]) -> Option<Vec<usize>> {
        self.sections_of(&self.ways.order(&self.bars, values, &mut Vec::new()))
    }

    /// A way by the letters of its sections; an error names the letter that there is not.
    pub fn path_of_labels(&self, labels: &[String]) -> Result<Vec<usize>, String> {
        let find = |label: &String| {
            let same = |section: &FormSection| section.label.eq_ignore_ascii_case(label);
            self.sections.iter().position(same).ok_or_else(|| label.clone())
        };
        labels.iter().map(find).collect()
    }

    /// The letters of a way.
    pub fn labels(&self, path: &[usize]) -> Vec<String> {
        path.iter().map(|&section| self.sections[section].label.clone()).collect()
    }
}

/// Where the player leaves the order of the page, and where he comes to.
fn cut(order: &[u32], cuts: &mut BTreeSet<u32>) {
    cuts.extend(order.first());
    cuts.extend(order.last().map(|last| last + 1));
    for pair in order.windows(2).filter(|pair| pair[1] != pair[0] + 1) {
        cuts.extend([pair[0] + 1, pair[1]]);
    }
}

/// All repeats left out, all taken wherever possible, and every single choice made otherwise.
fn variations(ways: &Ways) -> Vec<Vec<u8>> {
    let all = |value: &dyn Fn(&super::order::Choice) -> u8| ways.choices.iter().map(value).collect::<Vec<u8>>();
    let mut found = vec![all(&|choice| choice.least), all(&|choice| choice.most)];
    let written = ways.written();
    for (index, choice) in ways.choices.iter().enumerate() {
        for value in (choice.least..=choice.most).filter(|&value| value != choice.written) {
            let mut values = written.clone();
            values[index] = value;
            found.push(values);
        }
    }
    found
}

/// A, B … Z, AA, AB …
fn letters(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8);
    match index / 26 {
        0 => last.to_string(),
        more => letters(more - 1) + &last.to_string(),
    }
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
