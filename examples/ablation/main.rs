//! What each part of the method brings: aligns the pieces of some manifests with one part left out at a time and prints the mean
//! TimeErr in milliseconds as a Markdown table.
//!
//! `cargo run --release --example ablation -- MANIFEST...`, where a manifest is what `agogic batch` takes: a CSV file with
//! the columns id, audio, score and truth.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agogic::align::onsets::OnsetParams;
use agogic::align::settings::Settings;
use agogic::align::{Method, Named, Stopwatch, align_by};
use agogic::base::job::JobContext;
use agogic::evaluation::{BeatClock, TimeMap, evaluate, read_ground_truth};
use agogic::score::Score;
use agogic::{Error, Result, audio};

fn main() -> ExitCode {
    let manifests: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    match run(&manifests) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ablation: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(manifests: &[PathBuf]) -> Result<()> {
    let sets: Vec<Vec<Piece>> = manifests.iter().map(|manifest| read(manifest)).collect::<Result<_>>()?;
    let names: Vec<String> =
        manifests.iter().map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned()).collect();
    println!("| left out | {} |", names.join(" | "));
    println!("|---{}|", "|---".repeat(names.len()));
    for (name, method) in methods() {
        let errors: Vec<String> =
            sets.iter().map(|set| Ok(format!("{:.2}", mean_error(set, &method)?))).collect::<Result<_>>()?;
        println!("| {name} | {} |", errors.join(" | "));
    }
    Ok(())
}

/// The method as it is, then without each of its parts.
fn methods() -> Vec<(&'static str, Method)> {
    let onsets = OnsetParams::default;
    let with = |onsets: OnsetParams| Method { onsets, ..Method::default() };
    vec![
        ("nothing", Method::default()),
        ("the learned ear", with(OnsetParams { learned_weight: 0.0, voice_learned: 0.0, ..onsets() })),
        ("the attack as a whole", with(OnsetParams { attack_weight: 0.0, voice_attack: 0.0, ..onsets() })),
        ("the neighbours' partials counting against an onset", with(OnsetParams { rival_share: 0.0, ..onsets() })),
        ("the sound between onsets", with(OnsetParams { segment_weight: 0.0, ..onsets() })),
        ("the robust edge: tempo penalised quadratically", with(OnsetParams { delta: 1e6, ..onsets() })),
        ("placing the notes of a chord one by one", with(OnsetParams { spread_s: 0.0, ..onsets() })),
        ("widening the band, finding lost passages", with(OnsetParams { widenings: 0, ..onsets() })),
        ("finding lost passages", with(OnsetParams { lost_share: 0.0, ..onsets() })),
        ("making up for the tuning", Method { compensates_tuning: false, ..Method::default() }),
    ]
}

struct Piece {
    audio: PathBuf,
    score: PathBuf,
    truth: PathBuf,
}

/// Reads a manifest; its paths are relative to it.
fn read(manifest: &Path) -> Result<Vec<Piece>> {
    let text = std::fs::read_to_string(manifest).map_err(|source| Error::io("read", manifest, source))?;
    let folder = manifest.parent().unwrap_or(Path::new(""));
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        let missing = || Error::malformed(manifest, format!("there is no column {name}"), "name the columns in line 1");
        header.iter().position(|title| title.trim() == name).ok_or_else(missing)
    };
    let (audio, score, truth) = (column("audio")?, column("score")?, column("truth")?);
    let piece = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let path = |index: usize| folder.join(cells.get(index).unwrap_or(&"").trim());
        Piece { audio: path(audio), score: path(score), truth: path(truth) }
    };
    Ok(lines.filter(|line| !line.trim().is_empty()).map(piece).collect())
}

/// Mean TimeErr over the pieces in milliseconds.
fn mean_error(pieces: &[Piece], method: &Method) -> Result<f64> {
    let ctx = JobContext::new();
    let mut sum = 0.0;
    for piece in pieces {
        let clip = audio::decode(&ctx, &piece.audio)?.clip;
        let score = Score::read(&piece.score)?;
        let (recording, named) =
            (Named { name: "recording", content: &clip }, Named { name: "score", content: &score });
        let alignment = align_by(&ctx, recording, named, &Settings::default(), method, &mut Stopwatch::default())?;
        let truth = read_ground_truth(&piece.truth, Some(&BeatClock::of_score(&score)))?;
        sum += evaluate(&TimeMap::of_alignment(&score, &alignment), &truth).time_err_ms;
    }
    Ok(sum / pieces.len().max(1) as f64)
}
