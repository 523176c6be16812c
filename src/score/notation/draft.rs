//! Bars while their parts are read one after another: what one part says of a bar holds for all.

use super::quarters::Quarters;
use super::written::{Bar, Meter, Place, Sign, WrittenScore};

/// A bar that differs from its meter by less than this is a full one: rounded tuplets do not add up.
const ROUNDING: (i64, i64) = (1, 24);

/// What is known of a bar so far.
#[derive(Debug, Clone, Default)]
pub(super) struct BarDraft {
    pub label: String,
    /// A time signature that stands here.
    pub meter: Option<Meter>,
    /// How far notes and rests reach.
    pub reach: Quarters,
    /// How far empty space reaches.
    pub space: Quarters,
    /// Where the last note begins.
    pub last_onset: Quarters,
    /// Where the last voice ends, of the part in which it ends last.
    pub close: Quarters,
    pub repeat_start: bool,
    pub repeat_end: Option<u8>,
    pub ending: Vec<u8>,
    pub ending_start: bool,
    pub signs: Vec<Sign>,
    /// Where the bar is cut by repeat signs within it: what ends at the cut, and what begins.
    pub cuts: Vec<Cut>,
}

/// A repeat sign within a bar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    pub at: Quarters,
    pub repeat_end: Option<u8>,
    pub repeat_start: bool,
}

impl BarDraft {
    /// Sets a sign, once.
    pub fn sign(&mut self, sign: Sign) {
        if !self.signs.contains(&sign) {
            self.signs.push(sign);
        }
    }

    /// A note stands here.
    pub fn note(&mut self, onset: Quarters, end: Quarters) {
        self.last_onset = self.last_onset.max(onset);
        self.reach(end);
    }

    /// Something reaches to here.
    pub fn reach(&mut self, until: Quarters) {
        self.reach = self.reach.max(until);
    }

    /// Empty space reaches to here.
    pub fn space(&mut self, until: Quarters) {
        self.space = self.space.max(until);
    }

    /// The last voice of a part ends here.
    pub fn close(&mut self, at: Quarters) {
        self.close = self.close.max(at);
    }

    /// How long the bar is: as long as what stands in it. Where that is more than the meter says, some voices are often padded too far, and
    /// where the last one ends, after all steps back, is more to be trusted, if all notes begin before.
    fn length(&self, meter: Meter) -> Quarters {
        let full = meter.bar();
        let furthest = self.reach.max(self.space);
        let length = match furthest > full {
            true if self.close > self.last_onset && self.reach.is_positive() => self.close.min(self.reach),
            _ => furthest,
        };
        let off = length.max(full) - length.min(full);
        if !length.is_positive() || off < Quarters::ratio(ROUNDING.0, ROUNDING.1) { full } else { length }
    }
}

/// Lays the bars one after another, cut where repeat signs stand within them.
pub(super) fn lay_out(drafts: Vec<BarDraft>, score: &mut WrittenScore) {
    let mut meter = Meter::default();
    let mut start = Quarters::ZERO;
    // Of each draft: the index of its first bar, and where it is cut.
    let mut placed: Vec<(u32, Vec<Quarters>)> = Vec::with_capacity(drafts.len());
    for (measure, draft) in (0u32..).zip(drafts) {
        meter = draft.meter.unwrap_or(meter);
        let length = draft.length(meter);
        let mut cuts = draft.cuts;
        cuts.retain(|cut| cut.at.is_positive() && cut.at < length);
        cuts.sort_by_key(|cut| cut.at);
        cuts.dedup_by_key(|cut| cut.at);
        placed.push((score.bars.len() as u32, cuts.iter().map(|cut| cut.at).collect()));
        let mut bar = Bar {
            label: draft.label,
            measure,
            start,
            length,
            meter,
            repeat_start: draft.repeat_start,
            repeat_end: draft.repeat_end,
            ending: draft.ending,
            ending_start: draft.ending_start,
            signs: draft.signs,
        };
        start += length;
        for cut in cuts {
            let at = start - length + cut.at;
            let rest = Bar {
                start: at,
                length: start - at,
                repeat_start: cut.repeat_start,
                ending_start: false,
                signs: take_if(&mut bar.signs, |sign| !matches!(sign, Sign::Segno | Sign::Coda)),
                ..bar.clone()
            };
            bar.length = at - bar.start;
            bar.repeat_end = cut.repeat_end;
            score.bars.push(std::mem::replace(&mut bar, rest));
        }
        score.bars.push(bar);
    }
    let moved = |place: &mut Place| {
        let Some((first, cuts)) = placed.get(place.bar as usize) else { return };
        let after = cuts.partition_point(|&cut| cut <= place.at);
        *place = Place {
            bar: first + after as u32,
            at: place.at - after.checked_sub(1).map_or(Quarters::ZERO, |cut| cuts[cut]),
        };
    };
    score.notes.iter_mut().for_each(|note| moved(&mut note.place));
    score.rests.iter_mut().for_each(|rest| moved(&mut rest.place));
    score.tempi.iter_mut().for_each(|mark| moved(&mut mark.place));
    score.keys.iter_mut().for_each(|key| moved(&mut key.place));
    score.clefs.iter_mut().for_each(|clef| moved(&mut clef.place));
    score.dynamics.iter_mut().for_each(|dynamic| moved(&mut dynamic.place));
    score.pedal.iter_mut().for_each(|mark| moved(&mut mark.place));
}

/// Takes the elements out for which something holds.
fn take_if<T: Copy>(from: &mut Vec<T>, holds: impl Fn(&T) -> bool) -> Vec<T> {
    let taken = from.iter().copied().filter(|one| holds(one)).collect();
    from.retain(|one| !holds(one));
    taken
}
