//! The staves wrapped in systems, with even spacing: for reading.

use std::ops::Range;

use super::glyph::HEAD_WIDTH;
use super::{Engraving, Glyph};

/// Width of a quarter note's place, in staff spaces; others follow by the root of their length.
const QUARTER: f32 = 3.7;
/// Least distance of what stands at two neighbouring columns.
const GAP: f32 = 0.45;
/// Room between a bar line and what follows it.
const AFTER_LINE: f32 = 0.9;
/// Room between two systems.
const BETWEEN_SYSTEMS: f32 = 2.5;
/// Room between two staves of one part, and of two parts.
const BETWEEN_STAVES: f32 = 0.6;
const BETWEEN_PARTS: f32 = 1.2;
/// A last system that is filled less than this is not stretched.
const LEAST_FILLED: f32 = 0.7;

/// Staves from the top: the middle line of each, and the height of all, in staff spaces.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StaffHeights {
    /// Middle lines.
    pub middles: Vec<f32>,
    /// From the top of the first to the bottom of the last.
    pub height: f32,
}

/// Systems down a page, in staff spaces.
#[derive(Debug, Clone, PartialEq)]
pub struct Systems {
    /// One below the other.
    pub systems: Vec<System>,
    /// The middle of the heads at every column, in its system.
    pub column_x: Vec<f32>,
    /// Staves of every system.
    pub staves: StaffHeights,
    /// Height of all systems.
    pub height: f32,
}

/// A line of music.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    /// Its bars.
    pub bars: Range<usize>,
    /// Its upper edge.
    pub top: f32,
    /// Where its staves end.
    pub width: f32,
    /// Where the line before each of its bars is, and the one after the last.
    pub lines: Vec<f32>,
}

impl Engraving {
    /// The staves one below the other.
    pub fn staff_heights(&self) -> StaffHeights {
        let mut middles: Vec<f32> = Vec::with_capacity(self.staves.len());
        let mut bottom = 0.0f32;
        for staff in &self.staves {
            let gap = match (middles.is_empty(), staff.is_first) {
                (true, _) => 0.0,
                (false, true) => BETWEEN_PARTS,
                (false, false) => BETWEEN_STAVES,
            };
            let middle = bottom + gap + staff.above;
            middles.push(middle);
            bottom = middle + staff.below;
        }
        StaffHeights { middles, height: bottom }
    }

    /// Room for clef and key at the beginning of a system.
    pub fn header_width(&self, bar: usize) -> f32 {
        let widths = (0..self.staves.len()).map(|staff| {
            let (clef, key) = self.standing(staff, bar);
            let accidentals = f32::from(key.unsigned_abs()) * Glyph::accidental(key.signum()).width();
            0.6 + clef.glyph().width() + 0.5 + accidentals
        });
        widths.fold(0.0, f32::max)
    }

    /// Wraps the bars in systems of a width in staff spaces.
    pub fn wrapped(&self, width: f32) -> Systems {
        let staves = self.staff_heights();
        let mut column_x = vec![0.0; self.columns.len()];
        let mut systems: Vec<System> = Vec::new();
        let widths: Vec<BarWidth> = (0..self.bars.len()).map(|bar| self.bar_width(bar)).collect();
        let mut first = 0;
        let mut top = 0.0;
        while first < self.bars.len() {
            let header = self.header_width(first);
            let (mut fixed, mut free) = (header, 0.0);
            let mut end = first;
            while end < self.bars.len() {
                let BarWidth { lead, columns } = &widths[end];
                let added = (lead, columns.iter().sum::<f32>());
                if end > first && fixed + free + added.0 + added.1 > width {
                    break;
                }
                (fixed, free) = (fixed + added.0, free + added.1);
                end += 1;
            }
            let natural = fixed + free;
            let is_last = end == self.bars.len();
            let stretch =
                if is_last && natural < LEAST_FILLED * width { 1.0 } else { ((width - fixed) / free).max(0.2) };
            let mut x = header;
            let mut lines = Vec::with_capacity(end - first + 1);
            for (bar, BarWidth { lead, columns }) in widths.iter().enumerate().take(end).skip(first) {
                lines.push(x);
                x += lead;
                let from = self.bars[bar].first_column as usize;
                for (column, room) in columns.iter().enumerate() {
                    column_x[from + column] = x + 0.5 * HEAD_WIDTH;
                    x += room * stretch;
                }
            }
            lines.push(x);
            systems.push(System { bars: first..end, top, width: x, lines });
            top += staves.height + BETWEEN_SYSTEMS;
            first = end;
        }
        Systems { systems, column_x, staves, height: top }
    }

    fn columns_of(&self, bar: usize) -> Range<usize> {
        let last = self.bars.get(bar + 1).map_or(self.columns.len(), |next| next.first_column as usize);
        self.bars[bar].first_column as usize..last
    }

    fn bar_width(&self, bar: usize) -> BarWidth {
        let columns = self.columns_of(bar);
        let here = &self.columns[columns];
        let length = self.bars[bar].length;
        let widths = here.iter().enumerate().map(|(index, column)| {
            let next = here.get(index + 1);
            let quarters = next.map_or(length, |next| next.at) - column.at;
            let room = QUARTER * (quarters.max(0.02) as f32).sqrt();
            let least = column.after + next.map_or(0.6, |next| next.before + GAP);
            room.max(least)
        });
        let first = here.first().map_or(0.0, |column| column.before);
        BarWidth { lead: AFTER_LINE + self.bars[bar].lead() + first, columns: widths.collect() }
    }
}

/// How wide a bar is: what stands before its first heads, and the room of each column.
struct BarWidth {
    lead: f32,
    columns: Vec<f32>,
}

impl Systems {
    /// The system of a bar.
    pub fn of_bar(&self, bar: usize) -> usize {
        self.systems.partition_point(|system| system.bars.end <= bar).min(self.systems.len().saturating_sub(1))
    }
}
