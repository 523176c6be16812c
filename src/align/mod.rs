//! The one orchestration: from a recording and a score to an [`Alignment`].

mod confidence;
mod frame_stage;
mod notes;
mod onset_stage;
pub mod onsets;
pub mod result;
mod retiming;
pub mod settings;
pub mod start;
mod structure;
mod timing;

use std::path::Path;

pub use notes::tempo_curve;
pub use timing::{StageTime, Stopwatch};

use crate::align::onsets::{OnsetParams, Placed};
use crate::align::result::{Alignment, MediaInfo, Provenance, SearchBand};
use crate::align::settings::{AlignerKind, Refinement, Settings};
use crate::audio::{self, AudioClip};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::score::{Score, SoundFont};
use crate::warping::Warp;

/// What [`align_files`] read and found.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The score that was read.
    pub score: Score,
    /// The alignment.
    pub alignment: Alignment,
    /// Samples per second of the recording as it was stored.
    pub recording_rate: u32,
    /// How long each stage took.
    pub times: Vec<StageTime>,
}

/// A recording or a score with the name that results and messages call it by.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a, T> {
    /// File name without its folder.
    pub name: &'a str,
    /// The content.
    pub content: &'a T,
}

/// Reads both files and aligns them.
pub fn align_files(ctx: &JobContext, recording: &Path, score: &Path, settings: &Settings) -> Result<Outcome> {
    settings.validate()?;
    let mut watch = Stopwatch::default();
    let parsed = watch.time("score", || Score::read(score))?;
    let decoded = watch.time("decoding", || audio::decode(ctx, recording))?;
    let (recording_name, score_name) = (file_name(recording), file_name(score));
    let recording = Named { name: &recording_name, content: &decoded.clip };
    let mut alignment = align(ctx, recording, Named { name: &score_name, content: &parsed }, settings, &mut watch)?;
    alignment.warnings.extend(decoded.source.damage.map(|damage| format!("{recording_name}: {damage}")));
    Ok(Outcome { score: parsed, alignment, recording_rate: decoded.source.sample_rate, times: watch.into_times() })
}

/// Parts of the method that are no setting, to be varied in experiments.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// Weights and widths of the onset problem.
    pub onsets: OnsetParams,
    /// Whether the recording's tuning is estimated and made up for.
    pub compensates_tuning: bool,
}

impl Default for Method {
    fn default() -> Self {
        Self { onsets: OnsetParams::default(), compensates_tuning: true }
    }
}

/// Aligns a decoded recording with a score.
pub fn align(
    ctx: &JobContext,
    recording: Named<'_, AudioClip>,
    score: Named<'_, Score>,
    settings: &Settings,
    watch: &mut Stopwatch,
) -> Result<Alignment> {
    align_by(ctx, recording, score, settings, &Method::default(), watch)
}

/// [`align`] by another method.
pub fn align_by(
    ctx: &JobContext,
    recording: Named<'_, AudioClip>,
    score: Named<'_, Score>,
    settings: &Settings,
    method: &Method,
    watch: &mut Stopwatch,
) -> Result<Alignment> {
    settings.validate()?;
    recording.content.check_usable(recording.name)?;
    check_anchors(recording.content, score.content, settings)?;
    // A SoundFont that cannot be read is told even where the score need not sound.
    if settings.soundfont.is_some() {
        SoundFont::load(settings.soundfont.as_deref())?;
    }
    let mut spectrum = watch.time("spectrum", || match method.compensates_tuning {
        true => start::recording_spectrum(ctx, recording.content),
        false => start::spectrum_in_tuning(ctx, recording.content, 0.0),
    })?;
    let mut start = watch.time("rough start", || start::find(ctx, &spectrum, score.content))?;
    spectrum.retune(start.tuning_semitones);
    let mut read = None;
    let mut placed = None;
    if settings.refinement() == Refinement::Onsets {
        if settings.aligner == AlignerKind::Dtw {
            start.warp = frame_stage::refine(ctx, recording.content, score.content, &start, settings, watch)?;
        }
        let heard = onset_stage::listen(ctx, recording.content, &spectrum, watch)?;
        let place = |score: &Score, start: &start::Start, watch: &mut Stopwatch| {
            onset_stage::refine(ctx, &heard, score, start, settings, &method.onsets, watch)
        };
        let mut best = place(score.content, &start, watch)?;
        // Anchors say where things are, and DTW frames are those of the score as written: then it is read as written.
        if settings.anchors.is_empty() && settings.aligner == AlignerKind::Gdtw {
            let proposals =
                watch.time("structure", || structure::propose(ctx, &spectrum, score.content, &start, &best.warp))?;
            for proposal in proposals {
                let other = place(&proposal.reading.score, &proposal.start, watch)?;
                if proposal.is_believed(&other, &best) {
                    best = other;
                    read = Some(proposal);
                }
            }
        }
        placed = Some(best);
    }
    let warp = match &placed {
        Some(placed) => placed.warp.clone(),
        None => frame_stage::refine(ctx, recording.content, score.content, &start, settings, watch)?,
    };
    let radius_s = match settings.refinement() {
        Refinement::Onsets => onset_stage::first_radius_s(settings),
        Refinement::None => frame_stage::first_radius_s(settings),
    };
    let searched =
        |start: &start::Start| Ok(SearchBand::round(&onset_stage::centre(start, &settings.anchors)?, radius_s));
    let Some(structure::Proposal { reading, start, repeats, .. }) = read else {
        let alignment = finish(recording, score, settings, &start, warp, placed.as_ref())?;
        return Ok(Alignment { search: Some(searched(&start)?), ..alignment });
    };
    let folded = placed.as_ref().map(|placed| reading.fold_placed(placed)).transpose()?;
    let (folded_start, written) = (reading.fold_start(&start)?, score.content);
    let mut alignment = finish(recording, score, settings, &folded_start, reading.fold_warp(&warp)?, folded.as_ref())?;
    reading.mend_offsets(&warp, &mut alignment.notes);
    alignment.warnings.extend(reading.notices(written, &warp, &repeats));
    alignment.search = Some(searched(&folded_start)?);
    Ok(alignment)
}

fn finish(
    recording: Named<'_, AudioClip>,
    score: Named<'_, Score>,
    settings: &Settings,
    start: &start::Start,
    warp: Warp,
    placed: Option<&Placed>,
) -> Result<Alignment> {
    let judged = confidence::judge(start, score.content, placed);
    Ok(Alignment {
        notes: notes::aligned_notes(score.content, &warp, placed, judged.confidence),
        tempo: notes::tempo_curve(score.content, &warp),
        warp,
        confidence: judged.confidence,
        warnings: judged.warnings,
        settings: settings.clone(),
        provenance: Provenance {
            program: concat!("agogic ", env!("CARGO_PKG_VERSION")).to_owned(),
            recording: MediaInfo { name: recording.name.to_owned(), duration_s: recording.content.duration_s() },
            score: MediaInfo { name: score.name.to_owned(), duration_s: score.content.end_s() },
            soundfont: settings.soundfont.as_deref().map_or_else(|| "built-in piano".to_owned(), file_name),
            extractor: settings.extractor.as_deref().map(|name| file_name(Path::new(name))),
        },
        search: None,
    })
}

/// Anchors must lie within both files and go forward; anything else is told before the work begins.
fn check_anchors(recording: &AudioClip, score: &Score, settings: &Settings) -> Result<()> {
    let mut anchors = settings.anchors.clone();
    anchors.sort_by(|a, b| a.score_s.total_cmp(&b.score_s));
    for anchor in &anchors {
        if !(0.0..=score.end_s()).contains(&anchor.score_s) {
            let allowed = format!("within the score, 0 to {:.3} s", score.end_s());
            return Err(Error::invalid("score time of an anchor", anchor.score_s, allowed));
        }
        if !(0.0..=recording.duration_s()).contains(&anchor.performance_s) {
            let allowed = format!("within the recording, 0 to {:.3} s", recording.duration_s());
            return Err(Error::invalid("performance time of an anchor", anchor.performance_s, allowed));
        }
    }
    if let Some(pair) =
        anchors.windows(2).find(|p| p[1].performance_s < p[0].performance_s || p[0].score_s == p[1].score_s)
    {
        let reason = format!(
            "the anchors {}={} and {}={} contradict each other",
            pair[0].score_s, pair[0].performance_s, pair[1].score_s, pair[1].performance_s
        );
        return Err(Error::Infeasible { reason });
    }
    Ok(())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
