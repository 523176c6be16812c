//! What each part of the method brings: aligns the pieces of some manifests with one part left out at a time and prints the mean
//! TimeErr in milliseconds as a Markdown table.
//!
//! `cargo run --release --example ablation -- MANIFEST...`, where a manifest is what `agogic batch` takes: a CSV file with
//! the columns id, audio, score and truth.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agogic::Device;
use agogic::JobContext;
use agogic::Performance;
use agogic::Score;
use agogic::Settings;
use agogic::{BeatClock, TimeMap, evaluate, read_ground_truth};
use agogic::{Error, Result, decode};
use agogic::{Listening, Named, Stopwatch, align_heard, align_with};
use agogic::{Method, OnsetMethod, OnsetParams};

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
    let sets: Vec<Vec<Vec<f64>>> = manifests.iter().map(|manifest| errors_of(manifest)).collect::<Result<_>>()?;
    let names: Vec<String> =
        manifests.iter().map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned()).collect();
    println!("| left out | {} |", names.join(" | "));
    println!("|---{}|", "|---".repeat(names.len()));
    for (index, (name, _)) in variants().into_iter().enumerate() {
        let mean = |set: &Vec<Vec<f64>>| set.iter().map(|errors| errors[index]).sum::<f64>() / set.len() as f64;
        let cells: Vec<String> = sets.iter().map(|set| format!("{:.2}", mean(set))).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// The method as it is, then without each of its parts; without the ear the spectrum is weighed as suits it alone.
fn variants() -> Vec<(&'static str, Option<OnsetParams>)> {
    let usual = OnsetParams::default;
    vec![
        ("nothing", Some(usual())),
        ("the ear", None),
        ("the ear's word on when exactly a note begins", Some(OnsetParams { ear_time_share: 0.0, ..usual() })),
        ("the rises of the spectrum", Some(OnsetParams { evidence_weight: 0.0, ..usual() })),
        ("the neighbours' partials counting against an onset", Some(OnsetParams { rival_share: 0.0, ..usual() })),
        ("the robust edge: tempo penalised quadratically", Some(OnsetParams { delta: 1e6, ..usual() })),
        ("placing the notes of a chord one by one", Some(OnsetParams { spread_s: 0.0, ..usual() })),
        ("gaps: time that passes, onsets left out", Some(OnsetParams { gap_price: 1e6, ..usual() })),
        ("looking further than a second from the rough start", Some(OnsetParams { reach_s: 1.0, ..usual() })),
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

/// TimeErr of every piece in milliseconds, one for each variant. A recording is listened to twice, with and without the ear.
fn errors_of(manifest: &Path) -> Result<Vec<Vec<f64>>> {
    let (ctx, settings) = (JobContext::new(), Settings::default());
    let earless =
        Settings { method: Method::Onsets(OnsetMethod { ear: None, ..OnsetMethod::default() }), ..Settings::default() };
    let of_piece = |piece: &Piece| {
        let clip = Performance::from(decode(&ctx, &piece.audio)?.clip);
        let score = Score::read(&piece.score)?;
        let (recording, named) =
            (Named { name: "recording", content: &clip }, Named { name: "score", content: &score });
        let watch = &mut Stopwatch::default();
        let mut listen =
            |settings: &Settings| Listening::new(&ctx, &clip, &score, &settings.method, &Device::Cpu, watch);
        let (with_ear, without) = (listen(&settings)?, listen(&earless)?);
        let truth = read_ground_truth(&piece.truth, Some(&BeatClock::of_score(&score)))?;
        let error = |(_, params): (&str, Option<OnsetParams>)| {
            let watch = &mut Stopwatch::default();
            let found = match params {
                Some(params) => align_with(&ctx, recording, named, &with_ear, &settings, &params, watch)?,
                None => align_heard(&ctx, recording, named, &without, &earless, watch)?,
            };
            Ok(evaluate(&TimeMap::of_alignment(&score, &found), &truth).time_err_ms)
        };
        variants().into_iter().map(error).collect()
    };
    read(manifest)?.iter().map(of_piece).collect()
}
