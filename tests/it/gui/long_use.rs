//! A working day in a quarter of an hour: what a window holds on to must not grow with it. Memory and descriptors are those of a whole
//! process, so the test has one to itself.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agogic::window::Command;
use agogic::window::tuning::Start;
use agogic::{Anchor, Format};

use super::{Bench, demo_files, folder, learn_and_judge_the_demo, open};

/// How many hours the process works.
const HOURS: &str = "AGOGIC_LONG_USE";

/// What the process holds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Held {
    /// Memory without the undo history, which has a bound of its own.
    megabytes: f64,
    descriptors: usize,
    threads: usize,
}

fn held(bench: &Bench) -> Held {
    give_back();
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
    let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
    let megabytes = pages * 4096.0 / 1e6 - history(bench).1;
    Held { megabytes, descriptors: count("/proc/self/fd"), threads: count("/proc/self/task") }
}

/// Has the allocator give back what is free: it may keep hundreds of megabytes of a training for hours.
#[allow(unsafe_code, reason = "the allocator's own function, which may be called at any time")]
fn give_back() {
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Steps and megabytes of the undo history.
fn history(bench: &Bench) -> (usize, f64) {
    bench.read(|state| {
        let (steps, solutions, settings) = open(state).history.size();
        (steps, (solutions + settings) as f64 / 1e6)
    })
}

/// What a piece was worked on with.
#[derive(Debug, Default)]
struct Done {
    opened: usize,
    dragged: usize,
    played_s: f64,
    /// Steps and megabytes of the largest history.
    history: (usize, f64),
}

/// Opens files in place of what is open.
fn open_another(bench: &mut Bench, files: Vec<PathBuf>) {
    let before = bench.read(|state| Arc::as_ptr(state.piece().unwrap()) as usize);
    bench.apply(Command::Open(files));
    bench.wait("opening", |state| {
        let is_another = Arc::as_ptr(state.piece().unwrap()) as usize != before;
        is_another && state.work.is_none() && state.solution().is_some()
    });
}

/// A quarter of an hour with one piece: every onset in turn is dragged, the alignment found again, taken back or kept; it is heard, saved
/// and exported. With files it begins by opening them, and ends by opening the session; without, it goes on with what is open.
fn quarter(bench: &mut Bench, files: Option<&[PathBuf]>, number: usize, done: &mut Done) {
    if let Some(files) = files {
        open_another(bench, files.to_vec());
    }
    let session = bench.folder.join("today.agogic");
    let onsets = bench.read(|state| state.solution().unwrap().onsets.len());
    bench.apply(Command::ToggleLoop);
    for step in 0..30 {
        let (score_s, performance_s) = bench.onset((number * 7 + step * 11) % onsets);
        for moved in [0.01, 0.02] {
            let performance_s = performance_s + moved;
            bench.apply(Command::Drag(Anchor { score_s, performance_s }));
        }
        bench.apply(Command::Drop);
        bench.wait("solving", |state| state.work.is_none() && open(state).moved.is_none());
        match step % 6 {
            3 => bench.apply(Command::Undo),
            4 => bench.apply(Command::Redo),
            5 => bench.apply(Command::Keep),
            _ => {}
        }
        bench.wait("solving", |state| state.work.is_none());
        // Twenty seconds of it are heard after each.
        bench.apply(Command::Seek((step as f64 * 3.0) % 40.0));
        bench.apply(Command::TogglePlay);
        for _ in 0..4 {
            bench.clock.advance(5.0);
            bench.harness.step();
        }
        if bench.read(|state| state.transport.playing) {
            bench.apply(Command::TogglePlay);
        }
        done.dragged += 1;
        done.played_s += 20.0;
    }
    bench.apply(Command::ToggleLoop);
    let (steps, megabytes) = history(bench);
    done.history = (done.history.0.max(steps), done.history.1.max(megabytes));
    let _ = std::fs::remove_file(&session);
    bench.apply(Command::SaveSessionAs(session.clone()));
    bench.wait("saving", |state| !state.is_changed());
    let export = bench.folder.join("today.csv");
    let _ = std::fs::remove_file(&export);
    bench.apply(Command::Export { format: Format::Csv, path: export.clone() });
    bench.wait("exporting", |_| export.is_file());
    if files.is_some() {
        open_another(bench, vec![session]);
        done.opened += 2;
    }
}

fn fine_tune(bench: &mut Bench, folder: &Path) {
    let mut plan = bench.read(|state| state.tuning.plan.clone());
    plan.start = Start::Model("small".to_owned());
    plan.pieces.clear();
    learn_and_judge_the_demo(&mut plan, folder);
    plan.epochs = 2;
    bench.apply(Command::SetPlan(plan));
    bench.apply(Command::StartTraining);
    bench.wait("training", |state| state.tuning.outcome.is_some() && state.work.is_none());
}

/// What is held once it is no more than before: a thread that has told its last may still be ending.
fn settled(bench: &mut Bench, before: Option<&Held>) -> Held {
    let begun = Instant::now();
    loop {
        bench.harness.step();
        let now = held(bench);
        let is_more = before.is_some_and(|before| now.threads > before.threads || now.descriptors > before.descriptors);
        if !is_more || begun.elapsed() > Duration::from_secs(10) {
            return now;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The whole day: `cargo test --test it -- --ignored --nocapture a_day_of_work`.
#[test]
#[ignore = "needs a process to itself: the next test runs three hours of it"]
fn a_day_of_work_takes_no_more_than_its_first_hours() {
    let hours: usize = std::env::var(HOURS).map_or(8, |text| text.parse().unwrap());
    let folder = folder();
    let [audio, score, _] = demo_files(folder.path());
    let mut bench = Bench::new(folder.path(), Vec::new());
    bench.wait_until_aligned();
    let mut day = Vec::new();
    println!(
        "| hour | least memory, without the undo history | descriptors | threads | pieces opened | drags solved | heard | undo history |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for hour in 1..=hours {
        let mut done = Done::default();
        // First many pieces, then one for the rest of the day.
        let files = [audio.clone(), score.clone()];
        let is_morning = hour <= hours.div_ceil(2);
        // Work that has just ended may still hold something: what is held in earnest is the least of the hour.
        let mut least = f64::INFINITY;
        for number in 0..4 {
            quarter(&mut bench, is_morning.then_some(files.as_slice()), hour * 4 + number, &mut done);
            least = least.min(held(&bench).megabytes);
        }
        fine_tune(&mut bench, folder.path());
        let mut now = settled(&mut bench, day.get(1));
        now.megabytes = now.megabytes.min(least);
        println!(
            "| {hour} | {:.0} MB | {} | {} | {} | {} | {:.0} min | {} steps, {:.1} MB |",
            now.megabytes,
            now.descriptors,
            now.threads,
            done.opened,
            done.dragged,
            done.played_s / 60.0,
            done.history.0,
            done.history.1
        );
        day.push(now);
    }
    // The first hours fill caches and what the allocator keeps.
    assert!(hours > 2, "there is nothing to compare the first hours with");
    let (begin, end) = (day[1], day[hours - 1]);
    assert_eq!((end.descriptors, end.threads), (begin.descriptors, begin.threads), "{day:?}");
    assert!(end.megabytes < 1.2 * begin.megabytes + 10.0, "{day:?}");
    println!("{hours} hours of work");
}

#[test]
fn three_hours_of_work_leave_no_descriptor_and_no_thread() {
    let name = "gui::long_use::a_day_of_work_takes_no_more_than_its_first_hours";
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", name])
        .env(HOURS, "3")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("3 hours of work"), "{said}{}", String::from_utf8_lossy(&run.stderr));
}
