//! Convolutions over time, each one operation with its own backward pass. With a single tap they are linear layers.
//!
//! The result has as many frames as the input: beyond the ends of a sequence there are zeros, as many frames before as after.

mod kernel;
mod op;

pub(crate) use op::convolve;

/// The dimensions of a convolution. Its parameters are PyTorch's: weights (outputs x inputs x taps), then biases if it has any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Convolution {
    /// Frames that one frame of the result is made of: an odd number.
    pub taps: usize,
    /// Values per frame.
    pub inputs: usize,
    /// Values per frame of the result.
    pub outputs: usize,
    /// Whether there are biases.
    pub has_bias: bool,
}

impl Convolution {
    /// Values that one frame of the result is made of.
    pub fn width(self) -> usize {
        self.taps * self.inputs
    }

    /// Number of weights.
    pub fn weights(self) -> usize {
        self.width() * self.outputs
    }

    /// Number of weights and biases.
    pub fn parameter_count(self) -> usize {
        self.weights() + if self.has_bias { self.outputs } else { 0 }
    }

    /// Frames of zeros before and after a sequence.
    fn margin(self) -> usize {
        self.taps / 2
    }

    /// Where a weight lies among the parameters.
    fn place(self, output: usize, input: usize, tap: usize) -> usize {
        (output * self.inputs + input) * self.taps + tap
    }
}
