//! `agogic batch`: many pairs, one bad row among them, a second run.

use std::path::Path;
use std::time::SystemTime;

use crate::support::{Demo, Run, agogic, names_in};

fn batch(demo: &Demo, manifest: &str, more: &[&str]) -> Run {
    let manifest = demo.file("manifest.csv", manifest);
    let out = demo.path("out");
    let args = ["batch", manifest.to_str().unwrap(), "--out-dir", out.to_str().unwrap()];
    agogic(args.iter().chain(more))
}

fn modified(path: &Path) -> SystemTime {
    std::fs::metadata(path).unwrap().modified().unwrap()
}

#[test]
fn a_bad_row_is_reported_the_rest_are_done_and_a_second_run_does_only_the_bad_one_again() {
    let demo = Demo::new();
    let rows = "id,audio,score,truth\n\
                good,performance.ogg,score.mid,truth.csv\n\
                bad,missing.ogg,score.mid,\n\
                other,performance.ogg,score.mid,\n";
    let first = batch(&demo, rows, &["--jobs", "2"]);
    assert_eq!(first.code, Some(1), "{}", first.stderr);
    assert!(first.stderr.contains("bad: cannot read") && first.stderr.contains("missing.ogg"), "{}", first.stderr);
    assert!(first.stderr.contains("1 of 3 pairs failed"), "{}", first.stderr);
    assert!(first.stdout.contains("| good |") && first.stdout.contains("mean of all (1)"), "{}", first.stdout);
    let out = demo.path("out");
    assert_eq!(names_in(&out), ["bad.record.json", "good.csv", "good.record.json", "other.csv", "other.record.json"]);

    let before = modified(&out.join("good.csv"));
    std::fs::copy(&demo.audio, demo.path("missing.ogg")).unwrap();
    let second = batch(&demo, rows, &["--resume"]).ok();
    assert_eq!(modified(&out.join("good.csv")), before, "what was done is not done again");
    assert_eq!(second.stderr.matches("already done").count(), 2, "{}", second.stderr);
    assert!(out.join("bad.csv").is_file());
    assert!(second.stdout.contains("| good |"), "the table is whole again: {}", second.stdout);

    let other_settings = batch(&demo, rows, &["--resume", "--method", "frames", "--quiet"]).ok();
    assert_eq!(other_settings.stderr, "");
    assert_ne!(modified(&out.join("good.csv")), before, "other settings are other work");
}

/// Runs a batch whose results go to the folder of its inputs: all files are as they were, and the sentence names `file`.
fn assert_refused_beside_the_inputs(manifest_name: &str, manifest: &str, more: &[&str], file: &str) {
    let demo = Demo::new();
    std::fs::write(demo.path("kept.record.json"), agogic::demo_piece::truth_bytes()).unwrap();
    let path = demo.file(manifest_name, manifest);
    let contents =
        || names_in(demo.folder.path()).into_iter().map(|name| (std::fs::read(demo.path(&name)).unwrap(), name));
    let before: Vec<_> = contents().collect();
    let args = ["batch", path.to_str().unwrap(), "--out-dir", demo.folder.path().to_str().unwrap()];
    let run = agogic(args.iter().chain(more));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains(file), "{}", run.stderr);
    assert!(contents().eq(before), "a file is changed: {:?}", names_in(demo.folder.path()));
}

#[test]
fn a_batch_never_writes_over_an_input_of_any_row() {
    let header = "id,audio,score,truth\n";
    let rows = "a,performance.ogg,score.mid,truth.csv\ntruth,performance.ogg,score.mid,\n";
    assert_refused_beside_the_inputs("m.csv", &format!("{header}{rows}"), &[], "truth.csv, which is read");
    let row = "performance.ogg,score.mid,truth.csv\n";
    assert_refused_beside_the_inputs("performance.csv", row, &[], "performance.csv, which is read");
    let row = format!("{header}score,performance.ogg,score.mid,\n");
    assert_refused_beside_the_inputs("m.csv", &row, &["--format", "midi"], "score.mid, which is read");
    let row = format!("{header}kept,performance.ogg,score.mid,kept.record.json\n");
    assert_refused_beside_the_inputs("m.csv", &row, &[], "kept.record.json, which is read");
}

#[test]
fn the_result_of_one_row_never_replaces_the_record_of_another() {
    let rows = "id,audio,score\na,performance.ogg,score.mid\na.record,performance.ogg,score.mid\n";
    assert_refused_beside_the_inputs("m.csv", rows, &["--format", "json"], "a.record.json, which is written too");
}

#[test]
fn a_folder_for_results_that_cannot_be_one_is_named_before_the_work() {
    let demo = Demo::new();
    demo.file("out", "a file");
    let run = batch(&demo, "performance.ogg,score.mid\n", &[]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("cannot create") && run.stderr.lines().count() == 1, "{}", run.stderr);
    std::fs::remove_file(demo.path("out")).unwrap();
    std::fs::create_dir_all(demo.path("out").join("performance.csv")).unwrap();
    let run = batch(&demo, "performance.ogg,score.mid\n", &[]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("performance.csv: is a directory"), "{}", run.stderr);
}

#[test]
fn a_manifest_without_header_and_a_json_table() {
    let demo = Demo::new();
    let run =
        batch(&demo, "performance.ogg,score.mid,truth.csv\n", &["--json", "--jobs", "1", "--format", "json"]).ok();
    assert_eq!(run.json()["pieces"][0]["name"], "performance");
    assert!(run.json()["all"]["time_err_ms"].as_f64().unwrap() < 30.0);
    assert_eq!(names_in(&demo.path("out")), ["performance.json", "performance.record.json"]);
}

#[test]
fn a_manifest_that_is_missing_empty_or_incomplete_is_explained() {
    let demo = Demo::new();
    for (text, word) in [("", "empty"), ("audio,score\n", "no pair"), ("only-one-column.wav\n", "line 1")] {
        let run = batch(&demo, text, &[]);
        assert_eq!(run.code, Some(1));
        assert!(run.stderr.contains(word) && run.stderr.contains("manifest.csv"), "{}", run.stderr);
    }
    let run = agogic(["batch", "no-such-manifest.csv", "--out-dir", demo.path("out").to_str().unwrap()]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("no-such-manifest.csv"), "{}", run.stderr);
    assert_eq!(batch(&demo, "a,b\n", &["--jobs", "0"]).code, Some(2));
}
