//! Bad input: one clear line that names the file, exit code 1, nothing written half.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use agogic::JobContext;
use agogic::{Score, SynthParams, synthesise};

use crate::support::{Demo, Run, agogic, midi, names_in, noise, program, write_float_wav};

fn align(audio: &Path, score: &Path, more: &[&str]) -> Run {
    program().arg("align").args([audio, score]).args(more).output().unwrap().into()
}

/// One line about `file` on stderr, exit code 1, nothing on stdout.
fn assert_refused(run: &Run, file: &str) {
    assert_eq!(run.code, Some(1), "{file}: {}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{file}: {}", run.stderr);
    assert!(run.stderr.starts_with("agogic: ") && run.stderr.contains(file), "{file}: {}", run.stderr);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    assert_eq!(run.stdout, "", "{file}");
}

/// Aligns with an output that exists, and one that does not: neither may change.
fn assert_refused_without_a_trace(demo: &Demo, audio: &Path, score: &Path, culprit: &Path) -> Run {
    let outputs = tempfile::tempdir().unwrap();
    let (old, new) = (outputs.path().join("old.csv"), outputs.path().join("new.json"));
    std::fs::write(&old, "what was here").unwrap();
    let run = align(audio, score, &["-o", old.to_str().unwrap(), "-o", new.to_str().unwrap()]);
    assert_refused(&run, culprit.file_name().unwrap().to_str().unwrap());
    assert_eq!(names_in(outputs.path()), ["old.csv"]);
    assert_eq!(std::fs::read_to_string(old).unwrap(), "what was here");
    assert!(demo.audio.is_file() && demo.score.is_file());
    run
}

fn bad_recording(demo: &Demo, recording: &Path) -> Run {
    assert_refused_without_a_trace(demo, recording, &demo.score, recording)
}

fn bad_score(demo: &Demo, score: &Path) -> Run {
    assert_refused_without_a_trace(demo, &demo.audio, score, score)
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/audio").join(name)).unwrap()
}

#[test]
fn recordings_that_are_no_files_or_hold_no_audio() {
    let demo = Demo::new();
    bad_recording(&demo, &demo.path("missing.wav"));
    let folder = demo.path("folder.wav");
    std::fs::create_dir(&folder).unwrap();
    bad_recording(&demo, &folder);
    bad_recording(&demo, &demo.file("empty.wav", ""));
    bad_recording(&demo, &demo.file("text.wav", "Dear diary, this is no recording.\n".repeat(100)));
    bad_recording(&demo, &demo.file("cut.mp3", &fixture("lame.mp3")[..40]));
    bad_recording(&demo, &demo.file("header-only.wav", &fixture("pcm.wav")[..44]));
}

#[test]
fn recordings_without_sound() {
    let demo = Demo::new();
    let none = demo.path("no-samples.wav");
    write_float_wav(&none, 44_100, 1, []);
    bad_recording(&demo, &none);
    let silence = demo.path("silence.wav");
    write_float_wav(&silence, 44_100, 2, vec![0.0; 2 * 44_100 * 5]);
    let run = bad_recording(&demo, &silence);
    assert!(run.stderr.contains("silent"), "{}", run.stderr);
    for (name, value) in [("nan.wav", f32::NAN), ("infinite.wav", f32::INFINITY)] {
        let path = demo.path(name);
        write_float_wav(&path, 22_050, 1, vec![value; 22_050 * 5]);
        bad_recording(&demo, &path);
    }
}

/// Music after ten minutes of digital silence is found, and noise is aligned with low confidence or refused.
#[test]
fn recordings_that_are_nearly_all_silence() {
    let demo = Demo::new();
    const SILENCE_S: usize = 600;
    let silence = || std::iter::repeat_n(0.0, SILENCE_S * 22_050);
    let (late, truth) = (demo.path("late.wav"), demo.path("late.csv"));
    write_float_wav(&late, 22_050, 1, silence().chain(demo.clip().samples));
    let shifted = std::fs::read_to_string(&demo.truth).unwrap().lines().skip(1).fold(
        String::from("score_time_s,performance_time_s\n"),
        |text, line| {
            let times: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
            format!("{text}{},{}\n", times[1], times[2] + SILENCE_S as f64)
        },
    );
    std::fs::write(&truth, shifted).unwrap();
    let run = align(&late, &demo.score, &["--json", "--truth", truth.to_str().unwrap()]).ok();
    assert!(run.time_err_ms() < 30.0, "{} ms", run.time_err_ms());

    let hiss = demo.path("hiss.wav");
    write_float_wav(&hiss, 22_050, 1, silence().chain(noise().take(22_050 * 40).map(|sample| 0.3 * sample)));
    let run = align(&hiss, &demo.score, &[]);
    match run.code {
        Some(0) => assert!(run.stderr.contains("low confidence"), "{}", run.stderr),
        _ => assert_refused(&run, "hiss.wav"),
    }
}

/// A few broken samples, or absurd ones, among good ones: told, or survived, but never a panic or a NaN in the result.
#[test]
fn broken_samples_among_good_ones() {
    let demo = Demo::new();
    for (name, value) in [("nan.wav", f32::NAN), ("infinite.wav", f32::NEG_INFINITY), ("huge.wav", 1e30)] {
        let mut samples = demo.clip().samples;
        samples[100_000..100_010].fill(value);
        let path = demo.path(name);
        write_float_wav(&path, 22_050, 1, samples);
        let run = align(&path, &demo.score, &["-q"]);
        if run.code == Some(0) {
            assert!(!run.stdout.to_lowercase().contains("nan") && !run.stdout.contains("inf"), "{name}");
        } else {
            assert_refused(&run, name);
        }
    }
}

/// What can be decoded of a recording that breaks off is a recording; whether all of the score is in it is another matter.
#[test]
fn a_recording_that_breaks_off_is_refused_or_aligned_as_far_as_it_goes() {
    let demo = Demo::new();
    let whole = agogic::demo_piece::performance_bytes();
    let mp3 = fixture("lame.mp3");
    for (name, bytes) in [("cut.ogg", &whole[..whole.len() / 2]), ("cut.mp3", &mp3[..mp3.len() / 2])] {
        let run = align(&demo.file(name, bytes), &demo.score, &[]);
        if run.code == Some(0) {
            assert!(run.stderr.contains("warning:"), "{name} lacks most of the piece: {}", run.stderr);
            assert!(run.stderr.contains("cut off"), "{name}: {}", run.stderr);
        } else {
            assert_refused(&run, name);
        }
    }
}

#[test]
fn scores_that_are_no_scores() {
    let demo = Demo::new();
    bad_score(&demo, &demo.path("missing.mid"));
    bad_score(&demo, demo.folder.path());
    bad_score(&demo, &demo.file("empty.mid", ""));
    bad_score(&demo, &demo.file("text.mid", "not a score"));
    let run = bad_score(&demo, &demo.file("no-notes.mid", midi(500_000, &[])));
    assert!(run.stderr.contains("note"), "{}", run.stderr);
    let mut corrupt = midi(500_000, &[(0, 480, 60), (480, 480, 62)]);
    corrupt[18..22].copy_from_slice(&u32::MAX.to_be_bytes());
    let corrupt = demo.file("chunk.mid", corrupt);
    let run = align(&demo.audio, &corrupt, &["-q"]);
    if run.code != Some(0) {
        assert_refused(&run, "chunk.mid");
    }
    let mut headless = agogic::demo_piece::score_bytes().to_vec();
    headless[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    bad_score(&demo, &demo.file("header.mid", headless));
}

#[test]
fn a_rest_of_ten_hours_is_refused_before_it_is_played() {
    let demo = Demo::new();
    let ten_hours = 10 * 3600 * 2 * 480;
    let begun = std::time::Instant::now();
    bad_score(&demo, &demo.file("rest.mid", midi(500_000, &[(0, 480, 60), (ten_hours, 480, 62)])));
    assert!(begun.elapsed().as_secs() < 30);
}

/// One note, or a tempo no one plays: refused, or aligned with a warning; always finite.
#[test]
fn odd_scores_give_a_warning_or_a_refusal() {
    let demo = Demo::new();
    let scale: Vec<_> = (0..40).map(|i| (i * 480, 400, 48 + i as u8)).collect();
    for (name, bytes) in [
        ("one-note.mid", midi(500_000, &[(0, 480, 60)])),
        ("one-short-note.mid", midi(500_000, &[(0, 0, 60)])),
        ("too-fast.mid", midi(1, &scale)),
        ("too-slow.mid", midi(0xff_ffff, &scale)),
    ] {
        let score = demo.file(name, bytes);
        let run = align(&demo.audio, &score, &[]);
        assert!(!run.stderr.contains("panicked"), "{name}: {}", run.stderr);
        if run.code == Some(0) {
            assert!(run.stderr.contains("warning:"), "{name}: {}", run.stderr);
            assert!(!run.stdout.contains("NaN") && !run.stdout.contains("inf"), "{name}: {}", run.stdout);
        } else {
            assert_refused(&run, name);
        }
    }
}

#[test]
fn low_confidence_is_said_when_score_and_recording_do_not_belong_together() {
    let demo = Demo::new();
    // Clusters in a key far from the prelude's, in another rhythm.
    let notes: Vec<_> =
        (0..60u32).flat_map(|i| [54, 56, 58, 61, 63].map(|pitch| (i * 240, 200, (pitch + i * 5 % 14) as u8))).collect();
    let run = align(&demo.audio, &demo.file("other.mid", midi(500_000, &notes)), &[]).ok();
    assert!(run.stderr.contains("low confidence"), "{}", run.stderr);
    let hiss = demo.path("hiss.wav");
    write_float_wav(&hiss, 22_050, 1, noise().take(22_050 * 30).map(|sample| 0.3 * sample));
    let run = align(&hiss, &demo.score, &[]);
    assert!(run.code == Some(1) || run.stderr.contains("low confidence"), "{}", run.stderr);
    let own = demo.align(["--json"]).ok().json();
    assert!(own["warnings"].as_array().unwrap().is_empty() && own["confidence"].as_f64().unwrap() > 0.9, "{own}");
}

/// A short score, what it sounds like at 16 kHz or more, and a ground truth: it is played exactly as written.
fn played(demo: &Demo, rate: u32) -> (PathBuf, PathBuf, Vec<f32>) {
    let steps = [2, 1, 1, 3, 1, 2, 2, 1, 4, 1, 1, 2, 3, 1, 2, 2];
    let pitches = [60, 64, 67, 72, 71, 67, 65, 62, 59, 62, 65, 69, 67, 64, 62, 60];
    let mut notes = Vec::new();
    let mut truth = String::from("score_time_s,performance_time_s\n");
    let mut tick = 480;
    for (step, pitch) in steps.into_iter().zip(pitches) {
        notes.push((tick, step * 120, pitch));
        let second = f64::from(tick) / 960.0;
        truth.push_str(&format!("{second},{second}\n"));
        tick += step * 120;
    }
    let score = demo.file("short.mid", midi(500_000, &notes));
    let truth = demo.file("short.csv", truth);
    let params = SynthParams { sample_rate: rate, ..SynthParams::default() };
    let clip = synthesise(&JobContext::new(), &Score::read(&score).unwrap(), &params).unwrap();
    (score, truth, clip.samples)
}

#[test]
fn telephone_and_studio_rates_work() {
    let demo = Demo::new();
    let (score, truth, samples) = played(&demo, 16_000);
    let telephone = demo.path("telephone.wav");
    write_float_wav(&telephone, 8000, 1, samples.chunks_exact(2).map(|pair| (pair[0] + pair[1]) / 2.0));
    let (_, _, samples) = played(&demo, 192_000);
    let studio = demo.path("studio.wav");
    write_float_wav(&studio, 192_000, 8, samples.iter().flat_map(|&sample| [sample / 2.0; 8]));
    for audio in [telephone, studio] {
        let run = align(&audio, &score, &["--json", "--truth", truth.to_str().unwrap()]).ok();
        assert!(run.time_err_ms() < 30.0, "{}: {} ms", audio.display(), run.time_err_ms());
    }
}

#[test]
fn outputs_that_cannot_be_written_are_named() {
    let demo = Demo::new();
    let plain = demo.file("plain", "a file, not a folder");
    let under_a_file = plain.join("out.csv");
    assert_refused(&demo.align(["-o", under_a_file.to_str().unwrap()]), "out.csv");
    let nowhere = demo.path("no such folder").join("out.csv");
    for command in [
        &["align", demo.audio.to_str().unwrap(), demo.score.to_str().unwrap()][..],
        &["features", demo.audio.to_str().unwrap()],
    ] {
        assert_refused(&agogic(command.iter().chain(&["-o", nowhere.to_str().unwrap()])), "out.csv");
    }
    let wav = nowhere.with_extension("wav");
    assert_refused(&agogic(["synth", demo.score.to_str().unwrap(), "-o", wav.to_str().unwrap()]), "out.wav");
    assert_refused(&agogic(["demo", plain.to_str().unwrap()]), "plain");
    let folder = demo.path("folder.csv");
    std::fs::create_dir(&folder).unwrap();
    assert_refused(&demo.align(["-o", folder.to_str().unwrap()]), "folder.csv");
}

#[cfg(target_os = "linux")]
#[test]
fn places_that_only_look_writable() {
    let demo = Demo::new();
    assert_refused(&demo.align(["-o", "/proc/agogic.csv"]), "/proc/agogic.csv");
    assert_refused(&demo.align(["--format", "csv", "-o", "/dev/full"]), "/dev/full");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let run: Run =
        program().args(["align", "-q"]).args([&demo.audio, &demo.score]).stdout(full).output().unwrap().into();
    assert_refused(&run, "standard output");
}

/// What cannot be said is no reason to stop, nor to end otherwise.
#[cfg(target_os = "linux")]
#[test]
fn an_unwritable_standard_error_changes_nothing_but_itself() {
    let demo = Demo::new();
    let (audio, score) = (demo.audio.to_str().unwrap(), demo.score.to_str().unwrap());
    let manifest = demo.file("manifest.csv", "performance.ogg,score.mid\nmissing.ogg,score.mid\n");
    let out = demo.path("out");
    for (args, code) in [
        (vec!["align", audio, score], 0),
        (vec!["align", "missing.wav", score], 1),
        (vec!["align", audio, score, "--lambda", "-1"], 2),
        (vec!["batch", manifest.to_str().unwrap(), "--out-dir", out.to_str().unwrap()], 1),
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let run: Run = program().args(&args).stderr(full).output().unwrap().into();
        assert_eq!(run.code, Some(code), "{args:?}");
        assert_eq!(run.stdout.contains("score_time_s"), args == ["align", audio, score], "{args:?}");
        let mut child = program().args(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{args:?} without a reader");
    }
    assert_eq!(names_in(&out), ["missing.record.json", "performance.csv", "performance.record.json"]);
}

#[test]
fn when_one_of_two_outputs_fails_early_neither_is_written() {
    let demo = Demo::new();
    let good = demo.path("good.csv");
    let bad = demo.path("no such folder").join("bad.csv");
    let run = demo.align(["-o", good.to_str().unwrap(), "-o", bad.to_str().unwrap()]);
    assert_refused(&run, "bad.csv");
    assert!(!good.exists());
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let demo = Demo::new();
    let mut child = program()
        .args(["features", demo.audio.to_str().unwrap(), "-o"])
        .arg(demo.path("f.csv"))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    let mut child = program()
        .args(["align", "-q", demo.audio.to_str().unwrap(), demo.score.to_str().unwrap()])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended: Run = child.wait_with_output().unwrap().into();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn truths_and_predictions_that_cannot_be_read() {
    let demo = Demo::new();
    let junk = demo.file("junk.csv", "one,two\nthree\n");
    assert_refused(&demo.align(["--truth", junk.to_str().unwrap()]), "junk.csv");
    assert_refused(&demo.align(["--truth", "missing-truth.csv"]), "missing-truth.csv");
    let truth = demo.truth.to_str().unwrap();
    assert_refused(&agogic(["evaluate", junk.to_str().unwrap(), truth]), "junk.csv");
    assert_refused(&agogic(["evaluate", "missing.csv", truth]), "missing.csv");
    assert_refused(
        &agogic([
            "align",
            "--method",
            "frames",
            "--soundfont",
            junk.to_str().unwrap(),
            demo.audio.to_str().unwrap(),
            demo.score.to_str().unwrap(),
        ]),
        "junk.csv",
    );
}
