//! The two kinds of feature values: `f32` in daily use, `f64` where gradients are checked.

use std::borrow::Cow;

/// A feature value. The engine's search works in `f32`, its finish and its gradients in `f64`, whatever the values are.
pub trait Real:
    Copy + Default + PartialOrd + Into<f64> + Send + Sync + std::fmt::Debug + private::Sealed + 'static
{
    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;

    /// The values as `f32`: borrowed where they are, converted where they are not.
    fn as_f32(values: &[Self]) -> Cow<'_, [f32]>;
}

impl Real for f32 {
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    fn as_f32(values: &[Self]) -> Cow<'_, [f32]> {
        Cow::Borrowed(values)
    }
}

impl Real for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }

    fn as_f32(values: &[Self]) -> Cow<'_, [f32]> {
        Cow::Owned(values.iter().map(|&v| v as f32).collect())
    }
}

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}
