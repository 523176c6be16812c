//! What was heard of a performance, pitch by pitch: where notes begin, sound and end, and how sure that is.
//!
//! An ear fills it from a recording, [`Heard::of_notes`] from a performance that is known note by note (a reproducing piano's
//! MIDI, a transcription). Everything after it, the onset problem, the verdicts and the durations, reads only this.

use std::sync::LazyLock;

use crate::audio::AudioClip;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::time::{ANALYSIS_RATE, samples_to_seconds};
use crate::features::{EAR_HOP, EarAnalyzer};
use crate::networks::ear::Answer;
use crate::networks::{Ear, ProblemWeights};
use crate::score::Score;

/// What is said of one pitch at one frame. Odds are given as logits, that is logarithms of the odds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Odds that a note begins in this frame.
    pub begins: f32,
    /// Odds that a note sounds.
    pub sounds: f32,
    /// Odds that a note ends in this frame.
    pub ends: f32,
    /// Where a note that begins near by does so, in frames after this one.
    pub offset: f32,
    /// Logarithm of how far off `offset` typically is, in frames.
    pub scale: f32,
}

impl Moment {
    /// Nothing is heard.
    pub const SILENCE: Self =
        Self { begins: -MOST_ODDS, sounds: -MOST_ODDS, ends: -MOST_ODDS, offset: 0.0, scale: MOST_SCALE };
}

impl From<Answer> for Moment {
    fn from(Answer { begins, sounds, ends, offset, scale }: Answer) -> Self {
        Self { begins, sounds, ends, offset, scale }
    }
}

/// A note of a performance that is known exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayedNote {
    /// MIDI number.
    pub pitch: u8,
    /// Seconds of the performance.
    pub onset_s: f64,
    /// When the key is released, in seconds of the performance.
    pub offset_s: f64,
    /// MIDI velocity.
    pub velocity: u8,
}

/// Logits are kept between plus and minus this.
const MOST_ODDS: f32 = 12.0;
const STEPS_PER_ODD: f32 = 10.0;
/// Offsets are kept within so many frames.
const MOST_OFFSET: f32 = 2.0;
const STEPS_PER_FRAME: f32 = 60.0;
const MOST_SCALE: f32 = 2.0;
const LEAST_SCALE: f32 = -4.0;
const STEPS_PER_SCALE: f32 = 30.0;
/// What two frames say of an onset is of the same note if it differs by less than this, in frames.
const SAME_NOTE: f64 = 1.0;
/// What known notes count for in the onset problem: there are no faint ones among them, so they need less weight than an ear.
const KNOWN_WEIGHT: f64 = 0.6;
/// A known note is this sure.
const KNOWN_ODDS: f32 = 8.0;

/// A [`Moment`] in five bytes: an hour of 60 pitches takes 93 MB.
#[derive(Debug, Clone, Copy)]
struct Stored {
    begins: i8,
    sounds: i8,
    ends: i8,
    offset: i8,
    scale: i8,
}

impl Stored {
    fn new(moment: Moment) -> Self {
        let odds = |value: f32| (STEPS_PER_ODD * value.clamp(-MOST_ODDS, MOST_ODDS)).round() as i8;
        Self {
            begins: odds(moment.begins),
            sounds: odds(moment.sounds),
            ends: odds(moment.ends),
            offset: (STEPS_PER_FRAME * moment.offset.clamp(-MOST_OFFSET, MOST_OFFSET)).round() as i8,
            scale: (STEPS_PER_SCALE * moment.scale.clamp(LEAST_SCALE, MOST_SCALE)).round() as i8,
        }
    }

    fn moment(self) -> Moment {
        let odds = |value: i8| f32::from(value) / STEPS_PER_ODD;
        Moment {
            begins: odds(self.begins),
            sounds: odds(self.sounds),
            ends: odds(self.ends),
            offset: f32::from(self.offset) / STEPS_PER_FRAME,
            scale: f32::from(self.scale) / STEPS_PER_SCALE,
        }
    }
}

/// What was heard of a performance.
#[derive(Debug, Clone)]
pub struct Heard {
    frames: usize,
    /// By MIDI number; none where nobody listened, or, of a performance that is known, nothing was played.
    pitches: Vec<Option<Vec<Stored>>>,
    /// Whether all notes are known: then a pitch of which nothing is known was not played.
    is_known: bool,
    problem: ProblemWeights,
}

impl Heard {
    /// Nothing heard yet of a performance of so many frames.
    pub fn new(frames: usize) -> Self {
        Self { frames, pitches: vec![None; 128], is_known: false, problem: ProblemWeights::default() }
    }

    /// Listens to a recording, tuned `tuning_semitones` above A = 440 Hz, for some pitches.
    pub fn listen(
        ctx: &JobContext,
        ear: &Ear,
        recording: &AudioClip,
        tuning_semitones: f64,
        pitches: &[u8],
    ) -> Result<Self> {
        let analyzer = EarAnalyzer::new(ctx, recording, tuning_semitones)?;
        let mut heard = Self { problem: ear.card.spec.problem, ..Self::new(analyzer.frames()) };
        for (pitch, moments) in ear.listen(ctx, &analyzer, pitches, |answer| Stored::new(answer.into()))? {
            heard.pitches[usize::from(pitch & 127)] = Some(moments);
        }
        Ok(heard)
    }

    /// What is heard of a performance whose notes are known.
    pub fn of_notes(notes: &[PlayedNote], duration_s: f64) -> Self {
        let mut heard = Self::new((duration_s / Self::step_s()).ceil().max(0.0) as usize + 1);
        heard.add_notes(notes);
        heard.is_known = true;
        heard.problem.ear = KNOWN_WEIGHT;
        heard
    }

    /// Adds what is known to what was heard: each value becomes the surer one.
    pub fn add_notes(&mut self, notes: &[PlayedNote]) {
        let last = self.frames.saturating_sub(1);
        for note in notes {
            let at = |time_s: f64| time_s / Self::step_s();
            let (onset, offset) = (at(note.onset_s), at(note.offset_s.max(note.onset_s)));
            if !(0.0..=last as f64).contains(&onset) {
                continue;
            }
            let moments = self.pitches[usize::from(note.pitch & 127)]
                .get_or_insert_with(|| vec![Stored::new(Moment::SILENCE); self.frames]);
            let frame = |position: f64| (position.round().max(0.0) as usize).min(last);
            let near = frame(onset - 1.0)..=frame(onset + 1.0);
            for (here, stored) in near.clone().zip(&mut moments[near]) {
                let away = (onset - here as f64) as f32;
                let begins = KNOWN_ODDS * (1.0 - away.abs()).max(-1.0);
                let old = stored.moment();
                if begins > old.begins {
                    *stored = Stored::new(Moment { begins, offset: away, scale: LEAST_SCALE, ..old });
                }
            }
            for stored in &mut moments[frame(onset)..=frame(offset)] {
                *stored = Stored::new(Moment { sounds: KNOWN_ODDS, ..stored.moment() });
            }
            let end = &mut moments[frame(offset)];
            *end = Stored::new(Moment { ends: KNOWN_ODDS, ..end.moment() });
        }
    }

    /// What the parts of the onset problem count for with whoever listened.
    pub fn problem(&self) -> ProblemWeights {
        self.problem
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Seconds between frames; frame 0 is at 0 s.
    pub fn step_s() -> f64 {
        samples_to_seconds(EAR_HOP, ANALYSIS_RATE)
    }

    /// Whether all that was played is known, not only heard.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Whether a pitch was listened for, or all that was played is known.
    pub fn hears(&self, pitch: u8) -> bool {
        self.is_known || self.pitches.get(usize::from(pitch)).is_some_and(Option::is_some)
    }

    /// Says what was heard of a pitch, from the first frame to the last.
    #[cfg(test)]
    pub fn set(&mut self, pitch: u8, moments: impl Iterator<Item = Moment>) {
        let mut stored: Vec<Stored> = moments.take(self.frames).map(Stored::new).collect();
        stored.resize(self.frames, Stored::new(Moment::SILENCE));
        self.pitches[usize::from(pitch & 127)] = Some(stored);
    }

    /// What is said of a pitch at a frame; silence where nobody listened.
    pub fn at(&self, pitch: u8, frame: usize) -> Moment {
        let moments = self.pitches.get(usize::from(pitch)).and_then(Option::as_deref);
        moments.and_then(|moments| moments.get(frame)).map_or(Moment::SILENCE, |stored| stored.moment())
    }

    /// The notes that were clearly heard, by pitch and then by onset. Audio tells no velocity.
    pub fn notes(&self) -> Vec<PlayedNote> {
        const VELOCITY: u8 = 64;
        let mut notes = Vec::new();
        for (pitch, moments) in (0u8..).zip(&self.pitches) {
            let Some(moments) = moments else { continue };
            let begins = |frame: usize| moments.get(frame).map_or(i8::MIN, |moment| moment.begins);
            let is_peak = |&frame: &usize| {
                let (before, here) = (frame.checked_sub(1).map_or(i8::MIN, begins), begins(frame));
                here > 0 && here > before && here >= begins(frame + 1)
            };
            let onsets: Vec<usize> = (0..moments.len()).filter(is_peak).collect();
            for (index, &onset) in onsets.iter().enumerate() {
                let next = onsets.get(index + 1).copied().unwrap_or(moments.len());
                // The first frames of a note may not be called sounding yet.
                let end = (onset + 2..next).find(|&frame| moments[frame].sounds < 0).unwrap_or(next);
                let offset_s = end as f64 * Self::step_s();
                notes.push(PlayedNote { pitch, onset_s: self.onset_s(pitch, onset).0, offset_s, velocity: VELOCITY });
            }
        }
        notes
    }

    /// What the odds that a pitch begins at a frame count as evidence: see [`softplus`].
    pub fn evidence(&self, pitch: u8, frame: usize) -> f32 {
        static OF_STEPS: LazyLock<[f32; 256]> = LazyLock::new(|| {
            std::array::from_fn(|index| softplus(f64::from(index as u8 as i8) / f64::from(STEPS_PER_ODD)).0 as f32)
        });
        let moments = self.pitches.get(usize::from(pitch)).and_then(Option::as_deref);
        moments.and_then(|moments| moments.get(frame)).map_or(0.0, |stored| OF_STEPS[usize::from(stored.begins as u8)])
    }

    /// Where a note that begins near a frame does so, in seconds, and how far off that typically is.
    pub fn onset_s(&self, pitch: u8, frame: usize) -> (f64, f64) {
        let step = Self::step_s();
        let said = |frame: usize| {
            let moment = self.at(pitch, frame);
            (frame as f64 + f64::from(moment.offset), f64::from(moment.scale.exp()), moment.begins)
        };
        let (here, scale, _) = said(frame);
        // The frames beside it speak of the same note if they say about the same; each counts by how sure it is.
        let (mut sum, mut weight) = (0.0, 0.0);
        for beside in frame.saturating_sub(1)..=(frame + 1).min(self.frames.saturating_sub(1)) {
            let (onset, scale, begins) = said(beside);
            if beside == frame || (onset - here).abs() < SAME_NOTE {
                let counts = 1.0 / ((1.0 + f64::from(-begins).exp()) * scale * scale);
                (sum, weight) = (sum + counts * (onset - here), weight + counts);
            }
        }
        ((here + sum / weight) * step, scale * step)
    }
}

/// Odds below exp(-BIAS) count for nothing as evidence, above they count by their logarithm.
const BIAS: f64 = 3.0;

/// What a logit of the ear counts as evidence: its softplus with a bias, and the derivative of that.
pub(crate) fn softplus(logit: f64) -> (f64, f64) {
    let value = logit + BIAS;
    (value.max(0.0) + (-value.abs()).exp().ln_1p(), 1.0 / (1.0 + (-value).exp()))
}

/// The pitches of a score and those a semitone or two beside them, which are played instead now and then.
pub fn pitches_to_hear(score: &Score) -> Vec<u8> {
    const BESIDE: i16 = 2;
    let near = |pitch: u8| (-BESIDE..=BESIDE).filter_map(move |by| u8::try_from(i16::from(pitch) + by).ok());
    let mut pitches: Vec<u8> = score.notes.iter().flat_map(|note| near(note.pitch)).filter(|&p| p < 128).collect();
    pitches.sort_unstable();
    pitches.dedup();
    pitches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_note_is_heard_where_it_begins_sounds_and_ends() {
        let note = PlayedNote { pitch: 60, onset_s: 0.5037, offset_s: 0.8, velocity: 64 };
        let heard = Heard::of_notes(&[note], 2.0);
        let frame = (0.5037 / Heard::step_s()).round() as usize;
        for near in frame - 1..=frame + 1 {
            assert!((heard.onset_s(60, near).0 - 0.5037).abs() < 2e-4, "{near}");
        }
        assert!(heard.at(60, frame).begins > 3.0 && heard.at(60, frame + 4).begins < -3.0);
        assert!(heard.at(60, frame + 10).sounds > 3.0 && heard.at(60, frame + 40).sounds < -3.0);
        let end = (0.8 / Heard::step_s()).round() as usize;
        assert!(heard.at(60, end).ends > 3.0 && heard.at(60, end - 3).ends < -3.0);
        assert!(heard.hears(60) && heard.hears(61), "that nothing was played is known, too");
        let mut listened = Heard::new(100);
        listened.add_notes(&[note]);
        assert!(listened.hears(60) && !listened.hears(61));
        assert_eq!(heard.at(61, frame), Heard::of_notes(&[], 2.0).at(60, frame));
    }

    #[test]
    fn the_notes_that_were_heard_are_those_that_were_played() {
        let note =
            |pitch, onset_s: f64, length_s| PlayedNote { pitch, onset_s, offset_s: onset_s + length_s, velocity: 64 };
        let played = [note(60, 0.3, 0.2), note(60, 0.9, 0.4), note(67, 0.31, 1.0)];
        let heard = Heard::of_notes(&played, 3.0).notes();
        assert_eq!(heard.len(), played.len());
        for (heard, played) in heard.iter().zip(&played) {
            assert_eq!(heard.pitch, played.pitch);
            assert!((heard.onset_s - played.onset_s).abs() < 1e-3, "{heard:?}");
            assert!((heard.offset_s - played.offset_s).abs() < 0.03, "{heard:?}");
        }
    }
}
