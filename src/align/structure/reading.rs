//! A reading of the score: which of its sections were played, in which order. The score is written out as played to be aligned;
//! then the result is folded back onto the score as written.

use std::collections::HashMap;
use std::ops::Range;

use crate::align::onsets::{Chord, Placed};
use crate::align::result::{AlignedNote, ExtraNote};
use crate::align::settings::{Anchor, FixedNote, Settings};
use crate::align::start::Start;
use crate::align::verdicts::LEFT_OUT;
use crate::base::error::Result;
use crate::base::time::SAME_MOMENT_S;
use crate::score::{Note, Score};
use crate::warping::Warp;

/// Where the recording holds a pass more than the score, the warp leaps over it within this much of the score.
const LEAP_S: f64 = 1e-4;
/// Less than this before or behind what was played is not left out.
const SHORTEST_EDGE_S: f64 = 0.5;
/// So far within a section its first and last bars are looked up.
const EDGE_S: f64 = 1e-3;

/// A score written out as it was played.
#[derive(Debug, Clone)]
pub(in crate::align) struct Reading {
    /// The score as played.
    pub score: Score,
    /// For each note of the score as played its index in the score as written.
    written: Vec<usize>,
    /// What was played, in order.
    passes: Vec<Pass>,
    /// The same as it was given, in seconds of the score as written.
    ranges: Vec<Range<f64>>,
    /// Length of the score as written.
    written_end_s: f64,
}

/// A stretch of the score at one of the times it was played.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pass {
    written_s: f64,
    played_s: f64,
    length_s: f64,
    /// Whether it is one of those that make the score whole.
    counts: bool,
}

impl Pass {
    fn holds(&self, played_s: f64) -> bool {
        (-SAME_MOMENT_S..self.length_s - SAME_MOMENT_S).contains(&(played_s - self.played_s))
    }

    fn to_written(self, played_s: f64) -> f64 {
        self.written_s + played_s - self.played_s
    }
}

impl Reading {
    /// Writes the score out.
    pub fn new(score: &Score, sections: &[Range<f64>]) -> Self {
        let (mut notes, mut written) = (Vec::new(), Vec::new());
        let mut begun = 0.0;
        for section in sections {
            let belongs = |note: &Note| (section.start..section.end).contains(&(note.onset_s + SAME_MOMENT_S));
            for (index, note) in score.notes.iter().enumerate().filter(|(_, note)| belongs(note)) {
                let shift = begun - section.start;
                notes.push(Note { onset_s: note.onset_s + shift, offset_s: note.offset_s + shift, ..*note });
                written.push(index);
            }
            begun += section.end - section.start;
        }
        Self {
            score: Score { notes, ..score.clone() },
            written,
            passes: passes(sections),
            ranges: sections.to_vec(),
            written_end_s: score.end_s(),
        }
    }

    /// What was played, in order, in seconds of the score as written.
    pub fn ranges(&self) -> &[Range<f64>] {
        &self.ranges
    }

    /// The stretches of the score as written that were not played.
    pub fn left_out(&self) -> Vec<Range<f64>> {
        let starts = self.kept().map(|pass| pass.written_s).chain([self.written_end_s]);
        let ends = [0.0].into_iter().chain(self.kept().map(|pass| pass.written_s + pass.length_s));
        ends.zip(starts).map(|(end, start)| end..start).filter(|cut| cut.end - cut.start > SHORTEST_EDGE_S).collect()
    }

    /// The share of the score as written that was left out or played once more.
    pub fn share_changed(&self) -> f64 {
        let left_out: f64 = self.left_out().iter().map(|cut| cut.end - cut.start).sum();
        let more: f64 = self.passes.iter().filter(|pass| !pass.counts).map(|pass| pass.length_s).sum();
        (left_out + more) / self.written_end_s.max(f64::MIN_POSITIVE)
    }

    /// What the user fixed in the score as written, as constraints of the score as played. What is fixed where nothing was played says nothing.
    pub fn constraints(&self, settings: &Settings) -> Settings {
        let to_played = |written_s: f64| {
            let holds =
                |pass: &Pass| (-SAME_MOMENT_S..pass.length_s - SAME_MOMENT_S).contains(&(written_s - pass.written_s));
            self.kept().find(holds).map(|pass| pass.played_s + written_s - pass.written_s)
        };
        let anchors = settings.anchors.iter();
        let anchors = anchors.filter_map(|anchor| Some(Anchor { score_s: to_played(anchor.score_s)?, ..*anchor }));
        let counted = |&(index, _): &(usize, &usize)| self.counts(self.score.notes[index].onset_s);
        let of_written: HashMap<usize, usize> =
            self.written.iter().enumerate().filter(counted).map(|(index, &written)| (written, index)).collect();
        let fixed = settings.fixed_notes.iter();
        let fixed = fixed.filter_map(|fixed| Some(FixedNote { note: *of_written.get(&fixed.note)?, ..*fixed }));
        Settings { anchors: anchors.collect(), fixed_notes: fixed.collect(), ..settings.clone() }.in_order()
    }

    /// Whether a moment of the score as played is one of those that make the score whole.
    fn counts(&self, played_s: f64) -> bool {
        self.kept().any(|pass| pass.holds(played_s))
    }

    fn kept(&self) -> impl DoubleEndedIterator<Item = Pass> + '_ {
        self.passes.iter().copied().filter(|pass| pass.counts)
    }

    /// The warp of the score as written: it stands still over what was left out and leaps over what was played once more.
    pub fn fold_warp(&self, warp: &Warp) -> Result<Warp> {
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        for (index, pass) in self.kept().enumerate() {
            pairs.push((pass.written_s, warp.at(pass.played_s)));
            let knots = warp.score_s().iter().zip(warp.performance_s());
            let own = knots.filter(|(played, _)| pass.holds(**played));
            pairs.extend(own.map(|(&played, &time)| (pass.to_written(played), time)));
            let end_s = pass.written_s + pass.length_s;
            let leaps = self.kept().nth(index + 1).is_some_and(|next| next.written_s < end_s + LEAP_S);
            let end_s = if leaps { end_s - LEAP_S } else { end_s };
            pairs.retain(|pair| pair.0 < end_s);
            pairs.push((end_s, warp.at(pass.played_s + pass.length_s)));
        }
        // Before the first pass and behind the last one nothing was played.
        if let Some(&(_, time)) = pairs.first().filter(|pair| pair.0 > SHORTEST_EDGE_S) {
            pairs.insert(0, (0.0, time));
        }
        if let Some(&(_, time)) = pairs.last().filter(|pair| pair.0 < self.written_end_s - SHORTEST_EDGE_S) {
            pairs.push((self.written_end_s, time));
        }
        pairs.dedup_by(|later, earlier| later.0 - earlier.0 < 1e-9);
        for index in 1..pairs.len() {
            // One moment, interpolated from either side, may differ in its last bit.
            pairs[index].1 = pairs[index].1.max(pairs[index - 1].1);
        }
        let (score_s, performance_s) = pairs.into_iter().unzip();
        Warp::new(score_s, performance_s)
    }

    /// The rough start as one of the score as written.
    pub fn fold_start(&self, start: &Start) -> Result<Start> {
        let covered_s = (self.to_written(start.covered_s.0), self.to_written(start.covered_s.1));
        Ok(start.with(self.fold_warp(&start.warp)?, covered_s))
    }

    /// A moment of the score as played, or else the last before it that counts, in the score as written.
    fn to_written(&self, played_s: f64) -> f64 {
        let before = self.kept().rev().find(|pass| pass.played_s <= played_s + SAME_MOMENT_S).or(self.kept().next());
        before.map_or(played_s, |pass| pass.to_written(played_s.clamp(pass.played_s, pass.played_s + pass.length_s)))
    }

    /// Onsets found in the score as played, as those of the score as written.
    pub fn fold_placed(&self, placed: &Placed) -> Result<Placed> {
        let counts = |played_s: f64| self.counts(played_s);
        let onset = |index: usize| self.score.notes[index].onset_s;
        let fold_notes = |notes: &[(usize, f64)]| {
            let counted = notes.iter().filter(|(index, _)| counts(onset(*index)));
            counted.map(|&(index, time)| (self.written[index], time)).collect()
        };
        let (notes, ends) = (fold_notes(&placed.notes), fold_notes(&placed.ends));
        let fold = |chord: &Chord| {
            // A chord's notes are never parted: all begin at one moment.
            let first = self.written.get(chord.notes.start).copied().unwrap_or(usize::MAX);
            let notes = if chord.notes.is_empty() { 0..0 } else { first..first + chord.notes.len() };
            Chord { onset_s: self.to_written(chord.onset_s), notes, bands: chord.bands.clone() }
        };
        let both = placed.chords.iter().zip(&placed.support).filter(|(chord, _)| counts(chord.onset_s));
        let (chords, support): (Vec<Chord>, Vec<_>) = both.map(|(chord, support)| (fold(chord), *support)).unzip();
        let objective = placed.objective * chords.len() as f64 / placed.chords.len().max(1) as f64;
        Ok(Placed { warp: self.fold_warp(&placed.warp)?, notes, chords, support, objective, ends })
    }

    /// Lets notes end where they end in the pass that they were found in, not in the next.
    pub fn mend_offsets(&self, warp: &Warp, notes: &mut [AlignedNote]) {
        for (played, &index) in self.score.notes.iter().zip(&self.written) {
            if self.counts(played.onset_s) {
                notes[index].offset_s = warp.at(played.offset_s).max(notes[index].onset_s);
            }
        }
    }

    /// What was played of the score as played, as what was played of the score as written: of a note that was played more than
    /// once the pass that counts. Gives the notes that neither has.
    pub fn fold_played(
        &self,
        played: &[AlignedNote],
        mut extra: Vec<ExtraNote>,
        notes: &mut [AlignedNote],
    ) -> Vec<ExtraNote> {
        let counts: Vec<bool> = self.score.notes.iter().map(|note| self.counts(note.onset_s)).collect();
        notes.iter_mut().for_each(|note| note.verdict = Some(LEFT_OUT));
        for (index, &written) in self.written.iter().enumerate().filter(|(index, _)| counts[*index]) {
            let AlignedNote { offset_s, offset_confidence, verdict, .. } = played[index];
            notes[written] = AlignedNote { offset_s, offset_confidence, verdict, ..notes[written] };
        }
        for note in &mut extra {
            note.instead_of = note.instead_of.filter(|&index| counts[index]).map(|index| self.written[index]);
        }
        extra
    }

    /// What the user should know, given the warp of the score as played.
    pub fn notices(&self, written: &Score, warp: &Warp, repeats: &[Range<f64>]) -> Vec<String> {
        let bars = |section: &Range<f64>| {
            // Rounding must not put an edge into the bar on its other side.
            let first = bar_at(written, section.start + EDGE_S);
            let last = bar_at(written, section.end - EDGE_S).max(first);
            format!("bars {first} to {last}")
        };
        let mut notices = Vec::new();
        for cut in self.left_out() {
            let same = |repeat: &Range<f64>| (repeat.start - cut.start).abs() + (repeat.end - cut.end).abs() < 0.1;
            let what = if repeats.iter().any(same) { "are a repeat that was not played" } else { "were not played" };
            notices.push(format!("{} {what}: they are left out", bars(&cut)));
        }
        for pass in self.passes.iter().filter(|pass| !pass.counts) {
            let (from, to) = (warp.at(pass.played_s), warp.at(pass.played_s + pass.length_s));
            let section = pass.written_s..pass.written_s + pass.length_s;
            notices.push(format!(
                "from {from:.1} s to {to:.1} s of the recording {} are played once more than written: the alignment passes over that",
                bars(&section)
            ));
        }
        notices
    }
}

/// The bar that a moment of the score is in.
fn bar_at(score: &Score, second: f64) -> u32 {
    score.meter.position(score.tempo.seconds_to_tick(second)).bar
}

/// Cuts what was played into passes and chooses those that make the score whole: of all that go forward, the longest together. Of
/// two passes over the same section the later counts, since it is the one that leads on.
fn passes(sections: &[Range<f64>]) -> Vec<Pass> {
    let mut edges: Vec<f64> = sections.iter().flat_map(|section| [section.start, section.end]).collect();
    edges.sort_by(f64::total_cmp);
    edges.dedup_by(|later, earlier| *later - *earlier < SAME_MOMENT_S);
    let mut pieces: Vec<Pass> = Vec::new();
    let mut begun = 0.0;
    for section in sections {
        let inside = |edge: &&f64| (section.start - SAME_MOMENT_S..section.end - SAME_MOMENT_S).contains(*edge);
        let starts: Vec<f64> = edges.iter().filter(inside).copied().collect();
        for (index, &start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(section.end);
            let played_s = begun + start - section.start;
            pieces.push(Pass { written_s: start, played_s, length_s: end - start, counts: false });
        }
        begun += section.end - section.start;
    }
    // The heaviest chain of pieces that goes forward: weight of the best one ending with each piece, and the piece before.
    let mut chains: Vec<(f64, Option<usize>)> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let mut best = (0.0, None);
        for before in (0..index).filter(|&before| pieces[before].written_s < piece.written_s - SAME_MOMENT_S) {
            if chains[before].0 >= best.0 {
                best = (chains[before].0, Some(before));
            }
        }
        chains.push((best.0 + piece.length_s, best.1));
    }
    let mut at = (0..chains.len()).max_by(|&a, &b| chains[a].0.total_cmp(&chains[b].0));
    while let Some(index) = at {
        pieces[index].counts = true;
        at = chains[index].1;
    }
    let mut merged: Vec<Pass> = Vec::new();
    for piece in pieces {
        let goes_on = |last: &&mut Pass| {
            let ends = (last.written_s + last.length_s, last.played_s + last.length_s);
            last.counts == piece.counts
                && (ends.0 - piece.written_s).abs() + (ends.1 - piece.played_s).abs() < SAME_MOMENT_S
        };
        match merged.last_mut().filter(goes_on) {
            Some(last) => last.length_s += piece.length_s,
            None => merged.push(piece),
        }
    }
    merged
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
