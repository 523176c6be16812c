//! The road from sound to alignment, on the built-in demo piece and on all threads.

use std::path::Path;

use super::Measurement;
use super::measure::{Contestant, take_turns};
use crate::align::settings::Settings;
use crate::align::{Named, Stopwatch, align};
use crate::audio::{AudioClip, decode_bytes};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::demo;
use crate::features::{EarAnalyzer, FeatureKind, FeatureParams, extract};
use crate::networks::{Device, Ear, EarSpec, ModelCard};
use crate::score::{Score, SynthParams, synthesise};

fn recording(ctx: &JobContext) -> Result<AudioClip> {
    Ok(decode_bytes(ctx, "performance.ogg", demo::performance_bytes())?.clip)
}

fn score() -> Result<Score> {
    Score::from_bytes(Path::new("score.mid"), demo::score_bytes())
}

/// Decoding with each kind of features, listening, and synthesis.
pub(super) fn sound(ctx: &JobContext) -> Result<Vec<Measurement>> {
    let (clip, score, params) = (recording(ctx)?, score()?, SynthParams::default());
    let features = |kind| {
        let params = FeatureParams { kind, ..FeatureParams::default() };
        move || extract(ctx, &recording(ctx)?, &params)
    };
    let mut work = [
        Contestant::new("decode", || recording(ctx)),
        Contestant::new("decode + cqt", features(FeatureKind::Cqt)),
        Contestant::new("decode + chroma", features(FeatureKind::Chroma)),
        Contestant::new("decode + mel", features(FeatureKind::Mel)),
    ];
    let mut results = on_the_demo(ctx, clip.duration_s(), &mut work)?;
    results.extend(listening(ctx, &clip)?);
    let played_s = score.end_s() + params.tail_s;
    results.extend(on_the_demo(
        ctx,
        played_s,
        &mut [Contestant::new("synthesis", || synthesise(ctx, &score, &params))],
    )?);
    Ok(results)
}

/// Hears 60 pitches with an ear of either size. How long that takes does not depend on the weights.
fn listening(ctx: &JobContext, clip: &AudioClip) -> Result<Vec<Measurement>> {
    let pitches: Vec<u8> = (36..96).collect();
    let ear = |name: &str, spec| Ear::untrained(ModelCard::new(name, spec), 1, &Device::Cpu);
    let (full, small) = (ear("ear", EarSpec::default())?, ear("small", EarSpec::small())?);
    let listen = |ear: &Ear| {
        let analyzer = EarAnalyzer::new(ctx, clip, 0.0)?;
        ear.listen(ctx, &analyzer, &pitches, |answer| answer.begins)
    };
    let mut work = [
        Contestant::new("listening, 60 pitches", || listen(&full)),
        Contestant::new("listening, 60 pitches, small ear", || listen(&small)),
    ];
    on_the_demo(ctx, clip.duration_s(), &mut work)
}

/// The whole alignment, files excepted.
pub(super) fn whole(ctx: &JobContext) -> Result<Vec<Measurement>> {
    let (length_s, settings) = (recording(ctx)?.duration_s(), Settings::default());
    let mut work = [Contestant::new("align, end to end", || {
        let (clip, score) = (recording(ctx)?.into(), score()?);
        let clip = Named { name: "performance.ogg", content: &clip };
        align(
            ctx,
            clip,
            Named { name: "score.mid", content: &score },
            &settings,
            &Device::Cpu,
            &mut Stopwatch::default(),
        )
    })];
    on_the_demo(ctx, length_s, &mut work)
}

fn on_the_demo(ctx: &JobContext, sound_s: f64, work: &mut [Contestant<'_>]) -> Result<Vec<Measurement>> {
    let results = take_turns(ctx, &format!("{sound_s:.1} s of sound"), rayon::current_num_threads(), work)?;
    let speed = |result: &Measurement| Some(1e3 * sound_s / result.median_ms);
    Ok(results.into_iter().map(|result| Measurement { times_real_time: speed(&result), ..result }).collect())
}
