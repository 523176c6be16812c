//! How well the sound between two onsets fits the notes that should sound there.

use crate::align::start::LogSpectrum;
use crate::features::SEMITONE_BANDS;
use crate::score::{Note, Score};

use super::chord::{Chord, band_of};
use super::pattern::{PARTIAL_RATIO, PARTIAL_SEMITONES};

/// Decay of middle C while held; two octaves higher it is half as long.
const HELD_DECAY_S: f64 = 0.8;
/// Decay after the key is released. Longer than a damper's, because the pedal may be down.
const RELEASED_DECAY_S: f64 = 0.25;
/// A tone counts until it has fallen to this.
const INAUDIBLE: f64 = 0.02;
/// Loudness is compressed as in the recording's spectrum: `ln(1 + GAIN a)`, 1 being a single fresh fundamental.
const GAIN: f32 = 50.0;

/// Unit spectra that are expected from each chord to the next.
pub(super) fn templates(score: &Score, chords: &[Chord], time_of: &dyn Fn(f64) -> f64) -> Vec<[f32; SEMITONE_BANDS]> {
    let mut sounding: Vec<(&Note, f64, f64)> = Vec::new();
    let mut templates = Vec::with_capacity(chords.len().saturating_sub(1));
    for pair in chords.windows(2) {
        let now = time_of(0.5 * (pair[0].onset_s + pair[1].onset_s));
        let begun = score.notes[pair[0].notes.clone()].iter();
        sounding.extend(begun.map(|note| (note, time_of(note.onset_s), time_of(note.offset_s))));
        let mut template = [0.0; SEMITONE_BANDS];
        sounding.retain(|&(note, onset, offset)| {
            let level = level_of(note.pitch, onset, offset, now);
            if level >= INAUDIBLE {
                add_partials(&mut template, note.pitch, level as f32);
            }
            level >= INAUDIBLE
        });
        template.iter_mut().for_each(|value| *value = (GAIN * *value).ln_1p());
        normalise(&mut template);
        templates.push(template);
    }
    templates
}

fn level_of(pitch: u8, onset: f64, offset: f64, now: f64) -> f64 {
    let held_decay = HELD_DECAY_S * 2f64.powf((60.0 - f64::from(pitch)) / 24.0);
    let released = (now - offset).max(0.0);
    (-((now - onset).max(0.0) - released) / held_decay - released / RELEASED_DECAY_S).exp()
}

fn add_partials(template: &mut [f32; SEMITONE_BANDS], pitch: u8, level: f32) {
    let Some(band) = band_of(pitch) else { return };
    let mut amplitude = level;
    for semitones in PARTIAL_SEMITONES {
        if let Some(value) = template.get_mut(band + semitones) {
            *value += amplitude;
        }
        amplitude *= PARTIAL_RATIO;
    }
}

fn normalise(values: &mut [f32]) {
    let norm = values.iter().map(|v| v * v).sum::<f32>().sqrt();
    if norm > 0.0 {
        values.iter_mut().for_each(|v| *v /= norm);
    }
}

/// The integral of `1 − cos(template, frame)` over time, from the start of a stretch of the recording on.
pub(super) struct Mismatch {
    first: usize,
    hop_s: f64,
    cumulative: Vec<f64>,
}

impl Mismatch {
    /// Integrates from `from_s` to `to_s`.
    pub(super) fn over(spectrum: &LogSpectrum, norms: &[f32], template: &[f32], (from_s, to_s): (f64, f64)) -> Self {
        let last = spectrum.frames().saturating_sub(1);
        let first = ((from_s / spectrum.hop_s).floor().max(0.0) as usize).min(last);
        let end = ((to_s / spectrum.hop_s).ceil().max(0.0) as usize).min(last);
        let distance = |frame: usize| {
            let dot: f32 = spectrum.frame(frame).iter().zip(template).map(|(a, b)| a * b).sum();
            1.0 - f64::from(dot / norms[frame].max(f32::MIN_POSITIVE))
        };
        let mut cumulative = Vec::with_capacity(end - first + 1);
        let (mut sum, mut before) = (0.0, distance(first));
        cumulative.push(0.0);
        for frame in first + 1..=end {
            let here = distance(frame);
            sum += 0.5 * (before + here) * spectrum.hop_s;
            cumulative.push(sum);
            before = here;
        }
        Self { first, hop_s: spectrum.hop_s, cumulative }
    }

    /// The integral up to a time.
    pub(super) fn until(&self, time_s: f64) -> f64 {
        let place = (time_s / self.hop_s - self.first as f64).clamp(0.0, (self.cumulative.len() - 1) as f64);
        let index = place as usize;
        let next = (index + 1).min(self.cumulative.len() - 1);
        self.cumulative[index] + (place - index as f64) * (self.cumulative[next] - self.cumulative[index])
    }
}

/// Length of each frame's vector.
pub(super) fn norms(spectrum: &LogSpectrum) -> Vec<f32> {
    (0..spectrum.frames()).map(|f| spectrum.frame(f).iter().map(|v| v * v).sum::<f32>().sqrt()).collect()
}
