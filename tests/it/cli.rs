//! The command line as its contract states it: every subcommand, every exit code but 130.

use std::path::Path;

use crate::support::{Demo, Run, agogic, names_in};

#[test]
fn demo_writes_the_three_files_and_names_them() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("a new/folder");
    let run = || agogic([std::ffi::OsStr::new("demo"), target.as_os_str()]);
    assert_eq!(run().ok().stdout.lines().count(), 3);
    assert_eq!(names_in(&target), ["performance.ogg", "score.mid", "truth.csv"]);
    run().ok();
    // A file of the same name that is another's is neither replaced, nor are the others written.
    std::fs::remove_file(target.join("performance.ogg")).unwrap();
    std::fs::write(target.join("score.mid"), "my own").unwrap();
    let refused = run();
    assert!(refused.code == Some(1) && refused.stderr.contains("score.mid"), "{}", refused.stderr);
    assert_eq!(std::fs::read(target.join("score.mid")).unwrap(), b"my own");
    assert_eq!(names_in(&target), ["score.mid", "truth.csv"]);
}

#[test]
fn align_prints_csv_on_stdout_and_words_on_stderr() {
    let demo = Demo::new();
    let run = demo.align([""; 0]).ok();
    let rows: Vec<&str> = run.stdout.lines().filter(|line| !line.starts_with('#')).collect();
    let columns: Vec<&str> = rows[0].split(',').collect();
    assert!(columns.contains(&"score_time_s") && columns.contains(&"performance_time_s"), "{}", rows[0]);
    assert!(rows.len() > 176, "a row per change point");
    assert!(run.stderr.contains("176 notes") && run.stderr.contains("confidence"), "{}", run.stderr);
    let quiet = demo.align(["--quiet"]).ok();
    assert_eq!((quiet.stdout, quiet.stderr.as_str()), (run.stdout, ""));
}

#[test]
fn align_writes_each_output_in_the_format_of_its_extension() {
    let demo = Demo::new();
    let names = ["o.csv", "o.json", "o.mid", "o.align", "o.txt", "o.svg", "o.png", "o.match", "o.jams"];
    let paths = names.map(|name| demo.path(name));
    let outputs = paths.iter().flat_map(|path| ["-o".as_ref(), path.as_os_str()]);
    let run = demo.align(outputs).ok();
    assert!(run.stdout.starts_with("176 notes"), "only words on stdout: {}", run.stdout);
    let read = |name: &str| std::fs::read(demo.path(name)).unwrap();
    assert!(read("o.mid").starts_with(b"MThd"));
    assert!(read("o.png").starts_with(b"\x89PNG"));
    assert!(String::from_utf8(read("o.svg")).unwrap().contains("<svg"));
    assert!(serde_json::from_slice::<serde_json::Value>(&read("o.json")).unwrap()["notes"].is_array());
    assert!(serde_json::from_slice::<serde_json::Value>(&read("o.jams")).is_ok());
    assert!(String::from_utf8(read("o.align")).unwrap().lines().count() > 176);
    for name in names {
        assert!(!read(name).is_empty(), "{name}");
    }
}

#[test]
fn format_and_per_note_overrule_the_extension() {
    let demo = Demo::new();
    let (notes, labels) = (demo.path("notes.csv"), demo.path("labels.csv"));
    demo.align(["--per", "note", "-o", notes.to_str().unwrap()]).ok();
    let text = std::fs::read_to_string(notes).unwrap();
    assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 1 + 176);
    demo.align(["--format", "audacity", "-o", labels.to_str().unwrap()]).ok();
    let text = std::fs::read_to_string(labels).unwrap();
    assert!(text.lines().next().unwrap().contains('\t') && !text.contains("score_time_s"), "{text}");
    let stdout = demo.align(["--format", "thickstun", "-q"]).ok().stdout;
    let mut rows = stdout.lines().filter(|line| !line.starts_with('#'));
    assert!(rows.all(|line| line.split_whitespace().count() == 2), "{stdout}");
}

#[test]
fn json_summary_has_what_the_contract_names() {
    let demo = Demo::new();
    let plot = demo.path("p.svg");
    let run = demo.align([
        "--truth".as_ref(),
        demo.truth.as_os_str(),
        "--plot".as_ref(),
        plot.as_os_str(),
        "--json".as_ref(),
    ]);
    let json = run.ok().json();
    for key in ["recording", "score", "notes", "confidence", "metrics", "stages", "wall_s", "peak_memory_mb", "outputs"]
    {
        assert!(!json[key].is_null(), "{key} is missing");
    }
    assert!(json["recording"]["duration_s"].as_f64().unwrap() > 40.0);
    assert!((0.0..=1.0).contains(&json["confidence"].as_f64().unwrap()));
    assert!(json["stages"].as_array().unwrap().iter().all(|s| s["stage"].is_string() && s["seconds"].is_f64()));
    assert!(plot.is_file());
    let without_truth = demo.align(["--json"]).ok().json();
    assert!(without_truth["metrics"].is_null());
}

#[test]
fn metrics_are_printed_for_a_truth_even_when_quiet() {
    let demo = Demo::new();
    let (truth, out) = (demo.truth.to_str().unwrap(), demo.path("o.csv"));
    let run = demo.align(["-q", "--truth", truth, "-o", out.to_str().unwrap()]).ok();
    assert!(run.stdout.starts_with("TimeErr"), "{}", run.stdout);
    // What was written evaluates to the same figures, as text and as JSON.
    let again = agogic(["evaluate", out.to_str().unwrap(), truth]).ok();
    assert_eq!(again.stdout, run.stdout);
    let json = agogic(["evaluate", out.to_str().unwrap(), truth, "--json"]).ok().json();
    let text = format!("TimeErr {:.2} ms", json["time_err_ms"].as_f64().unwrap());
    assert!(run.stdout.starts_with(&text), "{text} against {}", run.stdout);
}

#[test]
fn synth_plays_a_score_for_as_long_as_it_lasts() {
    let demo = Demo::new();
    let out = demo.path("played.wav");
    agogic(["synth", demo.score.to_str().unwrap(), "-o", out.to_str().unwrap()]).ok();
    let reader = hound::WavReader::open(&out).unwrap();
    let seconds = f64::from(reader.duration()) / f64::from(reader.spec().sample_rate);
    assert!((27.5..32.0).contains(&seconds), "{seconds}");
    let wrong = agogic(["synth", demo.score.to_str().unwrap(), "-o", demo.path("x.mp3").to_str().unwrap()]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains(".wav"), "{}", wrong.stderr);
    agogic(["synth", "--list-soundfonts"]).ok();
}

#[test]
fn features_of_recording_and_score_as_csv_and_npy() {
    let demo = Demo::new();
    let (csv, npy) = (demo.path("f.csv"), demo.path("f.npy"));
    agogic(["features", demo.audio.to_str().unwrap(), "-o", csv.to_str().unwrap(), "--features", "chroma"]).ok();
    let text = std::fs::read_to_string(csv).unwrap();
    assert!(text.starts_with("time_s,f0,"));
    assert!(text.lines().all(|line| line.split(',').count() == 13));
    let hop = ["--features", "mel", "--hop", "2048"];
    let score = ["features", demo.score.to_str().unwrap(), "-o", npy.to_str().unwrap()];
    agogic(score.into_iter().chain(hop)).ok();
    let bytes = std::fs::read(npy).unwrap();
    assert!(bytes.starts_with(b"\x93NUMPY"));
    let header = String::from_utf8_lossy(&bytes[10..128]).into_owned();
    assert!(header.contains(", 128)"), "{header}");
    let wrong = agogic(["features", demo.audio.to_str().unwrap(), "-o", "x.txt"]);
    assert_eq!(wrong.code, Some(2));
}

#[test]
fn there_is_a_man_page_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    agogic([std::ffi::OsStr::new("man"), pages.as_os_str()]).ok();
    let names = names_in(&pages);
    for name in ["agogic.1", "agogic-align.1", "agogic-fine-tune.1", "agogic-score.1"] {
        assert!(names.iter().any(|page| page == name), "{names:?}");
    }
    let page = std::fs::read_to_string(pages.join("agogic-align.1")).unwrap();
    assert!(page.contains(r"\-\-ear") && page.contains(r"\-\-pickup"), "{page}");
    let refused = agogic([std::ffi::OsStr::new("man"), pages.join("agogic.1").as_os_str()]);
    assert!(refused.code == Some(1) && refused.stderr.contains("agogic.1"), "{}", refused.stderr);
}

#[test]
fn help_formats_and_completions_explain_the_program() {
    let help = agogic(["--help"]).ok().stdout;
    for command in ["align", "evaluate", "synth", "features", "batch", "demo", "bench", "formats", "completions"] {
        assert!(help.contains(command), "{command}");
        agogic([command, "--help"]).ok();
    }
    assert!(help.contains("130"), "exit codes are documented");
    let align = agogic(["align", "--help"]).ok().stdout;
    for option in [
        "--output",
        "--format",
        "--features",
        "--extractor",
        "--aligner",
        "--hop",
        "--lambda",
        "--slope",
        "--band",
        "--method",
        "--ear",
        "--ends",
        "--like",
        "--anchor",
        "--fix-note",
        "--soundfont",
        "--truth",
        "--plot",
        "--json",
        "--quiet",
    ] {
        assert!(align.contains(option), "{option}");
    }
    assert!(agogic(["--version"]).ok().stdout.starts_with("agogic "));
    for shell in ["bash", "zsh", "fish"] {
        let script = agogic(["completions", shell]).ok().stdout;
        assert!(script.contains("agogic") && script.contains("align"), "{shell}");
    }
    let formats = agogic(["formats"]).ok().stdout;
    for name in ["csv", "json", "midi", "thickstun", "audacity", "png", "svg"] {
        assert!(formats.contains(name), "{name}");
    }
}

#[test]
fn wrong_usage_is_exit_code_2_with_a_reason() {
    let demo = Demo::new();
    for (args, word) in [
        (&["--method", "frames", "--hop", "3"][..], "between 64 and 8192"),
        (&["--method", "frames", "--lambda", "-1"], "lambda"),
        (&["--method", "frames", "--lambda", "NaN"], "lambda"),
        (&["--slope", "2:1"], "MIN"),
        (&["--slope", "fast"], "MIN:MAX"),
        (&["--band", "0"], "band"),
        (&["--anchor", "1.5"], "SCORE_SECONDS=PERFORMANCE_SECONDS"),
        (&["--anchor", "5=9999"], "recording"),
        (&["--anchor", "-5=3"], "score"),
        (&["--features", "mfcc"], "cqt"),
        (&["--aligner", "magic"], "gdtw"),
        (&["--format", "docx"], "docx"),
        (&["-o", "result.docx"], "docx"),
        (&["--plot", "picture.gif"], ".png or .svg"),
        (&["--method", "frames", "--extractor", "no-such-extractor"], "no-such-extractor"),
        (&["--no-such-option"], "--no-such-option"),
    ] {
        let run = demo.align(args);
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(word), "{args:?}: {}", run.stderr);
        assert!(!run.stderr.contains("panicked"));
    }
    assert_eq!(agogic(["align"]).code, Some(2));
    assert_eq!(agogic(["no-such-command"]).code, Some(2));
}

/// Exit code 2, a sentence that names the file, and the file is as it was.
fn assert_kept(file: &Path, run: impl FnOnce(&str) -> Run) {
    let before = std::fs::read(file).unwrap();
    let run = run(file.to_str().unwrap());
    assert_eq!(run.code, Some(2), "{}: {}", file.display(), run.stderr);
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(run.stderr.contains(&format!("{name}, which is read")), "{name}: {}", run.stderr);
    assert!(std::fs::read(file).unwrap() == before, "{name} is changed");
}

#[test]
fn align_never_writes_over_what_it_reads() {
    let demo = Demo::new();
    let soundfont = demo.file("piano.sf2", "never opened");
    let reads = ["--truth", demo.truth.to_str().unwrap()];
    let with = |more: &[&str]| demo.align(reads.iter().chain(&["--format", "csv"]).chain(more));
    for file in [&demo.audio, &demo.score, &demo.truth] {
        assert_kept(file, |output| with(&["-o", output]));
    }
    assert_kept(&soundfont, |output| with(&["--method", "frames", "--soundfont", output, "-o", output]));
    assert_kept(&demo.copy_of_model("mel"), |output| {
        with(&["--method", "frames", "--extractor", output, "-o", output])
    });
    assert_kept(&demo.copy_of_model("ear"), |output| with(&["--ear", output, "-o", output]));
    let earlier = demo.path("earlier.json");
    demo.align(["-o", earlier.to_str().unwrap()]).ok();
    assert_kept(&earlier, |output| with(&["--like", output, "-o", output]));
    let picture = demo.file("truth.svg", std::fs::read(&demo.truth).unwrap());
    assert_kept(&picture, |output| demo.align(["--truth", output, "--plot", output]));
    // The same file by another way.
    let detour = demo.folder.path().join(".").join("truth.csv");
    assert_kept(&demo.truth, |_| with(&["-o", detour.to_str().unwrap()]));
}

#[test]
fn synth_and_features_never_write_over_what_they_read() {
    let demo = Demo::new();
    let score = demo.score.to_str().unwrap();
    let soundfont = demo.file("font.wav", "never opened");
    assert_kept(&soundfont, |output| agogic(["synth", score, "--soundfont", output, "-o", output]));
    let played = demo.file("score.wav", agogic::demo_piece::score_bytes());
    assert_kept(&played, |output| agogic(["synth", output, "-o", output]));
    let soundfont = demo.file("font.csv", "never opened");
    assert_kept(&soundfont, |output| agogic(["features", score, "--soundfont", output, "-o", output]));
    let recording = demo.file("recording.csv", agogic::demo_piece::performance_bytes());
    assert_kept(&recording, |output| agogic(["features", output, "-o", output]));
}

#[test]
fn two_results_never_share_a_file() {
    let demo = Demo::new();
    let (csv, plot) = (demo.path("o.csv"), demo.path("p.svg"));
    for outputs in
        [["-o", csv.to_str().unwrap()].repeat(2), vec!["-o", plot.to_str().unwrap(), "--plot", plot.to_str().unwrap()]]
    {
        let run = demo.align(outputs);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains("which is written too"), "{}", run.stderr);
    }
    assert!(!csv.exists() && !plot.exists());
}

#[test]
fn quiet_may_stand_before_the_command_and_files_may_not() {
    let demo = Demo::new();
    let (audio, score) = (demo.audio.to_str().unwrap(), demo.score.to_str().unwrap());
    for quiet in ["-q", "--quiet"] {
        let run = agogic([quiet, "align", audio, score]).ok();
        assert_eq!(run.stderr, "");
    }
    // Behind a file a word is another file, not a command.
    let run = agogic([audio, "align", audio]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("align"), "{}", run.stderr);
}

#[cfg(not(feature = "gui"))]
#[test]
fn a_build_without_a_window_names_the_command_line() {
    let run = agogic::<&str>([]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("agogic align"), "{}", run.stderr);
}
