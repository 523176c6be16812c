//! The ways through a score that its repeat signs leave open: which of them was played, and the sections as played.

use std::collections::HashSet;
use std::ops::Range;

use super::Proposal;
use super::reading::Reading;
use crate::align::result::PlayedSection;
use crate::align::settings::Path;
use crate::align::start::{self, LogSpectrum, Start};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::score::{Form, Score};
use crate::warping::Warp;

/// How much lower the cost of the rough start must be, times the share of the score that is played more or less often than written.
const CLEAR_GAIN: f64 = 0.03;
/// Most ways that are looked at; long scores with many repeats have more than can be.
const MOST_WAYS: usize = 80;
/// Less of a section than this does not count as played.
const SHORTEST_S: f64 = 0.1;

/// The way that the user asks for; none if the recording is to decide, or the score is read as written anyway.
pub(in crate::align) fn asked(score: &Score, path: &Path) -> Result<Option<Vec<usize>>> {
    let form = || {
        score.notation.form.as_deref().ok_or_else(|| {
            Error::invalid("--path", path, "auto or written: the score has no repeats, or does not say where they are")
        })
    };
    match path {
        Path::Auto | Path::Written => Ok(None),
        Path::NoRepeats => Ok(Some(form()?.without_repeats())),
        Path::Sections(labels) => {
            let form = form()?;
            let last = form.sections.last().map_or("A", |section| section.label.as_str());
            let allowed = format!("letters of the score's sections, A to {last}; `agogic score` shows them");
            let path = form.path_of_labels(labels).map_err(|unknown| Error::invalid("--path", unknown, &allowed))?;
            if path.is_empty() { Err(Error::invalid("--path", "nothing", allowed)) } else { Ok(Some(path)) }
        }
    }
}

/// The score written out along a way.
pub(in crate::align) fn reading_along(score: &Score, form: &Form, path: &[usize]) -> Reading {
    Reading::new(score, &ranges(score, form, path))
}

/// Where the sections of a way are in the score as it is written out, in its seconds: each the next time that it is written there, or, where
/// it is played more often, again.
fn ranges(score: &Score, form: &Form, path: &[usize]) -> Vec<Range<f64>> {
    let mut found: Vec<Range<f64>> = Vec::new();
    let mut next = 0;
    for &section in path {
        let is_it = |index: &usize| form.written[*index].section == section;
        let at = (next..form.written.len()).find(is_it).or_else(|| (0..form.written.len()).rfind(is_it));
        let Some(at) = at else { continue };
        let range = seconds(score, form, at);
        match found.last_mut() {
            Some(last) if at == next && last.end == range.start => last.end = range.end,
            _ => found.push(range),
        }
        next = at + 1;
    }
    found
}

/// When a pass of the score as it is written out begins and ends, in the score's seconds. The last one holds whatever sounds on.
fn seconds(score: &Score, form: &Form, pass: usize) -> Range<f64> {
    let at = |tick: u64| score.tempo.tick_to_seconds(tick as f64);
    let (from, to) = (at(form.written[pass].from_tick), at(form.written[pass].to_tick));
    from..if pass + 1 == form.written.len() { to.max(score.end_s()) } else { to }
}

/// The way that fits the recording best, if it is another one than the written way.
pub(in crate::align) fn choose(
    ctx: &JobContext,
    recording: &LogSpectrum,
    score: &Score,
    form: &Form,
) -> Result<Option<Proposal>> {
    let mut search = Search { ctx, recording, score, form, seen: HashSet::new() };
    let written = form.as_written();
    let Some(as_written) = search.try_way(None, &written)? else { return Ok(None) };
    let written_cost = as_written.start.cost;
    let mut best = as_written;
    let least = form.least_choices();
    if let Some(path) = form.path(&least) {
        search.better(&mut best, Some(least), &path)?;
    }
    while search.improve(&mut best)? {}
    let Way { reading, start, choices, .. } = best;
    let gain = CLEAR_GAIN * reading.share_changed();
    if choices.is_none() || start.cost > written_cost - gain {
        return Ok(None);
    }
    let start = start::find(&ctx.quiet(), recording, &reading.score).unwrap_or(start);
    Ok(Some(Proposal { repeats: reading.left_out(), reading, start, only_leaves_out: true, is_asked: false }))
}

/// A way with how well it fits.
struct Way {
    choices: Option<Vec<u8>>,
    reading: Reading,
    start: Start,
}

struct Search<'a> {
    ctx: &'a JobContext,
    recording: &'a LogSpectrum,
    score: &'a Score,
    form: &'a Form,
    seen: HashSet<Vec<usize>>,
}

impl Search<'_> {
    /// Looks at a way, unless it was looked at before or nothing is played in it.
    fn try_way(&mut self, choices: Option<Vec<u8>>, path: &[usize]) -> Result<Option<Way>> {
        if self.seen.len() >= MOST_WAYS || !self.seen.insert(path.to_vec()) {
            return Ok(None);
        }
        let reading = reading_along(self.score, self.form, path);
        if reading.score.notes.len() < 2 {
            return Ok(None);
        }
        match start::glance(&self.ctx.quiet(), self.recording, &reading.score) {
            Ok(start) => Ok(Some(Way { choices, reading, start })),
            // Too little of it fits.
            Err(_) => self.ctx.check().map(|()| None),
        }
    }

    fn better(&mut self, best: &mut Way, choices: Option<Vec<u8>>, path: &[usize]) -> Result<bool> {
        let way = self.try_way(choices, path)?.filter(|way| way.start.cost < best.start.cost);
        let is_better = way.is_some();
        if let Some(way) = way {
            *best = way;
        }
        Ok(is_better)
    }

    /// Makes every single choice otherwise, and keeps what fits better.
    fn improve(&mut self, best: &mut Way) -> Result<bool> {
        let mut improved = false;
        for (choices, path) in self.form.neighbours(best.choices.as_deref()) {
            improved |= self.better(best, Some(choices), &path)?;
        }
        Ok(improved)
    }
}

/// The sections of the score in the order that they were played: of a score read as written, or along `reading`, with the warp of the
/// score as it was played.
pub(in crate::align) fn played_sections(score: &Score, reading: Option<&Reading>, warp: &Warp) -> Vec<PlayedSection> {
    let Some(form) = score.notation.form.as_deref() else { return Vec::new() };
    let whole = [0.0..f64::INFINITY];
    let mut sections = Vec::new();
    let mut begun = 0.0;
    for range in reading.map_or(&whole[..], Reading::ranges) {
        for (index, pass) in form.written.iter().enumerate() {
            let own = seconds(score, form, index);
            let part = own.start.max(range.start)..own.end.min(range.end);
            if part.end - part.start < SHORTEST_S.min(0.5 * (own.end - own.start)) {
                continue;
            }
            let section = &form.sections[pass.section];
            let to_performance = |written_s: f64| warp.at(begun + written_s - range.start);
            sections.push(PlayedSection {
                label: section.label.clone(),
                bar_from: section.first_bar.clone(),
                bar_to: section.last_bar.clone(),
                performance_from_s: to_performance(part.start),
                performance_to_s: to_performance(part.end),
                score_from_s: part.start,
                score_to_s: part.end,
            });
        }
        begun += range.end - range.start;
    }
    sections
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
