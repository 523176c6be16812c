//! The inner loops, each written once and compiled twice: for any processor, and for AVX2 where the processor has it.
//!
//! No loop uses fused multiply-add or reorders sums, so both builds give the same bits.
#![allow(
    unsafe_code,
    reason = "calling functions compiled for AVX2 after checking for it, gathers, and matrix products"
)]

mod features;
mod min_plus;

pub(super) use features::{
    RowSource, absolute_distance, dot_products, dots_to_distances, interpolate_row, ramp, segment_products,
    squared_norm, subtract_minimum,
};
pub(super) use min_plus::{MinPlusScratch, PADDING, Step, best_predecessor, min_plus, min_plus_differences};

const LANES: usize = 8;

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

/// Defines `name` to run `body` compiled for AVX2 where possible, else as compiled for the build target.
macro_rules! dispatch {
    ($(#[$doc:meta])* fn $name:ident $(<$t:ident: $bound:ident>)? ($($arg:ident: $ty:ty),*) $(-> $ret:ty)? = $body:ident) => {
        $(#[$doc])*
        pub(in crate::warping::gdtw) fn $name $(<$t: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2 $(<$t: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                if has_avx2() {
                    // SAFETY: the processor has AVX2.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}

use dispatch;
