//! Where decoded samples go: mixed to mono, trimmed, checked and resampled, so that only the clip itself grows.

use std::path::{Path, PathBuf};

use symphonia::core::audio::GenericAudioBufferRef;

use super::complaints;
use crate::audio::resample::{LEGAL_RATES, StreamResampler};
use crate::base::error::{Error, Result};
use crate::base::time::{ANALYSIS_RATE, samples_to_seconds, seconds_to_samples};

/// The longest recording taken: the longest opera has room, and the clip stays below 3 GB.
const LONGEST_HOURS: usize = 8;

/// A file below this size that holds more than this is silence that would fill memory, or speech: that is 18 kbit/s.
const SMALL_BYTES: u64 = 10 << 20;
const LONGEST_OF_SMALL_S: usize = 75 * 60;

/// A file whose rate changes more often than this is damaged.
const MOST_RATE_CHANGES: usize = 16;

/// Float samples beyond this are no sound, and would overflow in later stages. Files that hold 32-bit integers as
/// floats without scaling stay below it.
const LOUDEST: f32 = 1e12;

/// Which of a track's decoded samples are the recording: `skip` of them are encoder delay, `keep` follow.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Trim {
    /// Leading samples to drop, in seconds.
    pub skip_s: f64,
    /// How much to keep after that, in seconds; all if `None`.
    pub keep_s: Option<f64>,
}

/// Collects a mono clip at the analysis rate.
pub(super) struct MonoSink {
    path: PathBuf,
    trim: Trim,
    stage: Option<Stage>,
    rate_changes: usize,
    interleaved: Vec<f32>,
    mono: Vec<f32>,
    clip: Vec<f32>,
    most_samples: usize,
    seconds_in: f64,
}

/// The part of the stream at one sample rate.
struct Stage {
    rate: u32,
    resampler: StreamResampler,
    skip_left: usize,
    keep_left: Option<usize>,
}

impl MonoSink {
    /// For a file of so many bytes, if that is known.
    pub(super) fn new(path: &Path, bytes: Option<u64>, trim: Trim) -> Self {
        let is_small = bytes.is_some_and(|bytes| bytes < SMALL_BYTES);
        let longest_s = if is_small { LONGEST_OF_SMALL_S } else { LONGEST_HOURS * 3600 };
        Self {
            most_samples: longest_s * ANALYSIS_RATE as usize,
            path: path.to_owned(),
            trim,
            stage: None,
            rate_changes: 0,
            interleaved: Vec::new(),
            mono: Vec::new(),
            clip: Vec::new(),
            seconds_in: 0.0,
        }
    }

    /// How much audio came in, in seconds, before trimming.
    pub(super) fn seconds_in(&self) -> f64 {
        self.seconds_in
    }

    /// Whether any audio came in, so that its rate is known.
    pub(super) fn has_begun(&self) -> bool {
        self.stage.is_some()
    }

    /// Takes one packet's audio: the mean of its channels.
    pub(super) fn push(&mut self, audio: &GenericAudioBufferRef<'_>) -> Result<()> {
        let channels = audio.spec().channels().count();
        if audio.is_empty() || channels == 0 {
            return Ok(());
        }
        let mut interleaved = std::mem::take(&mut self.interleaved);
        audio.copy_to_vec_interleaved(&mut interleaved);
        let result = self.push_interleaved(&interleaved, channels, audio.spec().rate());
        self.interleaved = interleaved;
        result
    }

    /// Takes samples of one or more channels: their mean.
    pub(super) fn push_interleaved(&mut self, interleaved: &[f32], channels: usize, rate: u32) -> Result<()> {
        self.mono.clear();
        mix_to_mono(interleaved, channels, &mut self.mono);
        if let Some(at) = self.mono.iter().position(|x| x.is_nan() || x.abs() > LOUDEST) {
            let time = self.seconds_in + at as f64 / f64::from(rate.max(1));
            return Err(Error::malformed(
                &self.path,
                format!("a sample at {time:.3} s is not a number, infinite or absurdly large"),
                "repair or export the recording again",
            ));
        }
        self.set_rate(rate)?;
        let mono = std::mem::take(&mut self.mono);
        let result = self.push_mono(&mono);
        self.mono = mono;
        result
    }

    /// Puts silence in the place of audio that could not be decoded, so that what follows keeps its time.
    pub(super) fn push_silence(&mut self, seconds: f64) -> Result<()> {
        let Some(stage) = &self.stage else { return Ok(()) };
        let silence = vec![0.0; seconds_to_samples(seconds, stage.rate)];
        self.push_mono(&silence)
    }

    /// Ends the stream and hands out the clip's samples.
    pub(super) fn finish(mut self) -> Result<Vec<f32>> {
        if let Some(stage) = self.stage.take() {
            stage.resampler.finish(&mut self.clip)?;
        }
        // Growing reserved up to twice what is needed.
        self.clip.shrink_to_fit();
        Ok(self.clip)
    }

    fn push_mono(&mut self, mono: &[f32]) -> Result<()> {
        let Some(stage) = &mut self.stage else { return Ok(()) };
        self.seconds_in += mono.len() as f64 / f64::from(stage.rate);
        let skipped = stage.skip_left.min(mono.len());
        stage.skip_left -= skipped;
        let mut mono = &mono[skipped..];
        if let Some(keep_left) = &mut stage.keep_left {
            mono = &mono[..mono.len().min(*keep_left)];
            *keep_left -= mono.len();
        }
        stage.resampler.push(mono, &mut self.clip)?;
        if self.clip.len() > self.most_samples {
            let is_small = self.most_samples < LONGEST_HOURS * 3600 * ANALYSIS_RATE as usize;
            return Err(if is_small { too_dense(&self.path) } else { too_long(&self.path) });
        }
        Ok(())
    }

    fn set_rate(&mut self, rate: u32) -> Result<()> {
        if self.stage.as_ref().is_some_and(|stage| stage.rate == rate) {
            return Ok(());
        }
        check_rate(&self.path, rate)?;
        let mut next = Stage {
            rate,
            resampler: StreamResampler::new(rate, ANALYSIS_RATE)?,
            skip_left: seconds_to_samples(self.trim.skip_s, rate),
            keep_left: self.trim.keep_s.map(|s| seconds_to_samples(s, rate)),
        };
        if let Some(previous) = self.stage.take() {
            self.rate_changes += 1;
            if self.rate_changes > MOST_RATE_CHANGES {
                return Err(complaints::too_damaged(&self.path, "the sample rate changes again and again"));
            }
            let at_new_rate = |left| seconds_to_samples(samples_to_seconds(left, previous.rate), rate);
            next.keep_left = previous.keep_left.map(at_new_rate);
            next.skip_left = at_new_rate(previous.skip_left);
            previous.resampler.finish(&mut self.clip)?;
        }
        self.stage = Some(next);
        Ok(())
    }
}

/// Refuses a recording whose header says that it is too long.
pub(super) fn check_length(path: &Path, seconds: f64) -> Result<()> {
    if seconds > 3600.0 * LONGEST_HOURS as f64 { Err(too_long(path)) } else { Ok(()) }
}

fn too_long(path: &Path) -> Error {
    Error::limit(path, format!("the recording is longer than {LONGEST_HOURS} hours"), "cut it into movements")
}

fn too_dense(path: &Path) -> Error {
    let minutes = LONGEST_OF_SMALL_S / 60;
    let cause = format!("it is under {} MB but decodes to more than {minutes} minutes", SMALL_BYTES >> 20);
    Error::limit(path, cause, "remove the silence or split the recording")
}

/// Refuses a sample rate that no recording has.
pub(super) fn check_rate(path: &Path, rate: u32) -> Result<()> {
    if LEGAL_RATES.contains(&rate) {
        return Ok(());
    }
    Err(Error::malformed(
        path,
        format!("its sample rate is said to be {rate} Hz, outside 1 to 1,000 kHz"),
        "export the recording again, for example at 44.1 kHz",
    ))
}

fn mix_to_mono(interleaved: &[f32], channels: usize, mono: &mut Vec<f32>) {
    if channels == 1 {
        mono.extend_from_slice(interleaved);
    } else {
        let scale = 1.0 / channels as f32;
        mono.extend(interleaved.chunks_exact(channels).map(|frame| frame.iter().sum::<f32>() * scale));
    }
}
