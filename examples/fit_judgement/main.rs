//! Fits how a result is judged: the chance that an onset is right, that a note of the score was played, and that a stroke which no
//! note explains was. Prints the weights for `src/align/onsets/hearing.rs` and `src/align/verdicts/odds.rs`, and how well they do.
//!
//! `cargo run --release --example fit_judgement -- [--ear EAR] FOLDER...`, where EAR is a model other than the shipped one and a folder holds one piece, or folders that do: `score.mid`,
//! `alignment.csv` (score_time_s, performance_time_s, spread_ms), a recording `audio.*` and, for the verdicts, `performance.mid`.
//! Take pieces that the ear did not learn from.

mod regression;
mod truth;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agogic::judgement::{NOTE_CLUES, ONSET_CLUES, STROKE_CLUES, clues};
use agogic::{
    Device, Error, JobContext, Listening, Method, OnsetMethod, Performance, Result, Score, Settings, Stopwatch, decode,
};

use regression::{Rows, chance, odds};
use truth::Truth;

/// An onset is right within this.
const RIGHT_S: f64 = 0.05;
/// Notes whose onset is farther off say nothing of whether they were played.
const LOST_S: f64 = 0.2;
/// A stroke this near to a played note is that one.
const SAME_S: f64 = 0.06;
/// Strokes fainter than this are never notes.
const FAINTEST: f64 = -2.0;

#[derive(Default)]
struct Fit {
    onsets: Rows,
    notes: Rows,
    strokes: Rows,
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut settings = Settings::default();
    if arguments.len() > 1 && arguments[0] == "--ear" {
        settings.method = Method::Onsets(OnsetMethod { ear: Some(arguments.remove(1)), ..OnsetMethod::default() });
        arguments.remove(0);
    }
    let folders: Vec<PathBuf> = arguments.into_iter().map(PathBuf::from).collect();
    match run(&settings, &folders) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fit_judgement: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(settings: &Settings, folders: &[PathBuf]) -> Result<()> {
    let mut fit = Fit::default();
    for piece in pieces(folders)? {
        eprintln!("{}", piece.display());
        fit.add(settings, &piece)?;
    }
    report("WEIGHTS of hearing.rs: an onset is right", &ONSET_CLUES, &fit.onsets);
    report("NOTE_WEIGHTS of odds.rs: a note was played", &NOTE_CLUES, &fit.notes);
    report("STROKE_WEIGHTS of odds.rs: a stroke is a note that the score does not have", &STROKE_CLUES, &fit.strokes);
    Ok(())
}

/// The folders that hold a score, and those in the others, in order.
fn pieces(folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in folders {
        if folder.join("score.mid").exists() {
            found.push(folder.clone());
            continue;
        }
        let entries = std::fs::read_dir(folder).map_err(|source| Error::io("read", folder, source))?;
        let mut within: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        within.retain(|path| path.join("score.mid").exists());
        within.sort();
        found.extend(within);
    }
    Ok(found)
}

fn recording(folder: &Path) -> Result<PathBuf> {
    let entries = std::fs::read_dir(folder).map_err(|source| Error::io("read", folder, source))?;
    let is_audio = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == "audio");
    let found = entries.flatten().map(|entry| entry.path()).find(is_audio);
    found.ok_or_else(|| Error::malformed(folder, "there is no recording", "name it audio.flac or audio.ogg"))
}

impl Fit {
    fn add(&mut self, settings: &Settings, folder: &Path) -> Result<()> {
        let ctx = JobContext::new();
        let score = Score::read(&folder.join("score.mid"))?;
        let performance = Performance::from(decode(&ctx, &recording(folder)?)?.clip);
        let mut watch = Stopwatch::default();
        let listening = Listening::new(&ctx, &performance, &score, &settings.method, &Device::Cpu, &mut watch)?;
        let clues = clues(&ctx, &listening, &score, settings)?;
        let truth = Truth::read(folder, &score)?;
        let is_lost = |score_s: f64| {
            let at = clues.onsets.partition_point(|onset| onset.score_s < score_s - 1e-6);
            let placed = clues.onsets.get(at).zip(truth.known_s(score_s));
            placed.is_some_and(|(onset, true_s)| (onset.performance_s - true_s).abs() > LOST_S)
        };
        for onset in &clues.onsets {
            if let Some(true_s) = truth.known_s(onset.score_s) {
                self.onsets.push(&onset.clues, (onset.performance_s - true_s).abs() <= RIGHT_S);
            }
        }
        for note in clues.notes.iter().filter(|note| !is_lost(score.notes[note.note].onset_s)) {
            if let Some(was_played) = truth.was_played[note.note] {
                self.notes.push(&note.clues, was_played);
            }
        }
        for stroke in clues.strokes.iter().filter(|stroke| truth.covers(stroke.onset_s)) {
            let away = |onset_s: f64| (onset_s - stroke.onset_s).abs();
            let own = truth.played.iter().filter(|note| note.pitch == stroke.pitch && away(note.onset_s) < SAME_S);
            let nearest = own.min_by(|a, b| away(a.onset_s).total_cmp(&away(b.onset_s)));
            if truth.knows_notes() && stroke.clues[1] >= FAINTEST {
                self.strokes.push(&stroke.clues, nearest.is_some_and(|note| note.is_extra || note.is_loose));
            }
        }
        Ok(())
    }
}

/// Prints weights, and of some classes of what they say how often it was true.
fn report(title: &str, names: &[&str], rows: &Rows) {
    let weights = rows.fit();
    let is_true = rows.outcomes.iter().filter(|outcome| **outcome).count();
    println!("# {title}: {} rows, {is_true} true", rows.outcomes.len());
    let cells: Vec<String> = weights.iter().map(|weight| format!("{weight:.2}")).collect();
    println!("[{}]", cells.join(", "));
    for (name, weight) in names.iter().zip(&cells) {
        println!("  {name:14} {weight:>7}");
    }
    const CLASSES: [f64; 9] = [0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 1.0];
    let said: Vec<f64> = rows.features.iter().map(|row| chance(odds(row, &weights))).collect();
    for limits in CLASSES.windows(2) {
        let own: Vec<usize> = (0..said.len()).filter(|&row| said[row] >= limits[0] && said[row] < limits[1]).collect();
        let share = |value: &dyn Fn(usize) -> f64| own.iter().map(|&row| value(row)).sum::<f64>() / own.len() as f64;
        if !own.is_empty() {
            let true_share = share(&|row| f64::from(u8::from(rows.outcomes[row])));
            println!("  {:6} rows say {:.2}: {true_share:.2} true", own.len(), share(&|row| said[row]));
        }
    }
}
