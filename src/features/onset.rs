//! Evidence for note onsets: how much louder a pitch and its partials get.

use std::ops::Range;

use super::frames::fill_blocks;
use super::semitone::{ROW, SEMITONE_BANDS, SemitoneAnalyzer};
use crate::error::Result;
use crate::job::JobContext;

/// Levels are compared this many samples before and after: 11.6 ms.
const LAG_SAMPLES: usize = 256;
/// A rise counts up to this much, so that one loud partial does not outvote the others.
const MOST_RISE: f32 = 1.5;
/// Weight of each partial relative to the one below.
const PARTIAL_DECAY: f32 = 0.8;
/// Semitones from a note to its partials 1 to 8.
const PARTIAL_SEMITONES: [usize; 8] = [0, 12, 19, 24, 28, 31, 34, 36];
/// Shares of the spectrum with mid and with short windows.
const MID_SHARE: f32 = 0.75;
const SHORT_SHARE: f32 = 0.25;

/// Frames that one thread works on at a time.
const BLOCK: usize = 128;

/// Onset evidence of each pitch (MIDI 21 to 116) in a run of frames.
#[derive(Debug, Clone, PartialEq)]
pub struct PitchEvidence {
    /// The frame of the recording that the first row belongs to.
    pub first_frame: usize,
    values: Vec<f32>,
}

impl PitchEvidence {
    /// Number of frames held.
    pub fn frames(&self) -> usize {
        self.values.len() / SEMITONE_BANDS
    }

    /// The evidence for each of the 96 pitches in the `index`-th frame held, 0 to 1.5.
    pub fn frame(&self, index: usize) -> &[f32] {
        &self.values[index * SEMITONE_BANDS..(index + 1) * SEMITONE_BANDS]
    }
}

/// Onset evidence of the frames in `range`, which is cut to the frames that there are. The spectra it is made of are not
/// kept.
pub fn pitch_evidence(ctx: &JobContext, analyzer: &SemitoneAnalyzer<'_>, range: Range<usize>) -> Result<PitchEvidence> {
    let end = range.end.min(analyzer.frames());
    let first_frame = range.start.min(end);
    let lag = LAG_SAMPLES as f32 / analyzer.hop() as f32;
    let margin = lag.ceil() as usize;
    let mut values = vec![0.0; (end - first_frame) * SEMITONE_BANDS];
    fill_blocks(
        ctx,
        &mut values,
        SEMITONE_BANDS,
        BLOCK,
        || (analyzer.scratch(), vec![0.0; (BLOCK + 2 * margin) * ROW]),
        |(scratch, levels), offset, rows| {
            let first = first_frame + offset;
            let count = rows.len() / SEMITONE_BANDS;
            for (index, row) in levels[..(count + 2 * margin) * ROW].chunks_exact_mut(ROW).enumerate() {
                match (first + index).checked_sub(margin).filter(|&frame| frame < analyzer.frames()) {
                    Some(frame) => analyzer.levels(scratch, frame, row),
                    // The clip is silent beyond its ends.
                    None => row.fill(0.0),
                }
            }
            for (index, row) in rows.chunks_exact_mut(SEMITONE_BANDS).enumerate() {
                add_evidence(&rise(levels, (index + margin) as f32, lag), row);
            }
        },
    )?;
    Ok(PitchEvidence { first_frame, values })
}

/// How much each level rises from `lag` frames before `position` to `lag` after, 0 to [`MOST_RISE`].
fn rise(levels: &[f32], position: f32, lag: f32) -> [f32; ROW] {
    let (before, before_next, before_share) = neighbours(levels, position - lag);
    let (after, after_next, after_share) = neighbours(levels, position + lag);
    let mut rise = [0.0; ROW];
    let pairs = before.iter().zip(before_next).zip(after.iter().zip(after_next));
    for (rise, ((b0, b1), (a0, a1))) in rise.iter_mut().zip(pairs) {
        let after = a0 + after_share * (a1 - a0);
        let before = b0 + before_share * (b1 - b0);
        *rise = (after - before).clamp(0.0, MOST_RISE);
    }
    rise
}

/// The rows on either side of a position between frames, and the share of the later.
fn neighbours(levels: &[f32], position: f32) -> (&[f32], &[f32], f32) {
    let row = |index: usize| &levels[index * ROW..(index + 1) * ROW];
    let index = position.floor();
    let share = position - index;
    let index = index as usize;
    (row(index), row(index + usize::from(share > 0.0)), share)
}

/// Sums the rises at each pitch's partials, for mid and short windows.
fn add_evidence(rise: &[f32; ROW], evidence: &mut [f32]) {
    let total: f32 = (0..PARTIAL_SEMITONES.len() as i32).map(|h| PARTIAL_DECAY.powi(h)).sum();
    let (mid, short) = rise.split_at(SEMITONE_BANDS);
    let mut both = [0.0; SEMITONE_BANDS];
    for ((both, mid), short) in both.iter_mut().zip(mid).zip(short) {
        *both = MID_SHARE * mid + SHORT_SHARE * short;
    }
    let mut weight = 1.0 / total;
    for semitones in PARTIAL_SEMITONES {
        for (evidence, rise) in evidence.iter_mut().zip(&both[semitones..]) {
            *evidence += weight * rise;
        }
        weight *= PARTIAL_DECAY;
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use crate::audio::AudioClip;
    use crate::features::{LOWEST_SEMITONE, SemitoneParams};
    use crate::time::ANALYSIS_RATE;

    /// Decaying notes with partials, each from its onset on, over faint noise. (Out of digital silence the logarithm rises as
    /// soon as the window touches the note, up to 20 ms early.)
    fn notes(seconds: f64, notes: &[(f64, f64)]) -> AudioClip {
        let rate = f64::from(ANALYSIS_RATE);
        let sample = |n: usize| {
            let mut sum = 0.05 * ((n as f64 * 12.9898).sin() * 43_758.545).fract();
            for &(onset, midi) in notes {
                let t = n as f64 / rate - onset;
                let hz = 440.0 * ((midi - 69.0) / 12.0).exp2();
                if t >= 0.0 {
                    sum += (1..=8)
                        .map(|h| (-2.0 * t).exp() * 0.7f64.powi(h) * (TAU * f64::from(h) * hz * t).sin())
                        .sum::<f64>();
                }
            }
            (0.1 * sum) as f32
        };
        AudioClip { samples: (0..(seconds * rate) as usize).map(sample).collect(), sample_rate: ANALYSIS_RATE }
    }

    fn evidence(clip: &AudioClip, hop: usize, range: Range<usize>) -> PitchEvidence {
        let ctx = JobContext::new();
        let analyzer = SemitoneAnalyzer::new(&ctx, clip, &SemitoneParams { hop, tuning_semitones: 0.0 }).unwrap();
        pitch_evidence(&ctx, &analyzer, range).unwrap()
    }

    #[test]
    fn evidence_peaks_at_the_onset_of_the_note() {
        let clip = notes(2.0, &[(0.3, 45.0), (0.7, 60.0), (1.1, 64.0), (1.5, 84.0)]);
        let all = evidence(&clip, 128, 0..usize::MAX);
        for (onset, midi) in [(0.3, 45), (0.7, 60), (1.1, 64), (1.5, 84)] {
            let band = midi - LOWEST_SEMITONE;
            let frame_of = |seconds: f64| (seconds * f64::from(ANALYSIS_RATE) / 128.0) as usize;
            let near = frame_of(onset - 0.15)..frame_of(onset + 0.15);
            let best = near.max_by(|&a, &b| all.frame(a)[band].total_cmp(&all.frame(b)[band])).unwrap();
            let seconds = best as f64 * 128.0 / f64::from(ANALYSIS_RATE);
            assert!((seconds - onset).abs() < 0.02, "MIDI {midi}: {seconds} s instead of {onset}");
            assert!(all.frame(best)[band] > 0.5);
        }
    }

    #[test]
    fn evidence_agrees_with_the_formula_written_out() {
        let clip = notes(0.8, &[(0.0, 50.0), (0.3, 67.0)]);
        for hop in [128, 512, 100] {
            let ctx = JobContext::new();
            let analyzer = SemitoneAnalyzer::new(&ctx, &clip, &SemitoneParams { hop, tuning_semitones: 0.0 }).unwrap();
            let spectra = analyzer.spectra(&ctx, 0..usize::MAX).unwrap();
            let got = pitch_evidence(&ctx, &analyzer, 0..usize::MAX).unwrap();
            let level = |short: bool, frame: i64, band: usize| match usize::try_from(frame) {
                Ok(f) if f < spectra.frames() => f64::from(if short { spectra.short(f) } else { spectra.mid(f) }[band]),
                _ => 0.0,
            };
            let at = |short: bool, frame: f64, band: usize| {
                let share = frame - frame.floor();
                (1.0 - share) * level(short, frame.floor() as i64, band)
                    + share * level(short, frame.ceil() as i64, band)
            };
            let lag = 256.0 / hop as f64;
            let norm: f64 = (0..8).map(|h| 0.8f64.powi(h)).sum();
            for frame in 0..got.frames() {
                for band in [0, 29, 46, 70, 95] {
                    let mut expected = 0.0;
                    for (short, share) in [(false, 0.75), (true, 0.25)] {
                        for h in 1..=8 {
                            let partial = band + (12.0 * f64::from(h).log2()).round() as usize;
                            if partial < SEMITONE_BANDS {
                                let f = frame as f64;
                                let rise = at(short, f + lag, partial) - at(short, f - lag, partial);
                                expected += share * 0.8f64.powi(h - 1) * rise.clamp(0.0, 1.5) / norm;
                            }
                        }
                    }
                    let got = f64::from(got.frame(frame)[band]);
                    assert!((got - expected).abs() < 1e-4, "hop {hop} frame {frame} band {band}: {got} {expected}");
                }
            }
        }
    }

    #[test]
    fn a_part_equals_the_same_part_of_the_whole() {
        let clip = notes(1.0, &[(0.2, 55.0), (0.6, 59.0)]);
        let whole = evidence(&clip, 128, 0..usize::MAX);
        let part = evidence(&clip, 128, 57..130);
        assert_eq!((part.first_frame, part.frames()), (57, 73));
        assert!((0..73).all(|index| part.frame(index) == whole.frame(57 + index)));
    }
}
