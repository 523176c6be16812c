//! Reading the files of a piece, and aligning it.

use std::path::Path;

use crate::align::result::Alignment;
use crate::align::settings::Settings;
use crate::align::{Named, Stopwatch, align, align_heard};
use crate::app::document::Heard;
use crate::app::document::source::{Source, Sources};
use crate::app::document::view_model::{Piece, PieceParts, Reference};
use crate::audio::{self, Decoded};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::demo;
use crate::evaluation::{BeatClock, TimeMap, read_ground_truth};
use crate::networks::Device;
use crate::score::Score;

/// Aligns a piece; tells what was heard of it unless that was known.
pub(super) fn align_piece(
    ctx: &JobContext,
    device: &Device,
    piece: &Piece,
    heard: Option<Heard>,
    settings: &Settings,
) -> Result<(Alignment, Option<Heard>)> {
    let recording = Named { name: &piece.recording_name, content: &*piece.recording };
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
}

const DEMO_RECORDING: &str = "demo performance.ogg";
const DEMO_SCORE: &str = "demo score.mid";

pub(super) fn read(ctx: &JobContext, mut sources: Sources) -> Result<Read> {
    ctx.report("reading the score", 0.0)?;
    let score = match &sources.score {
        Source::Demo => Score::from_bytes(Path::new(DEMO_SCORE), demo::score_bytes())?,
        Source::File(path) => Score::read(path)?,
    };
    let reference = sources.reference.as_ref().map(|source| read_reference(source, &score)).transpose();
    let (reference, bad_reference) = match reference {
        Ok(reference) => (reference, None),
        Err(error) => {
            sources.reference = None;
            (None, Some(error))
        }
    };
    let recording_name = sources.recording.name(DEMO_RECORDING);
    let decoded = decode(ctx, &sources.recording)?;
    let score_name = sources.score.name(DEMO_SCORE);
    let piece = Piece::new(PieceParts { sources, recording_name, score_name, decoded, score });
    Ok(Read { piece, reference, bad_reference })
}

pub(super) fn decode(ctx: &JobContext, source: &Source) -> Result<Decoded> {
    let decoded = match source {
        Source::Demo => audio::decode_bytes(ctx, DEMO_RECORDING, demo::performance_bytes())?,
        Source::File(path) => audio::decode(ctx, path)?,
    };
    decoded.clip.check_usable(&source.name(DEMO_RECORDING))?;
    Ok(decoded)
}

pub(super) fn read_reference(source: &Source, score: &Score) -> Result<Reference> {
    let times = match source {
        Source::Demo => demo_truth()?,
        Source::File(path) => read_ground_truth(path, Some(&BeatClock::of_score(score)))?,
    };
    Ok(Reference { name: source.name("ground truth of the demo"), times })
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
