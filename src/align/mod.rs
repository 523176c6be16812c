//! From a performance and its score to an [`Alignment`]: the one orchestration that command line, batch and window call.

pub mod clues;
mod confidence;
mod corrections;
mod durations;
#[cfg(test)]
mod following_tests;
mod frame_method;
pub mod heard;
mod listening;
mod matching;
mod notes;
mod onset_method;
pub mod onsets;
mod performance;
mod places;
mod played;
mod realign;
pub mod result;
mod retiming;
pub mod settings;
mod settling;
pub mod start;
mod structure;
mod timing;
mod tone;
mod verdicts;

use std::path::Path;

pub use listening::Listening;
pub use performance::{Performance, PerformanceKind, ReadPerformance, is_take, read_performance};
pub use realign::{can_realign, moved_warp, realign};
pub use timing::{StageTime, Stopwatch};

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::networks::Device;
use crate::score::Score;
use crate::warping::Warp;
use onsets::{Chord, OnsetParams, Support, support_of_warp};
use played::Listened;
use result::{Alignment, MediaInfo, Provenance, SearchBand};
use settings::{FrameMethod, Method, OnsetMethod, Settings};

/// What [`align_files`] read and found.
#[derive(Debug, Clone)]
pub struct AlignedFiles {
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
#[derive(Debug)]
pub struct Named<'a, T> {
    /// File name without its folder.
    pub name: &'a str,
    /// The content.
    pub content: &'a T,
}

impl<T> Clone for Named<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Named<'_, T> {}

/// What was read and heard of a performance: all that is needed to align it again without reading and listening again.
#[derive(Debug)]
pub struct Kept {
    listening: Listening,
    read: ReadPerformance,
    name: String,
    score_name: String,
}

impl Kept {
    /// Aligns the whole by a method that [hears the same](Listening::suits), as [`align_files`] does.
    pub fn align(
        &self,
        ctx: &JobContext,
        score: &Score,
        settings: &Settings,
        watch: &mut Stopwatch,
    ) -> Result<Alignment> {
        let recording = Named { name: &self.name, content: &self.read.performance };
        let score = Named { name: &self.score_name, content: score };
        let mut alignment = align_heard(ctx, recording, score, &self.listening, settings, watch)?;
        let damage = self.read.damage.iter().map(|damage| format!("{}: {damage}", self.name));
        alignment.warnings.extend(damage);
        Ok(alignment)
    }

    /// [Solves a passage again](realign()) after what `settings` fix was checked.
    pub fn realign(
        &self,
        ctx: &JobContext,
        score: &Score,
        alignment: &Alignment,
        settings: &Settings,
        at_s: f64,
    ) -> Result<Alignment> {
        check(Named { name: &self.name, content: &self.read.performance }, score, settings)?;
        realign(ctx, score, &self.listening, alignment, settings, at_s)
    }
}

/// Reads both files and aligns them; networks run on `device`.
pub fn align_files(
    ctx: &JobContext,
    recording: &Path,
    score: &Path,
    settings: &Settings,
    device: &Device,
) -> Result<AlignedFiles> {
    let read = |ctx: &JobContext| read_performance(ctx, recording);
    align_and_keep(ctx, &file_name(recording), read, score, settings, device).map(|(aligned, _)| aligned)
}

/// [`align_files`] of a performance that `read` gives, called `name`; also returns what is needed to align again.
pub fn align_and_keep(
    ctx: &JobContext,
    name: &str,
    read: impl FnOnce(&JobContext) -> Result<ReadPerformance>,
    score: &Path,
    settings: &Settings,
    device: &Device,
) -> Result<(AlignedFiles, Kept)> {
    settings.validate()?;
    let mut watch = Stopwatch::default();
    let parsed =
        watch.time("score", || Score::read(score)?.only_parts(&settings.parts)?.counting_bars(settings.bars))?;
    let read = watch.time("decoding", || read(ctx))?;
    check(Named { name, content: &read.performance }, &parsed, settings)?;
    let listening = Listening::new(ctx, &read.performance, &parsed, &settings.method, device, &mut watch)?;
    let recording_rate = read.sample_rate;
    let kept = Kept { listening, read, name: name.to_owned(), score_name: file_name(score) };
    let alignment = kept.align(ctx, &parsed, settings, &mut watch)?;
    Ok((AlignedFiles { score: parsed, alignment, recording_rate, times: watch.into_times() }, kept))
}

/// Aligns a recording or a MIDI performance with a score. Also returns what was heard, from which passages can be [solved again](realign()) and
/// the whole be [aligned again](align_heard).
pub fn align(
    ctx: &JobContext,
    recording: Named<'_, Performance>,
    score: Named<'_, Score>,
    settings: &Settings,
    device: &Device,
    watch: &mut Stopwatch,
) -> Result<(Alignment, Listening)> {
    check(recording, score.content, settings)?;
    let listening = Listening::new(ctx, recording.content, score.content, &settings.method, device, watch)?;
    let alignment = align_heard(ctx, recording, score, &listening, settings, watch)?;
    Ok((alignment, listening))
}

/// Aligns a recording that was listened to before, by a method that [hears the same](Listening::suits).
pub fn align_heard(
    ctx: &JobContext,
    recording: Named<'_, Performance>,
    score: Named<'_, Score>,
    listening: &Listening,
    settings: &Settings,
    watch: &mut Stopwatch,
) -> Result<Alignment> {
    align_with(ctx, recording, score, listening, settings, &OnsetParams::suiting(&listening.evidence), watch)
}

/// [`align_heard`] with other weights and widths of the onset problem than the usual ones, for experiments.
pub fn align_with(
    ctx: &JobContext,
    recording: Named<'_, Performance>,
    score: Named<'_, Score>,
    listening: &Listening,
    settings: &Settings,
    params: &OnsetParams,
    watch: &mut Stopwatch,
) -> Result<Alignment> {
    check(recording, score.content, settings)?;
    let work = Work {
        ctx,
        recording,
        score,
        listening,
        asked: settings,
        settings: &corrections::as_constraints(score.content, settings),
    };
    match &settings.method {
        Method::Onsets(method) => work.by_onsets(method, params, watch),
        Method::Frames(method) => work.by_frames(method, watch),
    }
}

/// What an alignment is made from.
struct Work<'a> {
    ctx: &'a JobContext,
    recording: Named<'a, Performance>,
    score: Named<'a, Score>,
    listening: &'a Listening,
    /// As the user gave them.
    asked: &'a Settings,
    /// As they are solved.
    settings: &'a Settings,
}

/// What a method found, of the score as written.
struct Found<'a> {
    warp: Warp,
    start: &'a start::Start,
    /// The rough start and the score as it was played: what of it the recording does not hold is told.
    as_played: (&'a start::Start, &'a Score),
    notes: &'a [(usize, f64)],
    chords: &'a [Chord],
    support: &'a [Support],
    match_confidence: f64,
    radius_s: f64,
}

impl Work<'_> {
    fn by_onsets(&self, method: &OnsetMethod, params: &OnsetParams, watch: &mut Stopwatch) -> Result<Alignment> {
        let params = onset_method::params(self.settings, method, params);
        let (score, path) = (self.score.content, &method.path);
        let found = onset_method::find(self.ctx, self.listening, score, self.settings, path, &params, watch)?;
        let placed = &found.placed;
        let read = found.read.as_ref();
        let as_played = read.map_or(self.score.content, |read| &read.reading.score);
        let gain = -placed.objective / placed.chords.len() as f64;
        let match_confidence =
            watch.time("confidence", || confidence::of_match(self.listening, as_played, &placed.warp, Some(gain)));
        let folded =
            read.map(|read| Ok::<_, Error>((read.reading.fold_placed(placed)?, read.reading.fold_start(&read.start)?)));
        let folded = folded.transpose()?;
        let (placed, start) = match &folded {
            Some((placed, start)) => (placed, start),
            None => (placed, &self.listening.start),
        };
        let mut alignment = self.finish(Found {
            warp: placed.warp.clone(),
            start,
            as_played: read.map_or((start, score), |read| (&read.start, &read.reading.score)),
            notes: &placed.notes,
            chords: &placed.chords,
            support: &placed.support,
            match_confidence,
            radius_s: params.reach_s,
        })?;
        if let Some(read) = read {
            let as_played = &found.placed.warp;
            read.reading.mend_offsets(as_played, &mut alignment.notes);
            if !read.is_asked() {
                alignment.warnings.extend(read.reading.notices(self.score.content, as_played, &read.repeats));
            }
            self.judge_reading(&read.reading, &found.placed, &mut alignment);
        } else {
            self.judge(&found.placed.chords, &mut alignment);
        }
        let reading = read.map(|read| &read.reading);
        alignment.sections = structure::played_sections(score, reading, &found.placed.warp);
        played::set_known_ends(&placed.ends, &mut alignment.notes);
        alignment.provenance.ear = self.listening.ear().cloned();
        alignment.provenance.transcription = self.listening.transcription().cloned();
        Ok(alignment)
    }

    fn by_frames(&self, method: &FrameMethod, watch: &mut Stopwatch) -> Result<Alignment> {
        let (start, score) = (&self.listening.start, self.score.content);
        let found = frame_method::refine(
            self.ctx,
            self.recording.content,
            score,
            self.listening,
            self.settings,
            method,
            watch,
        )?;
        let rough = onset_method::centre(start, &self.settings.anchors)?;
        let (chords, support) = support_of_warp(&self.listening.evidence, score, &found.warp, &rough);
        let mut alignment = self.finish(Found {
            match_confidence: confidence::of_match(self.listening, score, &found.warp, None),
            warp: found.warp,
            start,
            as_played: (start, score),
            notes: &[],
            chords: &chords,
            support: &support,
            radius_s: frame_method::first_radius_s(self.settings, method),
        })?;
        self.judge(&chords, &mut alignment);
        alignment.provenance.extractor = found.extractor;
        let soundfont = method.soundfont.as_deref().map_or_else(|| "built-in piano".to_owned(), file_name);
        alignment.provenance.soundfont = Some(soundfont);
        Ok(alignment)
    }

    /// Says what was played of the score as written, if somebody listened.
    fn judge(&self, chords: &[Chord], alignment: &mut Alignment) {
        let Some(heard) = self.listening.evidence.heard() else { return };
        let (score, fixed_notes) = (self.score.content, &self.settings.fixed_notes);
        let standing = played::standing(score, chords);
        let listened = Listened { score, warp: &alignment.warp, heard, fixed_notes };
        alignment.extra_notes = listened.judge(&standing, &mut alignment.notes);
    }

    /// The same of a reading of the score: what is written and was not read is missing, what was read twice is not extra.
    fn judge_reading(&self, reading: &structure::Reading, placed: &onsets::Placed, alignment: &mut Alignment) {
        let Some(heard) = self.listening.evidence.heard() else { return };
        let score = &reading.score;
        let onsets::Placed { warp, chords, support, .. } = placed;
        let mut notes = notes::aligned_notes(score, warp, &placed.notes, chords, support, alignment.match_confidence);
        let standing = played::standing(score, chords);
        let fixed_notes = &reading.constraints(self.settings).fixed_notes;
        let extra = Listened { score, warp, heard, fixed_notes }.judge(&standing, &mut notes);
        alignment.extra_notes = reading.fold_played(&notes, extra, &mut alignment.notes);
    }

    fn finish(&self, found: Found<'_>) -> Result<Alignment> {
        let (score, settings) = (self.score.content, self.settings);
        let Found { warp, start, as_played, notes, chords, support, match_confidence, radius_s } = found;
        let mut notes = notes::aligned_notes(score, &warp, notes, chords, support, match_confidence);
        corrections::trust(score, settings, &mut notes);
        let centre = onset_method::centre(start, &settings.anchors)?;
        let mut warnings = confidence::warnings(match_confidence, as_played, &warp, chords, support);
        warnings.extend(score.notation.notices.iter().map(|notice| format!("{}: {notice}", self.score.name)));
        Ok(Alignment {
            tempo: notes::tempo_curve(score, &warp),
            confidence: confidence::of_notes(&notes),
            match_confidence,
            warnings,
            places: places::places(score, &notes, &warp),
            notes,
            extra_notes: Vec::new(),
            sections: Vec::new(),
            warp,
            settings: self.asked.clone(),
            provenance: Provenance {
                program: concat!("agogic ", env!("CARGO_PKG_VERSION")).to_owned(),
                recording: MediaInfo {
                    name: self.recording.name.to_owned(),
                    duration_s: self.recording.content.duration_s(),
                },
                performance: self.recording.content.kind(),
                score: MediaInfo { name: self.score.name.to_owned(), duration_s: score.end_s() },
                ear: None,
                transcription: None,
                extractor: None,
                soundfont: None,
                device: self.ctx.device_used(),
            },
            search: Some(SearchBand::round(&centre, radius_s)),
        })
    }
}

fn check(recording: Named<'_, Performance>, score: &Score, settings: &Settings) -> Result<()> {
    settings.validate()?;
    recording.content.check_usable(recording.name)?;
    if let (Performance::Take(_), Method::Onsets(OnsetMethod { transcription: Some(_), .. })) =
        (recording.content, &settings.method)
    {
        return Err(Error::misplaced("a transcription", "a recording", "a MIDI performance"));
    }
    if !score.has_only_parts(&settings.parts) {
        return Err(Error::invalid("parts", settings.parts.join(", "), "those of the score that is aligned"));
    }
    if let Method::Onsets(method) = &settings.method {
        structure::asked(score, &method.path)?;
    }
    corrections::check(recording.content, score, settings)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
