//! Nothing that is accepted is ignored: every option of `align` changes the result on a piece where it must, or is refused with a
//! sentence that names what it belongs to.

use crate::support::{Demo, Run};

/// The rows of the CSV on stdout, without the comments that tell the settings.
fn rows(run: &Run) -> Vec<String> {
    run.stdout.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// The built-in piano with every sample replaced by its difference to the next: a brighter, thinner instrument.
pub fn other_soundfont() -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/agogic-piano.sf2");
    let mut bytes = std::fs::read(path).unwrap();
    let at = bytes.windows(4).position(|word| word == b"smpl").unwrap();
    let length = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
    let samples = &mut bytes[at + 8..at + 8 + length];
    let values: Vec<i16> = samples.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
    for (out, pair) in samples.chunks_exact_mut(2).zip(values.windows(2)) {
        out.copy_from_slice(&pair[1].saturating_sub(pair[0]).to_le_bytes());
    }
    bytes
}

const FRAMES: [&str; 2] = ["--method", "frames"];

#[test]
fn every_option_of_the_onset_method_changes_the_result() {
    let demo = Demo::new();
    let usual = rows(&demo.align(["-q"]).ok());
    let note = rows(&demo.align(["-q", "--per", "note"]).ok());
    for more in [
        &["--ear", "none"][..],
        &["--slope", "0.95:1.05"],
        &["--band", "0.004"],
        &["--anchor", "10=20"],
        &["--method", "frames"],
    ] {
        let run = demo.align(["-q"].iter().chain(more)).ok();
        assert_ne!(rows(&run), usual, "{more:?}");
    }
    let fixed = demo.align(["-q", "--per", "note", "--fix-note", "60=21.5"]).ok();
    assert_ne!(rows(&fixed), note);
    assert_eq!(rows(&demo.align(["-q", "--method", "onsets", "--ear", "ear"]).ok()), usual, "the defaults");
}

#[test]
fn every_option_of_the_frame_method_changes_the_result() {
    let demo = Demo::new();
    let usual = rows(&demo.align(FRAMES.iter().chain(&["-q"])).ok());
    let soundfont = demo.file("other.sf2", other_soundfont());
    for more in [
        &["--features", "chroma"][..],
        &["--extractor", "mel"],
        &["--aligner", "dtw"],
        &["--hop", "512"],
        &["--lambda", "100"],
        &["--slope", "0.95:1.05"],
        &["--band", "0.05"],
        &["--ends", "pinned"],
        &["--anchor", "10=20"],
        &["--soundfont", soundfont.to_str().unwrap()],
    ] {
        let run = demo.align(FRAMES.iter().chain(&["-q"]).chain(more)).ok();
        assert_ne!(rows(&run), usual, "{more:?}");
    }
}

#[test]
fn an_option_of_the_other_method_is_refused_by_name() {
    let demo = Demo::new();
    let soundfont = demo.path("missing.sf2");
    for (more, option, belongs_to) in [
        (&["--features", "chroma"][..], "--features", "--method frames"),
        (&["--extractor", "mel"], "--extractor", "--method frames"),
        (&["--aligner", "dtw"], "--aligner", "--method frames"),
        (&["--hop", "512"], "--hop", "--method frames"),
        (&["--lambda", "100"], "--lambda", "--method frames"),
        (&["--ends", "free"], "--ends", "--method frames"),
        (&["--soundfont", soundfont.to_str().unwrap()], "--soundfont", "--method frames"),
        (&["--method", "frames", "--ear", "ear"], "--ear", "--method onsets"),
        (&["--method", "frames", "--transcription", "x.mid"], "--transcription", "--method onsets"),
        (&["--method", "frames", "--aligner", "dtw", "--lambda", "1"], "--lambda", "--aligner gdtw"),
        (&["--method", "frames", "--aligner", "dtw", "--slope", "0.5:2"], "--slope", "--aligner gdtw"),
    ] {
        let run = demo.align(more.iter());
        assert_eq!(run.code, Some(2), "{more:?}");
        assert!(run.stderr.contains(&format!("{option} belongs to {belongs_to}")), "{}", run.stderr);
        assert!(run.stdout.is_empty());
    }
    assert_eq!(demo.align(["--subsequence"]).code, Some(2), "what is gone is refused");
    assert_eq!(demo.align(["--refine", "none"]).code, Some(2), "what is gone is refused");
}

#[test]
fn a_device_that_is_not_there_is_refused_and_the_cpu_gives_the_usual_result() {
    let demo = Demo::new();
    let usual = rows(&demo.align(["-q"]).ok());
    assert_eq!(rows(&demo.align(["-q", "--device", "cpu"]).ok()), usual);
    let refused = demo.align(["--device", "cuda"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("--features cuda"), "{}", refused.stderr);
    assert_eq!(demo.align(["--device", "abacus"]).code, Some(2));
}

#[test]
fn a_result_is_made_again_byte_for_byte_from_its_json() {
    let demo = Demo::new();
    for settings in [
        &["--slope", "0.3:3", "--anchor", "10=16.2", "--fix-note", "60=15.4"][..],
        &["--method", "frames", "--extractor", "mel", "--ends", "pinned", "--lambda", "0.4"],
    ] {
        let (first, second) = (demo.path("first.json"), demo.path("second.json"));
        let written = |path: &std::path::Path| std::fs::read_to_string(path).unwrap();
        demo.align(settings.iter().chain(&["-q", "-o", first.to_str().unwrap()])).ok();
        demo.align(["-q", "--like", first.to_str().unwrap(), "-o", second.to_str().unwrap()]).ok();
        assert_eq!(written(&first), written(&second), "{settings:?}");
        let beside = demo.align(["--like", first.to_str().unwrap(), "--band", "2"]);
        assert_eq!(beside.code, Some(2), "nothing else can be set");
        assert!(beside.stderr.contains("--like") && beside.stderr.contains("--band"), "{}", beside.stderr);
        // Another model under the same name is not what the result was made with.
        let value: serde_json::Value = serde_json::from_str(&written(&first)).unwrap();
        let model = ["ear", "extractor"].iter().find_map(|role| value["provenance"][role]["sha256"].as_str()).unwrap();
        let other = demo.file("other.json", written(&first).replace(model, &"0".repeat(64)));
        let refused = demo.align(["--like", other.to_str().unwrap()]);
        assert_eq!(refused.code, Some(1));
        assert!(refused.stderr.contains("another version of the model"), "{}", refused.stderr);
    }
}

#[test]
fn the_provenance_names_what_was_used_and_nothing_else() {
    let demo = Demo::new();
    let made = |more: &[&str]| {
        let path = demo.path("made.json");
        demo.align(["-q", "-o", path.to_str().unwrap()].iter().chain(more)).ok();
        let text = std::fs::read_to_string(path).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["provenance"].clone()
    };
    let onsets = made(&[]);
    assert_eq!(onsets["ear"]["name"], "ear");
    assert_eq!(onsets["ear"]["sha256"].as_str().unwrap().len(), 64);
    assert!(onsets["extractor"].is_null() && onsets["soundfont"].is_null());
    let plain = made(&["--ear", "none"]);
    assert!(plain["ear"].is_null());
    let frames = made(&["--method", "frames", "--extractor", "chroma"]);
    assert!(frames["ear"].is_null());
    assert_eq!(frames["extractor"]["name"], "chroma");
    assert_eq!(frames["soundfont"], "built-in piano");
}
