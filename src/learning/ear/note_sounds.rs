//! Recordings with the notes that were played.

use std::ops::Range;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::super::data::{PieceFiles, load_all};
use super::levels::{FRAMES_PER_S, Levels};
use crate::audio;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::evaluation::{BeatClock, GroundTruth, read_ground_truth};
use crate::features::estimate_tuning;
use crate::networks::ear::{PITCHES, key};
use crate::score::{Note, PedalChange, Score};
use crate::warping::Warp;

/// A truth that has a row this near to an onset tells when it was played; elsewhere it is read between two rows.
const SAME_S: f64 = 1e-3;

/// A note, in frames of the recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlayedNote {
    pub onset: f64,
    /// When it stops to sound; none where only the score knows how long it is.
    pub end: Option<f64>,
    /// Whether the onset is known to a few milliseconds.
    pub is_exact: bool,
}

/// A recording with its notes.
#[derive(Debug, Clone)]
pub(in crate::learning) struct NoteSound {
    pub(super) levels: Levels,
    /// The notes of each key, by onset.
    pub(super) keys: Vec<Vec<PlayedNote>>,
    /// The frames within which all notes are known.
    pub(super) known: Range<usize>,
}

impl NoteSound {
    /// Puts each note to its key.
    pub(super) fn new(levels: Levels, notes: &[(u8, PlayedNote)], known: Range<f64>) -> Self {
        let mut keys = vec![Vec::new(); PITCHES];
        for &(pitch, note) in notes {
            if let Some(key) = key(pitch).filter(|_| (0.0..levels.frames() as f64).contains(&note.onset)) {
                keys[key].push(note);
            }
        }
        keys.iter_mut().for_each(|notes: &mut Vec<PlayedNote>| notes.sort_by(|a, b| a.onset.total_cmp(&b.onset)));
        let within = |frame: f64| (frame.max(0.0) as usize).min(levels.frames());
        let known = within(known.start)..within(known.end.ceil());
        Self { levels, keys, known }
    }

    /// Adds to a hash what tells this sound from others.
    pub(super) fn identify(&self, hasher: &mut Sha256) {
        self.levels.identify(hasher);
        for notes in &self.keys {
            hasher.update((notes.len() as u64).to_le_bytes());
            for note in notes {
                hasher.update(note.onset.to_le_bytes());
                hasher.update(note.end.unwrap_or(-1.0).to_le_bytes());
                hasher.update([u8::from(note.is_exact)]);
            }
        }
    }
}

/// Reads recordings with the notes that were played.
///
/// Labels are the notes of a `performance.mid` beside the recording, in the recording's own time, as a reproducing piano writes it, with
/// the pedal holding them; where there is none, the notes of the score at the times of the true alignment, as far as it reaches.
pub(in crate::learning) fn load_note_sounds(ctx: &JobContext, files: &[PieceFiles]) -> Result<Vec<NoteSound>> {
    load_all(ctx, files, load_sound)
}

fn load_sound(ctx: &JobContext, piece: &PieceFiles) -> Result<NoteSound> {
    let clip = audio::decode(ctx, &piece.audio)?.clip;
    clip.check_usable(&piece.name)?;
    let levels = Levels::of(ctx, &clip, estimate_tuning(ctx, &clip)?)?;
    let performance = piece.audio.parent().unwrap_or(Path::new("")).join("performance.mid");
    let sound = if performance.is_file() {
        let everything = 0.0..levels.frames() as f64;
        NoteSound::new(levels, &notes_of_performance(&Score::read(&performance)?), everything)
    } else {
        let score = Score::read(&piece.score)?;
        let truth = read_ground_truth(&piece.truth, Some(&BeatClock::of_score(&score)))?;
        let (notes, known) = notes_of_score(&score, &truth)?;
        NoteSound::new(levels, &notes, known)
    };
    if sound.keys.iter().all(Vec::is_empty) {
        return Err(Error::unsuitable(piece.name.clone(), "none of its notes is in the recording", "check its labels"));
    }
    Ok(sound)
}

/// Whether the pedal holds notes.
fn is_down(change: &PedalChange) -> bool {
    change.value >= 64
}

/// The notes of a performance, held by the pedal until it is lifted or the key is struck again.
pub(super) fn notes_of_performance(performance: &Score) -> Vec<(u8, PlayedNote)> {
    let lifted_s = |channel: u8, from_tick: u64| {
        let of_channel = || performance.pedal.iter().filter(move |change| change.channel == channel);
        let was_down = of_channel().rfind(|change| change.tick <= from_tick).is_some_and(is_down);
        let lifted = of_channel().find(|change| change.tick > from_tick && !is_down(change));
        let lifted_s = || lifted.map_or(f64::INFINITY, |change| performance.tempo.tick_to_seconds(change.tick as f64));
        was_down.then(lifted_s)
    };
    let end_s = performance.end_s();
    let notes = performance.notes.iter().enumerate().map(|(index, note)| {
        let struck_again = || {
            let same = |other: &&Note| other.pitch == note.pitch && other.channel == note.channel;
            performance.notes[index + 1..].iter().find(same).map_or(f64::INFINITY, |other| other.onset_s)
        };
        let held_s =
            lifted_s(note.channel, note.offset_tick).map_or(note.offset_s, |s| s.min(struck_again()).min(end_s));
        let end = Some(held_s.max(note.offset_s) * FRAMES_PER_S);
        (note.pitch, PlayedNote { onset: note.onset_s * FRAMES_PER_S, end, is_exact: true })
    });
    notes.collect()
}

/// Notes with their pitches.
pub(super) type PitchedNotes = Vec<(u8, PlayedNote)>;

/// The notes of a score where the truth says that they were played, and the frames that it covers.
pub(super) fn notes_of_score(score: &Score, truth: &GroundTruth) -> Result<(PitchedNotes, Range<f64>)> {
    let warp = Warp::new(truth.score_s.clone(), truth.performance_s.clone())?;
    let (first, last) = (truth.score_s[0], truth.score_s[truth.score_s.len() - 1]);
    let covered = score.notes.iter().filter(|note| (first - SAME_S..=last + SAME_S).contains(&note.onset_s));
    let notes = covered.map(|note| {
        let next = truth.score_s.partition_point(|&row| row < note.onset_s - SAME_S);
        let is_exact = truth.score_s.get(next).is_some_and(|&row| row <= note.onset_s + SAME_S);
        (note.pitch, PlayedNote { onset: warp.at(note.onset_s) * FRAMES_PER_S, end: None, is_exact })
    });
    Ok((notes.collect(), warp.at(first) * FRAMES_PER_S..warp.at(last) * FRAMES_PER_S))
}
