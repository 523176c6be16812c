//! The one entry: from a clip to the features of a kind.

use std::ops::RangeInclusive;

use super::{FeatureKind, FeatureSeq, chroma, cqt, mel};
use crate::audio::AudioClip;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::time::{ANALYSIS_RATE, frame_count, frame_to_seconds};

/// Hops for which features can be computed.
const HOPS: RangeInclusive<usize> = 64..=8192;

/// What to extract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureParams {
    /// Which features.
    pub kind: FeatureKind,
    /// Samples between frames.
    pub hop: usize,
}

impl Default for FeatureParams {
    fn default() -> Self {
        Self { kind: FeatureKind::Cqt, hop: 1024 }
    }
}

/// Computes features of a clip at 22,050 Hz, one frame centred on each multiple of the hop.
///
/// Values are raw: [`rescaled`](super::rescaled) applies the constants that the paper's λ expects.
///
/// - CQT: dB relative to the loudest, floor -80 dB, then unit length per frame.
/// - Chroma: unit length per frame, then dB relative to the loudest, floor -80 dB.
/// - Mel: dB relative to 1, floor 80 dB below the loudest.
pub fn extract(ctx: &JobContext, clip: &AudioClip, params: &FeatureParams) -> Result<FeatureSeq> {
    check_clip(clip)?;
    check_hop(params.hop)?;
    ctx.report("features", 0.0)?;
    let compute = match params.kind {
        FeatureKind::Cqt => cqt::unit_log_cqt,
        FeatureKind::Chroma => chroma::log_chroma,
        FeatureKind::Mel => mel::log_mel,
    };
    let frames = frame_count(clip.samples.len(), params.hop);
    let values = compute(ctx, &clip.samples, params.hop, frames)?;
    ctx.report("features", 1.0)?;
    let times = (0..frames).map(|frame| frame_to_seconds(frame, params.hop, ANALYSIS_RATE)).collect();
    Ok(FeatureSeq { times, values, dim: params.kind.dim() })
}

/// Refuses hops that would take absurd memory or skip most of the sound.
pub fn check_hop(hop: usize) -> Result<()> {
    if HOPS.contains(&hop) {
        Ok(())
    } else {
        Err(Error::invalid("hop", hop, format!("between {} and {} samples", HOPS.start(), HOPS.end())))
    }
}

/// Refuses clips that have no features.
pub(super) fn check_clip(clip: &AudioClip) -> Result<()> {
    if clip.sample_rate != ANALYSIS_RATE {
        let allowed = format!("{ANALYSIS_RATE} Hz; resample the clip first");
        return Err(Error::invalid("sample rate of the clip", format!("{} Hz", clip.sample_rate), allowed));
    }
    if clip.samples.is_empty() {
        return Err(Error::unsuitable("the clip", "it holds no samples", "give a recording with sound"));
    }
    if !clip.samples.iter().all(|s| s.is_finite()) {
        let cause = "it holds samples that are not numbers (NaN or infinite)";
        return Err(Error::unsuitable("the clip", cause, "export the recording again"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [FeatureKind; 3] = [FeatureKind::Cqt, FeatureKind::Chroma, FeatureKind::Mel];

    fn clip(samples: Vec<f32>) -> AudioClip {
        AudioClip { samples, sample_rate: ANALYSIS_RATE }
    }

    #[test]
    fn clips_of_any_length_and_hop_give_finite_frames_at_their_times() {
        for kind in KINDS {
            for len in [1, 10, 1023, 1024, 5000] {
                for hop in [64, 1000, 1024, 1025, 8192] {
                    let noise = (0..len).map(|n: usize| (n * n * 7 % 101) as f32 / 101.0 - 0.5).collect();
                    let seq = extract(&JobContext::new(), &clip(noise), &FeatureParams { kind, hop }).unwrap();
                    assert_eq!(seq.frames(), len / hop + 1);
                    assert_eq!((seq.dim, seq.values.len()), (kind.dim(), seq.frames() * kind.dim()));
                    assert!(seq.values.iter().all(|v| v.is_finite()));
                    assert_eq!(seq.times[0], 0.0);
                    assert_eq!(seq.times[len / hop], (len / hop * hop) as f64 / 22_050.0);
                }
            }
        }
    }

    #[test]
    fn digital_silence_gives_finite_features() {
        for kind in KINDS {
            let seq = extract(&JobContext::new(), &clip(vec![0.0; 9000]), &FeatureParams { kind, hop: 1024 }).unwrap();
            assert!(seq.values.iter().all(|v| v.is_finite()), "{kind:?}");
        }
    }

    #[test]
    fn unusable_input_is_refused_with_the_reason() {
        let ctx = JobContext::new();
        let params = FeatureParams::default();
        let message = |clip: &AudioClip, params: &FeatureParams| extract(&ctx, clip, params).unwrap_err().to_string();
        assert!(message(&clip(vec![]), &params).contains("no samples"));
        assert!(message(&clip(vec![0.0, f32::NAN]), &params).contains("not numbers"));
        assert!(message(&clip(vec![0.0]), &FeatureParams { hop: 0, ..params }).contains("hop is 0"));
        let cd = AudioClip { samples: vec![0.0; 10], sample_rate: 44_100 };
        assert!(message(&cd, &params).contains("44100 Hz"));
    }

    #[test]
    fn a_cancelled_job_stops() {
        let ctx = JobContext::new();
        ctx.cancel();
        assert!(matches!(extract(&ctx, &clip(vec![0.1; 9000]), &FeatureParams::default()), Err(Error::Cancelled)));
    }
}
