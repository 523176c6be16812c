//! Plays a score through a SoundFont.
//!
//! The synthesizer works in blocks and starts notes at block boundaries only. Notes are therefore shared out among
//! [`BLOCK`] synthesizers, one for each place of an onset within the block grid, and the grid of each is shifted by
//! that place: every note begins exactly at its sample. How late the SoundFont itself speaks is measured and made up
//! for. The synthesizers are independent and run in parallel.

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;
use rustysynth::{Synthesizer, SynthesizerSettings};

use super::midi::LONGEST_SCORE_S;
use super::soundfont::SoundFont;
use super::types::Score;
use crate::audio::AudioClip;
use crate::base::containment::contained;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::time::{ANALYSIS_RATE, samples_to_seconds, seconds_to_samples};

/// How a score is played.
#[derive(Debug, Clone)]
pub struct SynthParams {
    /// What it is played with.
    pub soundfont: SoundFont,
    /// Samples per second, 16,000 to 192,000.
    pub sample_rate: u32,
    /// Seconds that ring on after the last note.
    pub tail_s: f64,
    /// Largest absolute sample of the result; `None` leaves the level to the SoundFont.
    pub peak: Option<f32>,
}

impl Default for SynthParams {
    /// The built-in piano at the analysis rate.
    fn default() -> Self {
        Self { soundfont: SoundFont::builtin(), sample_rate: ANALYSIS_RATE, tail_s: 1.0, peak: Some(0.9) }
    }
}

/// Plays a score at its own tempo. Onsets fall on the sample nearest to the score's times.
pub fn synthesise(ctx: &JobContext, score: &Score, params: &SynthParams) -> Result<AudioClip> {
    synthesise_mapped(ctx, score, params, &|second| second)
}

/// Plays a score re-timed: `time_map` turns seconds of the score into seconds of the clip and must not decrease.
/// Notes that it puts before zero are left out.
pub fn synthesise_mapped(
    ctx: &JobContext,
    score: &Score,
    params: &SynthParams,
    time_map: &dyn Fn(f64) -> f64,
) -> Result<AudioClip> {
    let rate = params.sample_rate;
    let end_s = time_map(score.end_s()) + params.tail_s;
    if !(end_s > 0.0 && end_s <= LONGEST_CLIP_S) {
        let allowed = format!("above zero and at most {LONGEST_CLIP_S} s");
        return Err(Error::invalid("length of the synthesised score", format!("{end_s} s"), allowed));
    }
    let length = seconds_to_samples(end_s, rate);
    let latency = latency_samples(params)?;
    let mut players = share_out(score, params, &|second| time_map(second) * f64::from(rate), latency)?;
    let mut samples = vec![0.0; length + BLOCK];
    let mut start = 0;
    while start < length {
        ctx.report("playing the score", (samples_to_seconds(start, rate) / end_s) as f32)?;
        let chunks: Vec<Vec<f32>> =
            players.par_iter_mut().map(|player| player.render_chunk(CHUNK_BLOCKS, params)).collect::<Result<_>>()?;
        for (phase, chunk) in chunks.iter().enumerate() {
            for (sum, value) in samples[(start + phase).min(length)..].iter_mut().zip(chunk) {
                *sum += value;
            }
        }
        start += CHUNK_BLOCKS * BLOCK;
    }
    samples.truncate(length);
    if let Some(peak) = params.peak {
        scale_to_peak(&mut samples, peak);
    }
    ctx.report("playing the score", 1.0)?;
    Ok(AudioClip { samples, sample_rate: rate })
}

/// Samples in a block of the synthesizer, and so the number of synthesizers.
const BLOCK: usize = 16;
/// Blocks that are rendered between two looks at cancellation: about six seconds.
const CHUNK_BLOCKS: usize = 8192;
/// A re-timed score may be this much longer than the longest score.
const LONGEST_CLIP_S: f64 = 3.0 * LONGEST_SCORE_S;
/// Softer notes than this are played at this velocity: the synthesizer would drop the very softest.
const SOFTEST_VELOCITY: u8 = 12;
/// What is played to measure how late a SoundFont speaks, for how long, and when it is heard.
const PROBE_PITCHES: [u8; 5] = [48, 55, 60, 67, 72];
const PROBE_VELOCITY: u8 = 80;
const PROBE_S: f64 = 0.1;
const HEARD_SHARE_OF_PEAK: f32 = 0.05;
const SUSTAIN_PEDAL: i32 = 64;
const PEDAL_DOWN_FROM: u8 = 64;

/// What a synthesizer receives. The order is that of events within one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    PedalUp,
    NoteOff { note: usize, pitch: u8 },
    Program(u8),
    NoteOn { note: usize, pitch: u8, velocity: u8 },
    PedalDown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    block: u64,
    action: Action,
    channel: u8,
}

/// One synthesizer with the events it has to play.
struct Player {
    synth: Synthesizer,
    events: Vec<Event>,
    next_event: usize,
    next_block: u64,
    /// The note that last struck a channel's key: only its end stops the key.
    struck_by: HashMap<(u8, u8), usize>,
}

/// Samples by which the SoundFont speaks late: silence at the start of its samples, delay of its envelopes.
fn latency_samples(params: &SynthParams) -> Result<usize> {
    let mut latencies = Vec::new();
    for pitch in PROBE_PITCHES {
        let on = Action::NoteOn { note: 0, pitch, velocity: PROBE_VELOCITY };
        let mut player = Player::new(params, vec![Event { block: 0, action: on, channel: 0 }])?;
        let blocks = seconds_to_samples(PROBE_S, params.sample_rate) / BLOCK;
        let sound = player.render_chunk(blocks, params)?;
        let peak = sound.iter().fold(0.0, |peak: f32, s| peak.max(s.abs()));
        latencies.extend(sound.iter().position(|s| s.abs() > HEARD_SHARE_OF_PEAK * peak));
    }
    latencies.sort_unstable();
    Ok(latencies.get(latencies.len() / 2).copied().unwrap_or(0))
}

/// Builds the players, each with the notes whose onsets fall on its place in the block grid. `sample_of` is where a
/// second of the score falls; everything is played `latency` samples before.
fn share_out(
    score: &Score,
    params: &SynthParams,
    sample_of: &dyn Fn(f64) -> f64,
    latency: usize,
) -> Result<Vec<Player>> {
    let sample_of = |second: f64| match sample_of(second).round() {
        early if early < 0.0 => early,
        // What begins the clip cannot be played earlier.
        sample => (sample - latency as f64).max(0.0),
    };
    let mut events: Vec<Vec<Event>> = vec![Vec::new(); BLOCK];
    for (index, note) in score.notes.iter().enumerate() {
        let (onset, offset) = (sample_of(note.onset_s), sample_of(note.offset_s));
        if !(onset >= 0.0 && offset.is_finite()) {
            continue;
        }
        let onset = onset as usize;
        let (block, phase) = ((onset / BLOCK) as u64, onset % BLOCK);
        let off_block = block_near(offset, phase).max(block + 1);
        let velocity = note.velocity.max(SOFTEST_VELOCITY);
        let channel = note.channel;
        let on = Action::NoteOn { note: index, pitch: note.pitch, velocity };
        events[phase].push(Event { block, action: on, channel });
        let off = Action::NoteOff { note: index, pitch: note.pitch };
        events[phase].push(Event { block: off_block, action: off, channel });
    }
    for (phase, events) in events.iter_mut().enumerate() {
        for change in &score.pedal {
            let block = block_near(sample_of(score.tempo.tick_to_seconds(change.tick as f64)), phase);
            // A pedal pressed at the end of a note comes too late for it; one block later, the note is released.
            let (block, action) =
                if change.value >= PEDAL_DOWN_FROM { (block + 1, Action::PedalDown) } else { (block, Action::PedalUp) };
            events.push(Event { block, action, channel: change.channel });
        }
        for change in &score.programs {
            let block = block_near(sample_of(score.tempo.tick_to_seconds(change.tick as f64)), phase);
            events.push(Event { block, action: Action::Program(change.program), channel: change.channel });
        }
        // Stable: of several programs or pedal values at one time the last holds.
        events.sort_by_key(|event| (event.block, event.action.order()));
    }
    events.into_iter().map(|events| Player::new(params, events)).collect()
}

/// The block of a shifted grid that begins nearest to a sample.
fn block_near(sample: f64, phase: usize) -> u64 {
    ((sample - phase as f64) / BLOCK as f64).round().max(0.0) as u64
}

impl Action {
    fn order(self) -> u8 {
        match self {
            Self::PedalUp => 0,
            Self::NoteOff { .. } => 1,
            Self::Program(_) => 2,
            Self::NoteOn { .. } => 3,
            Self::PedalDown => 4,
        }
    }
}

impl Player {
    fn new(params: &SynthParams, events: Vec<Event>) -> Result<Self> {
        let rate = i32::try_from(params.sample_rate).unwrap_or(i32::MAX);
        let mut settings = SynthesizerSettings::new(rate);
        settings.block_size = BLOCK;
        settings.enable_reverb_and_chorus = false;
        let synth = Synthesizer::new(params.soundfont.shared(), &settings)
            .map_err(|_| Error::invalid("sample rate", params.sample_rate, "between 16000 and 192000"))?;
        Ok(Self { synth, events, next_event: 0, next_block: 0, struck_by: HashMap::new() })
    }

    /// Renders the next blocks, mixed to mono.
    fn render_chunk(&mut self, blocks: usize, params: &SynthParams) -> Result<Vec<f32>> {
        // The synthesizer was written for sound SoundFonts and may panic on damaged ones.
        let rendered = contained(|| self.render_blocks(blocks));
        rendered.ok_or_else(|| {
            let path = params.soundfont.path().unwrap_or(Path::new("built-in SoundFont"));
            Error::malformed(path, "the SoundFont is damaged and cannot be played", "use another SF2 file")
        })
    }

    fn render_blocks(&mut self, blocks: usize) -> Vec<f32> {
        let mut left = vec![0.0; blocks * BLOCK];
        let mut right = vec![0.0; blocks * BLOCK];
        let last_block = self.next_block + blocks as u64;
        let mut done = 0;
        while self.next_block < last_block {
            while let Some(event) = self.events.get(self.next_event).filter(|e| e.block <= self.next_block) {
                let event = *event;
                self.next_event += 1;
                self.play(event);
            }
            let until = self.events.get(self.next_event).map_or(last_block, |e| e.block.min(last_block));
            let count = (until - self.next_block) as usize * BLOCK;
            self.synth.render(&mut left[done..done + count], &mut right[done..done + count]);
            done += count;
            self.next_block = until;
        }
        for (l, r) in left.iter_mut().zip(&right) {
            *l = 0.5 * (*l + r);
        }
        left
    }

    fn play(&mut self, event: Event) {
        let channel = i32::from(event.channel);
        match event.action {
            Action::PedalUp => self.synth.process_midi_message(channel, 0xB0, SUSTAIN_PEDAL, 0),
            Action::PedalDown => self.synth.process_midi_message(channel, 0xB0, SUSTAIN_PEDAL, 127),
            Action::Program(program) => self.synth.process_midi_message(channel, 0xC0, program.into(), 0),
            Action::NoteOn { note, pitch, velocity } => {
                // A key that is struck again while held was released in between, whatever the file says.
                if self.struck_by.insert((event.channel, pitch), note).is_some() {
                    self.synth.note_off(channel, pitch.into());
                }
                self.synth.note_on(channel, pitch.into(), velocity.into());
            }
            Action::NoteOff { note, pitch } => {
                if self.struck_by.get(&(event.channel, pitch)) == Some(&note) {
                    self.struck_by.remove(&(event.channel, pitch));
                    self.synth.note_off(channel, pitch.into());
                }
            }
        }
    }
}

fn scale_to_peak(samples: &mut [f32], peak: f32) {
    let largest = samples.iter().fold(0.0, |largest: f32, s| largest.max(s.abs()));
    if largest > 0.0 {
        samples.iter_mut().for_each(|s| *s *= peak / largest);
    }
}

#[cfg(test)]
#[path = "synth_tests.rs"]
mod tests;
