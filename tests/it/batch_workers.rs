//! `agogic batch` on many machines: shards, content that changed, workers that are killed or meet, and the tables that come of it.

use std::path::{Path, PathBuf};

use crate::support::{Run, TickNote, midi, names_in, program};

/// A folder with short MIDI performances, each of its own score and at its own tempo, and a list of them: quick to align.
struct Takes {
    folder: tempfile::TempDir,
    manifest: PathBuf,
}

impl Takes {
    fn new(count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut list = String::from("id,audio,score,truth\n");
        for piece in 0..count {
            let notes: Vec<TickNote> =
                (0..24).map(|k| (k * 240, 200, 48 + ((k as usize * (3 + piece)) % 36) as u8)).collect();
            std::fs::write(folder.path().join(format!("score{piece}.mid")), midi(500_000, &notes)).unwrap();
            std::fs::write(folder.path().join(format!("take{piece}.mid")), midi(600_000, &notes)).unwrap();
            list += &format!("p{piece},take{piece}.mid,score{piece}.mid,truth.csv\n");
        }
        let rows: String = (0..24).map(|k| format!("{},{}\n", f64::from(k) * 0.25, f64::from(k) * 0.3)).collect();
        std::fs::write(folder.path().join("truth.csv"), format!("score_time_s,performance_time_s\n{rows}")).unwrap();
        let manifest = folder.path().join("list.csv");
        std::fs::write(&manifest, list).unwrap();
        Self { folder, manifest }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn batch(&self, out: &str, more: &[&str]) -> Run {
        batch(&self.manifest, &self.path(out), more)
    }
}

fn batch(manifest: &Path, out: &Path, more: &[&str]) -> Run {
    program().arg("batch").arg(manifest).arg("--out-dir").arg(out).args(more).output().unwrap().into()
}

fn summary(folder: &Path, more: &[&str]) -> Run {
    program().arg("batch-summary").arg(folder).args(more).output().unwrap().into()
}

/// The formats that results are kept in, in two ways.
fn formats() -> Vec<&'static str> {
    if cfg!(feature = "parquet") { vec!["notes-csv", "parquet"] } else { vec!["notes-csv"] }
}

/// Every file of a folder with its content.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    names_in(folder).into_iter().map(|name| (name.clone(), std::fs::read(folder.join(name)).unwrap())).collect()
}

#[test]
fn shards_do_every_row_once_and_their_summary_is_that_of_one_run() {
    let takes = Takes::new(7);
    std::fs::remove_file(takes.path("take4.mid")).unwrap();
    for format in formats() {
        let (whole, parts) = (format!("whole-{format}"), format!("parts-{format}"));
        let one = takes.batch(&whole, &["--format", format]);
        assert_eq!(one.code, Some(1), "a row fails: {}", one.stderr);
        assert!(one.stdout.contains("| p4 | cannot read") && one.stdout.contains("| 7 | 6 | 1 |"), "{}", one.stdout);
        let mut done = 0;
        for shard in ["2/3", "3/3", "1/3"] {
            let run = takes.batch(&parts, &["--format", format, "--shard", shard, "--jobs", "1"]);
            done += run.stderr.lines().filter(|line| line.contains("] p")).count();
            if shard == "3/3" {
                let early = summary(&takes.path(&parts), &[]);
                assert_eq!(early.code, Some(1));
                assert!(early.stderr.contains("3 of 7 pairs are not done yet"), "{}", early.stderr);
            }
        }
        assert_eq!(done, 7, "{format}");
        for more in [&[][..], &["--json"]] {
            let expected = takes.batch(&whole, &[&["--format", format, "--resume"], more].concat());
            let found = summary(&takes.path(&parts), more);
            assert_eq!((found.code, &found.stdout), (Some(1), &expected.stdout), "{format}");
            assert_eq!(summary(&takes.path(&whole), more).stdout, expected.stdout);
        }
        let time_err = summary(&takes.path(&parts), &["--json"]).json()["all"]["time_err_ms"].as_f64().unwrap();
        assert!(time_err < 1.0, "{time_err}");
    }
}

#[test]
fn rows_that_are_added_to_a_list_are_all_that_is_done_and_the_summary_has_the_new_order() {
    let takes = Takes::new(4);
    let list = std::fs::read_to_string(&takes.manifest).unwrap();
    for format in formats() {
        let without: String =
            list.lines().filter(|line| !line.starts_with("p1,")).map(|line| format!("{line}\n")).collect();
        std::fs::write(&takes.manifest, without).unwrap();
        takes.batch(format, &["--format", format]).ok();
        std::fs::write(&takes.manifest, &list).unwrap();
        let run = takes.batch(format, &["--format", format, "--resume"]).ok();
        assert_eq!(run.stderr.matches("already done").count(), 3, "{}", run.stderr);
        assert_eq!(summary(&takes.path(format), &["--json"]).ok().json()["pieces"][1]["name"], "p1", "{format}");
    }
}

#[test]
fn a_folder_without_results_has_no_summary() {
    let folder = tempfile::tempdir().unwrap();
    let run = summary(folder.path(), &[]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("no results of a batch"), "{}", run.stderr);
    std::fs::write(folder.path().join("x.record.json"), "{}").unwrap();
    let run = summary(folder.path(), &[]);
    assert!(run.stderr.contains("x.record.json: it is not a batch record"), "{}", run.stderr);
}

#[test]
fn what_is_done_is_known_by_its_content_and_not_by_its_time() {
    let takes = Takes::new(3);
    for format in formats() {
        let again = || takes.batch(format, &["--format", format, "--resume"]).ok();
        let already = |run: &Run| run.stderr.matches("already done").count();
        let first = again();
        assert_eq!(already(&first), 0);
        let before = contents(&takes.path(format));
        // As new as can be, but the same.
        std::fs::write(takes.path("score0.mid"), std::fs::read(takes.path("score0.mid")).unwrap()).unwrap();
        let second = again();
        assert_eq!(already(&second), 3, "{}", second.stderr);
        assert_eq!((&second.stdout, contents(&takes.path(format))), (&first.stdout, before.clone()));
        // As old and as long as it was, but with another note in it.
        let path = takes.path("score1.mid");
        let written = std::fs::metadata(&path).unwrap().modified().unwrap();
        let original = std::fs::read(&path).unwrap();
        let mut changed = original.clone();
        let note = changed.windows(2).position(|pair| pair == [0x90, 48]).unwrap();
        changed[note + 1] = 49;
        std::fs::write(&path, changed).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
        let third = again();
        assert_eq!(already(&third), 2, "{}", third.stderr);
        assert!(third.stderr.lines().any(|line| line.contains("p1:") && !line.contains("already")), "{}", third.stderr);
        assert_ne!(contents(&takes.path(format)), before);
        std::fs::write(&path, original).unwrap();
        let fourth = again();
        assert_eq!((already(&fourth), contents(&takes.path(format))), (2, before), "{format}");
        // Without being asked to, nothing is skipped.
        assert_eq!(already(&takes.batch(format, &["--format", format]).ok()), 0);
        let settings = takes.batch(format, &["--format", format, "--resume", "--band", "3"]).ok();
        assert_eq!(already(&settings), 0, "other settings are other work");
    }
}

#[test]
fn a_list_may_be_of_tabs_or_semicolons_and_two_equal_ids_are_refused_before_the_work() {
    let takes = Takes::new(2);
    let expected = takes.batch("commas", &[]).ok().stdout;
    let list = std::fs::read_to_string(&takes.manifest).unwrap();
    for (name, separator) in [("tabs.tsv", "\t"), ("semicolons.csv", ";")] {
        std::fs::write(takes.path(name), list.replace(',', separator)).unwrap();
        assert_eq!(batch(&takes.path(name), &takes.path("out"), &[]).ok().stdout, expected);
    }
    std::fs::write(takes.path("twice.csv"), list.replace("p1,", "p0,")).unwrap();
    let refused = batch(&takes.path("twice.csv"), &takes.path("none"), &["--shard", "1/2"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("twice.csv: line 3 has the id \"p0\""), "{}", refused.stderr);
    assert!(!takes.path("none").exists());
}

#[test]
fn progress_is_told_in_a_file_and_a_wrong_shard_is_explained() {
    let takes = Takes::new(3);
    std::fs::remove_file(takes.path("take2.mid")).unwrap();
    let progress = takes.path("progress.json");
    let more = ["--progress", progress.to_str().unwrap(), "--shard", "1/2"];
    assert_eq!(takes.batch("out", &more).code, Some(1));
    let told: serde_json::Value = serde_json::from_slice(&std::fs::read(&progress).unwrap()).unwrap();
    for (name, value) in [("shard", 1), ("shards", 2), ("rows", 2), ("done", 2), ("failed", 1), ("resumed", 0)] {
        assert_eq!(told[name], value, "{told}");
    }
    assert_eq!((&told["state"], &told["at_work"]), (&"finished".into(), &serde_json::json!([])));
    assert!((6.0..9.0).contains(&told["recording_s"].as_f64().unwrap()), "{told}");
    for wrong in ["0/2", "3/2", "2"] {
        let run = takes.batch("out", &["--shard", wrong]);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains("such as 3/40"), "{}", run.stderr);
    }
    let beside = takes.batch("out", &["--progress", takes.manifest.to_str().unwrap()]);
    assert!(beside.stderr.contains("list.csv, which is read"), "{}", beside.stderr);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_so() {
    let takes = Takes::new(1);
    let run = takes.batch("out", &["--format", "parquet"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("this build has no Parquet"), "{}", run.stderr);
    std::fs::create_dir(takes.path("out")).unwrap();
    std::fs::write(takes.path("out").join("pieces-1-of-1.parquet"), "PAR1").unwrap();
    assert!(summary(&takes.path("out"), &[]).stderr.contains("this build has no Parquet"));
}

#[cfg(feature = "parquet")]
mod tables {
    use std::process::{Child, Stdio};
    use std::time::{Duration, Instant};

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, Row};

    use super::*;
    use crate::support::{Demo, agogic};

    fn rows(path: &Path) -> Vec<Row> {
        let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
        reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
    }

    fn field<'a>(row: &'a Row, name: &str) -> &'a Field {
        row.get_column_iter().find(|(column, _)| *column == name).unwrap_or_else(|| panic!("no column {name}")).1
    }

    fn text(value: &str) -> Field {
        Field::Str(value.to_owned())
    }

    #[test]
    fn the_tables_hold_what_align_finds_and_a_failed_row_with_its_error() {
        let demo = Demo::new();
        let list = demo.file(
            "list.csv",
            "id,audio,score,truth\nnone,none.ogg,score.mid,\nd,performance.ogg,score.mid,truth.csv\n",
        );
        let out = demo.path("out");
        assert_eq!(batch(&list, &out, &["--format", "parquet"]).code, Some(1));
        assert_eq!(names_in(&out), ["notes-1-of-1.parquet", "pieces-1-of-1.parquet"]);
        let result = demo.path("result.json");
        let summary =
            demo.align(["--json", "--truth", demo.truth.to_str().unwrap(), "-o", result.to_str().unwrap()]).ok().json();
        let result: serde_json::Value = serde_json::from_slice(&std::fs::read(result).unwrap()).unwrap();

        let pieces = rows(&out.join("pieces-1-of-1.parquet"));
        assert_eq!(pieces.len(), 2);
        assert_eq!((field(&pieces[0], "row"), field(&pieces[0], "piece")), (&Field::Long(1), &text("none")));
        let Field::Str(error) = field(&pieces[0], "error") else { panic!("{:?}", pieces[0]) };
        assert!(error.contains("none.ogg"), "{error}");
        assert_eq!((field(&pieces[0], "key"), field(&pieces[0], "confidence")), (&Field::Null, &Field::Null));
        let double = |value: &serde_json::Value| Field::Double(value.as_f64().unwrap());
        assert_eq!((field(&pieces[1], "error"), field(&pieces[1], "notes")), (&Field::Null, &Field::Long(176)));
        assert_eq!(field(&pieces[1], "confidence"), &double(&summary["confidence"]));
        assert_eq!(field(&pieces[1], "time_err_ms"), &double(&summary["metrics"]["time_err_ms"]));
        assert_eq!(field(&pieces[1], "correct_onsets"), &double(&summary["metrics"]["mir_eval"]["correct_onsets"]));

        let notes = rows(&out.join("notes-1-of-1.parquet"));
        let written = result["notes"].as_array().unwrap();
        let extra = result["extra_notes"].as_array().map_or(0, Vec::len);
        assert_eq!(notes.len(), written.len() + extra);
        for (index, (row, note)) in notes.iter().zip(written).enumerate() {
            assert_eq!((field(row, "piece"), field(row, "note")), (&text("d"), &Field::Long(index as i64 + 1)));
            assert_eq!(field(row, "pitch"), &Field::Long(note["pitch"].as_i64().unwrap()));
            assert_eq!(field(row, "performance_onset_s"), &double(&note["performance_onset_s"]), "to the last bit");
            assert_eq!(field(row, "performance_offset_s"), &double(&note["performance_offset_s"]));
            assert_eq!(field(row, "confidence"), &double(&note["confidence"]));
        }
    }

    #[test]
    fn the_columns_are_those_that_are_documented() {
        let takes = Takes::new(1);
        takes.batch("out", &["--format", "parquet"]).ok();
        let documentation = include_str!("../../docs/src/reference/tables.md");
        for (table, heading) in [("pieces", "## Pieces"), ("notes", "## Notes")] {
            let section = documentation.split(heading).nth(1).unwrap().split("\n## ").next().unwrap();
            let documented = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
            let row = &rows(&takes.path("out").join(format!("{table}-1-of-1.parquet")))[0];
            assert!(documented.eq(row.get_column_iter().map(|(name, _)| name.as_str())), "{table}");
        }
    }

    #[test]
    fn two_runs_in_one_folder_have_no_common_summary() {
        let takes = Takes::new(2);
        takes.batch("out", &["--format", "csv"]).ok();
        takes.batch("out", &["--format", "parquet"]).ok();
        let run = summary(&takes.path("out"), &[]);
        assert_eq!(run.code, Some(1));
        assert!(run.stderr.contains("row 1 is there twice"), "{}", run.stderr);
    }

    #[test]
    fn a_failed_row_is_tried_again_and_takes_its_place_in_the_tables() {
        let takes = Takes::new(4);
        takes.batch("whole", &["--format", "parquet"]).ok();
        let hidden = takes.path("hidden");
        std::fs::rename(takes.path("take1.mid"), &hidden).unwrap();
        let again = || takes.batch("out", &["--format", "parquet", "--resume"]);
        assert_eq!(again().code, Some(1));
        assert_eq!(again().code, Some(1), "it is no better for being tried again");
        std::fs::rename(&hidden, takes.path("take1.mid")).unwrap();
        let mended = again().ok();
        assert_eq!(mended.stderr.matches("already done").count(), 3, "{}", mended.stderr);
        assert_eq!(contents(&takes.path("out")), contents(&takes.path("whole")));
        // Notes that cannot be read any more are made again.
        std::fs::write(takes.path("out").join("notes-1-of-1.parquet"), "torn").unwrap();
        std::fs::write(takes.path("list.csv"), std::fs::read_to_string(&takes.manifest).unwrap().replace("p3,", "q3,"))
            .unwrap();
        again().ok();
        assert_eq!(rows(&takes.path("out").join("notes-1-of-1.parquet")).len(), 4 * 24);
        assert_eq!(field(&rows(&takes.path("out").join("pieces-1-of-1.parquet"))[3], "piece"), &text("q3"));
    }

    #[test]
    fn more_shards_than_rows_leave_tables_with_nothing_in_them() {
        let takes = Takes::new(1);
        takes.batch("out", &["--format", "parquet", "--shard", "02/12"]).ok();
        assert_eq!(names_in(&takes.path("out")), ["notes-02-of-12.parquet", "pieces-02-of-12.parquet"]);
        assert!(rows(&takes.path("out").join("pieces-02-of-12.parquet")).is_empty());
        takes.batch("out", &["--format", "parquet", "--shard", "1/12", "--resume"]).ok();
        assert!(summary(&takes.path("out"), &[]).ok().stdout.contains("| 1 | 1 | 0 |"));
    }

    fn spawn(manifest: &Path, out: &Path) -> Child {
        let mut command = program();
        command
            .arg("batch")
            .arg(manifest)
            .arg("--out-dir")
            .arg(out)
            .args(["--format", "parquet", "--resume", "--jobs", "1"]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Waits until a worker has put so many pieces into its folder.
    fn wait_for_pieces(work: &Path, count: usize) {
        let begun = Instant::now();
        let pieces = || work.is_dir() && names_in(work).iter().filter(|name| name.ends_with(".json")).count() >= count;
        while !pieces() {
            assert!(begun.elapsed() < Duration::from_secs(120), "no piece is done");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The demo under several names, so that a worker is at it for some seconds.
    fn slow_list(demo: &Demo, count: usize) -> PathBuf {
        let rows: String = (0..count)
            .map(|k| {
                let name = format!("copy{k}.ogg");
                std::fs::copy(&demo.audio, demo.path(&name)).unwrap();
                format!("{name},score.mid,truth.csv\n")
            })
            .collect();
        demo.file("list.csv", rows)
    }

    #[test]
    fn a_killed_worker_loses_nothing_that_was_done_and_leaves_nothing_behind() {
        let demo = Demo::new();
        let list = slow_list(&demo, 4);
        let (out, undisturbed) = (demo.path("out"), demo.path("undisturbed"));
        let mut worker = spawn(&list, &out);
        wait_for_pieces(&out.join("work-1-of-1"), 1);
        worker.kill().unwrap();
        worker.wait().unwrap();
        assert!(!out.join("pieces-1-of-1.parquet").exists());
        // What a worker that was killed in the middle of a file leaves.
        let stale = std::fs::File::create(out.join(".agogic-a1B2c3")).unwrap();
        stale.set_modified(std::time::SystemTime::now() - Duration::from_secs(7200)).unwrap();
        std::fs::write(out.join("work-1-of-1").join(".agogic-d4E5f6"), "half a pie").unwrap();
        let resumed = batch(&list, &out, &["--format", "parquet", "--resume"]).ok();
        let kept = resumed.stderr.matches("already done").count();
        assert!((1..4).contains(&kept), "{}", resumed.stderr);
        let whole = batch(&list, &undisturbed, &["--format", "parquet"]).ok();
        assert_eq!(resumed.stdout, whole.stdout);
        assert_eq!(contents(&out), contents(&undisturbed));
    }

    #[test]
    fn a_row_that_has_killed_three_workers_fails_and_the_rest_are_done() {
        let takes = Takes::new(3);
        takes.batch("whole", &["--format", "parquet"]).ok();
        let Field::Str(key) = field(&rows(&takes.path("whole").join("pieces-1-of-1.parquet"))[1], "key").clone() else {
            panic!("the key is text")
        };
        std::fs::create_dir_all(takes.path("out").join("work-1-of-1")).unwrap();
        std::fs::write(takes.path("out").join("work-1-of-1").join(format!("{key}.begun")), "...").unwrap();
        let again = || takes.batch("out", &["--format", "parquet", "--resume"]);
        let first = again();
        assert_eq!(first.code, Some(1));
        assert!(first.stderr.contains("p1: 3 workers were killed while they were at it"), "{}", first.stderr);
        assert!(first.stdout.contains("| 3 | 2 | 1 |"), "{}", first.stdout);
        again().ok();
        assert_eq!(contents(&takes.path("out")), contents(&takes.path("whole")));
    }

    #[test]
    fn two_workers_on_one_shard_leave_what_one_would() {
        let takes = Takes::new(12);
        takes.batch("one", &["--format", "parquet"]).ok();
        for _ in 0..3 {
            let workers = [0; 3].map(|_| spawn(&takes.manifest, &takes.path("many")));
            for worker in workers {
                Run::from(worker.wait_with_output().unwrap()).ok();
            }
            assert_eq!(contents(&takes.path("many")), contents(&takes.path("one")));
            std::fs::remove_dir_all(takes.path("many")).unwrap();
        }
    }

    #[test]
    fn rows_of_a_csv_are_no_matter_of_tables() {
        let takes = Takes::new(1);
        let run = takes.batch("out", &["--format", "parquet", "--per", "note"]);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains("--per belongs to --format csv"), "{}", run.stderr);
        assert!(agogic(["align", "a", "b", "--format", "parquet"]).stderr.contains("notes-csv"));
    }
}
