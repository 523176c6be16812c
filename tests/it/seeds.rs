//! What fuzzing found, and what it started from: every file in `fuzz/seeds` is read as its folder says.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use agogic::readers::{READERS, complaint, reader};

/// Long enough for a machine that is busy; the fuzzer allows ten seconds.
const LONGEST: Duration = Duration::from_secs(60);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds")
}

fn seeds_of(name: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder().join(name)).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Reads the bytes on a thread of its own, with the small stack that the program's threads have; says what is wrong.
fn verdict(name: &str, bytes: Vec<u8>) -> Result<(), String> {
    let reader = reader(name).unwrap();
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || sender.send(complaint(&reader(&bytes))));
    match receiver.recv_timeout(LONGEST) {
        Ok(complaint) => complaint.map_or(Ok(()), Err),
        Err(mpsc::RecvTimeoutError::Timeout) => Err(format!("takes longer than {LONGEST:?}")),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let panic = thread.join().unwrap_err();
            let words = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Err(format!("panics: {}", words.unwrap_or("without a word")))
        }
    }
}

#[test]
fn every_seed_is_read_or_refused_in_one_line_and_in_time() {
    let mut wrong = Vec::new();
    for (name, _) in READERS {
        for seed in seeds_of(name) {
            if let Err(cause) = verdict(name, fs::read(&seed).unwrap()) {
                wrong.push(format!("{name}/{}: {cause}", seed.file_name().unwrap().to_string_lossy()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_reader_has_a_target_and_seeds_and_every_folder_of_seeds_a_reader() {
    let manifest = fs::read_to_string(folder().with_file_name("Cargo.toml")).unwrap();
    for (name, _) in READERS {
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name} is missing in fuzz/Cargo.toml");
        assert!(!seeds_of(name).is_empty(), "fuzz/seeds/{name} is empty");
    }
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let known = reader(&name).is_some() || (name == "session" && cfg!(not(feature = "gui")));
        assert!(known, "there is no reader for fuzz/seeds/{name}");
    }
}
