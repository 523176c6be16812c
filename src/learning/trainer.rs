//! The training loop: epochs of steps, a validation after each, the best kept, all of it resumable.

use std::path::Path;
use std::time::{Duration, Instant};

use candle_core::{Device, Tensor, Var};
use sha2::{Digest, Sha256};

use super::checkpoint::{Checkpoint, EpochRecord, Identity, best_epoch};
use super::control::Control;
use super::extractor::SliceScores;
use super::optimiser::{Adam, shorten};
use super::params::{Schedule, TrainParams};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::networks::Model;
use crate::networks::ops::failed;

/// What is learned: a network, its data, its loss, and how it is judged.
pub(super) trait Lesson: Sync {
    /// What training starts from: all that is learned, as one flat vector.
    fn parameters(&self) -> Result<Vec<f32>>;

    /// Lengths of the parts of that vector which the loss takes apart.
    fn parts(&self) -> Vec<usize>;

    /// Where the network runs.
    fn device(&self) -> &Device;

    /// Adds to a hash the data that it learns from and is judged by.
    fn identify(&self, hasher: &mut Sha256);

    /// The examples of an epoch, drawn from the seed and the epoch's number alone.
    fn epoch(&self, number: usize) -> Result<Box<dyn Epoch + '_>>;

    /// How good these parameters are on the pieces to judge by.
    fn validate(&self, ctx: &JobContext, parameters: &[f32]) -> Result<SliceScores>;

    /// How good the alignment is without any network, if that can be said: what training has to beat.
    fn baseline(&self, _: &JobContext) -> Result<Option<SliceScores>> {
        Ok(None)
    }

    /// The model that these parameters make.
    fn model(&self, parameters: Vec<f32>) -> Result<Model>;
}

/// The examples of one epoch.
pub(super) trait Epoch {
    /// How many steps it has, at least one.
    fn steps(&self) -> usize;

    /// The loss of a step: a scalar from which gradients flow back to the [parts](Lesson::parts) of the parameters.
    fn loss(&self, ctx: &JobContext, step: usize, parameters: &[Tensor]) -> candle_core::Result<Tensor>;
}

/// What a training tells while it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TrainEvent {
    /// A batch is done.
    Step {
        /// The epoch under way, from 1.
        epoch: usize,
        /// Batches of it that are done.
        step: usize,
        /// Batches that it has.
        steps: usize,
        /// Loss of the batch.
        loss: f64,
        /// How long the rest will take at this pace, if all epochs are needed.
        left: Duration,
    },
    /// An epoch is done; 0 is the state before training.
    Epoch {
        /// Which.
        epoch: usize,
        /// What it brought.
        record: EpochRecord,
        /// Whether it is the best so far.
        is_best: bool,
    },
}

/// Where a training is kept while it runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckpointPlace<'a> {
    /// The file. If it exists, training goes on from it. It stays when training ends: whoever has put the model in safety
    /// deletes it.
    pub path: &'a Path,
    /// How often it is written; after each epoch it always is.
    pub every: Duration,
}

/// A finished training.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The model of the best epoch. Its card has the λ that was learned, but no word about data and metrics.
    pub model: Model,
    /// Epoch 0 and all that were trained.
    pub history: Vec<EpochRecord>,
    /// Which was best.
    pub best_epoch: usize,
}

/// Trains, or goes on with an interrupted training. The same seed, data and settings give the same bits, on any number
/// of threads, interrupted or not.
pub(super) fn train(
    ctx: &JobContext,
    lesson: &dyn Lesson,
    params: &TrainParams,
    checkpoint: Option<CheckpointPlace<'_>>,
    control: &Control,
    observe: &dyn Fn(TrainEvent),
) -> Result<Trained> {
    params.validate()?;
    let first = lesson.parameters()?;
    let run = Run { ctx, lesson, params, control, observe, identity: identity(&first, lesson, params) };
    let stored = match checkpoint {
        Some(place) => Checkpoint::read(place.path, &run.identity)?,
        None => None,
    };
    let mut state = State::new(first, stored, params)?;
    match run.epochs(&mut state, checkpoint) {
        // Stopped by the user: nothing that was learned is lost.
        Err(Error::Cancelled) => {
            run.store(&state, checkpoint)?;
            return Err(Error::Cancelled);
        }
        result => result?,
    }
    let best_epoch = best_epoch(&state.history);
    Ok(Trained { model: lesson.model(state.best)?, history: state.history, best_epoch })
}

/// What changes while training.
struct State {
    parameters: Vec<f32>,
    /// What is validated: the parameters, averaged over the last steps.
    average: Vec<f32>,
    /// The average at the end of the best epoch.
    best: Vec<f32>,
    optimiser: Adam,
    /// Steps done in the epoch under way, and how many it has (0 if that is not known yet).
    step: usize,
    steps: usize,
    loss_sum: f64,
    last_loss: f64,
    history: Vec<EpochRecord>,
}

impl State {
    fn new(first: Vec<f32>, stored: Option<Checkpoint>, params: &TrainParams) -> Result<Self> {
        let state = Self {
            optimiser: Adam::new(params.optimiser, first.len())?,
            average: first.clone(),
            best: first.clone(),
            parameters: first,
            step: 0,
            steps: 0,
            loss_sum: 0.0,
            last_loss: 0.0,
            history: Vec::new(),
        };
        let Some(stored) = stored else { return Ok(state) };
        if stored.parameters.len() != state.parameters.len() {
            let cause = "the checkpoint holds another number of parameters";
            return Err(Error::unsuitable("training", cause, "delete the checkpoint"));
        }
        Ok(Self {
            parameters: stored.parameters,
            average: stored.average,
            best: stored.best_parameters,
            optimiser: Adam::resume(params.optimiser, stored.optimiser_steps, stored.means, stored.squares)?,
            step: stored.step as usize,
            loss_sum: stored.loss_sum,
            history: stored.history,
            ..state
        })
    }

    fn share_of_epoch(&self) -> f64 {
        if self.steps == 0 { 0.0 } else { self.step as f64 / self.steps as f64 }
    }

    fn checkpoint(&self) -> Checkpoint {
        let (means, squares) = self.optimiser.memory();
        Checkpoint {
            step: self.step as u64,
            loss_sum: self.loss_sum,
            optimiser_steps: self.optimiser.steps(),
            history: self.history.clone(),
            parameters: self.parameters.clone(),
            average: self.average.clone(),
            best_parameters: self.best.clone(),
            means: means.to_vec(),
            squares: squares.to_vec(),
        }
    }
}

/// What stays the same while training.
struct Run<'a> {
    ctx: &'a JobContext,
    lesson: &'a dyn Lesson,
    params: &'a TrainParams,
    control: &'a Control,
    observe: &'a dyn Fn(TrainEvent),
    identity: Identity,
}

impl Run<'_> {
    /// Trains until the end.
    fn epochs(&self, state: &mut State, checkpoint: Option<CheckpointPlace<'_>>) -> Result<()> {
        if state.history.is_empty() {
            let event = self.finish_epoch(state, 0.0)?;
            (self.observe)(event);
        }
        let clock = Clock { begun: Instant::now(), from: self.progress(state) };
        let mut saved = Instant::now();
        while !self.is_finished(state) {
            let epoch = self.lesson.epoch(state.history.len())?;
            state.steps = epoch.steps();
            while state.step < state.steps {
                self.control.wait(self.ctx)?;
                self.step(state, &*epoch)?;
                self.tell(state, clock.left(self.progress(state)))?;
                if checkpoint.is_some_and(|place| saved.elapsed() >= place.every) {
                    self.store(state, checkpoint)?;
                    saved = Instant::now();
                }
            }
            let mean = state.loss_sum / state.steps.max(1) as f64;
            let event = self.finish_epoch(state, mean)?;
            // An epoch is reported once it cannot be lost any more.
            self.store(state, checkpoint)?;
            (self.observe)(event);
        }
        Ok(())
    }

    fn store(&self, state: &State, checkpoint: Option<CheckpointPlace<'_>>) -> Result<()> {
        match checkpoint {
            Some(place) => state.checkpoint().write(place.path, &self.identity),
            None => Ok(()),
        }
    }

    fn is_finished(&self, state: &State) -> bool {
        let epochs = state.history.len().saturating_sub(1);
        epochs >= self.params.epochs || epochs - best_epoch(&state.history) >= self.params.patience.max(1)
    }

    /// Share of all epochs that is done.
    fn progress(&self, state: &State) -> f64 {
        let epochs = state.history.len() as f64 - 1.0 + state.share_of_epoch();
        (epochs / self.params.epochs.max(1) as f64).clamp(0.0, 1.0)
    }

    fn step(&self, state: &mut State, epoch: &dyn Epoch) -> Result<()> {
        let (loss, mut gradient) = self.loss_and_gradient(state, epoch).map_err(|error| failed(self.ctx, &error))?;
        if let (Some(longest), Some(usual)) = (self.params.longest_gradient, state.optimiser.usual_length()) {
            shorten(&mut gradient, longest * usual);
        }
        state.optimiser.set_learning_rate(self.step_size(state));
        state.optimiser.step(&mut state.parameters, &gradient)?;
        // At first the average follows closely: it must forget where training started.
        let span = (1.0 + 0.1 * state.optimiser.steps() as f64).min(self.params.averaged_steps);
        let share = (1.0 / span) as f32;
        let pairs = state.average.iter_mut().zip(&state.parameters);
        pairs.for_each(|(average, value)| *average += share * (value - *average));
        state.last_loss = loss;
        state.loss_sum += loss;
        state.step += 1;
        Ok(())
    }

    fn loss_and_gradient(&self, state: &State, epoch: &dyn Epoch) -> candle_core::Result<(f64, Vec<f32>)> {
        let mut rest = &state.parameters[..];
        let mut parts = Vec::new();
        for length in self.lesson.parts() {
            let (part, tail) = rest.split_at(length);
            parts.push(Var::from_slice(part, length, self.lesson.device())?);
            rest = tail;
        }
        let tensors: Vec<Tensor> = parts.iter().map(|part| part.as_tensor().clone()).collect();
        let loss = epoch.loss(&self.ctx.quiet(), state.step, &tensors)?;
        let gradients = loss.backward()?;
        let mut gradient = Vec::with_capacity(state.parameters.len());
        for part in &parts {
            match gradients.get(part) {
                Some(found) => gradient.extend(found.to_vec1::<f32>()?),
                None => gradient.resize(gradient.len() + part.elem_count(), 0.0),
            }
        }
        Ok((f64::from(loss.to_scalar::<f32>()?), gradient))
    }

    fn step_size(&self, state: &State) -> f64 {
        let first = self.params.optimiser.learning_rate;
        match self.params.schedule {
            Schedule::HalvedWhenWorse => halved(first, &state.history),
            Schedule::Cosine => first * 0.5 * (1.0 + (std::f64::consts::PI * self.progress(state)).cos()),
        }
    }

    fn tell(&self, state: &State, left: Duration) -> Result<()> {
        let (epoch, step, steps) = (state.history.len(), state.step, state.steps);
        (self.observe)(TrainEvent::Step { epoch, step, steps, loss: state.last_loss, left });
        let stage = format!("epoch {epoch} of {}, {} left", self.params.epochs, in_words(left));
        self.ctx.report(&stage, self.progress(state).min(0.999) as f32)
    }

    /// Validates the average, and keeps it if it is the best so far. If not, and if steps are halved then, training goes on from
    /// the best: the loss is full of places where a slice falls into a wrong figure, and few ways lead out again.
    fn finish_epoch(&self, state: &mut State, training_loss: f64) -> Result<TrainEvent> {
        let SliceScores { time_err_ms, time_dev_ms, .. } = self.lesson.validate(&self.ctx.quiet(), &state.average)?;
        let record = EpochRecord { training_loss, time_err_ms, time_dev_ms };
        let is_best = state.history.iter().all(|earlier| record.time_err_ms < earlier.time_err_ms);
        if is_best {
            state.best.clone_from(&state.average);
        } else if self.params.schedule == Schedule::HalvedWhenWorse {
            state.parameters.clone_from(&state.best);
            state.average.clone_from(&state.best);
        }
        let event = TrainEvent::Epoch { epoch: state.history.len(), record, is_best };
        state.history.push(record);
        (state.step, state.steps, state.loss_sum) = (0, 0, 0.0);
        Ok(event)
    }
}

/// Half as long steps after every epoch that was no better: the way is then finer than the steps.
fn halved(first: f64, history: &[EpochRecord]) -> f64 {
    let mut best = f64::INFINITY;
    let mut failures = 0;
    for record in history {
        if record.time_err_ms < best {
            best = record.time_err_ms;
        } else {
            failures += 1;
        }
    }
    first * 0.5_f64.powi(failures)
}

/// Tells the time left from the pace since the start, which may be in the middle of a resumed training.
struct Clock {
    begun: Instant,
    from: f64,
}

impl Clock {
    fn left(&self, progress: f64) -> Duration {
        let done = progress - self.from;
        if done <= 0.0 {
            return Duration::ZERO;
        }
        Duration::from_secs_f64(self.begun.elapsed().as_secs_f64() * (1.0 - progress) / done)
    }
}

fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

fn identity(first: &[f32], lesson: &dyn Lesson, params: &TrainParams) -> Identity {
    let mut hasher = Sha256::new();
    // The number of epochs may be raised to train on, and patience changed: neither changes a step that is done.
    let settings = TrainParams { epochs: 0, patience: 0, ..*params };
    hasher.update(serde_json::to_vec(&settings).unwrap_or_default());
    first.iter().for_each(|value| hasher.update(value.to_le_bytes()));
    lesson.identify(&mut hasher);
    hasher.finalize().into()
}

#[cfg(test)]
#[path = "trainer_tests.rs"]
mod tests;
