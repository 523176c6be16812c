//! The two number types of features, costs and networks: `f32` for work, `f64` to check gradients by finite differences.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use super::matrix::Gemm;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`.
pub trait Real:
    sealed::Sealed
    + Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Div<Output = Self>
    + Mul<Output = Self>
    + Sub<Output = Self>
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The matrix product behind [`multiply`](super::matrix::multiply).
    #[doc(hidden)]
    const GEMM: Gemm<Self>;

    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;

    /// The value in double precision.
    fn to_f64(self) -> f64;

    /// The values in single precision: borrowed where they are, converted where they are not.
    fn as_f32(values: &[Self]) -> Cow<'_, [f32]>;

    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;

    /// `self * factor + term`, in one instruction if `FMA`.
    fn multiply_add<const FMA: bool>(self, factor: Self, term: Self) -> Self;

    /// `1 / (1 + exp(-self))`.
    fn sigmoid<const FMA: bool>(self) -> Self;

    /// The hyperbolic tangent.
    fn tanh<const FMA: bool>(self) -> Self;
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const GEMM: Gemm<Self> = matrixmultiply::sgemm;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.into()
    }

    fn as_f32(values: &[Self]) -> Cow<'_, [f32]> {
        Cow::Borrowed(values)
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        self.is_finite()
    }

    #[inline(always)]
    fn multiply_add<const FMA: bool>(self, factor: Self, term: Self) -> Self {
        if FMA { self.mul_add(factor, term) } else { self * factor + term }
    }

    #[inline(always)]
    fn sigmoid<const FMA: bool>(self) -> Self {
        1.0 / (1.0 + exp::<FMA>(-self))
    }

    #[inline(always)]
    fn tanh<const FMA: bool>(self) -> Self {
        1.0 - 2.0 / (1.0 + exp::<FMA>(2.0 * self))
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const GEMM: Gemm<Self> = matrixmultiply::dgemm;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    fn as_f32(values: &[Self]) -> Cow<'_, [f32]> {
        Cow::Owned(values.iter().map(|&v| v as f32).collect())
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        self.is_finite()
    }

    #[inline(always)]
    fn multiply_add<const FMA: bool>(self, factor: Self, term: Self) -> Self {
        if FMA { self.mul_add(factor, term) } else { self * factor + term }
    }

    #[inline(always)]
    fn sigmoid<const FMA: bool>(self) -> Self {
        1.0 / (1.0 + (-self).exp())
    }

    #[inline(always)]
    fn tanh<const FMA: bool>(self) -> Self {
        f64::tanh(self)
    }
}

/// The exponential without branches or calls, so that loops over it become vector instructions.
///
/// Splits `x = n ln 2 + r` with `|r| <= ln 2 / 2`; the series of `exp(r)` up to `r^6` is exact to single precision.
#[inline(always)]
fn exp<const FMA: bool>(x: f32) -> f32 {
    // Adding this rounds to an integer, which then stands in the lowest bits of the sum.
    const ROUNDER: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x.multiply_add::<FMA>(std::f32::consts::LOG2_E, ROUNDER);
    let n = shifted - ROUNDER;
    let r = n.multiply_add::<FMA>(-LN_2_LOW, n.multiply_add::<FMA>(-LN_2_HIGH, x));
    let series = [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    let sum = series.iter().fold(1.0 / 720.0, |sum: f32, &term| sum.multiply_add::<FMA>(r, term));
    let exponent = shifted.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(127) << 23;
    sum * f32::from_bits(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_activations<const FMA: bool>() {
        for i in -200_000..=200_000 {
            let x = i as f32 * 1e-3;
            let exact = f64::from(x);
            assert!((f64::from(Real::tanh::<FMA>(x)) - exact.tanh()).abs() < 2.5e-7, "tanh({x})");
            assert!((f64::from(x.sigmoid::<FMA>()) - exact.sigmoid::<FMA>()).abs() < 2e-7, "sigmoid({x})");
            if x.abs() < 87.0 {
                assert!((f64::from(exp::<FMA>(x)) / exact.exp() - 1.0).abs() < 3e-7, "exp({x})");
            }
        }
    }

    #[test]
    fn single_precision_activations_agree_with_double_precision() {
        check_activations::<true>();
        check_activations::<false>();
    }

    #[test]
    fn activations_saturate_at_infinity_and_keep_nan() {
        assert_eq!(Real::tanh::<true>(f32::INFINITY), 1.0);
        assert_eq!(Real::tanh::<true>(f32::NEG_INFINITY), -1.0);
        assert_eq!(f32::INFINITY.sigmoid::<false>(), 1.0);
        assert!(f32::NEG_INFINITY.sigmoid::<false>() < 1e-30);
        assert!(f32::NAN.sigmoid::<true>().is_nan() && Real::tanh::<true>(f32::NAN).is_nan());
    }
}
