//! Where each weight lies in the flat parameters, and what PyTorch calls it.

use std::ops::Range;

/// In which order a half of the network reads the frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// First frame first.
    Forward,
    /// Last frame first.
    Reverse,
}

impl Direction {
    /// Both, in the order of the output.
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Reverse];

    /// The frame that is read after `count` others of `frames`.
    #[inline(always)]
    pub(super) fn frame(self, count: usize, frames: usize) -> usize {
        match self {
            Self::Forward => count,
            Self::Reverse => frames - 1 - count,
        }
    }
}

/// The dimensions of a bidirectional GRU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GruShape {
    /// Values per input frame.
    pub input: usize,
    /// Units per direction: half the output.
    pub hidden: usize,
}

/// One of the eight weight arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterTensor {
    /// PyTorch's name, such as `weight_ih_l0_reverse`.
    pub name: &'static str,
    /// Rows and columns, or the length alone.
    pub dims: Vec<usize>,
    /// Its place in the flat parameters.
    pub range: Range<usize>,
}

const NAMES: [[&str; 4]; 2] = [
    ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"],
    ["weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse", "bias_hh_l0_reverse"],
];

impl GruShape {
    /// Values per output frame.
    pub fn output(self) -> usize {
        2 * self.hidden
    }

    /// Number of parameters of both directions.
    pub fn parameter_count(self) -> usize {
        6 * self.hidden * (self.input + self.hidden + 2)
    }

    /// The weight arrays in PyTorch's order.
    pub fn tensors(self) -> Vec<ParameterTensor> {
        let gates = 3 * self.hidden;
        let dims = [vec![gates, self.input], vec![gates, self.hidden], vec![gates], vec![gates]];
        let mut tensors = Vec::with_capacity(8);
        for (direction, names) in Direction::BOTH.into_iter().zip(NAMES) {
            let ranges = self.direction_ranges(direction);
            for ((name, dims), range) in names.into_iter().zip(&dims).zip(ranges) {
                tensors.push(ParameterTensor { name, dims: dims.clone(), range });
            }
        }
        tensors
    }

    /// Input weights, recurrent weights, input bias, recurrent bias.
    pub(super) fn direction_ranges(self, direction: Direction) -> [Range<usize>; 4] {
        let gates = 3 * self.hidden;
        let mut start = match direction {
            Direction::Forward => 0,
            Direction::Reverse => self.parameter_count() / 2,
        };
        [gates * self.input, gates * self.hidden, gates, gates].map(|length| {
            start += length;
            start - length..start
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_tile_the_parameters_and_match_the_published_counts() {
        for (input, count) in [(48, 43_776), (12, 29_952), (128, 74_496)] {
            let shape = GruShape { input, hidden: 64 };
            assert_eq!(shape.parameter_count(), count);
            let mut end = 0;
            for tensor in shape.tensors() {
                assert_eq!(tensor.range.start, end);
                assert_eq!(tensor.range.len(), tensor.dims.iter().product::<usize>());
                end = tensor.range.end;
            }
            assert_eq!(end, count);
        }
    }
}
