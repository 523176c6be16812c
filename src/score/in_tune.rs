//! The score played so that it can be compared with a recording: at its pitch, in a room that is not quite silent.

use super::synth::{SynthParams, synthesise_mapped};
use super::{Score, SoundFont};
use crate::audio::AudioClip;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::time::ANALYSIS_RATE;

/// Amplitude of the noise that is added to the synthesised score, whose peak is 0.9.
const ROOM_NOISE: f32 = 1e-3;

/// Plays the score at the recording's pitch, with `to_clip` giving the time in the clip for each score second.
///
/// Rendered at a lower rate than it is read at, it sounds higher by their ratio, and faster, which the time map makes
/// up for.
pub(crate) fn play_in_tune(
    ctx: &JobContext,
    score: &Score,
    soundfont: SoundFont,
    tuning_semitones: f64,
    to_clip: &dyn Fn(f64) -> f64,
) -> Result<AudioClip> {
    let rate = (f64::from(ANALYSIS_RATE) * 2f64.powf(-tuning_semitones / 12.0)).round();
    let params = SynthParams { soundfont, sample_rate: rate as u32, ..SynthParams::default() };
    let stretch = f64::from(ANALYSIS_RATE) / rate;
    let mut played = synthesise_mapped(ctx, score, &params, &|score_s| to_clip(score_s) * stretch)?;
    add_room_noise(&mut played.samples);
    Ok(AudioClip { sample_rate: ANALYSIS_RATE, ..played })
}

/// Adds faint noise. No room is silent: against digital silence, log features of a rest in the recording would look
/// further off than any wrong chord.
fn add_room_noise(samples: &mut [f32]) {
    // A linear congruential generator is random enough for noise, and the same everywhere.
    let mut state = 1u32;
    for sample in samples {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *sample += ROOM_NOISE * ((state >> 8) as f32 / (1 << 23) as f32 - 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noise_is_faint_and_has_no_offset() {
        let mut samples = vec![0.0; 22_050];
        add_room_noise(&mut samples);
        let mean = samples.iter().sum::<f32>() / samples.len() as f32;
        let power = samples.iter().map(|s| s * s).sum::<f32>() / samples.len() as f32;
        assert!(mean.abs() < ROOM_NOISE / 30.0, "{mean}");
        assert!((power.sqrt() - ROOM_NOISE / 3f32.sqrt()).abs() < ROOM_NOISE / 30.0, "{power}");
        assert!(samples.iter().all(|s| s.abs() <= ROOM_NOISE));
    }
}
