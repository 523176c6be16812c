//! Reads collections of scores and says what became of them, as a table in Markdown.
//!
//!     cargo run --release --example read_corpora -- FOLDER [--all]
//!
//! FOLDER holds one folder for each collection. A score in a folder of its own with a MIDI file beside it is compared with that: the
//! MIDI holds the same notes, repeats written out. `--all` also lists what agrees.

use std::path::{Path, PathBuf};

use agogic::{Score, WrittenScore};

/// Onsets that are nearer than this, in quarter notes, are the same.
const EXACT: f64 = 1.0 / 48.0;
const LOOSE: f64 = 0.25;
/// Share of the notes that must be the same for two scores to agree.
const AGREE: f64 = 0.95;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let all = arguments.iter().any(|argument| argument == "--all");
    let Some(folder) = arguments.iter().find(|argument| !argument.starts_with("--")) else {
        eprintln!("usage: read_corpora FOLDER [--all]");
        std::process::exit(2);
    };
    println!("| collection | scores | read | refused | compared | exactly the same | agree | differ |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut remarks = Vec::new();
    for collection in entries(Path::new(folder)).into_iter().filter(|path| path.is_dir()) {
        let outcomes: Vec<(String, Outcome)> = scores(&collection).iter().map(|score| judge(score)).collect();
        if outcomes.is_empty() {
            continue;
        }
        let count = |is: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|(_, outcome)| is(outcome)).count();
        let refused = count(&|outcome| matches!(outcome, Outcome::Refused(_)));
        let same = count(&|outcome| matches!(outcome, Outcome::Compared { exact, .. } if *exact >= 1.0));
        let agree = count(&|outcome| matches!(outcome, Outcome::Compared { loose, .. } if *loose >= AGREE));
        let compared = count(&|outcome| matches!(outcome, Outcome::Compared { .. }));
        let name = name_of(&collection);
        let (all_scores, read) = (outcomes.len(), outcomes.len() - refused);
        println!(
            "| {name} | {all_scores} | {read} | {refused} | {compared} | {same} | {agree} | {} |",
            compared - agree
        );
        for (score, outcome) in outcomes {
            match outcome {
                Outcome::Refused(why) => remarks.push(format!("- {name}, refused: {why}")),
                Outcome::Compared { exact, loose, ends } if loose < AGREE || all => remarks.push(format!(
                    "- {name}, {score}: {:.1} % of the notes at the same place, {:.1} % within a sixteenth; the score ends after {:.0} \
                     quarters, the MIDI after {:.0}",
                    100.0 * exact,
                    100.0 * loose,
                    ends.0,
                    ends.1
                )),
                Outcome::Read(notes) if all => remarks.push(format!("- {name}, {score}: {notes} notes")),
                Outcome::Compared { .. } | Outcome::Read(_) => {}
            }
        }
    }
    println!();
    remarks.iter().for_each(|remark| println!("{remark}"));
}

enum Outcome {
    Refused(String),
    /// How many notes.
    Read(usize),
    /// Which share of the notes is the same, and where both end.
    Compared {
        exact: f64,
        loose: f64,
        ends: (f64, f64),
    },
}

fn judge(score: &Path) -> (String, Outcome) {
    let name = match score.file_stem().and_then(|stem| stem.to_str()) {
        Some("score") => score.parent().map(name_of).unwrap_or_default(),
        _ => name_of(score),
    };
    let written = match WrittenScore::read(score) {
        Ok(written) => written,
        Err(error) => return (name, Outcome::Refused(error.to_string())),
    };
    let both = (Score::read(score), Score::read(&score.with_extension("mid")));
    let (Ok(read), Ok(midi)) = both else { return (name, Outcome::Read(written.notes.len())) };
    let (ours, theirs) = (notes(&read), notes(&midi));
    let same = |near: f64| found(&ours, &theirs, near).min(found(&theirs, &ours, near));
    let end = |notes: &[(u8, f64)]| notes.iter().map(|note| note.1).fold(0.0, f64::max);
    let outcome = Outcome::Compared { exact: same(EXACT), loose: same(LOOSE), ends: (end(&ours), end(&theirs)) };
    (name, outcome)
}

/// Pitch and onset in quarter notes.
fn notes(score: &Score) -> Vec<(u8, f64)> {
    let mut notes: Vec<(u8, f64)> =
        score.notes.iter().map(|note| (note.pitch, score.tempo.tick_to_beat(note.onset_tick as f64))).collect();
    notes.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    notes
}

/// The share of some notes that others have too.
fn found(notes: &[(u8, f64)], among: &[(u8, f64)], near: f64) -> f64 {
    let is_found = |&&(pitch, onset): &&(u8, f64)| {
        let from = among.partition_point(|other| (other.0, other.1) < (pitch, onset - near));
        among.get(from).is_some_and(|other| other.0 == pitch && other.1 <= onset + near)
    };
    notes.iter().filter(is_found).count() as f64 / notes.len().max(1) as f64
}

/// The scores of a collection: its files, and those called score in its folders.
fn scores(collection: &Path) -> Vec<PathBuf> {
    let is_score = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        ["xml", "musicxml", "mxl", "mei", "krn"].contains(&extension.to_lowercase().as_str())
    };
    let inside = |path: PathBuf| if path.is_dir() { entries(&path) } else { vec![path] };
    entries(collection).into_iter().flat_map(inside).filter(is_score).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = read.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
