//! The whole road, judged by what comes out: accuracy, silence and applause, other tempi, anchors, determinism.

use std::fmt::Write;

use crate::support::{Demo, Run, noise, program, scale_tempo, write_float_wav};

const RATE: usize = 22_050;

/// Rows of the demo's ground truth: score and performance time.
fn truth_rows() -> Vec<(f64, f64)> {
    let text = std::str::from_utf8(agogic::demo_piece::truth_bytes()).unwrap();
    let rows = text.lines().skip(1).map(|line| {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        (fields[1], fields[2])
    });
    rows.collect()
}

/// The ground truth with both clocks changed, as a file.
fn truth_file(demo: &Demo, score_factor: f64, shift_s: f64) -> String {
    let mut text = String::from("score_time_s,performance_time_s\n");
    for (score, performance) in truth_rows() {
        writeln!(text, "{},{}", score * score_factor, performance + shift_s).unwrap();
    }
    demo.file("changed-truth.csv", text).to_str().unwrap().to_owned()
}

fn measured(demo: &Demo, more: &[&str]) -> Run {
    let truth = demo.truth.to_str().unwrap();
    demo.align(["--json", "--truth", truth].iter().chain(more)).ok()
}

#[test]
fn the_demo_is_aligned_within_5_ms_and_gdtw_beats_dtw_on_frames() {
    let demo = Demo::new();
    let onsets = measured(&demo, &[]).time_err_ms();
    let gdtw = measured(&demo, &["--method", "frames"]).time_err_ms();
    let dtw = measured(&demo, &["--method", "frames", "--aligner", "dtw"]).time_err_ms();
    assert!(onsets < 5.0, "{onsets} ms");
    assert!(gdtw < 15.0, "{gdtw} ms");
    assert!(gdtw < dtw, "GDTW {gdtw} ms, DTW {dtw} ms");
}

#[test]
fn other_features_and_a_finer_hop_work_too() {
    let demo = Demo::new();
    for (more, most_ms) in [(["--features", "chroma"], 40.0), (["--features", "mel"], 40.0), (["--hop", "512"], 20.0)] {
        let run = measured(&demo, &[&["--method", "frames"], &more[..]].concat());
        assert!(run.time_err_ms() < most_ms, "{more:?}: {} ms", run.time_err_ms());
    }
}

#[test]
fn noise_before_and_applause_after_the_music_do_not_mislead() {
    let demo = Demo::new();
    let clip = demo.clip();
    let mut hiss = noise();
    let lead_s = 7;
    // Three seconds of silence, four of hiss and knocks.
    let mut samples = vec![0.0; 3 * RATE];
    samples.extend((0..4 * RATE).map(|i| hiss.next().unwrap() * if i % 9000 < 400 { 0.2 } else { 0.01 }));
    samples.extend(&clip.samples);
    // Applause: many claps, each a short burst of noise, over a rising and falling bed.
    let applause = 10 * RATE;
    samples.extend((0..applause).map(|i| {
        let swell = (std::f32::consts::PI * i as f32 / applause as f32).sin();
        let claps = [1487, 1913, 2311].iter().filter(|&period| i % period < 120).count() as f32;
        0.15 * swell * (0.3 + claps) * hiss.next().unwrap()
    }));
    let concert = demo.path("concert.wav");
    write_float_wav(&concert, RATE as u32, 1, samples);
    let truth = truth_file(&demo, 1.0, f64::from(lead_s));
    let run: Run = program()
        .arg("align")
        .args([&concert, &demo.score])
        .args(["--json", "--truth", &truth])
        .output()
        .unwrap()
        .into();
    let run = run.ok();
    assert!(run.time_err_ms() < 30.0, "{} ms", run.time_err_ms());
}

#[test]
fn the_tempo_written_in_the_score_does_not_matter() {
    let demo = Demo::new();
    for factor in [0.5, 2.0] {
        let score = demo.file("other-tempo.mid", scale_tempo(agogic::demo_piece::score_bytes(), factor));
        let truth = truth_file(&demo, factor, 0.0);
        let run: Run = program()
            .arg("align")
            .args([&demo.audio, &score])
            .args(["--json", "--truth", &truth])
            .output()
            .unwrap()
            .into();
        let run = run.ok();
        assert!(run.time_err_ms() < 30.0, "times {factor}: {} ms", run.time_err_ms());
        assert!(run.json()["confidence"].as_f64().unwrap() > 0.5, "times {factor}");
    }
}

/// Performance time of a score time, from the CSV on stdout.
fn performance_at(run: &Run, score_s: f64) -> f64 {
    let mut rows = run.stdout.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<&str> = rows.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|h| *h == name).unwrap();
    let (score, performance) = (column("score_time_s"), column("performance_time_s"));
    let times = rows.map(|row| {
        let fields: Vec<&str> = row.split(',').collect();
        (fields[score].parse::<f64>().unwrap(), fields[performance].parse::<f64>().unwrap())
    });
    times.min_by(|a, b| (a.0 - score_s).abs().total_cmp(&(b.0 - score_s).abs())).unwrap().1
}

#[test]
fn anchors_are_met_exactly_by_every_method_even_where_they_are_wrong() {
    let demo = Demo::new();
    let rows = truth_rows();
    let (right, wrong) = (rows[60], (rows[120].0, rows[120].1 + 0.3));
    let anchors = [right, wrong].map(|(score, performance)| format!("{score}={performance}"));
    let dtw = &["--method", "frames", "--aligner", "dtw"][..];
    for method in [&[][..], &["--method", "frames"], dtw] {
        let fixed = ["-q", "--anchor", &anchors[0], "--anchor", &anchors[1]];
        let run = demo.align(method.iter().chain(&fixed)).ok();
        for (score, performance) in [right, wrong] {
            let found = performance_at(&run, score);
            assert!((found - performance).abs() < 1e-3, "{method:?}: {found} instead of {performance}");
        }
    }
    let contradiction = demo.align(["--anchor", "5=20", "--anchor", "6=10"]);
    assert_eq!(contradiction.code, Some(1));
    assert!(contradiction.stderr.contains("contradict"), "{}", contradiction.stderr);
    let twice = demo.align(["--fix-note", "3=5", "--fix-note", "3=6"]);
    assert_eq!(twice.code, Some(2));
    assert!(twice.stderr.contains("twice"), "{}", twice.stderr);
}

#[test]
fn the_same_input_gives_the_same_result_on_any_number_of_threads() {
    let demo = Demo::new();
    let run = |threads: &str| -> String {
        let mut command = program();
        command.args(["align", "-q"]).args([&demo.audio, &demo.score]);
        let run: Run = command.env("RAYON_NUM_THREADS", threads).output().unwrap().into();
        run.ok().stdout
    };
    let one = run("1");
    assert!(one.lines().count() > 176);
    assert_eq!(one, run("1"), "again");
    assert_eq!(one, run("2"), "two threads");
    assert_eq!(one, run("5"), "five threads");
}
