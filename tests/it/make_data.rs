//! `agogic make-data`: performances made of scores.

use std::path::Path;

use super::support::{Run, TickNote, agogic, midi, names_in, program};

/// A folder with two scores, one of them with a known licence.
fn scores() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let scale: Vec<TickNote> = (0..160).map(|k| (k * 240, 240, 48 + ((k * 5) % 36) as u8)).collect();
    let chords: Vec<TickNote> =
        (0..60).flat_map(|k| [0, 4, 7].map(|step| (k * 480, 480, 55 + step + (k % 7) as u8))).collect();
    std::fs::write(folder.path().join("scale.mid"), midi(500_000, &scale)).unwrap();
    std::fs::write(folder.path().join("chords.mid"), midi(450_000, &chords)).unwrap();
    std::fs::write(folder.path().join("scores.csv"), "id,licence\nscale,CC0\n").unwrap();
    folder
}

fn make(scores: &Path, out: &Path, more: &[&str]) -> Run {
    program().arg("make-data").args([scores, out]).args(more).output().unwrap().into()
}

const FILES: [&str; 5] = ["about.json", "alignment.csv", "audio.wav", "performance.mid", "score.mid"];

#[test]
fn an_item_is_the_same_however_many_are_made_at_once_and_can_be_aligned() {
    let (scores, work) = (scores(), tempfile::tempdir().unwrap());
    let [few, many] = ["few", "many"].map(|name| work.path().join(name));
    make(scores.path(), &few, &["--count", "2", "--seed", "7", "--seconds", "8", "--jobs", "1"]).ok();
    let run = make(scores.path(), &many, &["--count", "4", "--seed", "7", "--seconds", "8", "--jobs", "3"]).ok();
    assert!(run.stderr.contains("4 items"), "{}", run.stderr);
    assert_eq!(names_in(&many.join("s7_000001")), FILES);
    for item in names_in(&few).iter().filter(|name| name.starts_with("s7_")) {
        for file in FILES {
            let [a, b] = [&few, &many].map(|folder| std::fs::read(folder.join(item).join(file)).unwrap());
            assert_eq!(a, b, "{item}/{file}");
        }
    }
    let manifest = std::fs::read_to_string(many.join("manifest.csv")).unwrap();
    assert!(manifest.starts_with("id,audio,score,truth,instruments,source_of_sounds,piece,licence,"), "{manifest}");
    for line in manifest.lines().skip(1) {
        let licence = if line.contains(",scale,") { ",CC0," } else { ",chords,unknown," };
        assert!(line.contains(licence) && line.contains("piano"), "{line}");
    }
    let [manifest, out] = [many.join("manifest.csv"), work.path().join("aligned")];
    let run = program().arg("batch").arg(manifest).arg("--out-dir").arg(out).arg("--json").output().unwrap();
    let table = Run::from(run).ok().json();
    for piece in table["pieces"].as_array().unwrap() {
        assert!(piece["metrics"]["onset_median_ms"].as_f64().unwrap() < 30.0, "{piece}");
    }
}

#[test]
fn a_second_run_goes_on_and_a_different_one_is_refused() {
    let (scores, work) = (scores(), tempfile::tempdir().unwrap());
    let out = work.path().join("out");
    make(scores.path(), &out, &["--count", "1", "--seconds", "6"]).ok();
    let first = std::fs::metadata(out.join("s1_000000/audio.wav")).unwrap().modified().unwrap();
    let run = make(scores.path(), &out, &["--count", "2", "--seconds", "6"]).ok();
    assert!(run.stderr.contains("2 items") && run.stderr.contains("1 of them from before"), "{}", run.stderr);
    assert_eq!(std::fs::metadata(out.join("s1_000000/audio.wav")).unwrap().modified().unwrap(), first);
    assert_eq!(std::fs::read_to_string(out.join("manifest.csv")).unwrap().lines().count(), 3);
    let run = make(scores.path(), &out, &["--count", "2", "--seconds", "6", "--seed", "2"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("another seed") && run.stderr.contains("out"), "{}", run.stderr);
    let run = make(scores.path(), scores.path(), &["--count", "1"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("not empty"), "{}", run.stderr);
}

#[test]
fn what_cannot_work_is_explained() {
    let (scores, work) = (scores(), tempfile::tempdir().unwrap());
    let out = work.path().join("out");
    let refused = |scores: &Path, more: &[&str], code: i32, word: &str| {
        let run = make(scores, &out, more);
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        assert!(run.stderr.contains(word) && run.stderr.lines().count() == 1, "{}", run.stderr);
        assert!(!out.exists(), "{word}: the folder is made before it is known that there is something to put in");
    };
    refused(work.path(), &["--count", "1"], 1, "none of its 0 MIDI files");
    refused(&work.path().join("nowhere"), &["--count", "1"], 1, "nowhere");
    refused(scores.path(), &["--count", "0"], 2, "--count");
    refused(scores.path(), &["--count", "1", "--jobs", "0"], 2, "--jobs");
    refused(scores.path(), &["--count", "1", "--seconds", "NaN"], 2, "--seconds");
    let font = scores.path().join("scale.mid");
    refused(scores.path(), &["--count", "1", "--soundfont", font.to_str().unwrap()], 1, "not a SoundFont");
    refused(scores.path(), &["--count", "1", "--samples", work.path().to_str().unwrap()], 1, "samples.csv");
    assert_eq!(agogic(["make-data", "a", "b"]).code, Some(2), "how many is for the user to say");
}
