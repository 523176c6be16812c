//! Learning from the notes that were played: where each of them begins.

use std::path::Path;

use candle_core::Tensor;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::super::augmentation::LevelChange;
use super::super::data::{PieceFiles, load_all};
use super::super::params::TrainParams;
use super::super::trainer::Epoch;
use super::lesson::Material;
use super::sounds::levels_of;
use crate::audio;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::base::time::ANALYSIS_RATE;
use crate::evaluation::{BeatClock, read_ground_truth};
use crate::features::{LOWEST_SEMITONE, SEMITONE_BANDS, estimate_tuning};
use crate::networks::ear::{CHANNELS, CONTEXT, Levels, NETWORK_HOP, logits};
use crate::score::Score;

/// Frames of an example that are judged.
const JUDGED: usize = 36;
/// Frames of an example with what its first and last judged frame depend on.
const FRAMES: usize = JUDGED + 2 * CONTEXT;
/// Frames from an onset to where nothing is expected any more.
const REACH: f64 = 1.5;
/// Semitones to pitches that are easily taken for the one that is played.
const CONFUSABLE: [isize; 12] = [12, -12, 19, -19, 24, -24, 7, -7, 1, -1, 2, -2];
/// Examples that one thread draws at a time.
const CHUNK: usize = 16;
/// What the generators of an epoch are used for: no two draw the same numbers.
const PLACES: u64 = 1;
const SOUND: u64 = 2;

/// A recording with the onsets of the notes that were played.
#[derive(Debug, Clone)]
pub(in crate::learning) struct NoteSound {
    pub(super) levels: Levels,
    /// For each band the frames at which its notes begin, in order.
    pub(super) onsets: Vec<Vec<f64>>,
}

impl Material for Vec<NoteSound> {
    fn identify(&self, hasher: &mut Sha256) {
        for sound in self {
            sound.levels.identify(&mut |bytes| hasher.update(bytes));
            for onsets in &sound.onsets {
                hasher.update((onsets.len() as u64).to_le_bytes());
                onsets.iter().for_each(|onset| hasher.update(onset.to_le_bytes()));
            }
        }
    }

    fn epoch<'a>(&'a self, number: usize, params: &'a TrainParams) -> Box<dyn Epoch + 'a> {
        let places = draw_places(self, &mut Random::at(params.seed, &[PLACES, number as u64]));
        Box::new(Examples { sounds: self, params, places, number: number as u64 })
    }
}

/// The examples of one epoch.
struct Examples<'a> {
    sounds: &'a [NoteSound],
    params: &'a TrainParams,
    places: Vec<Place>,
    number: u64,
}

impl Epoch for Examples<'_> {
    fn steps(&self) -> usize {
        self.places.len().div_ceil(self.params.batch_size)
    }

    fn loss(&self, ctx: &JobContext, step: usize, parameters: &[Tensor]) -> candle_core::Result<Tensor> {
        let params = self.params;
        let places = &self.places[step * params.batch_size..((step + 1) * params.batch_size).min(self.places.len())];
        let mut inputs = vec![0.0; places.len() * FRAMES * CHANNELS];
        let mut targets = vec![0.0; places.len() * JUDGED];
        places
            .par_chunks(CHUNK)
            .zip(inputs.par_chunks_mut(CHUNK * FRAMES * CHANNELS))
            .zip(targets.par_chunks_mut(CHUNK * JUDGED))
            .enumerate()
            .for_each(|(chunk, ((places, inputs), targets))| {
                let mut random = Random::at(params.seed, &[SOUND, self.number, step as u64, chunk as u64]);
                let outs = inputs.chunks_exact_mut(FRAMES * CHANNELS).zip(targets.chunks_exact_mut(JUDGED));
                for (&place, (inputs, targets)) in places.iter().zip(outs) {
                    let change = if params.augmented { LevelChange::draw(&mut random) } else { LevelChange::none() };
                    fill(self.sounds, place, &change, &mut random, inputs, targets);
                }
            });
        let inputs = Tensor::from_vec(inputs, (places.len(), FRAMES, CHANNELS), parameters[0].device())?;
        let targets = Tensor::from_vec(targets, (places.len(), JUDGED), parameters[0].device())?;
        cross_entropy(&logits(ctx, &inputs, &parameters[0])?, &targets)
    }
}

/// The mean cross entropy of logits and targets from 0 to 1.
fn cross_entropy(logits: &Tensor, targets: &Tensor) -> candle_core::Result<Tensor> {
    // ln(1 + exp(x)) without overflow.
    let softplus = (logits.relu()? + (logits.abs()?.neg()?.exp()? + 1.0)?.log()?)?;
    (softplus - (logits * targets)?)?.mean_all()
}

/// Reads recordings with the notes that were played.
///
/// Labels are the notes of a `performance.mid` beside the recording, in the recording's own time, as a reproducing
/// piano writes it; where there is none, the notes of the score at the times of the true alignment.
pub(in crate::learning) fn load_note_sounds(ctx: &JobContext, files: &[PieceFiles]) -> Result<Vec<NoteSound>> {
    load_all(ctx, files, load_sound)
}

fn load_sound(ctx: &JobContext, piece: &PieceFiles) -> Result<NoteSound> {
    let clip = audio::decode(ctx, &piece.audio)?.clip;
    clip.check_usable(&piece.name)?;
    let levels = levels_of(ctx, &clip, estimate_tuning(ctx, &clip)?)?;
    let mut onsets = vec![Vec::new(); SEMITONE_BANDS];
    for (pitch, second) in played_notes(piece)? {
        let frame = second * f64::from(ANALYSIS_RATE) / NETWORK_HOP as f64;
        if let Some(band) = usize::from(pitch).checked_sub(LOWEST_SEMITONE).filter(|&band| band < SEMITONE_BANDS)
            && (0.0..levels.frames() as f64).contains(&frame)
        {
            onsets[band].push(frame);
        }
    }
    onsets.iter_mut().for_each(|frames| frames.sort_by(f64::total_cmp));
    if onsets.iter().all(Vec::is_empty) {
        return Err(Error::unsuitable(piece.name.clone(), "none of its notes is in the recording", "check its labels"));
    }
    Ok(NoteSound { levels, onsets })
}

fn played_notes(piece: &PieceFiles) -> Result<Vec<(u8, f64)>> {
    let performance = piece.audio.parent().unwrap_or(Path::new("")).join("performance.mid");
    if performance.is_file() {
        return Ok(Score::read(&performance)?.notes.iter().map(|note| (note.pitch, note.onset_s)).collect());
    }
    let score = Score::read(&piece.score)?;
    let truth = read_ground_truth(&piece.truth, Some(&BeatClock::of_score(&score)))?;
    let warp = crate::warping::Warp::new(truth.score_s, truth.performance_s)?;
    Ok(score.notes.iter().map(|note| (note.pitch, warp.at(note.onset_s))).collect())
}

/// A pitch over [`FRAMES`] frames from `first` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    pub sound: usize,
    pub band: usize,
    pub first: isize,
}

/// Examples round every onset: the note itself, two pitches easily taken for it, and any pitch.
fn draw_places(sounds: &[NoteSound], random: &mut Random) -> Vec<Place> {
    let mut places = Vec::new();
    for (sound, labelled) in sounds.iter().enumerate() {
        for (band, frames) in labelled.onsets.iter().enumerate() {
            for onset in frames {
                let mut add = |band: isize, random: &mut Random| {
                    let first = *onset as isize - CONTEXT as isize - random.between(0.0, JUDGED as f64) as isize;
                    if let Some(band) = usize::try_from(band).ok().filter(|&band| band < SEMITONE_BANDS) {
                        places.push(Place { sound, band, first });
                    }
                };
                add(band as isize, random);
                for _ in 0..2 {
                    let away = CONFUSABLE[random.between(0.0, CONFUSABLE.len() as f64) as usize];
                    add(band as isize + away, random);
                }
                add(random.between(0.0, 88.0) as isize, random);
            }
        }
    }
    random.shuffle(&mut places);
    places
}

/// Writes an example's inputs and what the network should say of its judged frames, 0 to 1.
fn fill(
    sounds: &[NoteSound],
    place: Place,
    change: &LevelChange,
    random: &mut Random,
    inputs: &mut [f32],
    targets: &mut [f32],
) {
    let sound = &sounds[place.sound];
    let random = std::cell::RefCell::new(random);
    sound.levels.changed_inputs(
        place.band,
        place.first,
        inputs,
        |level, _, _, band| change.level(level, band, &mut random.borrow_mut()),
        |attack| change.attack(attack, &mut random.borrow_mut()),
    );
    debug_assert_eq!(inputs.len(), FRAMES * CHANNELS);
    let onsets = &sound.onsets[place.band];
    for (index, target) in targets.iter_mut().enumerate() {
        let frame = (place.first + (CONTEXT + index) as isize) as f64;
        let next = onsets.partition_point(|&onset| onset < frame);
        let near = [next.checked_sub(1).map(|i| onsets[i]), onsets.get(next).copied()];
        let away = near.into_iter().flatten().map(|onset| (onset - frame).abs()).fold(f64::INFINITY, f64::min);
        *target = (1.0 - away / REACH).max(0.0) as f32;
    }
}
