//! A small piece for the tests: a signature change, a flat key, two tracks, pedal, a tempo change and a pause.

use super::ExportInput;
use crate::align::PerformanceKind;
use crate::align::result::{
    AlignedNote, Alignment, ExtraNote, Judged, MediaInfo, Place, Provenance, TempoPoint, Verdict,
};
use crate::align::settings::{Anchor, Settings};
use crate::score::{
    Division, KeySignature, MeterMap, Note, PedalChange, ProgramChange, Score, TempoChange, TempoMap, TimeSignature,
};
use crate::warping::Warp;

/// Score and alignment.
pub struct Piece {
    pub score: Score,
    pub alignment: Alignment,
}

impl Piece {
    pub fn input(&self) -> ExportInput<'_> {
        ExportInput::new(&self.score, &self.alignment)
    }

    pub fn render(&self, format: super::Format) -> Vec<u8> {
        format.exporter().render(&self.input()).unwrap()
    }

    pub fn render_text(&self, format: super::Format) -> String {
        String::from_utf8(self.render(format)).unwrap()
    }
}

const TICKS: u16 = 480;

/// One bar of 3/4 at 120, one of 6/8 at 60, ending on the next downbeat.
pub fn piece() -> Piece {
    let changes = [TempoChange { tick: 1440, micros_per_beat: 1_000_000 }];
    let tempo = TempoMap::new(Division::PerBeat(TICKS), &changes).unwrap();
    let signatures = [
        TimeSignature { tick: 0, numerator: 3, denominator: 4 },
        TimeSignature { tick: 1440, numerator: 6, denominator: 8 },
    ];
    // pitch, track, onset, offset in ticks
    let plan = [
        (60, 1, 0, 720),
        (64, 2, 0, 480),
        (70, 1, 720, 960),
        (72, 1, 1000, 1440),
        (48, 2, 1440, 2880),
        (67, 1, 1440, 1680),
        (69, 1, 1680, 1920),
        (71, 1, 1920, 2880),
    ];
    let note = |&(pitch, track, onset_tick, offset_tick): &(u8, u16, u64, u64)| Note {
        pitch,
        velocity: 60 + track as u8,
        channel: track as u8 - 1,
        track,
        onset_tick,
        offset_tick,
        onset_s: tempo.tick_to_seconds(onset_tick as f64),
        offset_s: tempo.tick_to_seconds(offset_tick as f64),
    };
    let score = Score {
        title: Some("Étude \"<1>\"".to_owned()),
        notes: plan.iter().map(note).collect(),
        meter: MeterMap::new(f64::from(TICKS), &signatures),
        keys: vec![KeySignature { tick: 0, accidentals: -3, minor: true }],
        pedal: vec![PedalChange { tick: 0, channel: 0, value: 127 }, PedalChange { tick: 1400, channel: 0, value: 0 }],
        programs: vec![ProgramChange { tick: 0, channel: 1, program: 6 }],
        notation: Default::default(),
        tempo,
    };
    let alignment = alignment_of(&score, vec![0.0, 0.7, 1.5, 2.25, 4.5], vec![0.8, 1.65, 2.4, 5.1234567, 8.2]);
    Piece { score, alignment }
}

/// The same with one note left out, another one played for a third, and one more that the score does not have.
pub fn judged_piece() -> Piece {
    let mut piece = piece();
    let judged = |verdict, confidence| Some(Judged { verdict, confidence });
    for note in &mut piece.alignment.notes {
        (note.verdict, note.offset_confidence) = (judged(Verdict::Played, 0.97), Some(0.75));
    }
    let notes = &mut piece.alignment.notes;
    (notes[1].verdict, notes[1].offset_confidence) = (judged(Verdict::Missing, 0.9), None);
    (notes[2].verdict, notes[2].offset_confidence) = (judged(Verdict::OtherPitch { pitch: 71 }, 0.8), None);
    let onset_s = notes[2].onset_s + 0.01;
    piece.alignment.extra_notes = vec![
        ExtraNote { pitch: 71, onset_s, offset_s: onset_s + 0.2, confidence: 0.85, instead_of: Some(2) },
        ExtraNote { pitch: 74, onset_s: 6.5, offset_s: 6.75, confidence: 0.7, instead_of: None },
    ];
    piece
}

/// The alignment that a warp with these knots makes of a score.
pub fn alignment_of(score: &Score, score_s: Vec<f64>, performance_s: Vec<f64>) -> Alignment {
    let warp = Warp::new(score_s, performance_s).unwrap();
    let aligned = |note: &Note| AlignedNote::new(warp.at(note.onset_s), warp.at(note.offset_s), 0.9);
    let notes: Vec<AlignedNote> = score.notes.iter().map(aligned).collect();
    let last_beat = score.tempo.seconds_to_beat(score.end_s()).floor() as u32;
    let time = |beat: f64| warp.at(score.tempo.beat_to_seconds(beat));
    let tempo = (0..last_beat).map(f64::from).map(|beat| TempoPoint {
        score_beat: beat,
        performance_s: time(beat),
        beats_per_minute: 60.0 / (time(beat + 1.0) - time(beat)),
    });
    let tempo: Vec<TempoPoint> = tempo.collect();
    let duration_s = warp.at(score.end_s()) + 1.0;
    Alignment {
        notes,
        extra_notes: Vec::new(),
        sections: Vec::new(),
        tempo,
        warp,
        places: vec![Place {
            performance_from_s: 2.4,
            performance_to_s: 5.5,
            score_from_s: 1.5,
            score_to_s: 2.25,
            expected_wrong_notes: 1.75,
        }],
        confidence: 0.87,
        match_confidence: 0.9,
        warnings: vec!["a made-up\nwarning".to_owned()],
        settings: Settings { anchors: vec![Anchor { score_s: 0.7, performance_s: 1.65 }], ..Settings::default() },
        provenance: Provenance {
            program: "agogic 0.1.0".to_owned(),
            recording: MediaInfo { name: "recording.flac".to_owned(), duration_s },
            performance: PerformanceKind::Audio,
            score: MediaInfo { name: "score.mid".to_owned(), duration_s: score.end_s() },
            ear: None,
            transcription: None,
            extractor: None,
            soundfont: Some("built-in piano".to_owned()),
            device: None,
        },
        search: None,
    }
}
