//! Batches of sequences that are too large for the card at once, and sums over all frames of a batch.
//!
//! A sum over frames is made of parts: every part is a group of whole sequences, and the parts are added in their
//! order. Batches are cut between groups, so that a batch in pieces has the same parts as the whole, and the same sum
//! to the bit.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::card::{Array, Card, Commands, Kernel, MOST_ITERATIONS};
use super::matmul::{Matrices, Product, multiply};
use crate::base::accelerator::{Failure, Outcome};

const SOURCE: &str = include_str!("parts.wgsl");
const ADD_PARTS: Kernel = Kernel { source: SOURCE, entry: "add_parts" };
const ADD_ROWS: Kernel = Kernel { source: SOURCE, entry: "add_rows" };

/// The most workgroups in one dimension.
pub(super) const MOST_GROUPS: usize = 65_535;
/// The most rows that a product of matrices can have.
const MOST_ROWS: usize = 64 * MOST_GROUPS;
/// Frames that a part should have: enough for an efficient product, few enough for many parts.
const PART_FRAMES: usize = 512;
/// Columns that a workgroup adds up.
const COLUMNS: usize = 16;
/// Rows of a part that one dispatch adds up: a thread takes every 16th. Half the iterations are left for the rest.
const ROWS_AT_ONCE: usize = 16 * (MOST_ITERATIONS / 2);
/// A part has more than half as many frames as it should, so that a thread can add all parts in one dispatch. Where it
/// does so for several parameters there are over 16 million of them, and fewer than a hundred parts fit into the array.
const _: () = assert!(MOST_ROWS / (PART_FRAMES / 2) < MOST_ITERATIONS / 2);

/// Workgroups for so many values, if each starts with `each` of them and goes on with those that are left. No array has
/// more than 2³⁰ values, and no piece more than [`MOST_ROWS`] frames: these are few turns.
pub(super) fn groups(values: usize, each: usize) -> [u32; 3] {
    [values.div_ceil(each).min(MOST_GROUPS) as u32, 1, 1]
}

/// The part of `all` that belongs to some sequences, if each has as many values.
pub(super) fn share<'a>(all: &'a [f32], sequences: &Range<usize>, each: usize) -> &'a [f32] {
    &all[sequences.start * each..sequences.end * each]
}

/// Sequences of equal length, and the memory they take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub sequences: usize,
    /// Frames of each, not 0.
    pub frames: usize,
    /// Values per frame in the widest array.
    pub widest: usize,
    /// Values per frame in all arrays.
    pub width: usize,
    /// Number of parameters.
    pub parameters: usize,
}

impl Load {
    /// The sequences of each piece, in turn. A piece stays within the budget unless one group alone exceeds it.
    pub fn pieces(self, card: &Card, budget: usize) -> Outcome<Vec<Range<usize>>> {
        let group = sequences_per_part(self.frames);
        // Every part has sums for all parameters.
        let sums = self.parameters.div_ceil(group * self.frames);
        // An index has 32 bits.
        let longest = card.longest_array().min(1 << 30);
        let most = (longest / self.widest.max(sums).max(1)).min(MOST_ROWS) / self.frames;
        if most < group.min(self.sequences) || self.parameters > longest {
            return Err(Failure::unsuited("the sequences are too long for the memory of the device"));
        }
        let fitting = (budget / ((self.width + sums) * self.frames)).min(most).min(MOST_GROUPS);
        let piece = (fitting / group * group).max(group);
        let starts = (0..self.sequences).step_by(piece);
        Ok(starts.map(|start| start..(start + piece).min(self.sequences)).collect())
    }
}

fn sequences_per_part(frames: usize) -> usize {
    (PART_FRAMES / frames).max(1)
}

/// Sums over the frames of a piece: what each part adds to the gradient of the parameters.
pub(super) struct Parts {
    /// All parameters of the first part, then those of the next.
    array: Array,
    parameters: usize,
    rows: usize,
    rows_per_part: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct PartSettings {
    values: u32,
    parts: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct RowSettings {
    start: u32,
    row: u32,
    columns: u32,
    rows: u32,
    rows_per_part: u32,
    begin: u32,
    end: u32,
    out_start: u32,
    out_part: u32,
}

impl Parts {
    /// Room for the sums over so many sequences.
    pub fn new(card: &Card, sequences: usize, frames: usize, parameters: usize) -> Self {
        let (rows, rows_per_part) = (sequences * frames, sequences_per_part(frames) * frames);
        let array = card.array(rows.div_ceil(rows_per_part) * parameters);
        Self { array, parameters, rows, rows_per_part }
    }

    /// Adds up `aᵀ · b` over all frames: a row of `a` and of `b` is a frame. The first of the `rows` x `columns` sums
    /// is that of parameter `start`. The last `unused` frames of every part are left out.
    pub fn add_products(
        &self,
        commands: &mut Commands<'_>,
        (rows, columns): (usize, usize),
        a: Matrices<'_>,
        b: Matrices<'_>,
        start: usize,
        unused: usize,
    ) {
        let (full, rest) = (self.rows / self.rows_per_part, self.rows % self.rows_per_part);
        // The last part has fewer sequences if they do not come out even.
        for (first, count, frames) in [(0, full, self.rows_per_part), (full, usize::from(rest > 0), rest)] {
            let part = |m: Matrices<'_>| (m.start + first * self.rows_per_part * m.row, self.rows_per_part * m.row);
            let ((a_start, a_batch), (b_start, b_batch)) = (part(a), part(b));
            let product =
                Product { count, rows, columns, inner: frames.saturating_sub(unused), scale: 1.0, adds: false };
            let out = Matrices {
                array: &self.array,
                start: first * self.parameters + start,
                batch: self.parameters,
                row: columns,
                column: 1,
            };
            let a = Matrices { start: a_start, batch: a_batch, ..a }.transposed();
            multiply(commands, product, a, Matrices { start: b_start, batch: b_batch, ..b }, out);
        }
    }

    /// Adds up the first `columns` columns of `matrix`, of which a row is a frame. The first sum is that of parameter
    /// `start`.
    pub fn add_rows(&self, commands: &mut Commands<'_>, columns: usize, matrix: Matrices<'_>, start: usize) {
        let parts = self.rows.div_ceil(self.rows_per_part);
        let groups = [columns.div_ceil(COLUMNS) as u32, parts as u32, 1];
        for begin in (0..self.rows_per_part).step_by(ROWS_AT_ONCE) {
            let settings = RowSettings {
                start: matrix.start as u32,
                row: matrix.row as u32,
                columns: columns as u32,
                rows: self.rows as u32,
                rows_per_part: self.rows_per_part as u32,
                begin: begin as u32,
                end: (begin + ROWS_AT_ONCE).min(self.rows_per_part) as u32,
                out_start: start as u32,
                out_part: self.parameters as u32,
            };
            commands.run(ADD_ROWS, groups, &settings, &[matrix.array, &self.array]);
        }
    }

    /// Adds all parts, in their order, to what is in `sums`.
    pub fn add_to(&self, commands: &mut Commands<'_>, sums: &Array) {
        let parts = self.rows.div_ceil(self.rows_per_part);
        let settings = PartSettings { values: self.parameters as u32, parts: parts as u32 };
        commands.run(ADD_PARTS, groups(self.parameters, 256), &settings, &[&self.array, sums]);
    }
}
