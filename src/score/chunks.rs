//! The chunks of a Standard MIDI File, found strictly: a length that does not fit is an error, not a guess.

use std::path::Path;

use midly::Timing;

use crate::base::error::{Error, Result};

/// How the tracks of a file belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Formats 0 and 1: at the same time.
    Parallel,
    /// Format 2: one after another.
    Sequential,
}

/// Header and track bodies of a file.
#[derive(Debug)]
pub(super) struct MidiChunks<'a> {
    pub format: Format,
    pub timing: Timing,
    pub tracks: Vec<&'a [u8]>,
}

const DAMAGED: &str = "the file is damaged or cut short: copy or export it again";

impl<'a> MidiChunks<'a> {
    /// Finds the chunks, in a bare file or in a RIFF wrapper.
    pub fn parse(name: &Path, bytes: &'a [u8]) -> Result<Self> {
        let bytes = match bytes.get(..4) {
            Some(b"RIFF") => unwrap_riff(bytes).ok_or_else(|| not_midi(name))?,
            _ => bytes,
        };
        if bytes.is_empty() {
            return Err(Error::malformed(name, "the file is empty", "choose a MIDI file (.mid)"));
        }
        if !bytes.starts_with(b"MThd") {
            return Err(not_midi(name));
        }
        let (_, header, mut rest) = split_chunk(name, bytes, 0)?;
        let (format, declared_tracks, timing) = parse_header(name, bytes, header)?;
        let mut tracks = Vec::new();
        while !rest.is_empty() {
            match split_chunk(name, rest, bytes.len() - rest.len()) {
                Ok((id, body, after)) => {
                    if id == b"MTrk" {
                        tracks.push(body);
                    }
                    rest = after;
                }
                // Some programs leave padding or notes of their own after the last track.
                Err(_) if tracks.len() >= declared_tracks => break,
                Err(damage) => return Err(damage),
            }
        }
        Ok(Self { format, timing, tracks })
    }
}

fn not_midi(name: &Path) -> Error {
    Error::malformed(name, "this is not a MIDI file", "choose a Standard MIDI File (.mid)")
}

/// Splits a chunk off the front: its four letters, its body and what follows. `at` is where it stands in the file.
fn split_chunk<'a>(name: &Path, bytes: &'a [u8], at: usize) -> Result<(&'a [u8], &'a [u8], &'a [u8])> {
    let cut_short = || Error::malformed(name, format!("the chunk at byte {at} has no length"), DAMAGED);
    let (id, rest) = bytes.split_at_checked(4).ok_or_else(cut_short)?;
    let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(cut_short)?;
    let length = u32::from_be_bytes(*length) as usize;
    let (body, after) = rest.split_at_checked(length).ok_or_else(|| {
        let cause = format!(
            "the chunk '{}' at byte {at} claims {length} bytes, but only {} follow",
            id.escape_ascii(),
            rest.len()
        );
        Error::malformed(name, cause, DAMAGED)
    })?;
    Ok((id, body, after))
}

/// Format, number of tracks and timing. The timing is left to the MIDI library.
fn parse_header(name: &Path, bytes: &[u8], header: &[u8]) -> Result<(Format, usize, Timing)> {
    let Some((&[a, b, c, d, division, _], _)) = header.split_first_chunk::<6>() else {
        return Err(Error::malformed(name, "its header is too short", DAMAGED));
    };
    // The only frame rate whose sign cannot be changed, which the library does before it looks whether there is such a rate.
    if division == 0x80 {
        return Err(Error::malformed(name, "its header asks for 128 SMPTE frames a second", DAMAGED));
    }
    let format = match u16::from_be_bytes([a, b]) {
        0 | 1 => Format::Parallel,
        2 => Format::Sequential,
        other => {
            let cause = format!("MIDI file format {other}");
            return Err(Error::unsupported(name, cause, "save it as format 0 or 1"));
        }
    };
    match midly::parse(bytes) {
        Ok((parsed, _)) => Ok((format, u16::from_be_bytes([c, d]).into(), parsed.timing)),
        Err(e) => Err(Error::malformed(name, format!("its header cannot be read ({e})"), DAMAGED)),
    }
}

/// The MIDI file inside a RIFF RMID file.
fn unwrap_riff(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes.get(8..)?.strip_prefix(b"RMID")?;
    loop {
        let (id, after) = rest.split_at_checked(4)?;
        let (length, after) = after.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        let body = after.get(..length)?;
        if id == b"data" {
            return Some(body);
        }
        rest = after.get(length + length % 2..)?;
    }
}
