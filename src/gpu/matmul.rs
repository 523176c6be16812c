//! Products of many pairs of matrices.

use bytemuck::{Pod, Zeroable};

use super::card::{Array, Commands, Kernel, MOST_ITERATIONS};

const MULTIPLY: Kernel = Kernel { source: include_str!("matmul.wgsl"), entry: "multiply" };
/// Rows and columns that a workgroup computes.
const TILE: usize = 64;
/// Inner values that it takes at a time, and the loop iterations of a thread for these: loads of 4 values of either
/// matrix, and 16 products, with one more at the end of each loop.
const DEPTH: usize = 16;
const ITERATIONS: usize = 1 + (4 + 1) + (4 + 1) + (DEPTH + 1);
/// Inner values of one dispatch. Half the iterations are left for what else the kernel does.
const MOST_INNER: usize = MOST_ITERATIONS / (2 * ITERATIONS) * DEPTH;

/// Matrices of the same size in one array. Rows may overlap, and a transposed matrix is one with its strides exchanged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrices<'a> {
    pub array: &'a Array,
    /// First value of the first matrix.
    pub start: usize,
    /// From one matrix to the next; 0 for the same matrix again.
    pub batch: usize,
    /// From one row to the next.
    pub row: usize,
    /// From one column to the next.
    pub column: usize,
}

impl Matrices<'_> {
    /// With rows and columns exchanged.
    pub fn transposed(self) -> Self {
        Self { row: self.column, column: self.row, ..self }
    }
}

/// How many, and how large.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product {
    pub count: usize,
    pub rows: usize,
    pub columns: usize,
    /// Columns of the first, rows of the second matrix.
    pub inner: usize,
    pub scale: f32,
    /// Whether the product is added to what is there.
    pub adds: bool,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Settings {
    rows: u32,
    columns: u32,
    inner: u32,
    scale: f32,
    a: [u32; 4],
    b: [u32; 4],
    out: [u32; 3],
    adds: u32,
}

/// Adds the product `a · b` to the commands. The columns of the result lie side by side. Long sums are made of several,
/// added in their order.
pub(super) fn multiply(
    commands: &mut Commands<'_>,
    product: Product,
    a: Matrices<'_>,
    b: Matrices<'_>,
    out: Matrices<'_>,
) {
    debug_assert_eq!(out.column, 1);
    let groups = [product.columns.div_ceil(TILE), product.rows.div_ceil(TILE), product.count].map(|v| v as u32);
    // One without terms is zero, and has to be written all the same.
    for first in (0..product.inner.max(1)).step_by(MOST_INNER) {
        let strides = |start: usize, m: Matrices<'_>| [start, m.batch, m.row, m.column].map(|v| v as u32);
        let settings = Settings {
            rows: product.rows as u32,
            columns: product.columns as u32,
            inner: (product.inner - first).min(MOST_INNER) as u32,
            scale: product.scale,
            a: strides(a.start + first * a.column, a),
            b: strides(b.start + first * b.row, b),
            out: [out.start as u32, out.batch as u32, out.row as u32],
            adds: u32::from(product.adds || first > 0),
        };
        commands.run(MULTIPLY, groups, &settings, &[a.array, b.array, out.array]);
    }
}
