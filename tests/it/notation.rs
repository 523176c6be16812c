//! Scores in notation formats, from the command line: what is read, what is aligned, and by which names.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Demo, Run, agogic, program};

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
    for output in &outputs {
        align.arg("-o").arg(output);
    }
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

#[test]
fn bars_of_midi_are_counted_as_they_are_told_to_be() {
    let demo = Demo::new();
    let bars = |more: &[&str]| {
        let run: Run = program().args(["score", "--json"]).arg(&demo.score).args(more).output().unwrap().into();
        let bars = run.ok().json()["bars"].clone();
        let bar =
            |index: usize| (bars[index]["label"].as_str().unwrap().to_owned(), bars[index]["length_quarters"].as_f64());
        [bar(0), bar(1)]
    };
    let [first, second] = bars(&[]);
    assert_eq!((first.0.as_str(), second.0.as_str()), ("1", "2"));
    assert_eq!(bars(&["--first-bar", "17"])[0].0, "17");
    let [pickup, next] = bars(&["--pickup", "0.5"]);
    assert_eq!((pickup.0.as_str(), pickup.1, next.0.as_str(), next.1), ("0", Some(0.5), "1", second.1));
    // In results, too, and made again from them.
    let result = demo.path("a.json");
    demo.align(["-q", "--ear", "none", "--first-bar", "17", "-o", result.to_str().unwrap()]).ok();
    let bar = |path: &Path| {
        serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap()["notes"][0]["bar"].clone()
    };
    assert_eq!(bar(&result), 17);
    let again = demo.path("b.json");
    demo.align(["-q", "--like", result.to_str().unwrap(), "-o", again.to_str().unwrap()]).ok();
    assert_eq!(std::fs::read(&result).unwrap(), std::fs::read(&again).unwrap());
    for wrong in [&["--pickup", "99"][..], &["--pickup", "-1"]] {
        assert_eq!(demo.align(wrong).code, Some(2));
    }
    let run: Run =
        program().arg("score").arg(fixture("scale.musicxml")).args(["--first-bar", "3"]).output().unwrap().into();
    assert!(run.code == Some(2) && run.stderr.contains("--first-bar belongs to a MIDI score"), "{}", run.stderr);
}

#[test]
fn a_midi_file_with_bars_without_end_is_refused_in_a_sentence() {
    // An hour of the shortest bars that a file may have.
    let mut track = vec![0x00, 0xff, 0x58, 4, 1, 7, 24, 8, 0x00, 0x90, 60, 80];
    track.extend([0xbf, 0xff, 0xff, 0x7f, 0x80, 60, 0]);
    track.extend([0x00, 0x90, 62, 80, 0xbf, 0xff, 0xff, 0x7f, 0x80, 62, 0, 0x00, 0xff, 0x2f, 0]);
    let mut bytes = b"MThd\0\0\0\x06\0\0\0\x01\x7f\xffMTrk".to_vec();
    bytes.extend((track.len() as u32).to_be_bytes());
    bytes.extend(track);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("absurd.mid");
    std::fs::write(&path, bytes).unwrap();
    let run = agogic([Path::new("score"), &path]);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stderr.contains("bars, more than the") && run.stderr.trim().lines().count() == 1, "{}", run.stderr);
}
