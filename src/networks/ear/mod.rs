//! The ear: where notes begin, sound and end, pitch by pitch, from the levels of a recording.
//!
//! ```text
//! x = relu(conv1(bands that the pitch sees) + att(attack) + place(where the pitch is))
//! s = relu(sum(x))                                    a summary of x, for other pitches
//! y = relu(conv2(x) + cross(s of ten other pitches))
//! g = bidirectional GRU(y)
//! out(relu(post(g)))                                  begins, sounds, ends, offset, scale
//! ```
//!
//! The weights are the same for every pitch. Convolutions reach from frame to frame; recordings are silent beyond their ends.

mod graph;
mod inputs;
mod layout;
mod listen;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use candle_core::{Device, Tensor};
use rayon::prelude::*;

use super::card::{EarSpec, ModelCard, Spec};
use super::model_file;
use super::ops::failed;
use crate::base::accelerator::{Work, WorkKind};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::features::{EAR_ROW, EarAnalyzer};

pub(crate) use graph::{Scene, hear};
pub(crate) use layout::OUTPUTS;
pub use layout::{LOWEST_PITCH, PITCHES};
pub(super) use layout::{layout, validate};

use self::layout::Layers;
use self::listen::Packed;

/// Frames that are heard at a time. Fixed, so that nothing depends on the number of threads.
const STRETCH: usize = 768;
/// Frames before and after a stretch that it is heard with: 0.56 s, after which the network has forgotten where it began.
const CONTEXT: usize = 48;

/// What an ear says of one pitch at one frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// Logarithm of the odds that a note begins.
    pub begins: f32,
    /// Logarithm of the odds that a note sounds.
    pub sounds: f32,
    /// Logarithm of the odds that a note ends.
    pub ends: f32,
    /// Where a note that begins near by does so, in frames after this one.
    pub offset: f32,
    /// Logarithm of how far off `offset` typically is, in frames.
    pub scale: f32,
}

impl Answer {
    fn new(values: [f32; OUTPUTS]) -> Self {
        let [begins, sounds, ends, offset, scale] = values;
        Self { begins, sounds, ends, offset, scale }
    }
}

/// An ear with its weights on a device.
#[derive(Debug, Clone)]
pub struct Ear {
    /// How and on what it was trained.
    pub card: ModelCard<EarSpec>,
    parameters: Tensor,
}

impl Ear {
    /// An ear with these weights, in the order of the file.
    pub fn new(card: ModelCard<EarSpec>, parameters: Vec<f32>, device: &Device) -> Result<Self> {
        validate(&card.spec)?;
        let (given, count) = (parameters.len(), Layers::of(&card.spec).parameter_count());
        if given != count {
            return Err(Error::invalid("number of weights", given, count.to_string()));
        }
        let parameters = Tensor::from_vec(parameters, count, device).map_err(|e| failed(&JobContext::new(), &e))?;
        Ok(Self { card, parameters })
    }

    /// An ear to be trained: weights as PyTorch draws them, and odds that notes are rare.
    pub fn untrained(card: ModelCard<EarSpec>, seed: u64, device: &Device) -> Result<Self> {
        const FIRST_GUESS: [f32; OUTPUTS] = [-3.5, -1.5, -3.5, 0.0, -0.7];
        validate(&card.spec)?;
        let layers = Layers::of(&card.spec);
        let mut parameters = vec![0.0; layers.parameter_count()];
        let mut random = Random::at(seed, &[0]);
        let mut draw = |values: &mut [f32], inputs: usize| {
            let limit = 1.0 / (inputs as f64).sqrt();
            values.iter_mut().for_each(|value| *value = random.between(-limit, limit) as f32);
        };
        for (layer, range) in layers.convolutions() {
            draw(&mut parameters[range.clone()], layer.inputs * layer.taps);
        }
        draw(&mut parameters[layers.gru.1.clone()], card.spec.hidden);
        let end = parameters.len();
        parameters[end - OUTPUTS..].copy_from_slice(&FIRST_GUESS);
        Self::new(card, parameters, device)
    }

    /// Where its weights are.
    pub fn device(&self) -> &Device {
        self.parameters.device()
    }

    /// All weights, in the order of the file.
    pub fn parameters(&self) -> Result<Vec<f32>> {
        self.parameters.to_vec1().map_err(|e| failed(&JobContext::new(), &e))
    }

    /// Number of weights.
    pub fn parameter_count(&self) -> usize {
        self.parameters.elem_count()
    }

    /// Writes it, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        model_file::write(path, &self.card.clone().with_spec(Spec::Ear(self.card.spec)), &self.parameters()?)
    }

    /// Listens to a whole recording for some pitches (MIDI numbers), and keeps of each and of each frame what `keep` makes of it.
    ///
    /// The result has every asked pitch once, in order, with as many values as there are frames; pitches beyond the keyboard, which an
    /// ear knows nothing of, are left out.
    pub fn listen<T: Send>(
        &self,
        ctx: &JobContext,
        analyzer: &EarAnalyzer<'_>,
        pitches: &[u8],
        keep: impl Fn(Answer) -> T + Sync,
    ) -> Result<Vec<(u8, Vec<T>)>> {
        const STAGE: &str = "listening";
        let (keys, frames) = (keys(pitches), analyzer.frames());
        let (quiet, done) = (ctx.quiet(), AtomicUsize::new(0));
        let weights = self.parameters()?;
        let network = Packed::new(&self.card.spec, &weights)?;
        let elsewhere = self.is_elsewhere(ctx, STRETCH, keys.len());
        let hear = |first: usize| {
            let end = (first + STRETCH).min(frames);
            let (from, until) = (first.saturating_sub(CONTEXT), (end + CONTEXT).min(frames));
            ctx.report(STAGE, done.load(Ordering::Relaxed) as f32 / frames as f32)?;
            let heard = if elsewhere {
                let scene = Scene { rows: analyzer.levels(&quiet, from..until)?, asked: keys.clone() };
                self.hear_elsewhere(&quiet, &[scene])?
            } else {
                network.hear(&quiet, &levels(analyzer, from..until), &keys)?
            };
            let of_pitch = |values: &[f32]| {
                let within = values[(first - from) * OUTPUTS..(end - from) * OUTPUTS].as_chunks().0;
                within.iter().map(|&values| keep(Answer::new(values))).collect::<Vec<T>>()
            };
            done.fetch_add(end - first, Ordering::Relaxed);
            Ok(heard.chunks_exact((until - from) * OUTPUTS).map(of_pitch).collect::<Vec<_>>())
        };
        let firsts: Vec<usize> = (0..frames).step_by(STRETCH).collect();
        let stretches = if elsewhere {
            firsts.into_iter().map(hear).collect::<Result<Vec<_>>>()?
        } else {
            firsts.into_par_iter().map(hear).collect::<Result<Vec<_>>>()?
        };
        ctx.report(STAGE, 1.0)?;
        let mut all: Vec<_> = keys.iter().map(|&key| (LOWEST_PITCH + key as u8, Vec::with_capacity(frames))).collect();
        for stretch in stretches {
            all.iter_mut().zip(stretch).for_each(|((_, all), own)| all.extend(own));
        }
        Ok(all)
    }

    /// What is said of every asked key of every scene, one after the other: [`OUTPUTS`] values per frame. All scenes have as many
    /// frames.
    pub(crate) fn answers(&self, ctx: &JobContext, scenes: &[Scene]) -> Result<Vec<f32>> {
        let frames = scenes.first().map_or(0, |scene| scene.rows.len() / EAR_ROW);
        if self.is_elsewhere(ctx, frames, scenes.iter().map(|scene| scene.asked.len()).sum()) {
            return self.hear_elsewhere(ctx, scenes);
        }
        let weights = self.parameters()?;
        let network = Packed::new(&self.card.spec, &weights)?;
        let of_scene = |scene: &Scene| network.hear(&ctx.quiet(), &scene.rows, &scene.asked);
        Ok(scenes.par_iter().map(of_scene).collect::<Result<Vec<_>>>()?.concat())
    }

    /// Whether a device hears instead of the CPU: one of Candle's, or one beside the CPU for which it pays.
    fn is_elsewhere(&self, ctx: &JobContext, frames: usize, keys: usize) -> bool {
        !self.device().is_cpu() || ctx.accelerates(work(&self.card.spec, frames * keys))
    }

    fn hear_elsewhere(&self, ctx: &JobContext, scenes: &[Scene]) -> Result<Vec<f32>> {
        hear(ctx, &self.card.spec, &self.parameters, scenes)
            .and_then(|answers| answers.flatten_all()?.to_vec1())
            .map_err(|e| failed(ctx, &e))
    }
}

/// How much work it is to hear so many moments.
pub(super) fn work(spec: &EarSpec, moments: usize) -> Work {
    Work { kind: WorkKind::Convolution, amount: moments as f64 * Layers::of(spec).work() }
}

/// Levels of some frames, worked out on this thread.
fn levels(analyzer: &EarAnalyzer<'_>, frames: Range<usize>) -> Vec<f32> {
    let mut rows = vec![0.0; frames.len() * EAR_ROW];
    let mut scratch = analyzer.scratch();
    for (frame, row) in frames.zip(rows.chunks_exact_mut(EAR_ROW)) {
        analyzer.fill(&mut scratch, frame, row);
    }
    rows
}

/// The key of a pitch, from 0; `None` beyond the keyboard.
pub(crate) fn key(pitch: u8) -> Option<usize> {
    pitch.checked_sub(LOWEST_PITCH).map(usize::from).filter(|&key| key < PITCHES)
}

/// The keys of pitches, from 0, in order and once each; those beyond the keyboard are left out.
fn keys(pitches: &[u8]) -> Vec<usize> {
    let keys: BTreeSet<usize> = pitches.iter().filter_map(|&pitch| key(pitch)).collect();
    keys.into_iter().collect()
}

#[cfg(test)]
mod tests;
