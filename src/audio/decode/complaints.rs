//! Turns what the decoder says about a bad file into one sentence with a cause and a remedy.

use std::io::ErrorKind;
use std::path::Path;

use symphonia::core::codecs::audio::AudioCodecId;
use symphonia::core::codecs::audio::well_known as codec;
use symphonia::core::errors::Error as SymphoniaError;

use crate::base::error::Error;

const CONVERT: &str = "convert it to WAV, FLAC, MP3 or Ogg Vorbis";
const FIND_ANOTHER: &str = "export or download the recording again";

/// Beginnings of files that are no recording this program reads, with what they are.
const FOREIGN: [(&[u8], &str); 15] = [
    (b"MThd", "a MIDI file where a recording is expected"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "Windows Media (WMA, ASF)"),
    (b"wvpk", "WavPack"),
    (b"MAC ", "Monkey's Audio"),
    (b".snd", "Sun AU audio"),
    (b"#!AMR", "AMR audio"),
    (b"MPCK", "Musepack"),
    (b"MP+", "Musepack"),
    (b"TTA1", "True Audio"),
    (b"DSD ", "DSD audio"),
    (b"FRM8", "DSD audio"),
    (b".RMF", "RealMedia"),
    (b"\x0b\x77", "AC-3 (Dolby Digital) without a container"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
];

/// No container was recognised, or its header does not hold together; `head` is the beginning of the file.
pub(super) fn not_readable(path: &Path, head: &[u8], error: &SymphoniaError) -> Error {
    if let Some((_, what)) = FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Error::unsupported(path, *what, CONVERT);
    }
    if looks_like_text(head) {
        return Error::malformed(path, "this is a text file, not audio", "choose an audio file");
    }
    match error {
        SymphoniaError::IoError(source) if source.kind() != ErrorKind::UnexpectedEof => {
            Error::io("read", path, std::io::Error::new(source.kind(), source.to_string()))
        }
        SymphoniaError::IoError(_) => {
            Error::malformed(path, "the file is cut off, or is not audio: it ends before its header does", FIND_ANOTHER)
        }
        // A part that every such file has is missing: the index at the end, or a body shorter than it says.
        SymphoniaError::Unsupported(what) if what.contains("missing") => {
            Error::malformed(path, format!("the file is cut off or damaged ({what})"), FIND_ANOTHER)
        }
        SymphoniaError::Unsupported(what) if what.starts_with("core (probe)") => {
            Error::malformed(path, "this is not an audio file in a known format", "choose an audio file")
        }
        SymphoniaError::Unsupported(what) => {
            Error::unsupported(path, format!("this variant of the format ({what})"), CONVERT)
        }
        other => Error::malformed(path, format!("the header is damaged ({})", detail(other)), FIND_ANOTHER),
    }
}

/// A packet cannot hold so much.
pub(super) fn packet_too_large(path: &Path, frames: u64, channels: usize) -> Error {
    let cause = format!("the header is damaged: it says that a packet holds {frames} samples of {channels} channels");
    Error::malformed(path, cause, FIND_ANOTHER)
}

/// The container is sound but nothing here decodes its audio.
pub(super) fn codec_not_supported(path: &Path, id: AudioCodecId, error: &SymphoniaError) -> Error {
    let cause = match (id, error) {
        (codec::CODEC_ID_AAC, SymphoniaError::Unsupported(_)) => {
            "this kind of AAC (HE-AAC, more than two channels, or another profile than LC)".to_owned()
        }
        (_, SymphoniaError::DecodeError(_) | SymphoniaError::IoError(_)) => {
            return Error::malformed(path, format!("the header is damaged ({})", detail(error)), FIND_ANOTHER);
        }
        _ => codec_name(id).map_or_else(|| format!("its codec ({id})"), |name| format!("the codec {name}")),
    };
    Error::unsupported(path, cause, CONVERT)
}

/// The container holds pictures or text, but no sound.
pub(super) fn no_audio_track(path: &Path) -> Error {
    Error::malformed(path, "the file holds no audio track in a known codec", "choose a file that holds audio")
}

/// So much is damaged that what is left is no recording.
pub(super) fn too_damaged(path: &Path, cause: impl Into<String>) -> Error {
    Error::malformed(path, cause, FIND_ANOTHER)
}

/// The decoder's own words, without its "malformed stream:" before them.
pub(super) fn detail(error: &SymphoniaError) -> String {
    match error {
        SymphoniaError::IoError(e) if e.kind() == ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
        SymphoniaError::DecodeError(text) | SymphoniaError::LimitError(text) | SymphoniaError::Unsupported(text) => {
            (*text).to_owned()
        }
        other => other.to_string(),
    }
}

fn looks_like_text(head: &[u8]) -> bool {
    let head = &head[..head.len().min(512)];
    // A character may be cut in two at the end of the sample.
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(e) if e.error_len().is_none() => std::str::from_utf8(&head[..e.valid_up_to()]).unwrap_or(""),
        Err(_) => return false,
    };
    !valid.is_empty() && !valid.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\x0c'))
}

fn codec_name(id: AudioCodecId) -> Option<&'static str> {
    Some(match id {
        codec::CODEC_ID_OPUS => "Opus",
        codec::CODEC_ID_SPEEX => "Speex",
        codec::CODEC_ID_MUSEPACK => "Musepack",
        codec::CODEC_ID_AC3 => "AC-3 (Dolby Digital)",
        codec::CODEC_ID_EAC3 => "E-AC-3 (Dolby Digital Plus)",
        codec::CODEC_ID_AC4 => "AC-4",
        codec::CODEC_ID_DCA => "DTS",
        codec::CODEC_ID_ATRAC1 | codec::CODEC_ID_ATRAC3 | codec::CODEC_ID_ATRAC3PLUS | codec::CODEC_ID_ATRAC9 => {
            "ATRAC"
        }
        codec::CODEC_ID_WMA => "Windows Media Audio (WMA)",
        codec::CODEC_ID_WAVPACK => "WavPack",
        codec::CODEC_ID_MONKEYS_AUDIO => "Monkey's Audio",
        codec::CODEC_ID_TTA => "True Audio (TTA)",
        codec::CODEC_ID_TRUEHD => "Dolby TrueHD",
        codec::CODEC_ID_RA10
        | codec::CODEC_ID_RA20
        | codec::CODEC_ID_SIPR
        | codec::CODEC_ID_COOK
        | codec::CODEC_ID_RALF => "RealAudio",
        codec::CODEC_ID_ADPCM_G722 => "G.722",
        codec::CODEC_ID_ADPCM_G726 | codec::CODEC_ID_ADPCM_G726LE => "G.726",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_recognised_even_when_cut_within_a_character() {
        assert!(looks_like_text("Für Elise, in A minor\n".as_bytes()));
        assert!(looks_like_text(&"é".repeat(300).as_bytes()[..511]));
        assert!(!looks_like_text(b""));
        assert!(!looks_like_text(b"RIFF\x04\0\0\0WAVE"));
        assert!(!looks_like_text(&[0xff, 0xfb, 0x90, 0x64]));
    }
}
