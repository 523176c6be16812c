//! A borrowed sequence of feature vectors at given times: what the engine aligns, whatever the features mean.

use crate::base::error::{Error, Result};
use crate::base::number::Real;

/// `times.len()` vectors of `dim` values each, row-major, at strictly increasing times.
#[derive(Debug, Clone, Copy)]
pub struct Signal<'a, T = f32> {
    times: &'a [f64],
    values: &'a [T],
    dim: usize,
}

impl<'a, T: Real> Signal<'a, T> {
    /// Checks shapes, order of times, and that every value is finite.
    pub fn new(times: &'a [f64], values: &'a [T], dim: usize) -> Result<Self> {
        if dim == 0 || times.is_empty() {
            return Err(Error::invalid(
                "signal size",
                format!("{} x {dim}", times.len()),
                "at least one frame of one value",
            ));
        }
        if values.len() != times.len() * dim {
            return Err(Error::invalid("number of feature values", values.len(), format!("{} x {dim}", times.len())));
        }
        if let Some(i) = times.iter().position(|t| !t.is_finite()) {
            return Err(Error::invalid(format!("time of frame {i}"), times[i], "finite"));
        }
        if let Some(i) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
            return Err(Error::invalid(
                format!("time of frame {}", i + 1),
                times[i + 1],
                format!("later than {}", times[i]),
            ));
        }
        if let Some(i) = values.iter().position(|&v| !v.to_f64().is_finite()) {
            return Err(Error::invalid(
                format!("feature value {} of frame {}", i % dim, i / dim),
                values[i].to_f64(),
                "finite",
            ));
        }
        Ok(Self { times, values, dim })
    }

    /// Number of frames, at least one.
    pub fn frames(&self) -> usize {
        self.times.len()
    }

    /// Values per frame.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Frame times in seconds, strictly increasing.
    pub fn times(&self) -> &'a [f64] {
        self.times
    }

    /// All values, row-major.
    pub fn values(&self) -> &'a [T] {
        self.values
    }

    /// The vector of one frame.
    pub fn frame(&self, index: usize) -> &'a [T] {
        &self.values[index * self.dim..(index + 1) * self.dim]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_signals_are_rejected_with_the_place() {
        let message = |times: &[f64], values: &[f32], dim| Signal::new(times, values, dim).unwrap_err().to_string();
        assert!(message(&[], &[], 1).contains("at least one frame"));
        assert!(message(&[0.0, 1.0], &[1.0], 1).contains("2 x 1"));
        assert!(message(&[0.0, 0.0], &[1.0, 2.0], 1).contains("frame 1"));
        assert!(message(&[0.0, 1.0], &[1.0, f32::NAN], 1).contains("frame 1"));
        assert!(message(&[0.0, f64::INFINITY], &[1.0, 2.0], 1).contains("finite"));
        assert_eq!(Signal::new(&[0.0, 1.0], &[1.0, 2.0, 3.0, 4.0], 2).unwrap().frame(1), [3.0, 4.0]);
    }
}
