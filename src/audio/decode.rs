//! From an audio file in any known format to a mono clip at the analysis rate.

mod complaints;
mod mp4_trim;
mod sink;
mod stream;
mod watched;

#[cfg(test)]
mod bad_input_tests;
#[cfg(test)]
mod format_tests;

use std::fs::File;
use std::io::{Cursor, Read, SeekFrom};
use std::path::Path;

use symphonia::core::io::{MediaSource, ReadOnlySource};

use self::sink::{MonoSink, Trim};
use self::stream::AudioStream;
use self::watched::Watched;
use super::AudioClip;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::time::ANALYSIS_RATE;

/// A recording as it was decoded, and what its file was like.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The recording: mono, at [`ANALYSIS_RATE`].
    pub clip: AudioClip,
    /// Facts about the file.
    pub source: SourceInfo,
}

/// What an audio file was like before it was mixed and resampled.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceInfo {
    /// Short name of the container, such as "wave" or "ogg".
    pub container: String,
    /// Short name of the codec, such as "flac" or "mp3".
    pub codec: String,
    /// How many channels were mixed.
    pub channels: usize,
    /// The file's own sample rate in Hz.
    pub sample_rate: u32,
    /// What was wrong with the file, in a sentence, if it was damaged but its audio could still be used.
    pub damage: Option<String>,
}

/// Decodes the file at `path`: mixes its channels to mono (their mean), takes out encoder delay and padding, and
/// resamples so that sample `k` of the clip is the recording at time `k` / [`ANALYSIS_RATE`].
///
/// A damaged file gives what can be decoded, with silence in place of damaged packets, as long as that is a recording;
/// [`SourceInfo::damage`] says so. Silence is not refused here: see [`AudioClip::check_usable`].
pub fn decode(ctx: &JobContext, path: &Path) -> Result<Decoded> {
    let failed = |source| Error::io("read", path, source);
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    }
    decode_source(ctx, path, Box::new(File::open(path).map_err(failed)?))
}

/// [`decode`] for a file already in memory. `name` stands for it in messages, and its extension hints at the format.
pub fn decode_bytes(ctx: &JobContext, name: &str, bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Decoded> {
    decode_source(ctx, Path::new(name), Box::new(Cursor::new(bytes)))
}

/// [`decode`] for a stream of which the beginning was read already, such as a pipe.
pub fn decode_stream(
    ctx: &JobContext,
    path: &Path,
    head: Vec<u8>,
    rest: impl Read + Send + Sync + 'static,
) -> Result<Decoded> {
    decode_source(ctx, path, Box::new(ReadOnlySource::new(Cursor::new(head).chain(rest))))
}

/// A clip of samples that were decoded elsewhere, `channels` of them for each moment: as [`decode`] makes it of a file. `name`
/// stands for them in messages.
pub fn clip_of_samples(
    ctx: &JobContext,
    name: &str,
    samples: &[f32],
    channels: usize,
    sample_rate: u32,
) -> Result<AudioClip> {
    /// Moments between two looks at cancellation.
    const BLOCK: usize = 1 << 18;
    let path = Path::new(name);
    sink::check_rate(path, sample_rate)?;
    let mut mono = MonoSink::new(path, None, Trim::default());
    for block in samples.chunks((BLOCK * channels).max(1)) {
        ctx.check()?;
        mono.push_interleaved(block, channels, sample_rate)?;
    }
    Ok(AudioClip { samples: mono.finish()?, sample_rate: ANALYSIS_RATE })
}

fn decode_source(ctx: &JobContext, path: &Path, source: Box<dyn MediaSource>) -> Result<Decoded> {
    ctx.check()?;
    let (mut source, failure) = Watched::new(source);
    let (mut head, mut mp4_trims) = (Vec::new(), Vec::new());
    // A pipe has no length and cannot be read twice.
    if source.is_seekable() {
        if source.byte_len() == Some(0) {
            return Err(Error::malformed(path, "the file is empty", "choose an audio file"));
        }
        head = read_head(&mut source).map_err(|e| Error::io("read", path, e))?;
        mp4_trims = mp4_trim::read_trims(&mut source);
    }
    let stream = AudioStream::open(path, Box::new(source), failure, &head, &mp4_trims)?;
    let (samples, source) = stream.decode(ctx)?;
    ctx.report("decoding", 1.0)?;
    Ok(Decoded { clip: AudioClip { samples, sample_rate: ANALYSIS_RATE }, source })
}

/// The beginning of the file, by which a foreign format is named; leaves the source at its start.
fn read_head(source: &mut dyn MediaSource) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    (&mut *source).take(512).read_to_end(&mut head)?;
    source.seek(SeekFrom::Start(0))?;
    Ok(head)
}
