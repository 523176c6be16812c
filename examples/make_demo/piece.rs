//! The first eleven bars of J. S. Bach's Prelude in C major, BWV 846.

use midly::num::{u4, u7, u15, u24, u28};
use midly::{Format, Header, MetaMessage, MidiMessage, Smf, Timing, Track, TrackEvent, TrackEventKind};

/// Each bar breaks one chord of five notes, lowest first.
pub const BARS: [[u8; 5]; 11] = [
    [60, 64, 67, 72, 76],
    [60, 62, 69, 74, 77],
    [59, 62, 67, 74, 77],
    [60, 64, 67, 72, 76],
    [60, 64, 69, 76, 81],
    [60, 62, 66, 69, 74],
    [59, 62, 67, 74, 79],
    [59, 60, 64, 67, 72],
    [57, 60, 64, 67, 72],
    [50, 57, 62, 66, 72],
    [55, 59, 62, 67, 71],
];

/// Which note of the chord each sixteenth of half a bar plays.
const PATTERN: [usize; 8] = [0, 1, 2, 3, 4, 2, 3, 4];
/// The tempo mark of the score, in beats per minute.
pub const TEMPO_MARK: f64 = 96.0;
const TICKS_PER_BEAT: u16 = 480;
const SIXTEENTH_TICKS: u32 = 120;

/// The hand that plays a note, and so its track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    Right,
    Left,
}

/// A note of the score; times in sixteenths from the start.
#[derive(Debug, Clone, Copy)]
pub struct ScoreNote {
    pub pitch: u8,
    pub onset: u32,
    pub length: u32,
    pub hand: Hand,
    /// Place in the pattern, 0 being the bass.
    pub voice: usize,
}

/// All notes in order. The two lowest of a chord are held as the notation says, the others are sixteenths.
pub fn notes() -> Vec<ScoreNote> {
    let mut notes = Vec::new();
    for (half, chord) in BARS.iter().flat_map(|chord| [chord, chord]).enumerate() {
        for (place, &voice) in PATTERN.iter().enumerate() {
            let (length, hand) = match place {
                0 => (8, Hand::Left),
                1 => (7, Hand::Left),
                _ => (1, Hand::Right),
            };
            notes.push(ScoreNote { pitch: chord[voice], onset: (8 * half + place) as u32, length, hand, voice });
        }
    }
    notes
}

/// The score as a MIDI file.
pub fn midi() -> Vec<u8> {
    let mut smf = Smf::new(Header::new(Format::Parallel, Timing::Metrical(u15::new(TICKS_PER_BEAT))));
    let micros = u24::new((60e6 / TEMPO_MARK).round() as u32);
    smf.tracks.push(track(vec![
        (0, TrackEventKind::Meta(MetaMessage::TrackName(b"Bach: Prelude in C major, BWV 846"))),
        (0, TrackEventKind::Meta(MetaMessage::Tempo(micros))),
        (0, TrackEventKind::Meta(MetaMessage::TimeSignature(4, 2, 24, 8))),
        (0, TrackEventKind::Meta(MetaMessage::KeySignature(0, false))),
    ]));
    for (hand, name) in [(Hand::Right, b"right hand".as_slice()), (Hand::Left, b"left hand")] {
        let mut events = vec![(0, TrackEventKind::Meta(MetaMessage::TrackName(name)))];
        for note in notes().iter().filter(|note| note.hand == hand) {
            let key = u7::new(note.pitch);
            let channel = u4::new(0);
            let on = MidiMessage::NoteOn { key, vel: u7::new(72) };
            let off = MidiMessage::NoteOff { key, vel: u7::new(64) };
            events.push((note.onset * SIXTEENTH_TICKS, TrackEventKind::Midi { channel, message: on }));
            let end = (note.onset + note.length) * SIXTEENTH_TICKS;
            events.push((end, TrackEventKind::Midi { channel, message: off }));
        }
        // Ends before beginnings, so that a repeated key is not closed as it opens.
        let is_on = |kind: &TrackEventKind<'_>| {
            matches!(kind, TrackEventKind::Midi { message: MidiMessage::NoteOn { .. }, .. })
        };
        events.sort_by_key(|(tick, kind)| (*tick, is_on(kind)));
        smf.tracks.push(track(events));
    }
    let mut bytes = Vec::new();
    smf.write_std(&mut bytes).expect("a Vec takes every byte");
    bytes
}

fn track(mut events: Vec<(u32, TrackEventKind<'static>)>) -> Track<'static> {
    let end = events.last().map_or(0, |event| event.0);
    events.push((end, TrackEventKind::Meta(MetaMessage::EndOfTrack)));
    let mut previous = 0;
    let timed = events.into_iter().map(|(tick, kind)| {
        let delta = u28::new(tick - previous);
        previous = tick;
        TrackEvent { delta, kind }
    });
    timed.collect()
}
