//! Scores in notation formats, from the command line: what is read, what is aligned, and by which names.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Run, agogic, program};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/notation").join(name)
}

fn score_json(name: &str, more: &[&str]) -> Value {
    let run: Run = program().args(["score", "--json"]).args(more).arg(fixture(name)).output().unwrap().into();
    run.ok().json()
}

/// Pitch, onset and length of every note in playing order.
fn notes(score: &Value) -> Vec<(u64, f64, f64, bool)> {
    let notes = score["notes"].as_array().unwrap().iter().map(|note| {
        let number = |name: &str| note[name].as_f64().unwrap();
        (
            note["pitch"].as_u64().unwrap(),
            number("onset_quarters"),
            number("duration_quarters"),
            note["grace"].as_bool().unwrap(),
        )
    });
    let mut notes: Vec<_> = notes.collect();
    notes.sort_by(|a, b| (a.1, a.0, a.2).partial_cmp(&(b.1, b.0, b.2)).unwrap());
    notes
}

#[test]
fn a_score_is_shown_as_played_and_as_written() {
    let played = score_json("scale.musicxml", &[]);
    assert_eq!((notes(&played).len(), played["order"].as_array().unwrap().len()), (17, 5));
    let note = &played["notes"][0];
    assert_eq!(
        (&note["id"], &note["part"], &note["staff"], &note["voice"]),
        (&"up".into(), &"P1".into(), &1.into(), &1.into())
    );
    let written = score_json("scale.musicxml", &["--as-written"]);
    assert_eq!(written["order"], serde_json::json!([0, 1, 2, 3]));
    for other in ["scale.mei", "scale.krn"] {
        for (a, b) in notes(&played).into_iter().zip(notes(&score_json(other, &[]))) {
            assert!(
                (a.1 - b.1).abs() < 1e-9 && (a.2 - b.2).abs() < 1e-9 && (a.0, a.3) == (b.0, b.3),
                "{other}: {a:?} {b:?}"
            );
        }
    }
    let text = agogic([Path::new("score"), &fixture("scale.musicxml")]).ok().stdout;
    for line in [
        "title: Scale with everything",
        "part P1: Piano, 2 staves, 10 notes",
        "bars: 4 written, 5 played, 13 quarters; notes: 11 written (1 grace notes), 17 played",
        "played: 0-2, 1-1, 3-3",
        "notice: 1 note without pitch in part Clarinet in B flat left out",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn notation_is_played_aligned_and_its_names_are_in_the_results() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // By another name: the content tells what it is.
    let score = path("score.bin");
    std::fs::copy(fixture("scale.musicxml"), &score).unwrap();
    program().arg("synth").arg(&score).arg("-o").arg(path("take.wav")).output().map(Run::from).unwrap().ok();
    let outputs = ["a.json", "a.match", "a.notes.csv", "a.jams"].map(path);
    let mut align = program();
    align.arg("align").arg(path("take.wav")).arg(&score).args(["--ear", "none", "--per", "note"]);
    outputs.iter().for_each(|output| drop(align.arg("-o").arg(output)));
    let run = Run::from(align.output().unwrap()).ok();
    assert!(run.stdout.contains("without pitch"), "what was left out is told: {}", run.stdout);
    let read = |index: usize| std::fs::read_to_string(&outputs[index]).unwrap();
    let json: Value = serde_json::from_str(&read(0)).unwrap();
    let ids: Vec<&str> = json["notes"].as_array().unwrap().iter().map(|note| note["id"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), ids[0]), (17, "up"));
    assert!(ids.contains(&"chord1-1") && ids.contains(&"chord1-2"));
    assert!(
        read(1).contains("\nsnote(up,[D,n],4,1:1,0,1/4,") && read(1).contains("\nsnote(grace1-2,[F,#],5,"),
        "{}",
        read(1)
    );
    assert!(
        read(2).lines().any(|line| line.ends_with(",id")) && read(2).lines().any(|line| line.ends_with(",clar-2")),
        "{}",
        read(2)
    );
    let jams: Value = serde_json::from_str(&read(3)).unwrap();
    assert_eq!(jams["sandbox"]["agogic"]["note_ids"].as_array().unwrap().len(), 17);
    for note in json["notes"].as_array().unwrap() {
        let off = note["performance_onset_s"].as_f64().unwrap() - note["score_onset_s"].as_f64().unwrap();
        assert!(off.abs() < 0.15, "{note}");
    }
}

#[test]
fn a_part_can_be_chosen_and_a_result_with_it_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let score = fixture("scale.musicxml");
    let synth = |more: &[&str]| {
        Run::from(program().arg("synth").arg(&score).args(more).arg("-o").arg(path("take.wav")).output().unwrap())
    };
    synth(&["--part", "Clarinet"]).ok();
    let align = |more: &[&str], output: &str| {
        Run::from(
            program()
                .arg("align")
                .arg(path("take.wav"))
                .arg(&score)
                .args(more)
                .arg("-o")
                .arg(path(output))
                .output()
                .unwrap(),
        )
    };
    align(&["--part", "clarinet", "--ear", "none"], "a.json").ok();
    let like = path("a.json").display().to_string();
    align(&["--like", &like], "b.json").ok();
    let [a, b] = ["a.json", "b.json"].map(|name| std::fs::read(path(name)).unwrap());
    assert_eq!(a, b);
    let json: Value = serde_json::from_slice(&a).unwrap();
    let ids: Vec<&Value> = json["notes"].as_array().unwrap().iter().map(|note| &note["id"]).collect();
    assert_eq!(ids, ["clar-1", "clar-2"]);
    let wrong = align(&["--part", "Horn"], "c.json");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("one of Piano, Clarinet in B flat"), "{}", wrong.stderr);
}

#[test]
fn what_is_no_score_is_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.musicxml");
    for (content, word) in [
        ("<score-partwise><part id='P1'>", "not well-formed XML"),
        ("<html/>", "<html> at its root"),
        ("plain words", "this is not a score"),
        ("", "the file is empty"),
    ] {
        std::fs::write(&path, content).unwrap();
        for command in ["score", "synth"] {
            let mut run = program();
            run.arg(command).arg(&path);
            if command == "synth" {
                run.arg("-o").arg(folder.path().join("x.wav"));
            }
            let run = Run::from(run.output().unwrap());
            assert_eq!(run.code, Some(1));
            assert!(run.stderr.contains(word) && run.stderr.lines().count() == 1, "{}", run.stderr);
        }
    }
}
