//! Labelled recordings, and the examples that are drawn from them.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::disguise::Disguise;
use super::levels::{CHANNELS, Levels, NETWORK_HOP};
use super::network::CONTEXT;
use crate::audio;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::base::time::ANALYSIS_RATE;
use crate::evaluation::{BeatClock, read_ground_truth};
use crate::features::{LOWEST_SEMITONE, SEMITONE_BANDS, SemitoneAnalyzer, SemitoneParams, attacks, estimate_tuning};
use crate::learning::PieceFiles;
use crate::score::Score;

/// Frames of an example that are judged.
pub(super) const JUDGED: usize = 36;
/// Frames of an example with what its first and last judged frame depend on.
pub(super) const FRAMES: usize = JUDGED + 2 * CONTEXT;
/// Frames from an onset to where nothing is expected any more.
const REACH: f64 = 1.5;
/// Semitones to pitches that are easily taken for the one that is played.
const CONFUSABLE: [isize; 12] = [12, -12, 19, -19, 24, -24, 7, -7, 1, -1, 2, -2];
/// Frames that are analysed at a time.
const CHUNK: usize = 4096;

/// A recording with the onsets of the notes that were played.
#[derive(Debug, Clone)]
pub struct LabelledSound {
    pub(super) levels: Levels,
    /// For each band the frames at which its notes begin, in order.
    pub(super) onsets: Vec<Vec<f64>>,
}

/// The levels of a whole recording.
pub fn levels_of(ctx: &JobContext, clip: &audio::AudioClip, tuning_semitones: f64) -> Result<Levels> {
    let params = SemitoneParams { hop: NETWORK_HOP, tuning_semitones };
    let analyzer = SemitoneAnalyzer::new(ctx, clip, &params)?;
    let mut levels = Levels::default();
    for first in (0..analyzer.frames()).step_by(CHUNK) {
        let spectra = analyzer.spectra(ctx, first..first + CHUNK)?;
        (0..spectra.frames()).for_each(|index| levels.push(&spectra, index));
    }
    levels.set_attacks(&attacks(ctx, clip, NETWORK_HOP / 2)?);
    Ok(levels)
}

/// Reads labelled recordings.
///
/// Labels are the notes of a `performance.mid` beside the recording, in the recording's own time, as a reproducing
/// piano writes it; where there is none, the notes of the score at the times of the true alignment.
pub fn load_sounds(ctx: &JobContext, files: &[PieceFiles]) -> Result<Vec<LabelledSound>> {
    let done = std::sync::atomic::AtomicUsize::new(0);
    files
        .par_iter()
        .map(|piece| {
            let sound = load_sound(&ctx.quiet(), piece)?;
            let count = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            ctx.report("reading the data", count as f32 / files.len() as f32)?;
            Ok(sound)
        })
        .collect()
}

fn load_sound(ctx: &JobContext, piece: &PieceFiles) -> Result<LabelledSound> {
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
    Ok(LabelledSound { levels, onsets })
}

fn played_notes(piece: &PieceFiles) -> Result<Vec<(u8, f64)>> {
    let performance: PathBuf = piece.audio.parent().unwrap_or(Path::new("")).join("performance.mid");
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
pub(super) struct Place {
    pub sound: usize,
    pub band: usize,
    pub first: isize,
}

/// Examples round every onset: the note itself, two pitches easily taken for it, and any pitch.
pub(super) fn draw_places(sounds: &[LabelledSound], random: &mut Random) -> Vec<Place> {
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
pub(super) fn fill(
    sounds: &[LabelledSound],
    place: Place,
    disguise: &Disguise,
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
        |level, _, _, band| disguise.level(level, band, &mut random.borrow_mut()),
        |attack| disguise.attack(attack, &mut random.borrow_mut()),
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
