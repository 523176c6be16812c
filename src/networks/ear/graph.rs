//! The network as a graph of Candle's: for learning, and for devices beside the CPU.

use candle_core::{Device, Tensor};
use rayon::prelude::*;

use super::inputs;
use super::layout::{ATTACKS, CROSS, INPUTS, Layer, Layers, PLACES, neighbours, place};
use super::listen::needed;
use crate::base::job::JobContext;
use crate::features::EAR_ROW;
use crate::networks::card::EarSpec;
use crate::networks::convolution::{Convolution, convolve};
use crate::networks::gru::states_tensor;

/// A stretch of a recording, and the keys (from 0) that are listened for.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    /// Levels of consecutive frames, [`EAR_ROW`] values each.
    pub rows: Vec<f32>,
    /// Keys, each once.
    pub asked: Vec<usize>,
}

/// What is said of every asked key of every scene, one after the other: keys x frames x outputs. All scenes have as many frames.
///
/// `parameters` is the flat vector of all weights; gradients flow to it alone.
pub(crate) fn hear(
    ctx: &JobContext,
    spec: &EarSpec,
    parameters: &Tensor,
    scenes: &[Scene],
) -> candle_core::Result<Tensor> {
    let (layers, seen) = (Layers::of(spec), Seen::of(scenes));
    let run = |(layer, range): &(Layer, std::ops::Range<usize>), input: &Tensor| {
        let Layer { inputs, outputs, taps, has_bias, .. } = *layer;
        let of = Convolution { taps, inputs, outputs, has_bias };
        convolve(ctx, of, input, &parameters.narrow(0, range.start, range.len())?)
    };
    let device = parameters.device();
    let [inputs, attacks, places] = seen.tensors(scenes, device)?.map(|tensor| tensor.to_dtype(parameters.dtype()));
    let attack = run(&layers.attack, &attacks?)?.index_select(&index(&seen.scenes, device)?, 0)?;
    let x = (run(&layers.conv1, &inputs?)? + attack)?.broadcast_add(&run(&layers.place, &places?)?)?.relu()?;
    let summary = run(&layers.summary, &x)?.relu()?;
    // The first one is nobody's: what a key sees beyond the keyboard.
    let summary = summary.pad_with_zeros(0, 1, 0)?;
    let others = (0..CROSS.len()).map(|place| summary.index_select(&index(&seen.others(place), device)?, 0));
    let others = Tensor::cat(&others.collect::<candle_core::Result<Vec<_>>>()?, 2)?;
    let own = x.index_select(&index(&seen.asked, device)?, 0)?;
    let y = (run(&layers.conv2, &own)? + run(&layers.cross, &others)?)?.relu()?;
    let (shape, range) = layers.gru.clone();
    let states = states_tensor(ctx, shape, &y, &parameters.narrow(0, range.start, range.len())?)?;
    run(&layers.out, &run(&layers.post, &states)?.relu()?)
}

fn index(places: &[usize], device: &Device) -> candle_core::Result<Tensor> {
    let places: Vec<u32> = places.iter().map(|&place| place as u32).collect();
    Tensor::from_vec(places.clone(), places.len(), device)
}

/// The keys that have to be looked at: those asked for, and those that these look at.
struct Seen {
    /// Key of each.
    keys: Vec<usize>,
    /// Scene of each.
    scenes: Vec<usize>,
    /// Which of them are asked for, scene by scene.
    asked: Vec<usize>,
    /// For each asked one the neighbours, counted from 1; 0 is nobody.
    neighbours: Vec<[usize; CROSS.len()]>,
}

impl Seen {
    fn of(scenes: &[Scene]) -> Self {
        let mut seen = Self { keys: Vec::new(), scenes: Vec::new(), asked: Vec::new(), neighbours: Vec::new() };
        for (number, scene) in scenes.iter().enumerate() {
            let (first, keys) = (seen.keys.len(), needed(&scene.asked));
            let place = |key: usize| keys.binary_search(&key).map_or(0, |place| first + place);
            for &key in &scene.asked {
                seen.asked.push(place(key));
                seen.neighbours.push(neighbours(key).map(|other| other.map_or(0, |other| 1 + place(other))));
            }
            seen.scenes.resize(first + keys.len(), number);
            seen.keys.extend(keys);
        }
        seen
    }

    /// The neighbours at one of the places that keys look at.
    fn others(&self, place: usize) -> Vec<usize> {
        self.neighbours.iter().map(|neighbours| neighbours[place]).collect()
    }

    /// Inputs of every key, attacks of every scene, and where every key is.
    fn tensors(&self, scenes: &[Scene], device: &Device) -> candle_core::Result<[Tensor; 3]> {
        let frames = scenes.first().map_or(0, |scene| scene.rows.len() / EAR_ROW);
        let mut inputs = vec![0.0; self.keys.len() * frames * INPUTS];
        let sequences = inputs.par_chunks_mut((frames * INPUTS).max(1)).zip(&self.keys).zip(&self.scenes);
        sequences.for_each(|((inputs, &key), &scene)| inputs::fill(&scenes[scene].rows, key, inputs));
        let mut attacks = vec![0.0; scenes.len() * frames * ATTACKS];
        for (scene, attacks) in scenes.iter().zip(attacks.chunks_exact_mut((frames * ATTACKS).max(1))) {
            inputs::fill_attack(&scene.rows, attacks);
        }
        let places: Vec<f32> = self.keys.iter().flat_map(|&key| place(key)).collect();
        Ok([
            Tensor::from_vec(inputs, (self.keys.len(), frames, INPUTS), device)?,
            Tensor::from_vec(attacks, (scenes.len(), frames, ATTACKS), device)?,
            Tensor::from_vec(places, (self.keys.len(), 1, PLACES), device)?,
        ])
    }
}
