//! What the network sees of a pitch, and where each weight lies in the flat parameters.

use std::ops::Range;

use crate::base::error::{Error, Result};
use crate::features::{EAR_BANDS, EAR_HOP};
use crate::networks::card::EarSpec;
use crate::networks::gru::GruShape;

/// Pitches that are heard: the keys of a piano, MIDI 21 to 108.
pub const PITCHES: usize = 88;
/// MIDI number of the lowest.
pub const LOWEST_PITCH: u8 = 21;
/// Bands beside the pitch's own that it sees: partials, the octave below, the neighbours. The high partials are for the bass, whose
/// hammer is heard there first.
pub(super) const SHIFTS: [isize; 13] = [0, 12, 19, 24, 28, 31, 36, 40, 43, 48, -12, -1, 1];
/// Kinds of windows: long, middle, short, short half a frame later.
pub(super) const KINDS: usize = 4;
/// Values per frame and pitch.
pub(super) const INPUTS: usize = KINDS * SHIFTS.len();
/// Values per frame that all pitches share.
pub(super) const ATTACKS: usize = 24;
/// Values that say where a pitch is.
pub(super) const PLACES: usize = 8;
/// Pitches whose summaries a pitch sees, in semitones from it.
pub(super) const CROSS: [isize; 10] = [-24, -19, -12, -7, -1, 1, 7, 12, 19, 24];
/// What is said of a frame and pitch: begins, sounds, ends, offset, scale.
pub(crate) const OUTPUTS: usize = 5;
/// Brings levels, 0 to about 7, to the size that networks like.
pub(super) const SCALE: f32 = 0.3;

/// Taps of the convolutions.
const FIRST_TAPS: usize = 5;
const LATER_TAPS: usize = 3;

/// Larger networks are refused: a damaged card must not ask for all the memory.
const WIDEST: usize = 512;

/// How a pitch's place is told: heights of triangles over the keyboard.
pub(super) fn place(pitch: usize) -> [f32; PLACES] {
    let at = (PLACES - 1) as f32 * pitch as f32 / (PITCHES - 1) as f32;
    std::array::from_fn(|peak| (1.0 - (at - peak as f32).abs()).max(0.0))
}

/// The bands that a pitch sees; `None` beyond them.
pub(super) fn bands(pitch: usize) -> [Option<usize>; SHIFTS.len()] {
    SHIFTS.map(|shift| pitch.checked_add_signed(shift).filter(|&band| band < EAR_BANDS))
}

/// The pitches whose summaries a pitch sees; `None` beyond the keyboard.
pub(super) fn neighbours(pitch: usize) -> [Option<usize>; CROSS.len()] {
    CROSS.map(|away| pitch.checked_add_signed(away).filter(|&other| other < PITCHES))
}

/// Convolution over time: `outputs` values per frame from `taps` frames of `inputs` values, of which as many lie before as after.
/// One tap makes it a linear layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layer {
    pub name: &'static str,
    pub outputs: usize,
    pub inputs: usize,
    pub taps: usize,
    pub has_bias: bool,
}

impl Layer {
    pub fn weights(self) -> usize {
        self.outputs * self.inputs * self.taps
    }

    /// Weights, then biases.
    pub fn parameters(self) -> usize {
        self.weights() + if self.has_bias { self.outputs } else { 0 }
    }

    /// As PyTorch has them: linear layers have no dimension of taps.
    fn dims(self) -> Vec<usize> {
        if self.taps == 1 { vec![self.outputs, self.inputs] } else { vec![self.outputs, self.inputs, self.taps] }
    }
}

/// All layers with their places among the flat parameters, which have the order of the fields.
#[derive(Debug, Clone)]
pub(super) struct Layers {
    pub conv1: (Layer, Range<usize>),
    pub attack: (Layer, Range<usize>),
    pub place: (Layer, Range<usize>),
    pub summary: (Layer, Range<usize>),
    pub conv2: (Layer, Range<usize>),
    pub cross: (Layer, Range<usize>),
    pub gru: (GruShape, Range<usize>),
    pub post: (Layer, Range<usize>),
    pub out: (Layer, Range<usize>),
}

impl Layers {
    /// Those of an ear with these dimensions.
    pub fn of(spec: &EarSpec) -> Self {
        let EarSpec { channels, hidden, summary, head, .. } = *spec;
        let mut end = 0;
        let mut next = |length: usize| {
            end += length;
            end - length..end
        };
        let mut layer = |name, inputs, outputs, taps, has_bias| {
            let layer = Layer { name, outputs, inputs, taps, has_bias };
            (layer, next(layer.parameters()))
        };
        let conv1 = layer("conv1", INPUTS, channels, FIRST_TAPS, true);
        let attack = layer("att", ATTACKS, channels, FIRST_TAPS, false);
        let place = layer("place", PLACES, channels, 1, false);
        let sum = layer("sum", channels, summary, 1, true);
        let conv2 = layer("conv2", channels, channels, LATER_TAPS, true);
        let cross = layer("cross", CROSS.len() * summary, channels, 1, false);
        let shape = GruShape { input: channels, hidden };
        let gru = (shape, next(shape.parameter_count()));
        let mut layer = |name, inputs, outputs, taps| {
            let layer = Layer { name, outputs, inputs, taps, has_bias: true };
            (layer, next(layer.parameters()))
        };
        let post = layer("post", 2 * hidden, head, LATER_TAPS);
        let out = layer("out", head, OUTPUTS, 1);
        Self { conv1, attack, place, summary: sum, conv2, cross, gru, post, out }
    }

    /// Number of weights and biases.
    pub fn parameter_count(&self) -> usize {
        self.out.1.end
    }

    /// Multiplications per frame and pitch.
    pub fn work(&self) -> f64 {
        // Weights are used once each, but for those of the attack and the place, which are few.
        self.parameter_count() as f64
    }

    fn before_gru(&self) -> [&(Layer, Range<usize>); 6] {
        [&self.conv1, &self.attack, &self.place, &self.summary, &self.conv2, &self.cross]
    }

    fn after_gru(&self) -> [&(Layer, Range<usize>); 2] {
        [&self.post, &self.out]
    }

    /// The convolutions and linear layers with their places.
    pub fn convolutions(&self) -> impl Iterator<Item = &(Layer, Range<usize>)> {
        self.before_gru().into_iter().chain(self.after_gru())
    }
}

/// Name and dimensions of each array of weights, in the order of the flat parameters: PyTorch's names.
pub(in crate::networks) fn layout(spec: &EarSpec) -> Vec<(String, Vec<usize>)> {
    let layers = Layers::of(spec);
    let of_layer = |(layer, _): &(Layer, Range<usize>)| {
        let bias = layer.has_bias.then(|| (format!("{}.bias", layer.name), vec![layer.outputs]));
        [Some((format!("{}.weight", layer.name), layer.dims())), bias].into_iter().flatten()
    };
    let of_gru = layers.gru.0.tensors().into_iter().map(|tensor| (format!("gru.{}", tensor.name), tensor.dims));
    let before = layers.before_gru().into_iter().flat_map(of_layer);
    before.chain(of_gru).chain(layers.after_gru().into_iter().flat_map(of_layer)).collect()
}

/// Refuses dimensions that no network of ours has.
pub(in crate::networks) fn validate(spec: &EarSpec) -> Result<()> {
    let EarSpec { hop, channels, hidden, summary, head, problem } = *spec;
    problem.validate()?;
    if hop != EAR_HOP {
        return Err(Error::invalid("hop of the ear", hop, EAR_HOP.to_string()));
    }
    for (name, value) in [("channels", channels), ("hidden", hidden), ("summary", summary), ("head", head)] {
        if !(1..=WIDEST).contains(&value) {
            return Err(Error::invalid(format!("{name} of the ear"), value, format!("between 1 and {WIDEST}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_dimensions_are_those_of_pytorch_and_tile_the_parameters() {
        let spec = EarSpec::default();
        let layout = layout(&spec);
        let total: usize = layout.iter().map(|(_, dims)| dims.iter().product::<usize>()).sum();
        assert_eq!(total, Layers::of(&spec).parameter_count());
        let dims = |name: &str| layout.iter().find(|entry| entry.0 == name).map(|entry| entry.1.clone()).unwrap();
        assert_eq!(dims("conv1.weight"), [80, 52, 5]);
        assert_eq!(dims("att.weight"), [80, 24, 5]);
        assert_eq!(dims("place.weight"), [80, 8]);
        assert_eq!(dims("sum.weight"), [12, 80]);
        assert_eq!(dims("cross.weight"), [80, 120]);
        assert_eq!(dims("gru.weight_ih_l0"), [144, 80]);
        assert_eq!(dims("gru.bias_hh_l0_reverse"), [144]);
        assert_eq!(dims("post.weight"), [40, 96, 3]);
        assert_eq!(dims("out.weight"), [5, 40]);
        assert!(layout.iter().all(|(name, _)| !["att.bias", "place.bias", "cross.bias"].contains(&name.as_str())));
    }

    #[test]
    fn pitches_beyond_the_keyboard_and_bands_beyond_the_spectrum_are_nothing() {
        assert_eq!(bands(0)[10..], [None, None, Some(1)]);
        assert_eq!(bands(87)[6], None);
        assert_eq!(bands(70)[6], Some(106));
        assert_eq!(neighbours(0)[..6], [None, None, None, None, None, Some(1)]);
        assert_eq!(neighbours(80)[7..], [None; 3]);
    }

    #[test]
    fn places_are_shares_of_two_neighbouring_triangles() {
        assert_eq!(place(0)[..2], [1.0, 0.0]);
        assert_eq!(place(87)[7], 1.0);
        for pitch in 0..PITCHES {
            assert!((place(pitch).iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }
}
