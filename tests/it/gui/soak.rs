//! Many pieces one after the other. Memory is that of a whole process, so the test has one to itself.

#![cfg(target_os = "linux")]

use agogic::app::Command;

use super::{Bench, demo_files, folder};

/// How many pieces the process opens.
const COUNT: &str = "AGOGIC_SOAK";

fn resident_mb() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 4096.0 / 1e6
}

/// The whole test: `cargo test --test it -- --ignored pieces_are_opened`.
#[test]
#[ignore = "needs a process to itself, and a minute or two for 200 pieces"]
fn pieces_are_opened_and_closed_without_growth_of_memory() {
    let count: usize = std::env::var(COUNT).map_or(200, |text| text.parse().unwrap());
    let folder = folder();
    let [audio, score, truth] = demo_files(folder.path());
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    // The first pieces fill caches and what the allocator keeps.
    let first = count / 3;
    let mut settled = 0.0;
    for round in 1..=count {
        let opened = bench.read(|state| state.revision);
        bench.apply(Command::Open(vec![audio.clone(), score.clone(), truth.clone()]));
        bench.wait("opening", |state| state.revision > opened && state.solution.is_some() && state.work.is_none());
        if round == first {
            settled = resident_mb();
        }
    }
    let end = resident_mb();
    println!("{settled:.0} MB after {first} pieces, {end:.0} MB after {count}");
    // A recording alone is 4 MB: if any piece were kept, every round would add more than that.
    let most = settled + 30.0;
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
