//! Pairs of signals on a card: their values, their bands as anti-diagonals, and how many go at once.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::card::{Array, Card, MOST_ITERATIONS, THREADS};
use crate::base::accelerator::{Failure, Outcome, SignalPair};

/// Workgroups side by side; more of them lie in the next row.
const FOLD: usize = 65_535;
/// The most values that one thread adds up, which takes it up to two iterations each.
const MOST_SUMMED: usize = MOST_ITERATIONS / 2;
/// Squares of such values, summed up, stay far below what single precision can hold.
const LARGEST_VALUE: f32 = 1e10;

/// How much a batch may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Values of all arrays together; a pair that needs more goes alone.
    pub budget: usize,
    /// Values of workgroup memory for the last anti-diagonals of a pair; those of longer ones are kept in an array.
    pub near: usize,
    /// Loop iterations of a thread in one dispatch.
    pub iterations: usize,
}

impl Limits {
    pub const USUAL: Self = Self { budget: 64 << 20, near: 4032, iterations: MOST_ITERATIONS };
}

/// Binding 0 of all kernels on pairs; see `pairs.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct Settings {
    pub count: u32,
    pub begin: u32,
    pub end: u32,
    pub penalised: u32,
    pub to_log2: f32,
    pub shape: f32,
    pub temporal: f32,
    pub inverse_gamma: f32,
}

impl Settings {
    /// For so many workgroups.
    pub fn of(count: usize) -> Self {
        Self { count: count as u32, ..Self::default() }
    }
}

/// A pair as the kernels see it; see `pairs.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(super) struct Pair {
    x: u32,
    y: u32,
    pub dim: u32,
    pub rows: u32,
    pub columns: u32,
    pub first: u32,
    diagonals: u32,
    pub count: u32,
    longest: u32,
    pub free_ends: u32,
    pub times: u32,
    pub results: u32,
    far: u32,
    is_far: u32,
}

impl Pair {
    /// Where the values of the score lie, and those of the performance.
    pub fn values(&self) -> [Range<usize>; 2] {
        let [x, y, end] = [self.x, self.y, self.y + self.columns * self.dim].map(|v| v as usize);
        [x..y, y..end]
    }
}

/// The size of a pair and its band.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub rows: usize,
    pub columns: usize,
    /// Anti-diagonals of the band.
    pub diagonals: usize,
    /// The arrays of the pair together.
    pub total: usize,
    /// The largest of them.
    pub largest: usize,
}

impl Size {
    /// Of all cells, or of those of a band. `per_cell` values are kept for each cell, up to `widest` in one array.
    pub fn new(
        signals: &SignalPair<'_>,
        band: Option<(&[usize], &[usize])>,
        per_cell: usize,
        widest: usize,
    ) -> Outcome<Self> {
        let SignalPair { x, y, dim } = *signals;
        let whole = dim > 0 && x.len().is_multiple_of(dim) && y.len().is_multiple_of(dim);
        if !whole || x.is_empty() || y.is_empty() {
            return Err(Failure::unsuited("a signal without frames, or with part of one"));
        }
        if !x.iter().chain(y).all(|value| value.abs() < LARGEST_VALUE) {
            return Err(Failure::unsuited("features that are too large or not finite"));
        }
        let (rows, columns) = (x.len() / dim, y.len() / dim);
        // Sums over the values of a frame, and without a band over frames, are made in one dispatch.
        if dim > MOST_SUMMED || (band.is_none() && rows.max(columns) > MOST_SUMMED) {
            return Err(Failure::unsuited("frames that are too large, or too many of them without a band"));
        }
        let (cells, diagonals) = match band {
            None => (rows.saturating_mul(columns), rows + columns - 1),
            Some((starts, ends)) => {
                check_band(rows, columns, starts, ends)?;
                (starts.iter().zip(ends).map(|(start, end)| end - start).sum(), rows + ends[rows - 1] - 1 - starts[0])
            }
        };
        let values = x.len() + y.len();
        // Truth, times, the records of anti-diagonals and the last of them take a few values per frame, and results
        // take a few hundred.
        let total = cells.saturating_mul(per_cell).saturating_add(2 * values + 12 * (rows + columns) + 512);
        let largest = cells.saturating_mul(widest).max(values).max(6 * (rows + columns));
        Ok(Self { rows, columns, diagonals, total, largest })
    }
}

fn check_band(rows: usize, columns: usize, starts: &[usize], ends: &[usize]) -> Outcome<()> {
    let joined = |i: usize| starts[i - 1] <= starts[i] && ends[i - 1] <= ends[i] && starts[i] <= ends[i - 1];
    let fits = (starts.len(), ends.len()) == (rows, rows)
        && starts.iter().zip(ends).all(|(start, end)| start < end && *end <= columns)
        && (1..rows).all(joined);
    if fits { Ok(()) } else { Err(Failure::unsuited("a band that no path passes")) }
}

/// Cuts a sequence of pairs into batches that fit the card and the budget.
pub(super) fn batches(card: &Card, sizes: &[Size], budget: usize) -> Outcome<Vec<Range<usize>>> {
    let longest = card.longest_array().min(u32::MAX as usize);
    if sizes.iter().any(|size| size.largest > longest) {
        return Err(Failure::unsuited("a pair of recordings too long for one array of the card"));
    }
    // What is within the budget is within each array.
    let budget = budget.min(longest);
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut total: usize = 0;
    for (i, size) in sizes.iter().enumerate() {
        total = total.saturating_add(size.total);
        match batches.last_mut() {
            Some(batch) if total <= budget => batch.end = i + 1,
            _ => {
                batches.push(i..i + 1);
                total = size.total;
            }
        }
    }
    Ok(batches)
}

/// As many workgroups, in as many rows as it takes.
pub(super) fn groups(count: usize) -> [u32; 3] {
    [count.min(FOLD) as u32, count.div_ceil(FOLD) as u32, 1]
}

/// A batch of pairs, before it goes to the card.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub values: Vec<f32>,
    pub pairs: Vec<Pair>,
    diagonals: Vec<[u32; 2]>,
    /// Cells of all bands.
    pub cells: usize,
    /// Values of `far`.
    far: usize,
}

/// The arrays that every kernel on pairs takes.
pub(super) struct Uploaded {
    pub pairs: Array,
    pub diagonals: Array,
    pub values: Array,
    /// One value per cell, in anti-diagonal order.
    pub cells: Array,
    /// For the last anti-diagonals of each pair.
    pub far: Array,
}

impl Plan {
    /// Adds a pair with a band of which [`Size::new`] approved. `planes` values per cell of the last three
    /// anti-diagonals are kept, in workgroup memory if they fit `near` values.
    pub fn add(&mut self, signals: &SignalPair<'_>, starts: &[usize], ends: &[usize], planes: usize, near: usize) {
        let (first, last_row) = (starts[0], starts.len() - 1);
        let count = last_row + ends[last_row] - first;
        let (x, diagonals) = (self.values.len(), self.diagonals.len());
        let (mut low, mut high, mut longest) = (0, 0, 0);
        for number in first..first + count {
            while high <= last_row && starts[high] + high <= number {
                high += 1;
            }
            while low < high && ends[low] + low <= number {
                low += 1;
            }
            self.diagonals.push([low as u32, self.cells as u32]);
            self.cells += high - low;
            longest = longest.max(high - low);
        }
        self.diagonals.extend([[0, self.cells as u32]; 2]);
        self.values.extend_from_slice(signals.x);
        self.values.extend_from_slice(signals.y);
        let kept = 3 * planes * longest;
        self.pairs.push(Pair {
            x: x as u32,
            y: (x + signals.x.len()) as u32,
            dim: signals.dim as u32,
            rows: starts.len() as u32,
            columns: (signals.y.len() / signals.dim) as u32,
            first: first as u32,
            diagonals: diagonals as u32,
            count: count as u32,
            longest: longest as u32,
            free_ends: 0,
            times: 0,
            results: 0,
            far: self.far as u32,
            is_far: u32::from(kept > near),
        });
        self.far += kept;
    }

    /// The dispatches of a kernel that goes over all anti-diagonals, with at most so many iterations of a thread each.
    /// It has `loops` loops over the cells of an anti-diagonal; leaving one counts as well and, on a software card, so
    /// does a loop that is jumped over.
    pub fn dispatches(
        &self,
        settings: Settings,
        loops: u32,
        iterations: usize,
    ) -> impl Iterator<Item = Settings> + use<> {
        let longest = self.pairs.iter().map(|pair| pair.longest).max().unwrap_or(0);
        let step = (iterations as u32 / (1 + loops * (1 + longest.div_ceil(THREADS)))).max(1);
        let end = self.most_diagonals();
        (0..end).step_by(step as usize).map(move |begin| Settings { begin, end: begin + step, ..settings })
    }

    /// Anti-diagonals of the pair that has the most.
    pub fn most_diagonals(&self) -> u32 {
        self.pairs.iter().map(|pair| pair.count).max().unwrap_or(0)
    }

    /// Sends the batch to the card.
    pub fn upload(&self, card: &Card) -> Uploaded {
        Uploaded {
            pairs: card.upload(&self.pairs),
            diagonals: card.upload(&self.diagonals),
            values: card.upload(&self.values),
            cells: card.array(self.cells),
            far: card.array(self.far),
        }
    }
}
