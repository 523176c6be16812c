//! Many pieces one after the other. Memory is that of a whole process, so the test has one to itself.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agogic::window::Command;

use super::{Bench, folder};
use crate::support::{agogic, midi};

/// How many pieces the process opens.
const COUNT: &str = "AGOGIC_SOAK";

fn resident_mb() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 4096.0 / 1e6
}

/// A scale of a quarter of a minute, played, with its truth.
fn short_piece(folder: &Path) -> Vec<PathBuf> {
    let [audio, score, truth] = ["scale.wav", "scale.mid", "scale.csv"].map(|name| folder.join(name));
    let notes: Vec<_> = (0..30).map(|n| (n * 480, 400, 48 + (n % 24) as u8)).collect();
    std::fs::write(&score, midi(500_000, &notes)).unwrap();
    agogic([Path::new("synth"), &score, Path::new("-o"), &audio]).ok();
    let rows: String = (0..30).map(|n| format!("{0},{0}\n", f64::from(n) * 0.5)).collect();
    std::fs::write(&truth, format!("score_time_s,performance_time_s\n{rows}")).unwrap();
    vec![audio, score, truth]
}

/// The whole test: `cargo test --test it -- --ignored pieces_are_opened`.
#[test]
#[ignore = "needs a process to itself: the next test runs it with fewer pieces, `./dev test` as it is"]
fn pieces_are_opened_and_closed_without_growth_of_memory() {
    let count: usize = std::env::var(COUNT).map_or(200, |text| text.parse().unwrap());
    let folder = folder();
    let files = short_piece(folder.path());
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    // The first pieces fill caches and what the allocator keeps.
    let first = count / 3;
    let mut settled = 0.0;
    for round in 1..=count {
        let opened = bench.read(|state| Arc::as_ptr(state.piece().unwrap()) as usize);
        bench.apply(Command::Open(files.clone()));
        bench.wait("opening", |state| {
            Arc::as_ptr(state.piece().unwrap()) as usize != opened && state.solution().is_some() && state.work.is_none()
        });
        if round == first {
            settled = resident_mb();
        }
    }
    let end = resident_mb();
    println!("{settled:.0} MB after {first} pieces, {end:.0} MB after {count}");
    // A recording alone is more than a megabyte: if any were kept, every round would add that much.
    let most = settled + 12.0;
    assert!(end < most, "{settled} MB after {first} pieces, {end} MB after {count}");
}

#[test]
fn thirty_pieces_are_opened_and_closed_without_growth_of_memory() {
    let name = "gui::soak::pieces_are_opened_and_closed_without_growth_of_memory";
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", name])
        .env(COUNT, "30")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("after 30"), "{said}{}", String::from_utf8_lossy(&run.stderr));
}
