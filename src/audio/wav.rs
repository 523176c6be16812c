//! Writing a clip as a WAV file.

use std::path::Path;

use super::AudioClip;
use crate::base::atomic_file::write_atomically;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

/// Writes `clip` as 16-bit PCM, whole or not at all; samples beyond ±1 are clipped.
pub fn write_wav(ctx: &JobContext, path: &Path, clip: &AudioClip) -> Result<()> {
    let spec = hound::WavSpec {
        channels: 1,
        sample_rate: clip.sample_rate,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let failed = |error| match error {
        hound::Error::IoError(source) => Error::io("write", path, source),
        other => Error::io("write", path, std::io::Error::other(other)),
    };
    write_atomically(ctx, path, |file| {
        let mut writer = hound::WavWriter::new(file, spec).map_err(failed)?;
        for &sample in &clip.samples {
            writer.write_sample((sample.clamp(-1.0, 1.0) * 32767.0).round() as i16).map_err(failed)?;
        }
        writer.finalize().map_err(failed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::decode;

    #[test]
    fn a_written_clip_reads_back_within_half_a_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.wav");
        let samples: Vec<f32> = (0..22_050).map(|k| (k as f32 * 0.05).sin()).collect();
        let clip = AudioClip { samples, sample_rate: 22_050 };
        write_wav(&JobContext::new(), &path, &clip).unwrap();
        let back = decode(&JobContext::new(), &path).unwrap().clip;
        assert_eq!(back.samples.len(), clip.samples.len());
        for (a, b) in back.samples.iter().zip(&clip.samples) {
            assert!((a - b).abs() < 1.0 / 32768.0 + 1e-4 * b.abs(), "{a} against {b}");
        }
    }

    #[test]
    fn samples_beyond_full_scale_are_clipped_not_wrapped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.wav");
        write_wav(&JobContext::new(), &path, &AudioClip { samples: vec![3.0, -3.0], sample_rate: 8000 }).unwrap();
        let samples: Vec<i16> = hound::WavReader::open(&path).unwrap().samples().map(|s| s.unwrap()).collect();
        assert_eq!(samples, [32767, -32767]);
    }

    #[test]
    fn an_unwritable_place_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let clip = AudioClip { samples: vec![0.0], sample_rate: 8000 };
        let error = write_wav(&JobContext::new(), &folder.path().join("none").join("out.wav"), &clip).unwrap_err();
        assert!(error.to_string().contains("out.wav"), "{error}");
    }
}
