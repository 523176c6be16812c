//! The rules of ARCHITECTURE.md that a machine can check.

use std::fs;
use std::path::{Path, PathBuf};

/// A file longer than this does too much.
const LONGEST_FILE: usize = 500;

/// Which modules each one may use. Every module is listed: what is missing here may use nothing.
const MAY_USE: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("demo", &[]),
    ("tables", &["base"]),
    ("warping", &["base"]),
    ("audio", &["base"]),
    ("score", &["audio", "base"]),
    ("engraving", &["score"]),
    ("features", &["audio", "base", "warping"]),
    ("networks", &["base", "features"]),
    ("gpu", &["base"]),
    ("devices", &["base", "gpu", "networks", "warping"]),
    ("align", &["audio", "base", "features", "networks", "score", "warping"]),
    ("evaluation", &["align", "base", "score"]),
    ("export", &["align", "base", "evaluation", "score", "warping"]),
    ("learning", &["align", "audio", "base", "evaluation", "features", "networks", "score", "warping"]),
    ("making", &["audio", "base", "score"]),
    ("bench", &["align", "audio", "base", "demo", "features", "networks", "score", "warping"]),
    (
        "app",
        &[
            "align",
            "audio",
            "base",
            "demo",
            "devices",
            "engraving",
            "evaluation",
            "export",
            "features",
            "learning",
            "networks",
            "score",
            "warping",
        ],
    ),
    (
        "cli",
        &[
            "align",
            "app",
            "audio",
            "base",
            "bench",
            "demo",
            "devices",
            "evaluation",
            "export",
            "features",
            "learning",
            "making",
            "networks",
            "score",
            "tables",
        ],
    ),
    (
        "readers",
        &["app", "audio", "base", "bench", "cli", "evaluation", "export", "learning", "making", "networks", "score"],
    ),
    ("main", &[]),
];

fn source_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files
}

fn module_of(path: &Path) -> String {
    let relative = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    let first = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// Modules named after `crate::` in code, test modules left out: an oracle may look anywhere.
fn used_modules(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut modules = Vec::new();
    for line in lines {
        for rest in line.split("crate::").skip(1) {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if name.chars().next().is_some_and(char::is_lowercase) {
                modules.push(name);
            }
        }
    }
    modules
}

#[test]
fn modules_depend_only_on_what_stands_below_them() {
    for path in source_files() {
        if path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests")) {
            continue;
        }
        let module = module_of(&path);
        // The façade names whatever it exports.
        if module == "lib" {
            continue;
        }
        let allowed = MAY_USE.iter().find(|(name, _)| *name == module).map(|(_, allowed)| *allowed);
        let allowed = allowed.unwrap_or_else(|| panic!("{module} is not in the list"));
        for used in used_modules(&fs::read_to_string(&path).unwrap()) {
            let fits = used == module || allowed.contains(&used.as_str());
            assert!(fits, "{}: {module} may not use {used}", path.display());
        }
    }
}

#[test]
fn egui_stays_in_the_window_and_candle_in_networks_and_learning() {
    for path in source_files() {
        let text = fs::read_to_string(&path).unwrap();
        let module = module_of(&path);
        let code = || text.lines().filter(|line| !line.trim_start().starts_with("//"));
        if module != "app" {
            assert!(!code().any(|line| line.contains("egui::")), "{} uses egui", path.display());
        }
        if !["networks", "learning"].contains(&module.as_str()) {
            assert!(!code().any(|line| line.contains("candle_core::")), "{} uses candle", path.display());
        }
    }
}

/// These macros panic where nobody can read them; `cli` has functions that do not.
#[test]
fn nothing_is_printed_past_the_functions_that_survive_it() {
    for path in source_files().iter().filter(|path| !path.to_string_lossy().ends_with("tests.rs")) {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        assert!(!code.contains("println!("), "{} prints", path.display());
        assert!(!code.contains("eprint!(") && !code.contains(" print!("), "{} prints", path.display());
    }
}

#[test]
fn the_window_leaves_files_to_its_workers() {
    let words = ["std::fs", "File::", ".exists()", ".is_file()", ".is_dir()", "canonicalize", "metadata("];
    let readers = [
        "role_of",
        "open_model",
        "find_pieces",
        "Fingerprint::of",
        "Fingerprints::of",
        "Preferences::read",
        "write_bytes_atomically",
    ];
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/app");
    for path in
        source_files().iter().filter(|path| ["update", "ui"].iter().any(|part| path.starts_with(app.join(part))))
    {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for word in words.iter().chain(&readers) {
            assert!(!code.contains(word), "{} contains {word}: let a task do it", path.display());
        }
    }
}

#[test]
fn files_stay_readable() {
    for path in source_files() {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= LONGEST_FILE, "{} has {lines} lines: give part of its job to another file", path.display());
    }
}

#[test]
fn nothing_is_left_unfinished() {
    for path in source_files() {
        let text = fs::read_to_string(&path).unwrap();
        for word in [concat!("to", "do!("), concat!("unimpl", "emented!("), concat!("TO", "DO"), concat!("FIX", "ME")] {
            assert!(!text.contains(word), "{} contains {word}", path.display());
        }
    }
}

#[test]
fn the_licences_in_the_program_are_of_the_packages_that_are_locked() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lock = fs::read_to_string(root.join("Cargo.lock")).unwrap();
    let notices = fs::read_to_string(root.join("assets/third-party.txt")).unwrap();
    let listed: Vec<&str> = notices.lines().skip(2).take_while(|line| !line.is_empty()).collect();
    assert!(listed.len() > 300, "{} packages", listed.len());
    for line in listed {
        let (name, version) = line.split(':').next().unwrap().split_once(' ').unwrap();
        let entry = format!("name = \"{name}\"\nversion = \"{version}\"");
        assert!(lock.contains(&entry), "{name} {version} is not locked any more: make assets/third-party.txt again");
    }
    for name in ["symphonia", "egui", "candle-core", "rustysynth", "clap"] {
        assert!(notices.contains(&format!("\n{name} ")), "{name}");
    }
}

/// The toolchain that is asked for is stated in several places, and is the one that checks.
#[test]
fn the_rust_version_is_the_same_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let version = env!("CARGO_PKG_RUST_VERSION");
    for page in ["README.md", "dev", "docs/src/tutorial.md"] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        assert!(text.contains(&format!("{version} or later")), "{page} does not ask for Rust {version}");
    }
}
