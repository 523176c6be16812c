//! Performances made by rule: scores in, expressive recordings of many instruments out, with the exact truth.
//!
//! An item depends on the seed, its number and the material, and on nothing else: not on how many are made, nor by how many threads.

mod casting;
mod embellish;
mod excerpt;
mod expression;
mod font_voices;
mod halving;
mod instruments;
mod material;
mod midi_files;
mod noise;
mod onset_delay;
mod output;
mod pedal;
mod plan;
mod random_piano;
mod render;
mod resonance;
mod room;
pub(crate) mod sampler;
mod soundboard;
mod spectrum;
mod studies;
mod timing;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::base::time::{ANALYSIS_RATE, seconds_to_samples};
use instruments::Orchestra;
use material::Source;
use output::ItemFacts;
use plan::Plan;
use resonance::Resonance;
use room::Room;

/// Changes whenever the same seed gives other items than before.
const GENERATION: u32 = 4;
/// What the generators of an item are used for: no two draw the same numbers.
const PLAN: u64 = 0;
const SOUND: u64 = 1;
const ROOM: u64 = 2;
/// Lengths of items that make sense.
const LENGTHS_S: std::ops::RangeInclusive<f64> = 4.0..=600.0;
/// More studies would fill memory and teach nothing new.
const MOST_STUDIES: usize = 10_000;
const STAGE: &str = "making performances";

/// What is to be made, of what.
#[derive(Debug, Clone)]
pub struct MakeData {
    /// Folder of MIDI files; a `scores.csv` in it may say their licences.
    pub scores: PathBuf,
    /// How many studies written by rule are added to the scores.
    pub studies: usize,
    /// Folder for the items.
    pub out_dir: PathBuf,
    /// How many items.
    pub count: usize,
    /// Another seed gives other items.
    pub seed: u64,
    /// SF2 files, beside the built-in piano.
    pub soundfonts: Vec<PathBuf>,
    /// Folders of recorded notes, each with a `samples.csv`.
    pub samples: Vec<PathBuf>,
    /// About how long an item is.
    pub seconds: f64,
    /// How many threads work.
    pub jobs: usize,
}

/// What was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Made {
    /// The list of all items.
    pub manifest: PathBuf,
    /// How many items it has, and how many of them were there before.
    pub items: usize,
    /// Items that an earlier run had made.
    pub kept: usize,
    /// How long they are together.
    pub seconds: f64,
}

/// What the items of a folder have in common. Whoever goes on in it must have the same.
#[derive(Serialize)]
struct Making {
    generation: u32,
    seed: u64,
    seconds: f64,
    scores_sha256: String,
    soundfonts: Vec<(String, u64)>,
    samples_sha256: Vec<String>,
}

/// Makes performances of passages of scores, one folder each, and the list of them. Goes on where an earlier run ended.
pub fn make_data(ctx: &JobContext, wanted: &MakeData) -> Result<Made> {
    check(wanted)?;
    let mut sources = material::read_scores(ctx, &wanted.scores)?;
    sources.extend(studies::write_studies(wanted.seed, wanted.studies)?);
    let orchestra = Orchestra::gather(ctx, &wanted.soundfonts, &wanted.samples)?;
    output::prepare(ctx, &wanted.out_dir, &making(wanted, &sources)?)?;
    let longest = seconds_to_samples(wanted.seconds + 1.0, ANALYSIS_RATE) + 1;
    let (resonance, room) = (Resonance::new(longest), Room::new(longest));
    let workshop = Workshop { wanted, sources, orchestra, resonance, room };
    let (items, kept) = workshop.make_all(ctx)?;
    let manifest = output::write_manifest(ctx, &wanted.out_dir, &items)?;
    ctx.report(STAGE, 1.0)?;
    Ok(Made { manifest, items: items.len(), kept, seconds: items.iter().map(|item| item.seconds).sum() })
}

fn check(wanted: &MakeData) -> Result<()> {
    if wanted.count == 0 {
        return Err(Error::invalid("--count", 0, "at least 1"));
    }
    if wanted.jobs == 0 {
        return Err(Error::invalid("--jobs", 0, "at least 1"));
    }
    if wanted.studies > MOST_STUDIES {
        return Err(Error::invalid("--studies", wanted.studies, format!("at most {MOST_STUDIES}")));
    }
    if !LENGTHS_S.contains(&wanted.seconds) {
        let allowed = format!("between {} and {}", LENGTHS_S.start(), LENGTHS_S.end());
        return Err(Error::invalid("--seconds", wanted.seconds, allowed));
    }
    Ok(())
}

fn making(wanted: &MakeData, sources: &[Source]) -> Result<Making> {
    let mut scores = Sha256::new();
    for source in sources {
        scores.update(source.name.as_bytes());
        for note in &source.score.notes {
            scores.update([note.pitch]);
            scores.update(note.onset_s.to_le_bytes());
        }
    }
    let font = |path: &PathBuf| {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok((name, std::fs::metadata(path).map_err(|source| Error::io("read", path, source))?.len()))
    };
    let list = |folder: &PathBuf| {
        let path = folder.join("samples.csv");
        let bytes = std::fs::read(&path).map_err(|source| Error::io("read", &path, source))?;
        Ok(format!("{:x}", Sha256::digest(bytes)))
    };
    Ok(Making {
        generation: GENERATION,
        seed: wanted.seed,
        seconds: wanted.seconds,
        scores_sha256: format!("{:x}", scores.finalize()),
        soundfonts: wanted.soundfonts.iter().map(font).collect::<Result<_>>()?,
        samples_sha256: wanted.samples.iter().map(list).collect::<Result<_>>()?,
    })
}

/// Everything that items are made of.
struct Workshop<'a> {
    wanted: &'a MakeData,
    sources: Vec<Source>,
    orchestra: Orchestra,
    resonance: Resonance,
    room: Room,
}

impl Workshop<'_> {
    /// Makes all items on as many threads as are wanted; each takes the next when it is free. Also returns how many were there.
    fn make_all(&self, ctx: &JobContext) -> Result<(Vec<ItemFacts>, usize)> {
        let count = self.wanted.count;
        let (next, done, kept) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let items: Mutex<Vec<Option<ItemFacts>>> = Mutex::new(vec![None; count]);
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let has_failed = || failure.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        ctx.report(STAGE, 0.0)?;
        let work = || {
            while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&index| index < count) {
                if has_failed() {
                    break;
                }
                let outcome = self.make(ctx, index as u64).and_then(|(facts, is_new)| {
                    kept.fetch_add(usize::from(!is_new), Ordering::Relaxed);
                    items.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(facts);
                    ctx.report(STAGE, (done.fetch_add(1, Ordering::Relaxed) + 1) as f32 / count as f32)
                });
                if let Err(error) = outcome {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        };
        std::thread::scope(|scope| {
            for worker in 1..self.wanted.jobs.min(count) {
                // Where no further thread can be started, those that could do the work.
                let _ = std::thread::Builder::new().name(format!("making {worker}")).spawn_scoped(scope, work);
            }
            work();
        });
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => {
                let items = items.into_inner().unwrap_or_else(PoisonError::into_inner);
                Ok((items.into_iter().flatten().collect(), kept.into_inner()))
            }
        }
    }

    /// Makes an item, unless it is there. Also returns whether it is new.
    fn make(&self, ctx: &JobContext, index: u64) -> Result<(ItemFacts, bool)> {
        ctx.check()?;
        let id = format!("s{}_{index:06}", self.wanted.seed);
        if let Some(facts) = output::finished(&self.wanted.out_dir, &id) {
            return Ok((facts, false));
        }
        let random = |purpose: u64| Random::at(self.wanted.seed, &[index, purpose]);
        let plan = Plan::draw(&mut random(PLAN), &self.sources, &self.orchestra, self.wanted.seconds)?;
        let mut sounding = random(SOUND);
        let tuning_cents = if sounding.chance(0.7) { sounding.between(-40.0, 40.0) } else { 0.0 };
        let dry = render::render(ctx, &mut sounding, &plan, (&self.orchestra, &self.resonance), tuning_cents)?;
        let sound = self.room.record(&mut random(ROOM), &dry)?;
        let facts = self.facts(id, &plan, tuning_cents);
        output::write_item(&ctx.quiet(), &self.wanted.out_dir, &facts, &plan, sound)?;
        Ok((facts, true))
    }

    fn facts(&self, id: String, plan: &Plan, tuning_cents: f64) -> ItemFacts {
        let instruments = || plan.players.iter().map(|player| &self.orchestra.instruments[player.instrument]);
        let mut sources: Vec<String> = instruments().map(|instrument| instrument.source.clone()).collect();
        sources.sort();
        sources.dedup();
        ItemFacts {
            id,
            instruments: instruments().map(|instrument| instrument.name.clone()).collect(),
            source_of_sounds: sources,
            piece: self.sources[plan.source].name.clone(),
            licence: self.sources[plan.source].licence.clone(),
            seconds: plan.seconds,
            onsets: plan.excerpt.chords().len(),
            notes: plan.notes.len(),
            tuning_cents,
        }
    }
}

#[cfg(test)]
mod tests;
