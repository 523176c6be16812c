//! Passes through the stretches of all pieces, the best network kept.

use rayon::prelude::*;

use super::sounds::AlignedSound;
use super::stretch::{Stretch, stretch_loss};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::learning::{Adam, AdamParams};
use crate::networks::ear::OnsetNetwork;

/// How to train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlignmentTraining {
    /// Passes through the pieces.
    pub passes: usize,
    /// Step size at the beginning; it falls to zero along a cosine.
    pub learning_rate: f64,
    /// Decides everything that is drawn.
    pub seed: u64,
}

impl Default for AlignmentTraining {
    fn default() -> Self {
        Self { passes: 3, learning_rate: 2e-4, seed: 1 }
    }
}

/// Chords of a stretch.
const CHORDS: usize = 32;
/// Stretches between two steps.
const BATCH: usize = 8;
/// The band lies up to this far beside the truth.
const LONGEST_SHIFT_S: f64 = 0.1;
/// Gradients this many times longer than usual are shortened: a stretch that jumps to another figure must not undo the rest.
const LONGEST_GRADIENT: f64 = 2.0;

/// Teaches a network by the error of the alignment; returns the best of all passes by the error on `validation`, which may be
/// the network as it was. `tell` gets every pass's number (0: before), the mean error on the training pieces (none before) and on
/// `validation`, both in milliseconds.
pub fn train_through_alignment(
    ctx: &JobContext,
    start: &OnsetNetwork,
    sounds: &[AlignedSound],
    validation: &[AlignedSound],
    params: &AlignmentTraining,
    tell: &dyn Fn(usize, Option<f64>, f64),
) -> Result<OnsetNetwork> {
    let judged = stretches(validation, &mut |_| (0, 0.0));
    if judged.is_empty() || stretches(sounds, &mut |_| (0, 0.0)).is_empty() {
        let cause = format!("no piece has {CHORDS} chords with true times");
        return Err(Error::unsuitable("the labelled pieces", cause, "give longer pieces for training and validation"));
    }
    let mut network = start.clone();
    let mut best = (mean_error_ms(ctx, validation, &network, &judged)?, start.clone());
    tell(0, None, best.0);
    let adam = AdamParams { learning_rate: params.learning_rate, ..AdamParams::default() };
    let mut adam = Adam::new(adam, network.parameters.len())?;
    for pass in 1..=params.passes {
        let mut random = Random::at(params.seed, &[11, pass as u64]);
        let mut plan = stretches(sounds, &mut |most| {
            (random.between(0.0, most as f64) as usize, random.between(-LONGEST_SHIFT_S, LONGEST_SHIFT_S))
        });
        random.shuffle(&mut plan);
        let (mut sum, mut count) = (0.0, 0);
        let batches = plan.len().div_ceil(BATCH);
        for (batch, stretches) in plan.chunks(BATCH).enumerate() {
            let progress = ((pass - 1) as f64 + batch as f64 / batches as f64) / params.passes as f64;
            ctx.report("learning from the alignment", progress as f32)?;
            let (losses, mut gradient) = batch_gradient(ctx, sounds, &network, stretches)?;
            if let Some(usual) = adam.usual_length() {
                crate::learning::shorten(&mut gradient, LONGEST_GRADIENT * usual);
            }
            adam.set_learning_rate(params.learning_rate * 0.5 * (1.0 + (std::f64::consts::PI * progress).cos()));
            adam.step(&mut network.parameters, &gradient)?;
            sum += losses.iter().sum::<f64>();
            count += losses.len();
        }
        let error_ms = mean_error_ms(ctx, validation, &network, &judged)?;
        tell(pass, Some(1000.0 * sum / count.max(1) as f64), error_ms);
        if error_ms < best.0 {
            best = (error_ms, network.clone());
        }
    }
    Ok(best.1)
}

/// Stretches of all sounds, one after the other; `draw` gets how many chords may be left out before the first one of a sound, and
/// says how many are, and how far beside the truth the band is.
fn stretches(sounds: &[AlignedSound], draw: &mut dyn FnMut(usize) -> (usize, f64)) -> Vec<Stretch> {
    let mut plan = Vec::new();
    for (sound, labelled) in sounds.iter().enumerate() {
        let spare = labelled.chords.len() % CHORDS;
        let (mut first, _) = draw(spare);
        while first + CHORDS <= labelled.chords.len() {
            plan.push(Stretch { sound, chords: first..first + CHORDS, shift_s: draw(1).1 });
            first += CHORDS;
        }
    }
    plan
}

/// The losses of a batch and their mean gradient. Does not depend on the number of threads.
fn batch_gradient(
    ctx: &JobContext,
    sounds: &[AlignedSound],
    network: &OnsetNetwork,
    plan: &[Stretch],
) -> Result<(Vec<f64>, Vec<f32>)> {
    let of_one = |stretch: &Stretch| {
        let mut gradient = vec![0.0; network.parameters.len()];
        let loss = stretch_loss(&ctx.quiet(), &sounds[stretch.sound], network, stretch, Some(&mut gradient))?;
        Ok((loss, gradient))
    };
    let parts = plan.par_iter().map(of_one).collect::<Result<Vec<_>>>()?;
    let mut gradient = vec![0.0; network.parameters.len()];
    for (_, part) in &parts {
        gradient.iter_mut().zip(part).for_each(|(sum, value)| *sum += value / plan.len() as f32);
    }
    Ok((parts.into_iter().filter_map(|(loss, _)| loss).collect(), gradient))
}

fn mean_error_ms(ctx: &JobContext, sounds: &[AlignedSound], network: &OnsetNetwork, plan: &[Stretch]) -> Result<f64> {
    let error = |stretch: &Stretch| stretch_loss(&ctx.quiet(), &sounds[stretch.sound], network, stretch, None);
    let errors = plan.par_iter().map(error).collect::<Result<Vec<_>>>()?;
    let errors: Vec<f64> = errors.into_iter().flatten().collect();
    Ok(1000.0 * errors.iter().sum::<f64>() / errors.len().max(1) as f64)
}
