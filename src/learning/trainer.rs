//! The training loop: epochs of batches, a validation after each, the best kept, all of it resumable.

use std::path::Path;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::adam::{Adam, shorten};
use super::batch::{SliceBatch, batch_loss};
use super::checkpoint::{Checkpoint, EpochRecord, Identity};
use super::control::Control;
use super::dataset::Piece;
use super::epoch::{EpochSlices, training_plans};
use super::parameters::Parameters;
use super::slice_test::{SliceScores, TestSetup, test_slices};
use super::train_params::TrainParams;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::networks::Extractor;
use crate::networks::gru::InputGradient;

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

/// The pieces to learn from and the pieces to judge by.
#[derive(Debug, Clone, Copy)]
pub struct TrainingData<'a> {
    /// To learn from.
    pub training: &'a [Piece],
    /// To choose the best epoch by; no score should be in both.
    pub validation: &'a [Piece],
}

/// Where a training is kept while it runs.
#[derive(Debug, Clone, Copy)]
pub struct CheckpointPlace<'a> {
    /// The file. If it exists, training goes on from it; when training ends, it is deleted.
    pub path: &'a Path,
    /// How often it is written; after each epoch it always is.
    pub every: Duration,
}

/// A finished training.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The extractor of the best epoch. Its card has the λ that was learned, but no word about data and metrics.
    pub extractor: Extractor,
    /// Epoch 0 and all that were trained.
    pub history: Vec<EpochRecord>,
    /// Which was best.
    pub best_epoch: usize,
}

/// Trains an extractor, or goes on with an interrupted training. The same seed, data and settings give the same bits,
/// on any number of threads, interrupted or not.
pub fn train(
    ctx: &JobContext,
    start: &Extractor,
    data: TrainingData<'_>,
    params: &TrainParams,
    checkpoint: Option<CheckpointPlace<'_>>,
    control: &Control,
    observe: &dyn Fn(TrainEvent),
) -> Result<Trained> {
    params.validate()?;
    let first = Parameters::of(start);
    let run = Run { ctx, start, data, params, control, observe, identity: identity(&first, data, params) };
    let stored = match checkpoint {
        Some(place) => Checkpoint::read(place.path, &run.identity)?,
        None => None,
    };
    let mut state = State::new(&first, stored, params)?;
    match run.epochs(&mut state, checkpoint) {
        // Stopped by the user: nothing that was learned is lost.
        Err(Error::Cancelled) => {
            run.store(&state, checkpoint)?;
            return Err(Error::Cancelled);
        }
        result => result?,
    }
    let best = state.checkpoint().best_epoch();
    let parameters = state.best;
    let mut card = start.card.clone();
    if params.learns_lambda {
        card.lambda = parameters.lambda();
    }
    let trained = Trained { extractor: parameters.extractor(card)?, history: state.history, best_epoch: best };
    if let Some(place) = checkpoint {
        // Done: a file that stays behind would only make the next training return at once.
        let _ = std::fs::remove_file(place.path);
    }
    Ok(trained)
}

/// What changes while training.
struct State {
    parameters: Parameters,
    /// What is validated: the parameters, averaged over the last steps.
    average: Parameters,
    /// The average at the end of the best epoch.
    best: Parameters,
    optimiser: Adam,
    /// Steps done in the epoch under way, and how many it has (0 if that is not known yet).
    step: usize,
    steps: usize,
    loss_sum: f64,
    last_loss: f64,
    history: Vec<EpochRecord>,
}

impl State {
    fn new(first: &Parameters, stored: Option<Checkpoint>, params: &TrainParams) -> Result<Self> {
        let Some(stored) = stored else {
            let optimiser = Adam::new(params.optimiser, first.values.len())?;
            return Ok(Self {
                parameters: first.clone(),
                average: first.clone(),
                best: first.clone(),
                optimiser,
                step: 0,
                steps: 0,
                loss_sum: 0.0,
                last_loss: 0.0,
                history: Vec::new(),
            });
        };
        let fits = |values| {
            let cause = "the checkpoint holds another number of parameters";
            first.with_values(values).ok_or_else(|| Error::unsuitable("training", cause, "delete the checkpoint"))
        };
        Ok(Self {
            parameters: fits(stored.parameters)?,
            average: fits(stored.average)?,
            best: fits(stored.best_parameters)?,
            optimiser: Adam::resume(params.optimiser, stored.optimiser_steps, stored.means, stored.squares)?,
            step: stored.step as usize,
            steps: 0,
            loss_sum: stored.loss_sum,
            last_loss: 0.0,
            history: stored.history,
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
            parameters: self.parameters.values.clone(),
            average: self.average.values.clone(),
            best_parameters: self.best.values.clone(),
            means: means.to_vec(),
            squares: squares.to_vec(),
        }
    }
}

/// What stays the same while training.
struct Run<'a> {
    ctx: &'a JobContext,
    start: &'a Extractor,
    data: TrainingData<'a>,
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
        let clock = Clock { begun: Instant::now(), from: self.progress(state, state.share_of_epoch()) };
        let mut saved = Instant::now();
        while !self.is_finished(state) {
            let plans = training_plans(self.data.training, self.params, state.history.len());
            if plans.is_empty() {
                let remedy = "give longer pieces or shorter slices";
                return Err(Error::unsuitable("the training data", "no slice fits into any piece", remedy));
            }
            let slices = EpochSlices {
                pieces: self.data.training,
                plans: &plans,
                params: self.params,
                epoch: state.history.len(),
                kind: self.start.card.features,
            };
            state.steps = plans.len().div_ceil(self.params.batch_size);
            state.optimiser.set_learning_rate(step_size(self.params.optimiser.learning_rate, &state.history));
            while state.step < state.steps {
                self.control.wait(self.ctx)?;
                self.step(state, &slices)?;
                self.tell(state, clock.left(self.progress(state, state.share_of_epoch())))?;
                if checkpoint.is_some_and(|place| saved.elapsed() >= place.every) {
                    self.store(state, checkpoint)?;
                    saved = Instant::now();
                }
            }
            let mean = state.loss_sum / state.steps as f64;
            let event = self.finish_epoch(state, mean)?;
            // An epoch is told of once it cannot be lost any more.
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
        epochs >= self.params.epochs || epochs - state.checkpoint().best_epoch() >= self.params.patience.max(1)
    }

    /// Share of all epochs that is done.
    fn progress(&self, state: &State, share_of_epoch: f64) -> f64 {
        ((state.history.len() as f64 - 1.0 + share_of_epoch) / self.params.epochs.max(1) as f64).clamp(0.0, 1.0)
    }

    fn step(&self, state: &mut State, slices: &EpochSlices<'_>) -> Result<()> {
        let batch = slices.batch(state.step);
        let view = SliceBatch {
            score_s: &batch.score_s,
            performance_s: &batch.performance_s,
            dim: self.start.card.input_dim,
            score: &batch.score,
            performance: &batch.performance,
            truths: &batch.truths,
        };
        let lambda = state.parameters.lambda();
        let networks = state.parameters.networks()?;
        let loss = batch_loss(&self.ctx.quiet(), self.params.method, lambda, networks, &view, InputGradient::Skipped)?;
        let mut gradient = state.parameters.gradient(&loss, self.params.learns_lambda);
        if let Some(usual) = state.optimiser.usual_length() {
            shorten(&mut gradient, self.params.longest_gradient * usual);
        }
        state.optimiser.step(&mut state.parameters.values, &gradient)?;
        // At first the average follows closely: it must forget where training started.
        let span = (1.0 + 0.1 * state.optimiser.steps() as f64).min(self.params.averaged_steps);
        state.average.approach(&state.parameters, 1.0 / span);
        state.last_loss = loss.value;
        state.loss_sum += loss.value;
        state.step += 1;
        Ok(())
    }

    fn tell(&self, state: &State, left: Duration) -> Result<()> {
        let (epoch, step, steps) = (state.history.len(), state.step, state.steps);
        (self.observe)(TrainEvent::Step { epoch, step, steps, loss: state.last_loss, left });
        let stage = format!("epoch {epoch} of {}, {} left", self.params.epochs, in_words(left));
        self.ctx.report(&stage, self.progress(state, state.share_of_epoch()).min(0.999) as f32)
    }

    /// Validates the average, and keeps it if it is the best so far. If not, training goes on from the best: the loss is full of
    /// places where a slice falls into a wrong figure, and few ways lead out again.
    fn finish_epoch(&self, state: &mut State, training_loss: f64) -> Result<TrainEvent> {
        let scores = self.validate(&state.average)?;
        let lambda = state.average.lambda();
        let record =
            EpochRecord { training_loss, time_err_ms: scores.time_err_ms, time_dev_ms: scores.time_dev_ms, lambda };
        let is_best = state.history.iter().all(|earlier| record.time_err_ms < earlier.time_err_ms);
        if is_best {
            state.best = state.average.clone();
        } else {
            state.parameters = state.best.clone();
            state.average = state.best.clone();
        }
        let event = TrainEvent::Epoch { epoch: state.history.len(), record, is_best };
        state.history.push(record);
        (state.step, state.loss_sum) = (0, 0.0);
        Ok(event)
    }

    fn validate(&self, parameters: &Parameters) -> Result<SliceScores> {
        let setup = TestSetup {
            features: self.start.card.features,
            networks: Some(parameters.networks()?),
            lambda: parameters.lambda(),
            slices: self.params.slices,
            seed: self.params.seed,
        };
        let scores = test_slices(&self.ctx.quiet(), self.data.validation, &setup, &[self.params.method.aligner()])?;
        Ok(scores[0])
    }
}

/// Half as long steps after every epoch that was no better: the way is then finer than the steps.
fn step_size(first: f64, history: &[EpochRecord]) -> f64 {
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

fn identity(first: &Parameters, data: TrainingData<'_>, params: &TrainParams) -> Identity {
    let mut hasher = Sha256::new();
    // The number of epochs may be raised to train on, and patience changed: neither changes a step.
    let settings = TrainParams { epochs: 0, patience: 0, ..*params };
    hasher.update(serde_json::to_vec(&settings).unwrap_or_default());
    first.values.iter().for_each(|value| hasher.update(value.to_le_bytes()));
    for pieces in [data.training, data.validation] {
        hasher.update((pieces.len() as u64).to_le_bytes());
        for piece in pieces {
            for values in [&piece.score.values, &piece.performance.values] {
                hasher.update((values.len() as u64).to_le_bytes());
                values.iter().for_each(|value| hasher.update(value.to_le_bytes()));
            }
            for times in [&piece.truth.score_s, &piece.truth.performance_s] {
                times.iter().for_each(|time| hasher.update(time.to_le_bytes()));
            }
        }
    }
    hasher.finalize().into()
}

#[cfg(test)]
#[path = "trainer_tests.rs"]
mod tests;
