//! Things in order of staff and bar, so that those of some bars of a staff are one slice.

use std::ops::Range;

/// Things by staff and bar.
#[derive(Debug, Clone, PartialEq)]
pub struct ByBar<T> {
    all: Vec<T>,
    /// Of each staff and bar, the first; and one more at the end.
    starts: Vec<u32>,
    bars: usize,
}

impl<T> ByBar<T> {
    /// Sorts things with their staff and bar; those of one bar keep their order.
    pub fn new(staves: usize, bars: usize, mut things: Vec<(usize, usize, T)>) -> Self {
        things.sort_by_key(|(staff, bar, _)| (*staff, *bar));
        let mut starts = vec![0u32; staves * bars + 1];
        for (staff, bar, _) in &things {
            starts[staff * bars + bar + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        Self { all: things.into_iter().map(|(_, _, thing)| thing).collect(), starts, bars }
    }

    /// Where those of some bars of a staff stand among all.
    pub fn range(&self, staff: usize, bars: Range<usize>) -> Range<usize> {
        let bars = bars.start.min(self.bars)..bars.end.min(self.bars);
        if bars.is_empty() {
            return 0..0;
        }
        let first = staff * self.bars;
        self.starts[first + bars.start] as usize..self.starts[first + bars.end] as usize
    }

    /// Those of some bars of a staff.
    pub fn of(&self, staff: usize, bars: Range<usize>) -> &[T] {
        &self.all[self.range(staff, bars)]
    }

    /// All of them.
    pub fn all(&self) -> &[T] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_of_a_staff_are_one_slice() {
        let things = vec![(1, 0, 'd'), (0, 2, 'c'), (0, 0, 'a'), (0, 0, 'b'), (1, 2, 'e')];
        let sorted = ByBar::new(2, 3, things);
        assert_eq!(sorted.of(0, 0..1), ['a', 'b']);
        assert_eq!(sorted.of(0, 1..3), ['c']);
        assert_eq!(sorted.of(1, 0..9), ['d', 'e']);
        assert_eq!(sorted.of(1, 1..2), [' '; 0]);
        assert_eq!(sorted.all().len(), 5);
    }
}
