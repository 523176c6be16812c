//! Reading the files of a piece, and aligning it.

use std::path::Path;
use std::sync::Arc;

use crate::align::result::Alignment;
use crate::align::settings::Settings;
use crate::align::{Named, Performance, ReadPerformance, Stopwatch, align, align_heard, read_performance};
use crate::app::document::Heard;
use crate::app::document::fingerprint::Fingerprint;
use crate::app::document::source::{Source, Sources};
use crate::app::document::view_model::{Fingerprints, Piece, PieceParts, Reference};
use crate::audio::{self, AudioClip};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::demo;
use crate::evaluation::{BeatClock, TimeMap, read_ground_truth};
use crate::networks::Device;
use crate::score::{Score, SoundFont};

/// Aligns a piece; tells what was heard of it unless that was known.
pub(super) fn align_piece(
    ctx: &JobContext,
    device: &Device,
    piece: &Piece,
    heard: Option<Heard>,
    settings: &Settings,
) -> Result<(Alignment, Option<Heard>)> {
    let recording = Named { name: &piece.recording_name, content: &piece.performance };
    let score = Named { name: &piece.score_name, content: &piece.score };
    let watch = &mut Stopwatch::default();
    match heard.filter(|heard| heard.listening.suits(&settings.method)) {
        Some(heard) => Ok((align_heard(ctx, recording, score, &heard.listening, settings, watch)?, None)),
        None => {
            let (alignment, listening) = align(ctx, recording, score, settings, device, watch)?;
            Ok((alignment, Some(Heard::new(listening))))
        }
    }
}

/// The files of a piece.
pub(super) struct Read {
    pub piece: Piece,
    pub reference: Option<Reference>,
    /// What is wrong with the reference: the piece can do without.
    pub bad_reference: Option<Error>,
    /// What is wrong with the SoundFont that the performance was to be heard with: it is with the built-in piano.
    pub silent_soundfont: Option<Error>,
}

const DEMO_RECORDING: &str = "demo performance.ogg";
const DEMO_SCORE: &str = "demo score.mid";

pub(super) fn read(ctx: &JobContext, mut sources: Sources, soundfont: Option<&Path>) -> Result<Read> {
    ctx.report("reading the score", 0.0)?;
    // Before anything else is read: a file that changes meanwhile is then known to have changed.
    let fingerprints = Fingerprints::of(ctx, &sources);
    ctx.check()?;
    let score = match &sources.score {
        Source::Demo => Score::from_bytes(Path::new(DEMO_SCORE), demo::score_bytes())?,
        Source::File(path) => Score::read(path)?,
    };
    let reference = sources.reference.as_ref().map(|source| read_reference(ctx, source, &score)).transpose();
    let (reference, bad_reference) = match reference {
        Ok(reference) => (reference, None),
        Err(error) => {
            sources.reference = None;
            (None, Some(error))
        }
    };
    let recording_name = sources.recording.name(DEMO_RECORDING);
    let Performed { read, sound, silent_soundfont } = perform(ctx, &sources.recording, soundfont)?;
    let score_name = sources.score.name(DEMO_SCORE);
    let piece = Piece::new(PieceParts { sources, fingerprints, recording_name, score_name, read, sound, score });
    Ok(Read { piece, reference, bad_reference, silent_soundfont })
}

/// What was played, so that it can be heard.
pub(super) struct Performed {
    pub read: ReadPerformance,
    pub sound: Arc<AudioClip>,
    /// What is wrong with the SoundFont that it was to be heard with.
    pub silent_soundfont: Option<Error>,
}

/// Reads a recording, or a MIDI performance that is heard with a SoundFont.
pub(super) fn perform(ctx: &JobContext, source: &Source, soundfont: Option<&Path>) -> Result<Performed> {
    let read: ReadPerformance = match source {
        Source::Demo => audio::decode_bytes(ctx, DEMO_RECORDING, demo::performance_bytes())?.into(),
        Source::File(path) => read_performance(ctx, path)?,
    };
    read.performance.check_usable(&source.name(DEMO_RECORDING))?;
    let (sound, silent_soundfont) = match &read.performance {
        Performance::Recording(clip) => (Arc::clone(clip), None),
        Performance::Take(take) => match SoundFont::load(soundfont).and_then(|font| take.play(ctx, font)) {
            Ok(sound) => (Arc::new(sound), None),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => (Arc::new(take.play(ctx, SoundFont::builtin())?), Some(error)),
        },
    };
    Ok(Performed { read, sound, silent_soundfont })
}

pub(super) fn read_reference(ctx: &JobContext, source: &Source, score: &Score) -> Result<Reference> {
    let fingerprint = source.path().and_then(|path| Fingerprint::of(ctx, path).ok());
    let times = match source {
        Source::Demo => demo_truth()?,
        Source::File(path) => read_ground_truth(path, Some(&BeatClock::of_score(score)))?,
    };
    Ok(Reference { name: source.name("ground truth of the demo"), times, fingerprint })
}

/// The built-in truth: beat, score time and performance time in each row after the first.
fn demo_truth() -> Result<TimeMap> {
    let text = String::from_utf8_lossy(demo::truth_bytes());
    let rows = text.lines().skip(1).filter_map(|row| {
        let mut fields = row.split(',').skip(1).map(|field| field.trim().parse().ok());
        Some((fields.next()??, fields.next()??))
    });
    TimeMap::from_pairs(rows.collect())
        .map_err(|cause| Error::malformed("truth.csv", cause, "the built-in demo is damaged: install Agogic again"))
}
