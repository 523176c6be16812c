//! The inner loops, each written once and compiled twice: for any processor, and for AVX2 where the processor has it.
//!
//! No loop uses fused multiply-add or reorders sums, so both builds give the same bits.
#![allow(unsafe_code, reason = "calling functions compiled for AVX2 after checking for it, and gathers")]

mod features;
mod min_plus;

pub(super) use features::{
    RowSource, dot_products, dots_to_distances, interpolate_row, ramp, segment_products, squared_norm, subtract_minimum,
};
pub(super) use min_plus::{MinPlusScratch, PADDING, Step, best_predecessor, min_plus, min_plus_differences};

const LANES: usize = 8;
