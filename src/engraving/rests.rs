//! Rests: which are drawn, and where.

use std::collections::{HashMap, HashSet};

use super::build::Builder;
use super::value::value_of;
use super::{Chord, Rest};
use crate::score::written::Quarters;

impl Builder<'_> {
    /// Rests as they are played: staff, bar and index.
    pub(super) fn rest_places(&self) -> Vec<(u16, u32, usize)> {
        let rests = &self.written.rests;
        let mut places = Vec::new();
        for (bar, &written) in self.order.iter().enumerate() {
            let from = rests.partition_point(|rest| rest.place.bar < written);
            let until = rests.partition_point(|rest| rest.place.bar <= written);
            places.extend(
                (from..until).map(|index| (self.staff(rests[index].part, rests[index].staff), bar as u32, index)),
            );
        }
        places
    }

    /// The rests that are drawn.
    pub(super) fn rests(
        &self,
        places: &[(u16, u32, usize)],
        ranks: &HashMap<(u16, u32), Vec<u16>>,
        chords: &[(usize, usize, Chord)],
    ) -> Vec<(usize, usize, Rest)> {
        let sounding: HashSet<(u16, u32)> = chords.iter().map(|(_, _, chord)| (chord.staff, chord.bar)).collect();
        let mut rests: Vec<(usize, usize, Rest)> = Vec::with_capacity(places.len());
        for &(staff, bar, index) in places {
            let rest = &self.written.rests[index];
            let whole_bar = self.is_whole_bar(index);
            // Where another voice plays, one that rests for the whole bar need not say so.
            if whole_bar && sounding.contains(&(staff, bar)) {
                continue;
            }
            let value = rest.value.unwrap_or_else(|| value_of(rest.duration));
            let rank = ranks.get(&(staff, bar)).and_then(|voices| voices.binary_search(&rest.voice).ok());
            let position = match rank {
                None => 0,
                Some(rank) if rank % 2 == 0 => 4,
                Some(_) => -4,
            };
            let column = self.column(bar, rest.place.at);
            let second = self.second(bar as usize, rest.place.at);
            // Two voices that rest together show one rest.
            let last = rests.iter_mut().rev().take_while(|(_, other, _)| *other == bar as usize);
            let twin = last.into_iter().find(|(other, _, twin)| {
                *other == usize::from(staff)
                    && twin.column == column
                    && (twin.value == value || whole_bar && twin.whole_bar)
            });
            match twin {
                Some((_, _, twin)) => twin.position = 0,
                None => {
                    rests.push((staff.into(), bar as usize, Rest { bar, column, second, value, whole_bar, position }))
                }
            }
        }
        rests
    }

    /// Whether a rest stands for its whole bar.
    pub(super) fn is_whole_bar(&self, index: usize) -> bool {
        let rest = &self.written.rests[index];
        let length = self.written.bars[rest.place.bar as usize].length;
        rest.whole_bar || (rest.place.at == Quarters::ZERO && rest.duration >= length)
    }
}
