//! Many pieces one after the other.

use agogic::app::Command;

use super::{Bench, demo_files, folder};

/// Takes some minutes: `cargo test --test it -- --ignored two_hundred`.
#[test]
#[ignore = "takes minutes"]
#[cfg(target_os = "linux")]
fn two_hundred_pieces_are_opened_and_closed_without_growth_of_memory() {
    fn resident_mb() -> f64 {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 4096.0 / 1e6
    }
    let folder = folder();
    let [audio, score, truth] = demo_files(folder.path());
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    let mut settled = 0.0;
    for round in 1..=200 {
        let opened = bench.read(|state| state.revision);
        bench.apply(Command::Open(vec![audio.clone(), score.clone(), truth.clone()]));
        bench.wait("opening", |state| state.revision > opened && state.solution.is_some() && state.work.is_none());
        if round == 40 {
            settled = resident_mb();
        }
    }
    let end = resident_mb();
    println!("{settled:.0} MB after 40 pieces, {end:.0} MB after 200");
    assert!(end < settled + 40.0, "{settled} MB after 40 pieces, {end} MB after 200");
}
