use std::path::Path;

use midly::num::{u4, u7, u15, u24, u28};
use midly::{Format, Fps, Header, MetaMessage, MidiMessage, Smf, Timing, TrackEvent, TrackEventKind};
use proptest::prelude::*;

use crate::base::error::Error;
use crate::score::{LONGEST_SCORE_S, SHORTEST_NOTE_S, Score};

type Event = (u64, TrackEventKind<'static>);

fn on(tick: u64, channel: u8, pitch: u8, velocity: u8) -> Event {
    let message = MidiMessage::NoteOn { key: u7::new(pitch), vel: u7::new(velocity) };
    (tick, TrackEventKind::Midi { channel: u4::new(channel), message })
}

fn off(tick: u64, channel: u8, pitch: u8) -> Event {
    let message = MidiMessage::NoteOff { key: u7::new(pitch), vel: u7::new(0) };
    (tick, TrackEventKind::Midi { channel: u4::new(channel), message })
}

fn pedal(tick: u64, value: u8) -> Event {
    let message = MidiMessage::Controller { controller: u7::new(64), value: u7::new(value) };
    (tick, TrackEventKind::Midi { channel: u4::new(0), message })
}

fn tempo(tick: u64, micros: u32) -> Event {
    (tick, TrackEventKind::Meta(MetaMessage::Tempo(u24::new(micros))))
}

fn end(tick: u64) -> Event {
    (tick, TrackEventKind::Meta(MetaMessage::EndOfTrack))
}

fn file(format: Format, timing: Timing, tracks: &[&[Event]]) -> Vec<u8> {
    let mut smf = Smf::new(Header::new(format, timing));
    for track in tracks {
        let mut at = 0;
        let mut events = Vec::new();
        for &(tick, kind) in *track {
            events.push(TrackEvent { delta: u28::new(u32::try_from(tick - at).unwrap()), kind });
            at = tick;
        }
        smf.tracks.push(events);
    }
    let mut bytes = Vec::new();
    smf.write_std(&mut bytes).unwrap();
    bytes
}

fn metrical(tracks: &[&[Event]]) -> Vec<u8> {
    file(Format::Parallel, Timing::Metrical(u15::new(480)), tracks)
}

fn read(bytes: &[u8]) -> Score {
    Score::from_bytes(Path::new("piece.mid"), bytes).unwrap()
}

fn refusal(bytes: &[u8]) -> String {
    let error = Score::from_bytes(Path::new("piece.mid"), bytes).unwrap_err().to_string();
    assert!(error.starts_with("piece.mid: "), "{error}");
    error
}

fn sample_file() -> Vec<u8> {
    let notes = [
        on(480, 0, 60, 80),
        on(720, 0, 64, 70),
        off(960, 0, 60),
        off(960, 0, 64),
        pedal(960, 127),
        on(1440, 0, 67, 90),
        off(1900, 0, 67),
        end(1920),
    ];
    metrical(&[&[tempo(0, 600_000), tempo(960, 300_000), end(960)], &notes])
}

#[test]
fn tempo_of_one_track_times_the_notes_of_another_and_leading_silence_stays() {
    let score = read(&sample_file());
    let onsets: Vec<f64> = score.notes.iter().map(|n| n.onset_s).collect();
    assert_eq!(onsets.len(), 3);
    for (found, wanted) in onsets.iter().zip([0.6, 0.9, 1.5]) {
        assert!((found - wanted).abs() < 1e-12, "{onsets:?}");
    }
    assert_eq!(score.pedal.len(), 1);
    assert_eq!(score.notes[2].track, 1);
    assert!((score.notes[2].offset_s - (1.2 + 940.0 / 480.0 * 0.3)).abs() < 1e-12, "the pedal lengthens no note");
}

#[test]
fn running_status_and_note_on_of_velocity_zero_are_understood() {
    let mut bytes = b"MThd\0\0\0\x06\0\0\0\x01\0\x60MTrk\0\0\0\x13".to_vec();
    bytes.extend([0, 0x90, 60, 64, 0x60, 60, 0, 0, 62, 64, 0x60, 62, 0]);
    bytes.extend([0, 0xFF, 0x2F, 0, 0xAA, 0xBB]);
    let score = read(&bytes);
    let spans: Vec<_> = score.notes.iter().map(|n| (n.pitch, n.onset_tick, n.offset_tick)).collect();
    assert_eq!(spans, [(60, 0, 96), (62, 96, 192)]);
}

#[test]
fn a_note_off_closes_the_earliest_open_note_of_its_pitch_channel_and_track() {
    let first =
        [on(0, 0, 60, 1), on(100, 0, 60, 2), on(110, 1, 60, 3), off(200, 0, 60), off(300, 0, 60), off(400, 1, 60)];
    let second = [on(50, 0, 60, 4), off(250, 0, 60)];
    let score = read(&metrical(&[&first, &second]));
    let mut spans: Vec<_> = score.notes.iter().map(|n| (n.velocity, n.onset_tick, n.offset_tick)).collect();
    spans.sort();
    assert_eq!(spans, [(1, 0, 200), (2, 100, 300), (3, 110, 400), (4, 50, 250)]);
}

#[test]
fn unclosed_notes_end_with_the_track_and_notes_of_no_length_get_some() {
    let events = [on(0, 0, 60, 80), on(480, 0, 62, 80), off(480, 0, 62), on(960, 0, 64, 80), end(960)];
    let score = read(&metrical(&[&events]));
    assert_eq!(score.notes[0].offset_tick, 960);
    for note in &score.notes[1..] {
        let length = note.offset_s - note.onset_s;
        assert!((SHORTEST_NOTE_S - 1e-9..0.05).contains(&length), "{note:?}");
    }
}

#[test]
fn percussion_is_left_out_and_told() {
    let score = read(&metrical(&[&[on(0, 0, 60, 80), on(10, 9, 38, 99), off(480, 9, 38), on(480, 0, 62, 80)]]));
    assert_eq!(score.notes.iter().map(|n| n.pitch).collect::<Vec<_>>(), [60, 62]);
    assert_eq!(score.notation.notices, ["1 note of percussion (MIDI channel 10) left out of the score"]);
    assert!(refusal(&metrical(&[&[on(0, 9, 38, 99), on(480, 9, 40, 99)]])).contains("no notes"));
}

#[test]
fn tracks_of_format_2_follow_each_other_with_their_own_tempo() {
    let first = [tempo(0, 1_000_000), on(0, 0, 60, 80), pedal(10, 100), off(480, 0, 60), end(960)];
    let second = [on(0, 0, 62, 80), off(480, 0, 62), end(480)];
    let bytes = file(Format::Sequential, Timing::Metrical(u15::new(480)), &[&first, &second]);
    let score = read(&bytes);
    assert_eq!(score.notes[1].onset_tick, 960);
    assert!((score.notes[1].onset_s - 2.0).abs() < 1e-12);
    assert!((score.notes[1].offset_s - 2.5).abs() < 1e-12, "the second sequence begins at 120 again");
    assert_eq!(score.pedal.last().map(|p| (p.tick, p.value)), Some((960, 0)));
    assert_eq!(score.position(&score.notes[1]).bar, 2);
}

#[test]
fn smpte_ticks_are_fractions_of_a_second_whatever_the_tempo_says() {
    let events = [tempo(0, 1_000_000), on(0, 0, 60, 80), tempo(500, 100_000), off(1000, 0, 60), on(2000, 0, 62, 80)];
    let bytes = file(Format::SingleTrack, Timing::Timecode(Fps::Fps25, 40), &[&events]);
    let score = read(&bytes);
    assert!((score.notes[1].onset_s - 2.0).abs() < 1e-9);
    assert!((score.position(&score.notes[1]).beat - 3.0).abs() < 1e-9);
}

#[test]
fn signatures_title_and_beats_are_read() {
    let meta = |tick, message| (tick, TrackEventKind::Meta(message));
    let events = [
        meta(0, MetaMessage::TrackName("Präludium\0".as_bytes())),
        meta(0, MetaMessage::TimeSignature(3, 2, 24, 8)),
        meta(0, MetaMessage::KeySignature(-3, true)),
        meta(0, MetaMessage::KeySignature(99, true)),
        meta(1440, MetaMessage::TimeSignature(6, 3, 24, 8)),
        meta(1440, MetaMessage::TimeSignature(6, 200, 24, 8)),
    ];
    let score = read(&metrical(&[&events, &[on(0, 0, 60, 80), on(1680, 0, 62, 80), off(1920, 0, 62), end(1920)]]));
    assert_eq!(score.title.as_deref(), Some("Präludium"));
    assert_eq!(score.keys.iter().map(|k| (k.accidentals, k.minor)).collect::<Vec<_>>(), [(-3, true)]);
    let position = score.position(&score.notes[1]);
    assert_eq!((position.bar, position.beat, position.quarters), (2, 2.0, 0.5));
    let beats: Vec<_> = score.beats().iter().map(|b| (b.tick as u64, b.bar, b.beat)).collect();
    assert_eq!(beats, [(0, 1, 1), (480, 1, 2), (960, 1, 3), (1440, 2, 1), (1680, 2, 2), (1920, 2, 3)]);
    assert!((score.beats()[4].second - 1.75).abs() < 1e-12);
}

#[test]
fn scores_that_cannot_be_aligned_are_refused_with_the_reason() {
    assert!(refusal(&metrical(&[&[end(0)]])).contains("no notes"));
    assert!(refusal(&metrical(&[&[on(0, 0, 60, 9)]])).contains("at least two different onset times"));
    assert!(refusal(&metrical(&[&[on(7, 0, 60, 9), on(7, 0, 64, 9)]])).contains("at least two different onset times"));
    let two = [on(0, 0, 60, 9), on(480, 0, 60, 9), end(960)];
    assert!(refusal(&metrical(&[&[tempo(0, 0)], &two])).contains("tempo without duration stands in bar 1"));
    assert!(refusal(&metrical(&[&[tempo(0, 1)], &two])).contains("60000000 beats per minute"));
    assert!(refusal(&file(Format::Parallel, Timing::Metrical(u15::new(0)), &[&two])).contains("zero ticks"));
    read(&metrical(&[&[tempo(5000, 1)], &two]));
}

#[test]
fn a_rest_or_a_note_of_ten_hours_is_named_with_its_place() {
    let hours = 10 * 3600 * 960;
    let rest = [on(0, 0, 60, 9), off(1920, 0, 60), on(1920 + hours, 0, 62, 9), off(2400 + hours, 0, 62)];
    let error = Score::from_bytes(Path::new("piece.mid"), &metrical(&[&rest])).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }));
    assert!(error.to_string().contains("a rest of 10:00:00 begins in bar 2 at 0:00:02"), "{error}");
    let held = [on(0, 0, 60, 9), on(1920, 0, 62, 9), end(hours)];
    assert!(refusal(&metrical(&[&held])).contains("a held note of 9:59:58 begins in bar 2"));
    let allowed = [on(0, 0, 60, 9), on((LONGEST_SCORE_S * 960.0) as u64 - 480, 0, 62, 9)];
    read(&metrical(&[&allowed]));
}

#[test]
fn a_file_with_millions_of_events_is_refused() {
    let mut track = b"\0\x90\x3c\x40\x10\x3c\0".to_vec();
    track.extend([0x00, 0xB0, 64, 127]);
    track.extend([0x00, 64, 127].repeat(1_000_000));
    let mut bytes = b"MThd\0\0\0\x06\0\0\0\x01\0\x60MTrk".to_vec();
    bytes.extend((track.len() as u32).to_be_bytes());
    bytes.extend(track);
    assert!(refusal(&bytes).contains("more than the 1000000 notes"));
}

#[test]
fn damaged_files_are_named_as_such() {
    assert!(refusal(b"").contains("empty"));
    assert!(refusal(b"RIFF....WAVEfmt ").contains("this is not a score"));
    assert!(refusal(b"hello, this is text").contains("this is not a score"));
    let good = sample_file();
    let mut long = good.clone();
    long[18..22].copy_from_slice(&u32::MAX.to_be_bytes());
    assert!(refusal(&long).contains("claims 4294967295 bytes"));
    assert!(refusal(&good[..good.len() - 5]).contains("cut short"));
    assert!(refusal(&good[..10]).contains("cut short"));
    let mut format = good.clone();
    format[9] = 7;
    assert!(refusal(&format).contains("format 7 is not supported"));
    for rate in 0x80..=0xFF {
        let mut timing = good.clone();
        timing[12] = rate;
        // 24, 25, 29 and 30 frames a second are the ones there are.
        let is_known = [0xE8, 0xE7, 0xE3, 0xE2].contains(&rate);
        assert_eq!(Score::from_bytes(Path::new("piece.mid"), &timing).is_ok(), is_known, "{rate:#x}");
    }
    let mut timing = good.clone();
    timing[12] = 0x80;
    assert!(refusal(&timing).contains("128 SMPTE frames"));
    assert!(refusal(b"MThd\0\0\0\x05\0\x01\0\x01\0").contains("header is too short"));
    let mut broken = good.clone();
    let track = good.windows(4).rposition(|w| w == b"MTrk").unwrap();
    broken[track + 10] = 0xF4;
    assert!(refusal(&broken).contains("track 2 has a damaged event"), "{}", refusal(&broken));
}

#[test]
fn a_riff_wrapper_and_padding_after_the_last_track_do_no_harm() {
    let good = sample_file();
    let mut padded = good.clone();
    padded.extend([0; 37]);
    assert_eq!(read(&padded), read(&good));
    padded.extend(b"made by hand");
    assert_eq!(read(&padded), read(&good));
    let mut riff = b"RIFF\0\0\0\0RMIDINFO\x03\0\0\0abc\0data".to_vec();
    riff.extend((good.len() as u32).to_le_bytes());
    riff.extend(&good);
    assert_eq!(read(&riff), read(&good));
}

#[test]
fn a_large_file_of_empty_chunks_is_read_in_no_time() {
    let mut bytes = sample_file();
    bytes[9] = 2;
    // So many that a time that grows with their square would be minutes.
    for _ in 0..300_000 {
        bytes.extend(b"MTrk\0\0\0\0\0\0\0\0\0\0\0\0");
    }
    read(&bytes);
}

#[test]
fn missing_files_and_folders_are_errors_with_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.mid");
    assert!(Score::read(&missing).unwrap_err().to_string().contains("none.mid"));
    assert!(Score::read(folder.path()).unwrap_err().to_string().contains(&folder.path().display().to_string()));
    let written = folder.path().join("piece.mid");
    std::fs::write(&written, sample_file()).unwrap();
    assert_eq!(Score::read(&written).unwrap(), read(&sample_file()));
}

/// Everything that holds for any score that was accepted.
fn check_invariants(score: &Score) {
    assert!(score.onsets_s().len() >= 2 || score.notes.iter().any(|n| n.onset_tick != score.notes[0].onset_tick));
    assert!(score.end_s() <= LONGEST_SCORE_S);
    assert!(score.notes.is_sorted_by_key(|n| (n.onset_tick, n.pitch, n.channel)));
    for note in &score.notes {
        assert!(note.offset_tick > note.onset_tick && note.offset_s > note.onset_s);
        assert!((1..=127).contains(&note.velocity) && note.pitch < 128 && note.channel != 9);
        assert!(score.position(note).bar >= 1);
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic_or_hang(bytes in proptest::collection::vec(any::<u8>(), 0..400), wrap in any::<bool>()) {
        let mut file = Vec::new();
        if wrap {
            file.extend(b"MThd\0\0\0\x06\0\x01\0\x01\0\x60MTrk");
            file.extend((bytes.len() as u32).to_be_bytes());
        }
        file.extend(bytes);
        if let Ok(score) = Score::from_bytes(Path::new("any"), &file) {
            check_invariants(&score);
        }
    }

    #[test]
    fn mutated_files_never_panic_or_hang(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut file = sample_file();
        for (index, byte) in changes {
            let at = index.index(file.len());
            file[at] = byte;
        }
        if let Ok(score) = Score::from_bytes(Path::new("any"), &file) {
            check_invariants(&score);
        }
    }
}
