//! The files of the items and the list of them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::excerpt::TICKS_PER_BEAT;
use super::midi_files::{performance_bytes, score_bytes};
use super::plan::Plan;
use crate::audio::{AudioClip, write_wav};
use crate::base::atomic_file::{is_temporary, write_output};
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::time::ANALYSIS_RATE;

/// What is known of an item: a line of the list, kept beside its files so that a later run can list it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ItemFacts {
    pub id: String,
    pub instruments: Vec<String>,
    pub source_of_sounds: Vec<String>,
    /// The score that it is a passage of.
    pub piece: String,
    pub licence: String,
    pub seconds: f64,
    pub onsets: usize,
    pub notes: usize,
    pub tuning_cents: f64,
}

const FACTS: &str = "about.json";
const UNFINISHED: &str = ".agogic-making-";

/// The facts of an item that is already there, whole.
pub(super) fn finished(out_dir: &Path, id: &str) -> Option<ItemFacts> {
    let text = std::fs::read_to_string(out_dir.join(id).join(FACTS)).ok()?;
    serde_json::from_str(&text).ok().filter(|facts: &ItemFacts| facts.id == id)
}

/// Writes the files of an item. The folder takes its name when everything is in it.
pub(super) fn write_item(
    ctx: &JobContext,
    out_dir: &Path,
    facts: &ItemFacts,
    plan: &Plan,
    sound: Vec<f32>,
) -> Result<()> {
    let unfinished = out_dir.join(format!("{UNFINISHED}{}", facts.id));
    // A run that was ended by force may have left it.
    let _ = std::fs::remove_dir_all(&unfinished);
    std::fs::create_dir_all(&unfinished).map_err(|source| Error::io("create", &unfinished, source))?;
    let outcome = write_files(ctx, &unfinished, facts, plan, sound).and_then(|()| {
        let folder = out_dir.join(&facts.id);
        std::fs::rename(&unfinished, &folder).map_err(|source| Error::io("create", &folder, source))
    });
    if outcome.is_err() {
        let _ = std::fs::remove_dir_all(&unfinished);
    }
    outcome
}

fn write_files(ctx: &JobContext, folder: &Path, facts: &ItemFacts, plan: &Plan, samples: Vec<f32>) -> Result<()> {
    write_wav(ctx, &folder.join("audio.wav"), &AudioClip { samples, sample_rate: ANALYSIS_RATE })?;
    write_output(ctx, &folder.join("score.mid"), &score_bytes(plan)?)?;
    write_output(ctx, &folder.join("performance.mid"), &performance_bytes(plan)?)?;
    write_output(ctx, &folder.join("alignment.csv"), alignment(plan).as_bytes())?;
    write_output(ctx, &folder.join(FACTS), json(facts)?.as_bytes())
}

fn json(facts: &impl Serialize) -> Result<String> {
    let failed = |error: serde_json::Error| Error::unsuitable("an item", error.to_string(), "report this as a bug");
    Ok(serde_json::to_string_pretty(facts).map_err(failed)? + "\n")
}

/// One row for each onset of the score: where it stands and when it was played, as the mean of its notes.
pub(super) fn alignment(plan: &Plan) -> String {
    let mut table = "score_beat,score_time_s,performance_time_s,n_notes,spread_ms\n".to_owned();
    for chord in plan.excerpt.chords() {
        let tick = plan.excerpt.notes[chord.start].tick;
        let onsets = || plan.notes[chord.clone()].iter().map(|note| note.onset_s);
        let mean = onsets().sum::<f64>() / chord.len() as f64;
        let spread = onsets().fold(f64::NEG_INFINITY, f64::max) - onsets().fold(f64::INFINITY, f64::min);
        let beat = f64::from(tick) / f64::from(TICKS_PER_BEAT);
        let (second, count) = (plan.excerpt.second(tick), chord.len());
        let _ = writeln!(table, "{beat:.6},{second:.6},{mean:.6},{count},{:.3}", 1000.0 * spread);
    }
    table
}

/// Writes the list that training and batches read.
pub(super) fn write_manifest(ctx: &JobContext, out_dir: &Path, items: &[ItemFacts]) -> Result<PathBuf> {
    let path = out_dir.join("manifest.csv");
    let failed = |error: csv::Error| Error::io("write", &path, std::io::Error::other(error));
    let mut table = csv::Writer::from_writer(Vec::new());
    let header = [
        "id",
        "audio",
        "score",
        "truth",
        "instruments",
        "source_of_sounds",
        "piece",
        "licence",
        "seconds",
        "onsets",
        "notes",
        "tuning_cents",
    ];
    table.write_record(header).map_err(failed)?;
    for item in items {
        let id = &item.id;
        table
            .write_record([
                id,
                &format!("{id}/audio.wav"),
                &format!("{id}/score.mid"),
                &format!("{id}/alignment.csv"),
                &item.instruments.join("; "),
                &item.source_of_sounds.join("; "),
                &item.piece,
                &item.licence,
                &format!("{:.3}", item.seconds),
                &item.onsets.to_string(),
                &item.notes.to_string(),
                &format!("{:.1}", item.tuning_cents),
            ])
            .map_err(failed)?;
    }
    let bytes = table.into_inner().map_err(|error| failed(error.into_error().into()))?;
    write_output(ctx, &path, &bytes)?;
    Ok(path)
}

/// Makes the folder ready: it has to be new, empty, or of the same making, which then goes on.
pub(super) fn prepare(ctx: &JobContext, out_dir: &Path, making: &impl Serialize) -> Result<()> {
    std::fs::create_dir_all(out_dir).map_err(|source| Error::io("create", out_dir, source))?;
    let path = out_dir.join("making.json");
    let wanted = json(making)?;
    match std::fs::read_to_string(&path) {
        Ok(found) if found == wanted => return Ok(()),
        Ok(_) => {
            let cause = "it holds items that were made with another seed, length, or other scores or sounds";
            return Err(Error::unsuitable(
                out_dir.display().to_string(),
                cause,
                "name another folder, or give the same again",
            ));
        }
        Err(_) => {}
    }
    let mut entries = std::fs::read_dir(out_dir).map_err(|source| Error::io("read", out_dir, source))?;
    // A run that was killed as it began leaves a temporary file.
    if entries.any(|entry| entry.is_ok_and(|entry| !is_temporary(&entry.file_name()))) {
        let cause = "it is not empty, and what it holds was not made by this command";
        return Err(Error::unsuitable(out_dir.display().to_string(), cause, "name a new folder"));
    }
    write_output(ctx, &path, wanted.as_bytes())
}
