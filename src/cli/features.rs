//! `agogic features`: what the aligner sees, for other programs.

use std::fmt::Write;
use std::iter;
use std::path::{Path, PathBuf};

use super::args::FeaturesArgs;
use super::synth;
use crate::audio::{self, AudioClip};
use crate::base::atomic_file::{check_writable, write_output};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::features::{FeatureParams, FeatureSeq, check_hop, extract};
use crate::score::is_score;

pub(super) fn run(ctx: &JobContext, args: &FeaturesArgs) -> Result<()> {
    let extension = extension(&args.output);
    if !matches!(extension.as_str(), "csv" | "npy") {
        return Err(Error::invalid("--output", args.output.display(), "a .csv or .npy file"));
    }
    let inputs: Vec<&Path> = iter::once(&args.input).chain(&args.soundfont).map(PathBuf::as_path).collect();
    super::check_not_an_input(&args.output, &inputs)?;
    check_writable(&args.output)?;
    check_hop(args.hop)?;
    let clip = load(ctx, &args.input, args.soundfont.as_deref())?;
    let features = extract(ctx, &clip, &FeatureParams { kind: args.features.into(), hop: args.hop })?;
    let bytes = if extension == "npy" { npy(&features) } else { csv(&features).into_bytes() };
    write_output(ctx, &args.output, &bytes)
}

/// A recording is decoded, a score is played.
pub(super) fn load(ctx: &JobContext, input: &Path, soundfont: Option<&Path>) -> Result<AudioClip> {
    if is_score(input) { synth::play(ctx, input, &[], soundfont) } else { Ok(audio::decode(ctx, input)?.clip) }
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// A header, then one row per frame: its time and its values.
fn csv(features: &FeatureSeq) -> String {
    let mut text = String::from("time_s");
    for index in 0..features.dim {
        let _ = write!(text, ",f{index}");
    }
    for (index, time) in features.times.iter().enumerate() {
        let _ = write!(text, "\n{time:.6}");
        for value in features.frame(index) {
            let _ = write!(text, ",{value:.6}");
        }
    }
    text.push('\n');
    text
}

/// NumPy's format, version 1.0: float32, frames by values, C order.
fn npy(features: &FeatureSeq) -> Vec<u8> {
    const PREFIX: usize = 10;
    const ALIGNMENT: usize = 64;
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", features.frames(), features.dim);
    let padding = ALIGNMENT - (PREFIX + header.len() + 1) % ALIGNMENT;
    header.push_str(&" ".repeat(padding % ALIGNMENT));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(features.values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_frames() -> FeatureSeq {
        FeatureSeq { times: vec![0.0, 0.5], values: vec![1.0, 2.0, 3.0, 4.5], dim: 2 }
    }

    #[test]
    fn csv_has_a_header_and_a_row_per_frame() {
        assert_eq!(csv(&two_frames()), "time_s,f0,f1\n0.000000,1.000000,2.000000\n0.500000,3.000000,4.500000\n");
    }

    #[test]
    fn npy_header_is_aligned_and_names_the_shape() {
        let bytes = npy(&two_frames());
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!((10 + length) % 64, 0);
        assert_eq!(bytes.len(), 10 + length + 16);
        let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
        assert!(header.contains("(2, 2)") && header.ends_with('\n'));
        assert_eq!(bytes[bytes.len() - 4..], 4.5f32.to_le_bytes());
    }
}
