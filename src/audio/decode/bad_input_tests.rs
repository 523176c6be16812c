//! Bad files: one clear sentence, never a panic, never a hang.

use std::io::{self, Seek};

use proptest::prelude::*;

use super::format_tests::{fixture, float_wav};
use super::*;

fn decode_named(name: &str, bytes: impl Into<Vec<u8>>) -> Result<Decoded> {
    decode_bytes(&JobContext::new(), name, bytes.into())
}

fn bytes_of(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap()
}

/// The message of a refused file, which must be one line that names the file.
fn complaint(name: &str, bytes: impl Into<Vec<u8>>) -> String {
    let message = decode_named(name, bytes).unwrap_err().to_string();
    assert!(message.contains(name) && !message.contains('\n'), "{message}");
    message
}

#[test]
fn a_missing_file_a_folder_and_an_empty_file_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let message_for = |path: &Path| decode(&JobContext::new(), path).unwrap_err().to_string();
    let missing = message_for(&folder.path().join("none.wav"));
    assert!(missing.contains("cannot read") && missing.contains("none.wav"), "{missing}");
    assert!(message_for(folder.path()).contains("directory"));
    let empty = folder.path().join("empty.wav");
    std::fs::write(&empty, "").unwrap();
    assert!(message_for(&empty).contains("the file is empty"));
}

#[test]
fn files_of_other_kinds_are_named() {
    assert!(complaint("notes.wav", "Play this with feeling.\n".repeat(50)).contains("text file"));
    assert!(complaint("short.wav", "x").contains("text file"));
    assert!(complaint("score.wav", b"MThd\0\0\0\x06\0\0\0\x01\0\x60MTrk\0\0\0\0".to_vec()).contains("MIDI"));
    let wma = [&b"\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\0\xaa\0\x62\xce\x6c"[..], &[0; 600]].concat();
    assert!(complaint("song.wma", wma).contains("WMA"));
    assert!(complaint("zeros.mp3", vec![0; 100_000]).contains("not an audio file"));
}

#[test]
fn codecs_that_are_not_supported_are_named() {
    for (name, codec) in [("opus.ogg", "Opus"), ("ac3.mkv", "AC-3")] {
        let error = decode(&JobContext::new(), &fixture(name)).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains(codec), "{error}");
    }
    // The same M4A with its two bytes of configuration changed from LC (2) to SBR (5), as HE-AAC has it.
    let mut he_aac = bytes_of("aac.m4a");
    let esds = he_aac.windows(4).position(|w| w == b"esds").unwrap();
    let config = esds + he_aac[esds..].windows(4).position(|w| w == [0x05, 0x80, 0x80, 0x80]).unwrap() + 5;
    assert_eq!(he_aac[config] >> 3, 2);
    he_aac[config] = he_aac[config] & 0x07 | 5 << 3;
    assert!(complaint("he.m4a", he_aac).contains("HE-AAC"));
}

#[test]
fn audio_of_no_length_and_silence_are_unsuitable() {
    let nothing = decode_named("nothing.wav", float_wav(44_100, &[1.0], 0.0, |_| 0.0)).unwrap_err();
    assert!(matches!(nothing, Error::Unsuitable { .. } | Error::Malformed { .. }), "{nothing}");
    let silence = decode_named("silence.wav", float_wav(44_100, &[1.0, 1.0], 1.0, |_| 0.0)).unwrap().clip;
    assert!(matches!(silence.check_usable("silence.wav"), Err(Error::Unsuitable { .. })));
}

#[test]
fn samples_that_are_no_numbers_are_found_with_their_time() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e30] {
        let wav = float_wav(44_100, &[1.0, 0.5], 1.0, |t| if t >= 0.25 { bad } else { 0.1 });
        assert!(complaint("nan.wav", wav).contains("at 0.250 s"));
    }
}

/// A WAV header (8 bits, mono, 8000 Hz) that promises so many seconds.
fn header_of(seconds: u32) -> Vec<u8> {
    let bytes = 8000 * seconds;
    let mut wav = [&b"RIFF"[..], &(36 + bytes).to_le_bytes(), b"WAVEfmt ", &16u32.to_le_bytes()].concat();
    for (value, size) in [(1u32, 2), (1, 2), (8000, 4), (8000, 4), (1, 2), (8, 2)] {
        wav.extend(&value.to_le_bytes()[..size]);
    }
    wav.extend(b"data");
    wav.extend(bytes.to_le_bytes());
    wav
}

#[test]
fn a_recording_that_its_header_calls_too_long_is_refused_before_it_is_decoded() {
    const NINE_HOURS: u32 = 9 * 3600;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nine-hours.wav");
    std::fs::write(&path, header_of(NINE_HOURS)).unwrap();
    // The rest is a hole in the file, which takes no room.
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(44 + 8000 * u64::from(NINE_HOURS)).unwrap();
    let ctx = JobContext::with_progress(|progress| panic!("{} has begun", progress.stage));
    let error = decode(&ctx, &path).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }) && error.to_string().contains("8 hours"), "{error}");
}

/// What records into a pipe writes the header before it knows the length.
#[test]
fn a_header_that_promises_more_than_the_file_can_hold_is_not_believed() {
    let mut wav = header_of(9 * 3600);
    wav.extend((0..16_000u32).map(|k| (k * 7 % 256) as u8));
    let decoded = decode_named("piped.wav", wav).unwrap();
    assert!((decoded.clip.duration_s() - 2.0).abs() < 0.01, "{}", decoded.clip.duration_s());
}

#[test]
fn absurd_sample_rates_are_refused() {
    for rate in [0u32, 1, 1_000_001, u32::MAX] {
        let mut wav = float_wav(44_100, &[1.0], 0.3, |_| 0.1);
        let fmt = wav.windows(4).position(|w| w == b"fmt ").unwrap();
        wav[fmt + 12..fmt + 16].copy_from_slice(&rate.to_le_bytes());
        complaint("rate.wav", wav);
    }
}

#[test]
fn a_file_cut_short_gives_what_is_left_and_says_so() {
    for name in ["pcm.wav", "stereo.flac", "lame.mp3", "stereo.ogg", "aac.aac"] {
        let bytes = bytes_of(name);
        let whole = decode_named(name, bytes.clone()).unwrap().clip;
        let cut = decode_named(name, &bytes[..bytes.len() * 3 / 4]).unwrap();
        let share = cut.clip.samples.len() as f64 / whole.samples.len() as f64;
        assert!((0.3..0.85).contains(&share), "{name}: {share}");
        // The last block of an overlapping transform, and the filter's reach, differ.
        let sure = cut.clip.samples.len().saturating_sub(4000);
        let same = whole.samples.iter().zip(&cut.clip.samples[..sure]).all(|(a, b)| (a - b).abs() < 0.02);
        assert!(same, "{name} changed before the cut");
        assert!(cut.source.damage.unwrap().contains("cut off"), "{name}");
    }
}

#[test]
fn a_file_cut_to_nothing_of_use_is_an_error() {
    for name in ["pcm.wav", "stereo.flac", "lame.mp3", "aac.m4a", "alac.caf", "vorbis.webm"] {
        let bytes = bytes_of(name);
        complaint(name, &bytes[..bytes.len().min(700)]);
    }
    // These have their index at the end, or state their length in a way that their demuxers insist on.
    for name in ["aac.m4a", "pcm.aiff", "vorbis.webm", "aac.mkv"] {
        let bytes = bytes_of(name);
        assert!(complaint(name, &bytes[..bytes.len() / 2]).contains("cut off"));
    }
}

/// A drive that goes away after so many bytes.
struct Vanishing {
    bytes: Cursor<Vec<u8>>,
    after: u64,
    is_seekable: bool,
    error: fn() -> io::Error,
}

impl Read for Vanishing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.after.saturating_sub(self.bytes.position()) as usize;
        if left == 0 {
            return Err((self.error)());
        }
        let most = buffer.len().min(left);
        self.bytes.read(&mut buffer[..most])
    }
}

impl Seek for Vanishing {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

impl MediaSource for Vanishing {
    fn is_seekable(&self) -> bool {
        self.is_seekable
    }

    fn byte_len(&self) -> Option<u64> {
        self.is_seekable.then_some(self.bytes.get_ref().len() as u64)
    }
}

#[test]
fn a_drive_that_goes_away_is_an_error_and_not_a_file_that_is_cut_off() {
    let errors: [fn() -> io::Error; 3] = [
        || io::Error::from_raw_os_error(5),
        || io::Error::other("the drive is gone"),
        || io::ErrorKind::TimedOut.into(),
    ];
    for name in ["pcm.wav", "pcm.aiff", "stereo.flac", "lame.mp3", "stereo.ogg", "aac.aac", "alac.caf", "aac.m4a"] {
        let bytes = bytes_of(name);
        for (error, part) in errors.into_iter().flat_map(|error| [100, 40, 10, 2].map(|part| (error, part))) {
            let after = (bytes.len() - bytes.len() / part) as u64;
            for is_seekable in [true, false] {
                // Its index is at its end: from a pipe it is refused before that is read.
                if name == "aac.m4a" && !is_seekable {
                    continue;
                }
                let source = Vanishing { bytes: Cursor::new(bytes.clone()), after, is_seekable, error };
                let outcome = decode_source(&JobContext::new(), Path::new(name), Box::new(source));
                let found = outcome.unwrap_err();
                let expected = format!("cannot read {name}: {}", error());
                assert_eq!(found.to_string(), expected, "after {after} of {} bytes, {is_seekable}", bytes.len());
            }
        }
    }
}

#[test]
fn a_packet_that_is_said_to_hold_gigabytes_is_refused_before_room_is_made_for_it() {
    let mut bytes = b"caff\0\x01\0\0desc\0\0\0\0\0\0\0\x20".to_vec();
    bytes.extend(44_100f64.to_be_bytes());
    bytes.extend(b"lpcm");
    // Flags, bytes and frames of a packet, channels, bits.
    for value in [0u32, 2, 1 << 30, 1, 16] {
        bytes.extend(value.to_be_bytes());
    }
    bytes.extend(b"data\0\0\0\0\0\0\x10\0\0\0\0\0");
    bytes.extend([7; 4092]);
    assert!(complaint("packet.caf", bytes).contains("a packet holds 1073741824 samples"));
}

#[test]
fn damage_in_the_middle_does_not_shift_what_follows() {
    for name in ["stereo.flac", "lame.mp3", "aac.m4a", "alac.m4a", "stereo.ogg"] {
        let mut bytes = bytes_of(name);
        let whole = decode_named(name, bytes.clone()).unwrap().clip;
        // Half of the Ogg file is the header of the codec.
        let mut from = if name == "stereo.ogg" { bytes.len() * 13 / 20 } else { bytes.len() * 2 / 5 };
        let mut len = 400;
        if name == "lame.mp3" {
            // A bare stream whose frame headers are lost has no clock to tell how much is missing.
            from += bytes[from..].windows(2).position(|w| w == [0xff, 0xfb]).unwrap() + 4;
            len = 140;
        }
        for (k, byte) in bytes[from..from + len].iter_mut().enumerate() {
            *byte = (k * 151 + 13) as u8;
        }
        let damaged = decode_named(name, bytes).unwrap();
        assert!(damaged.source.damage.unwrap().contains("replaced by silence"), "{name}");
        assert_eq!(damaged.clip.samples.len(), whole.samples.len(), "{name}");
        let tail = 28_500..32_000;
        let difference =
            whole.samples[tail.clone()].iter().zip(&damaged.clip.samples[tail]).map(|(a, b)| (a - b).abs());
        let largest = difference.fold(0.0f32, f32::max);
        assert!(largest < 2e-3, "{name}: after the damage samples differ by {largest}");
    }
}

const SMALL: [&str; 15] = [
    "pcm.wav",
    "mulaw.wav",
    "pcm.aiff",
    "stereo.flac",
    "flac.mkv",
    "alac.m4a",
    "alac.caf",
    "stereo.ogg",
    "vorbis.webm",
    "lame.mp3",
    "layer2.mp2",
    "aac.m4a",
    "aac.aac",
    "aac.mkv",
    "opus.ogg",
];

/// Whatever the bytes, the outcome is a clip of finite samples or an error of one line.
fn check_outcome(name: &str, bytes: Vec<u8>) {
    match decode_named(name, bytes) {
        Ok(decoded) => assert!(decoded.clip.samples.iter().all(|x| x.is_finite())),
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2048), magic in prop::sample::select(vec![
        &b""[..], b"RIFF\0\x10\0\0WAVEfmt ", b"fLaC\0\0\0\x22", b"OggS\0\x02", b"\xff\xfb\x90\x64", b"\xff\xf1\x50\x80",
        b"\0\0\0\x10ftypM4A ", b"caff\0\x01\0\0", b"FORM\0\0\x10\0AIFFCOMM", b"\x1a\x45\xdf\xa3", b"ID3\x04\0\0",
    ])) {
        check_outcome("fuzz.bin", [magic, &bytes].concat());
    }

    #[test]
    fn mutated_files_never_panic(
        name in prop::sample::select(SMALL.to_vec()),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), any::<u8>()), 1..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = bytes_of(name);
        for (at, in_header, value) in flips {
            // Headers decide more than sound does, so half of the damage goes there.
            let range = if in_header { bytes.len().min(600) } else { bytes.len() };
            bytes[at.index(range)] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        check_outcome(name, bytes);
    }
}
