//! Learning from the notes that were played: chunks of recordings, some keys of each.

use candle_core::Tensor;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::super::augmentation::LevelChange;
use super::super::loss_op::loss_of;
use super::super::params::TrainParams;
use super::super::trainer::Epoch;
use super::lesson::Material;
use super::note_loss::{NoteLoss, Target, targets};
use super::note_sounds::NoteSound;
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::networks::EarSpec;
use crate::networks::ear::{PITCHES, Scene, hear};

/// Frames of a chunk: 2.2 s.
const FRAMES: usize = 192;
/// Frames at either end of a chunk that are not judged: the network has not heard what is beyond.
const EDGE: usize = 6;
/// Keys of a chunk that are listened for: those that sound up to `SOUNDING`, those easily taken for them up to `CONFUSABLE`, then any.
const KEYS: usize = 36;
const SOUNDING: usize = 26;
const CONFUSABLE: usize = 30;
/// Semitones to keys that are easily taken for the one that is played.
const CONFUSED: [isize; 12] = [12, -12, 19, -19, 24, 7, -7, 1, -1, 2, -2, 5];
/// A note this many frames beside a chunk may still sound in it.
const NEAR: f64 = 26.0;
/// What the generators of an epoch are used for: no two draw the same numbers.
const PLACES: u64 = 1;
const SOUND: u64 = 2;

impl Material for Vec<NoteSound> {
    fn teaches_problem(&self) -> bool {
        false
    }

    fn identify(&self, hasher: &mut Sha256) {
        hasher.update((self.len() as u64).to_le_bytes());
        self.iter().for_each(|sound| sound.identify(hasher));
    }

    fn epoch<'a>(&'a self, number: usize, spec: &'a EarSpec, params: &'a TrainParams) -> Box<dyn Epoch + 'a> {
        let places = draw_places(self, &mut Random::at(params.seed, &[PLACES, number as u64]));
        Box::new(Chunks { sounds: self, spec, params, places, number: number as u64 })
    }
}

/// [`FRAMES`] frames of a sound from `first` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    sound: usize,
    first: isize,
}

/// Chunks that cover what is known of every sound, each time cut elsewhere, in a random order.
fn draw_places(sounds: &[NoteSound], random: &mut Random) -> Vec<Place> {
    const JUDGED: usize = FRAMES - 2 * EDGE;
    let mut places = Vec::new();
    for (sound, labelled) in sounds.iter().enumerate() {
        let start = labelled.known.start as isize - EDGE as isize - random.between(0.0, JUDGED as f64) as isize;
        let end = labelled.known.end as isize;
        places.extend((start..end).step_by(JUDGED).map(|first| Place { sound, first }));
    }
    random.shuffle(&mut places);
    places
}

/// The chunks of one epoch.
struct Chunks<'a> {
    sounds: &'a [NoteSound],
    spec: &'a EarSpec,
    params: &'a TrainParams,
    places: Vec<Place>,
    number: u64,
}

impl Epoch for Chunks<'_> {
    fn steps(&self) -> usize {
        self.places.len().div_ceil(self.params.batch_size)
    }

    fn loss(&self, ctx: &JobContext, step: usize, parameters: &[Tensor]) -> candle_core::Result<Tensor> {
        let size = self.params.batch_size;
        let places = &self.places[step * size..((step + 1) * size).min(self.places.len())];
        let draw = |(index, &place): (usize, &Place)| {
            let mut random = Random::at(self.params.seed, &[SOUND, self.number, step as u64, index as u64]);
            let (mut scene, targets) = chunk(&self.sounds[place.sound], place.first, &mut random);
            if self.params.augmented {
                LevelChange::draw(&mut random).apply(&mut scene.rows, &mut random);
            }
            (scene, targets)
        };
        let drawn: Vec<(Scene, Vec<Target>)> = places.par_iter().enumerate().map(draw).collect();
        let (scenes, targets): (Vec<Scene>, Vec<Vec<Target>>) = drawn.into_iter().unzip();
        let answers = hear(ctx, self.spec, &parameters[0], &scenes)?;
        loss_of(&answers, NoteLoss { targets: targets.concat() })
    }
}

/// What is heard in a chunk, and what is right of it.
fn chunk(sound: &NoteSound, first: isize, random: &mut Random) -> (Scene, Vec<Target>) {
    let asked = choose_keys(sound, first, random);
    let is_judged = |index: usize| {
        let frame = first + index as isize;
        let is_known = usize::try_from(frame).is_ok_and(|frame| sound.known.contains(&frame));
        is_known && (EDGE..FRAMES - EDGE).contains(&index)
    };
    let ends_known = sound.keys.iter().flatten().all(|note| note.end.is_some());
    let of_key = |&key: &usize| targets(&sound.keys[key], first, FRAMES, ends_known, is_judged);
    let targets = asked.iter().flat_map(of_key).collect();
    (Scene { rows: sound.levels.rows(first..first + FRAMES as isize), asked }, targets)
}

/// The keys that are listened for in a chunk: what sounds, what is easily taken for it, and others.
fn choose_keys(sound: &NoteSound, first: isize, random: &mut Random) -> Vec<usize> {
    let (from, until) = (first as f64 - NEAR, (first + FRAMES as isize) as f64 + NEAR);
    let sounds = |&key: &usize| {
        let is_near = |onset: f64, end: f64| onset < until && end > from;
        sound.keys[key].iter().any(|note| is_near(note.onset, note.end.unwrap_or(note.onset)))
    };
    let mut keys: Vec<usize> = (0..PITCHES).filter(sounds).collect();
    random.shuffle(&mut keys);
    keys.truncate(SOUNDING);
    let sounding = keys.len();
    for _ in 0..if sounding > 0 { 40 } else { 0 } {
        let mut pick = |count: usize| (random.unit() * count as f64) as usize;
        let (key, away) = (keys[pick(sounding)], CONFUSED[pick(CONFUSED.len())]);
        let confused = key.checked_add_signed(away).filter(|&key| key < PITCHES);
        if let Some(key) = confused.filter(|key| keys.len() < CONFUSABLE && !keys.contains(key)) {
            keys.push(key);
        }
    }
    let mut others: Vec<usize> = (0..PITCHES).filter(|key| !keys.contains(key)).collect();
    random.shuffle(&mut others);
    keys.extend(others);
    keys.truncate(KEYS);
    keys
}
