//! Teaches the network to hear where notes begin.

use rayon::prelude::*;

use super::disguise::Disguise;
use super::examples::{FRAMES, JUDGED, LabelledSound, Place, draw_places, fill};
use super::levels::CHANNELS;
use super::network::{Activations, LAYERS, OnsetNetwork};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::learning::{Adam, AdamParams};

/// How to train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnsetTraining {
    /// Passes through the onsets.
    pub epochs: usize,
    /// Step size at the beginning; it falls to zero along a cosine.
    pub learning_rate: f64,
    /// Decides everything that is drawn.
    pub seed: u64,
    /// Whether other pianos, rooms and microphones are drawn.
    pub disguised: bool,
}

impl Default for OnsetTraining {
    fn default() -> Self {
        Self { epochs: 8, learning_rate: 2e-3, seed: 1, disguised: true }
    }
}

/// Examples that one thread takes at a time …
const CHUNK: usize = 16;
/// … and those between two steps.
const BATCH: usize = 4 * CHUNK;

/// Weights drawn at random, as large as keeps the spread of values from layer to layer.
pub(super) fn untrained(seed: u64) -> OnsetNetwork {
    let mut random = Random::at(seed, &[0]);
    let mut parameters = Vec::with_capacity(OnsetNetwork::<f32>::parameter_count());
    for layer in LAYERS {
        let limit = (6.0 / layer.width() as f64).sqrt();
        parameters.extend((0..layer.width() * layer.outputs).map(|_| random.between(-limit, limit) as f32));
        parameters.extend(std::iter::repeat_n(0.0, layer.outputs));
    }
    OnsetNetwork { parameters }
}

/// Trains a network; `tell` gets every epoch's number, mean loss, and the loss on `validation`.
pub fn train_onsets(
    ctx: &JobContext,
    sounds: &[LabelledSound],
    validation: &[LabelledSound],
    params: &OnsetTraining,
    tell: &dyn Fn(usize, f64, Option<f64>),
) -> Result<OnsetNetwork> {
    if params.epochs == 0 {
        return Err(Error::invalid("number of epochs", 0, "at least 1"));
    }
    let mut network = untrained(params.seed);
    let adam = AdamParams { learning_rate: params.learning_rate, ..AdamParams::default() };
    let mut adam = Adam::new(adam, network.parameters.len())?;
    for epoch in 1..=params.epochs {
        let places = draw_places(sounds, &mut Random::at(params.seed, &[1, epoch as u64]));
        let mut sum = 0.0;
        let batches = places.len().div_ceil(BATCH);
        for (batch, places) in places.chunks(BATCH).enumerate() {
            let progress = ((epoch - 1) as f64 + batch as f64 / batches as f64) / params.epochs as f64;
            ctx.report("training", progress as f32)?;
            let place = [2, epoch as u64, batch as u64];
            let (loss, gradient) = loss_and_gradient(&network, sounds, places, params, &place);
            adam.set_learning_rate(params.learning_rate * 0.5 * (1.0 + (std::f64::consts::PI * progress).cos()));
            adam.step(&mut network.parameters, &gradient)?;
            sum += loss * places.len() as f64;
        }
        let validated = (!validation.is_empty()).then(|| validation_loss(&network, validation));
        tell(epoch, sum / places.len() as f64, validated);
    }
    Ok(network)
}

/// Mean loss per judged frame and its gradient, over some examples.
fn loss_and_gradient(
    network: &OnsetNetwork,
    sounds: &[LabelledSound],
    places: &[Place],
    params: &OnsetTraining,
    draw: &[u64; 3],
) -> (f64, Vec<f32>) {
    let scale = 1.0 / (places.len() * JUDGED) as f32;
    let parts: Vec<(f64, Vec<f32>)> = places
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(chunk, places)| {
            let mut random = Random::at(params.seed, &[draw[0], draw[1], draw[2], chunk as u64]);
            let batch = Batch::draw(sounds, places, params.disguised, &mut random);
            let mut activations = Activations::default();
            let (loss, flow) = batch.judge(network.logits(&batch.inputs, &mut activations), scale);
            let mut gradient = vec![0.0; network.parameters.len()];
            network.backward(&batch.inputs, &activations, &flow, &mut gradient);
            (loss, gradient)
        })
        .collect();
    // In a fixed order, so that the same seed gives the same network whatever the number of threads.
    parts
        .into_iter()
        .reduce(|(loss, mut sum), (other, gradient)| {
            sum.iter_mut().zip(gradient).for_each(|(sum, value)| *sum += value);
            (loss + other, sum)
        })
        .unwrap_or_default()
}

/// The loss on the same examples of other recordings every time, as they are.
fn validation_loss(network: &OnsetNetwork, sounds: &[LabelledSound]) -> f64 {
    const MOST: usize = 8192;
    let mut places = draw_places(sounds, &mut Random::at(0, &[3]));
    places.truncate(MOST);
    let scale = 1.0 / (places.len() * JUDGED) as f32;
    let losses = places.par_chunks(CHUNK).map(|places| {
        let batch = Batch::draw(sounds, places, false, &mut Random::at(0, &[4]));
        batch.judge(network.logits(&batch.inputs, &mut Activations::default()), scale).0
    });
    losses.collect::<Vec<f64>>().iter().sum()
}

/// Examples one after the other in one long sequence; frames across their seams are not judged.
struct Batch {
    inputs: Vec<f32>,
    targets: Vec<f32>,
}

impl Batch {
    fn draw(sounds: &[LabelledSound], places: &[Place], disguised: bool, random: &mut Random) -> Self {
        let mut inputs = vec![0.0; places.len() * FRAMES * CHANNELS];
        let mut targets = vec![0.0; places.len() * JUDGED];
        let outs = inputs.chunks_exact_mut(FRAMES * CHANNELS).zip(targets.chunks_exact_mut(JUDGED));
        for (&place, (inputs, targets)) in places.iter().zip(outs) {
            let disguise = if disguised { Disguise::draw(random) } else { Disguise::none() };
            fill(sounds, place, &disguise, random, inputs, targets);
        }
        Self { inputs, targets }
    }

    /// Cross entropy times `scale`, and its gradient in the logits.
    fn judge(&self, logits: &[f32], scale: f32) -> (f64, Vec<f32>) {
        let mut flow = vec![0.0; logits.len()];
        let mut loss = 0.0;
        for (example, targets) in self.targets.chunks_exact(JUDGED).enumerate() {
            let first = example * FRAMES;
            for ((&logit, flow), &target) in logits[first..].iter().zip(&mut flow[first..]).zip(targets) {
                let excess = (-logit.abs()).exp().ln_1p() + logit.max(0.0) - target * logit;
                loss += f64::from(scale * excess);
                *flow = scale * (1.0 / (1.0 + (-logit).exp()) - target);
            }
        }
        (loss, flow)
    }
}
