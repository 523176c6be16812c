//! Positive numbers of any magnitude as a mantissa and a separate exponent, branch-free so that loops over them vectorise.
//!
//! Soft-DTW sums `exp(−cost/γ)` over all paths, which leaves the range of `f64` within a few frames. The usual remedy is
//! to carry logarithms and pay three exponentials and a logarithm per cell; carrying `mantissa * 2^exponent` needs one
//! exponential per cell, of a local cost, and only additions and multiplications after it.

/// Adding it to a number below 2^51 in magnitude rounds that number to a whole one.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// `2^52`: in numbers at or above it, the lowest mantissa bit is worth one.
const TWO_52: f64 = 4_503_599_627_370_496.0;

/// An exponent that stands for zero; far below any that can occur, far above where `f64` stops counting in ones.
pub(super) const ZERO_EXPONENT: f64 = -1e15;

/// `2^x` as mantissa (about 0.7 to 1.4) and whole exponent, to the last bit or two, for `|x|` below 2^51.
#[inline(always)]
pub(super) fn exp2_parts(x: f64) -> (f64, f64) {
    let exponent = (x + ROUNDER) - ROUNDER;
    let y = (x - exponent) * std::f64::consts::LN_2;
    // Taylor series of e^y for |y| <= ln(2)/2: the first term left out is below 2e-16.
    const C: [f64; 13] = [
        1.0,
        1.0,
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5_040.0,
        1.0 / 40_320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
        1.0 / 479_001_600.0,
    ];
    // Evaluated in pairs: short chains of dependent operations keep the arithmetic units busy.
    let y2 = y * y;
    let y4 = y2 * y2;
    let low = (C[0] + C[1] * y) + (C[2] + C[3] * y) * y2;
    let mid = (C[4] + C[5] * y) + (C[6] + C[7] * y) * y2;
    let high = (C[8] + C[9] * y) + (C[10] + C[11] * y) * y2;
    (low + y4 * (mid + y4 * (high + y4 * C[12])), exponent)
}

/// `2^x` for a whole number `x <= 0`; below the normal range it stops at the smallest normal number.
#[inline(always)]
pub(super) fn power_of_two(x: f64) -> f64 {
    let x = greater(x, -1022.0);
    f64::from_bits((x + (TWO_52 + 1023.0)).to_bits() << 52)
}

/// Splits a positive normal number into a mantissa in [1, 2) and a whole exponent.
#[inline(always)]
pub(super) fn split(value: f64) -> (f64, f64) {
    let bits = value.to_bits();
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    let exponent = f64::from_bits((bits >> 52) | TWO_52.to_bits()) - (TWO_52 + 1023.0);
    (mantissa, exponent)
}

/// The greater of two numbers that are not NaN, as one machine instruction.
#[inline(always)]
pub(super) fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_right_to_the_last_bits() {
        for i in -20_000..20_000 {
            let x = f64::from(i) * 0.0471;
            let (mantissa, exponent) = exp2_parts(x);
            let expected = (x - exponent).exp2();
            assert!((mantissa / expected - 1.0).abs() < 7e-16, "{x}");
            assert!((0.7..1.42).contains(&mantissa) && exponent.fract() == 0.0);
        }
    }

    #[test]
    fn powers_and_splits_are_exact() {
        for x in [0.0, -1.0, -52.0, -1021.0, -1022.0] {
            assert_eq!(power_of_two(x), x.exp2());
        }
        assert_eq!(power_of_two(ZERO_EXPONENT), f64::MIN_POSITIVE);
        for value in [1.0, 0.7, 3.999, 8.0, 1e-300, 1e300] {
            let (mantissa, exponent) = split(value);
            assert!((1.0..2.0).contains(&mantissa));
            assert_eq!(mantissa * exponent.exp2(), value);
        }
    }
}
