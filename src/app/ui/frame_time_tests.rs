//! How long a frame of the panes takes on an hour of music with 50,000 notes, at every zoom.

use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::egui::vec2;
use egui_kittest::Harness;

use super::panes::{PaneKind, panes_ui, toggle};
use super::theme;
use crate::align::result::{AlignedNote, Alignment, MediaInfo, Provenance, TempoPoint};
use crate::align::settings::Settings;
use crate::align::{Performance, PerformanceKind, ReadPerformance};
use crate::app::document::source::Sources;
use crate::app::document::view_model::{Fingerprints, Piece, PieceParts, Solution};
use crate::app::document::{Document, Opening};
use crate::app::preferences::Preferences;
use crate::app::state::AppState;
use crate::app::time_view::TimeView;
use crate::audio::AudioClip;
use crate::score::{Division, MeterMap, Note, Score, TempoMap};
use crate::warping::Warp;

const HOUR_S: f64 = 3600.0;
const NOTES: usize = 50_000;
/// Low, to spare memory: the drawing works with peaks, whose number at any zoom does not depend on it.
const RATE: u32 = 4_000;
/// Ten times what is hoped for, since tests share the machine with others.
const LONGEST_FRAME: Duration = Duration::from_millis(160);

/// So many parts, each with its share of the notes.
fn score(parts: usize, notes: usize) -> Score {
    let tempo = TempoMap::new(Division::PerBeat(480), &[]).unwrap();
    let step = HOUR_S / notes as f64;
    let notes = (0..notes).map(|n| {
        let (onset_s, offset_s) = (n as f64 * step, (n as f64 + 3.0 * parts as f64) * step);
        Note {
            pitch: 30 + (n * 7 % 60) as u8,
            velocity: 80,
            channel: (n % parts % 9) as u8,
            track: (n % parts) as u16,
            onset_tick: tempo.seconds_to_tick(onset_s) as u64,
            offset_tick: tempo.seconds_to_tick(offset_s) as u64,
            onset_s,
            offset_s,
        }
    });
    Score {
        title: None,
        notes: notes.collect(),
        meter: MeterMap::new(480.0, &[]),
        tempo: tempo.clone(),
        keys: Vec::new(),
        pedal: Vec::new(),
        programs: Vec::new(),
        notation: Default::default(),
    }
}

fn alignment(score: &Score) -> Alignment {
    let knots: Vec<f64> = (0..=70_000).map(|k| f64::from(k) * HOUR_S / 70_000.0).collect();
    let media = MediaInfo { name: "x".to_owned(), duration_s: HOUR_S };
    Alignment {
        warp: Warp::new(knots.clone(), knots).unwrap(),
        notes: score.notes.iter().map(|note| AlignedNote::new(note.onset_s, note.offset_s, 0.8)).collect(),
        extra_notes: Vec::new(),
        sections: Vec::new(),
        tempo: (0..7_200)
            .map(|beat| TempoPoint {
                score_beat: f64::from(beat),
                performance_s: f64::from(beat) * 0.5,
                beats_per_minute: 120.0 + f64::from(beat % 9),
            })
            .collect(),
        places: Vec::new(),
        confidence: 0.8,
        match_confidence: 0.8,
        warnings: Vec::new(),
        settings: Settings::default(),
        provenance: Provenance {
            program: "agogic".to_owned(),
            recording: media.clone(),
            performance: PerformanceKind::Audio,
            score: media,
            ear: None,
            transcription: None,
            extractor: None,
            soundfont: None,
            device: None,
        },
        search: None,
    }
}

fn piece(score: Score, samples: Vec<f32>) -> Piece {
    let sound = Arc::new(AudioClip { samples, sample_rate: RATE });
    let performance = Performance::Recording(Arc::clone(&sound));
    Piece::new(PieceParts {
        sources: Sources::demo(),
        fingerprints: Fingerprints::default(),
        recording_name: "hour.wav".to_owned(),
        score_name: "hour.mid".to_owned(),
        read: ReadPerformance { performance, sample_rate: RATE, damage: None },
        sound,
        score,
    })
}

/// An alignment of a few notes, for tests of what holds alignments.
pub fn small_solution() -> Solution {
    let piece = piece(score(1, 10), vec![0.0; RATE as usize]);
    Solution::new(&piece, alignment(&piece.score), None)
}

fn state(score: Score) -> AppState {
    let samples = (0..HOUR_S as usize * RATE as usize).map(|n| ((n * n % 977) as f32 / 977.0 - 0.5) * 0.8).collect();
    let piece = piece(score, samples);
    let solution = Solution::new(&piece, alignment(&piece.score), None);
    let mut document = Document::new(Arc::new(piece), None, Opening::plain(&Settings::default()), None);
    document.solution = Some(Arc::new(solution));
    AppState { document: Some(document), ..AppState::new(Preferences::default()) }
}

fn harness(score: Score) -> Harness<'static, AppState> {
    Harness::builder().with_size(vec2(1600.0, 900.0)).with_context_setup(theme::install).build_ui_state(
        |ui, state: &mut AppState| {
            let mut layout = state.preferences.layout.clone();
            panes_ui(ui, &mut layout, state, &mut Vec::new());
        },
        state(score),
    )
}

/// Times of nine frames of a view, from the shortest.
fn frames(harness: &mut Harness<'static, AppState>, view: TimeView) -> Vec<Duration> {
    harness.state_mut().document.as_mut().unwrap().view = view;
    harness.step();
    let mut times: Vec<Duration> = (0..9)
        .map(|frame| {
            // As while scrolling: no frame is like the last.
            harness.state_mut().document.as_mut().unwrap().view = view.panned(0.003 * f64::from(frame) * view.span_s);
            let begun = Instant::now();
            harness.step();
            let shapes = harness.output().shapes.clone();
            let triangles = harness.ctx.tessellate(shapes, 1.0);
            assert!(!triangles.is_empty());
            begun.elapsed()
        })
        .collect();
    times.sort();
    times
}

#[test]
fn an_hour_with_fifty_thousand_notes_is_drawn_fast_at_every_zoom() {
    let mut harness = harness(score(1, NOTES));
    for zoom in [1.0, 4.0, 60.0, 1000.0] {
        let times = frames(&mut harness, TimeView::whole(HOUR_S).zoomed(1234.0, zoom));
        println!("zoom {zoom}: {:?} a frame", times[4]);
        assert!(times[0] < LONGEST_FRAME, "zoom {zoom}: {times:?}");
    }
}

/// Staves alone, of thirty parts: what they take is printed.
#[test]
fn an_hour_of_thirty_parts_is_drawn_at_every_zoom_and_in_reading() {
    let mut harness = harness(score(30, 4 * NOTES));
    let layout = &mut harness.state_mut().preferences.layout;
    for kind in PaneKind::ALL.into_iter().filter(|kind| !matches!(kind, PaneKind::Staff | PaneKind::Spectrum)) {
        toggle(layout, kind);
    }
    for reading in [false, true] {
        harness.state_mut().preferences.reading = reading;
        for zoom in [1.0, 4.0, 60.0, 200.0, 1000.0] {
            let times = frames(&mut harness, TimeView::whole(HOUR_S).zoomed(1234.0, zoom));
            println!("thirty parts, reading {reading}, zoom {zoom}: {:?} a frame", times[4]);
        }
    }
}
