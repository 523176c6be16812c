//! Repeats that were played or not: found, told, asked for.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Run, program};

/// Two sections of eight bars, each with a melody of its own; with or without the signs that repeat them.
pub fn binary_form(with_repeats: bool) -> String {
    let mut state = 11u32;
    let mut bars = String::new();
    for number in 1..=16 {
        let attributes =
            "<attributes><divisions>2</divisions><time><beats>4</beats><beat-type>4</beat-type></time></attributes>";
        bars += &format!("<measure number=\"{number}\">{}", if number == 1 { attributes } else { "" });
        for _ in 0..8 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let step = ["C", "D", "E", "F", "G", "A", "B"][(state >> 26) as usize % 7];
            let octave = 3 + (state >> 22) % 3;
            bars += &format!(
                "<note><pitch><step>{step}</step><octave>{octave}</octave></pitch><duration>1</duration></note>"
            );
        }
        if with_repeats && number % 8 == 0 {
            bars += "<barline location=\"right\"><repeat direction=\"backward\"/></barline>";
        }
        bars += "</measure>";
    }
    format!(
        "<?xml version=\"1.0\"?><score-partwise><part-list><score-part id=\"P1\"><part-name>Piano</part-name></score-part>\
         </part-list><part id=\"P1\">{bars}</part></score-partwise>"
    )
}

/// A recording without repeats and the score that has them.
pub fn files(folder: &Path) -> [PathBuf; 2] {
    let [plain, score, recording] = ["plain.musicxml", "score.musicxml", "take.wav"].map(|name| folder.join(name));
    std::fs::write(&plain, binary_form(false)).unwrap();
    std::fs::write(&score, binary_form(true)).unwrap();
    program().arg("synth").arg(&plain).arg("-o").arg(&recording).output().map(Run::from).unwrap().ok();
    [recording, score]
}

fn align(files: &[PathBuf; 2], more: &[&str]) -> Run {
    program().arg("align").args(files).args(["--ear", "none"]).args(more).output().unwrap().into()
}

fn letters(result: &Value) -> String {
    let sections = result["sections"].as_array().unwrap();
    sections.iter().map(|section| section["label"].as_str().unwrap()).collect()
}

#[test]
fn the_way_through_the_repeats_is_found_told_and_can_be_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let output = folder.path().join("a.json");
    let run = align(&files, &["-o", output.to_str().unwrap()]).ok();
    assert!(run.stdout.contains("played: A (bars 1-8) B (bars 9-16)"), "{}", run.stdout);
    assert!(run.stdout.contains("a repeat that was not played"), "{}", run.stdout);
    let result: Value = serde_json::from_slice(&std::fs::read(&output).unwrap()).unwrap();
    assert_eq!(letters(&result), "AB");
    let second = &result["sections"][1];
    assert_eq!((&second["bar_from"], &second["bar_to"]), (&"9".into(), &"16".into()));
    // Sixteen bars at 120 quarters a minute: the second section begins after 16 s.
    let from = second["performance_from_s"].as_f64().unwrap();
    assert!((from - 16.0).abs() < 0.1, "{from}");
    assert!(result["settings"]["method"]["onsets"].get("path").is_none(), "nobody asked for it");

    for (path, expected) in [("no-repeats", "AB"), ("A,A,B", "AAB"), ("written", "AABB")] {
        let run = align(&files, &["--path", path, "--json"]).ok();
        assert_eq!(letters(&run.json()), expected);
        let told = run.stdout.contains("a repeat that was not played");
        assert!(!told, "what was asked for is no news: {}", run.stdout);
    }
    // A result is made again from its JSON with the way that was asked for.
    align(&files, &["--path", "a b", "-o", output.to_str().unwrap()]).ok();
    let first = std::fs::read(&output).unwrap();
    let again = program().arg("align").args(&files).arg("--like").arg(&output).args(["--format", "json"]).output();
    assert!(Run::from(again.unwrap()).ok().stdout.as_bytes() == first, "made again, it is another one");
}

#[test]
fn ways_that_the_score_does_not_have_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let refused = |files: &[PathBuf; 2], more: &[&str]| {
        let run = align(files, more);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        run.stderr
    };
    let unknown = refused(&files, &["--path", "A,C"]);
    assert!(unknown.contains("A to B") && unknown.contains("agogic score"), "{unknown}");
    let plain = [files[0].clone(), folder.path().join("plain.musicxml")];
    let none = refused(&plain, &["--path", "no-repeats"]);
    assert!(none.contains("no repeats"), "{none}");
    align(&plain, &["--path", "written"]).ok();
    let run: Run =
        program().arg("align").args(&files).args(["--method", "frames", "--path", "A"]).output().unwrap().into();
    assert!(run.code == Some(2) && run.stderr.contains("--path belongs to --method onsets"), "{}", run.stderr);
}
