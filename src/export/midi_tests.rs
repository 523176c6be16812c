//! The written file is parsed again and its times are computed from its own tempo map.

use midly::{MetaMessage, MidiMessage, Smf, Timing, TrackEventKind};

use super::super::Format;
use super::super::events::beats;
use super::super::test_piece::{Piece, alignment_of, piece};
use crate::score::{Division, TempoChange, TempoMap};

struct Parsed {
    tempo: TempoMap,
    signatures: Vec<(u64, u8, u8)>,
    keys: Vec<(u64, i8, bool)>,
    /// Track, channel, pitch, velocity, onset tick, offset tick.
    notes: Vec<(usize, u8, u8, u8, u64, u64)>,
    pedal: Vec<(usize, u64, u8)>,
    programs: Vec<(usize, u64, u8)>,
}

fn parse(bytes: &[u8]) -> Parsed {
    let smf = Smf::parse(bytes).unwrap();
    let Timing::Metrical(ticks) = smf.header.timing else { panic!("time code") };
    let (mut changes, mut signatures, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    let (mut notes, mut pedal, mut programs) = (Vec::new(), Vec::new(), Vec::new());
    for (number, track) in smf.tracks.iter().enumerate() {
        let mut tick = 0u64;
        for event in track {
            tick += u64::from(event.delta.as_int());
            match event.kind {
                TrackEventKind::Meta(MetaMessage::Tempo(micros)) => {
                    changes.push(TempoChange { tick, micros_per_beat: micros.as_int() });
                }
                TrackEventKind::Meta(MetaMessage::TimeSignature(n, d, ..)) => signatures.push((tick, n, d)),
                TrackEventKind::Meta(MetaMessage::KeySignature(k, minor)) => keys.push((tick, k, minor)),
                TrackEventKind::Midi { channel, message } => match message {
                    MidiMessage::NoteOn { key, vel } => {
                        notes.push((number, channel.as_int(), key.as_int(), vel.as_int(), tick, 0));
                    }
                    MidiMessage::NoteOff { key, .. } => {
                        let open = notes.iter_mut().find(|n| n.0 == number && n.2 == key.as_int() && n.5 == 0);
                        open.unwrap().5 = tick;
                    }
                    MidiMessage::Controller { value, .. } => pedal.push((number, tick, value.as_int())),
                    MidiMessage::ProgramChange { program } => programs.push((number, tick, program.as_int())),
                    _ => {}
                },
                _ => {}
            }
        }
    }
    let tempo = TempoMap::new(Division::PerBeat(ticks.as_int()), &changes).unwrap();
    Parsed { tempo, signatures, keys, notes, pedal, programs }
}

fn check_notes(piece: &Piece, parsed: &Parsed, tolerance_s: f64) {
    assert_eq!(parsed.notes.len(), piece.score.notes.len());
    for (note, aligned) in piece.score.notes.iter().zip(&piece.alignment.notes) {
        let near = |tick: u64, second: f64| (parsed.tempo.tick_to_seconds(tick as f64) - second).abs() < tolerance_s;
        let found = parsed.notes.iter().any(|&(_, channel, pitch, velocity, on, off)| {
            (channel, pitch, velocity) == (note.channel, note.pitch, note.velocity)
                && near(on, aligned.onset_s)
                && near(off, aligned.offset_s)
        });
        assert!(found, "{note:?} {aligned:?} not in {:?}", parsed.notes);
    }
}

#[test]
fn the_files_own_beats_fall_on_the_performances_beats() {
    let piece = piece();
    let parsed = parse(&piece.render(Format::Midi));
    let lead_in = 3 * 480;
    for beat in beats(&piece.input()).unwrap() {
        let found = parsed.tempo.tick_to_seconds(lead_in as f64 + beat.tick);
        assert!((found - beat.performance_s).abs() < 1e-4, "{beat:?} at {found}");
    }
    check_notes(&piece, &parsed, 1e-4);
    for (note, found) in piece.score.notes.iter().zip(sorted_onsets(&parsed)) {
        assert_eq!(found, lead_in + note.onset_tick, "notes stay on the score's grid");
    }
}

fn sorted_onsets(parsed: &Parsed) -> Vec<u64> {
    let mut ticks: Vec<u64> = parsed.notes.iter().map(|note| note.4).collect();
    ticks.sort_unstable();
    ticks
}

#[test]
fn signatures_keys_pedal_programs_and_tracks_are_kept() {
    let parsed = parse(&piece().render(Format::Midi));
    assert_eq!(parsed.signatures, [(0, 3, 2), (2880, 6, 3)]);
    assert_eq!(parsed.keys, [(0, -3, true)]);
    assert_eq!(parsed.pedal, [(1, 1440, 127), (1, 2840, 0)]);
    assert_eq!(parsed.programs, [(2, 0, 6)]);
    assert_eq!(parsed.notes.iter().filter(|note| note.0 == 2).count(), 2);
}

#[test]
fn the_flat_file_has_one_tempo_and_absolute_times() {
    let piece = piece();
    let parsed = parse(&piece.render(Format::FlatMidi));
    assert_eq!(parsed.tempo.changes().count(), 1);
    assert!(parsed.signatures.is_empty());
    check_notes(&piece, &parsed, 0.0003);
}

#[test]
fn a_note_that_leaves_its_chord_leaves_the_grid() {
    let mut piece = piece();
    piece.alignment.notes[1].onset_s += 0.040;
    let parsed = parse(&piece.render(Format::Midi));
    check_notes(&piece, &parsed, 0.001);
}

#[test]
fn pauses_jumps_and_early_scores_are_made_good_later() {
    let mut piece = piece();
    // A pause of a minute within a fortieth of a beat, then a stretch that takes no time at all.
    piece.alignment =
        alignment_of(&piece.score, vec![0.0, 0.75, 0.751, 1.5, 2.0, 4.5], vec![-0.4, 1.0, 61.0, 62.0, 62.0, 70.0]);
    let parsed = parse(&piece.render(Format::Midi));
    assert_eq!(parsed.signatures[1].0, 1440, "no lead-in bar");
    let last = piece.alignment.notes.last().unwrap();
    let found = parsed.notes.iter().find(|note| note.2 == 71).unwrap();
    assert!((parsed.tempo.tick_to_seconds(found.5 as f64) - last.offset_s).abs() < 0.001);
}
