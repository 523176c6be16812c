//! Graphics cards through the real program. On a machine without any, and without a software one, the CPU does the work: then these tests
//! say little, but must still pass.

use std::ffi::OsStr;
use std::path::Path;

use crate::support::{Demo, Run, agogic, midi, program};

/// The performance times of every row of a CSV on stdout.
fn times(run: &Run) -> Vec<f64> {
    let mut rows = run.stdout.lines().filter(|line| !line.starts_with('#'));
    let column = rows.next().unwrap().split(',').position(|name| name == "performance_time_s").unwrap();
    rows.map(|line| line.split(',').nth(column).unwrap().parse().unwrap()).collect()
}

fn assert_same_times(a: &Run, b: &Run) {
    let (a, b) = (times(a), times(b));
    assert!(!a.is_empty() && a.len() == b.len());
    let worst = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst <= 1e-4, "{worst} s apart");
}

#[test]
fn the_demo_is_aligned_the_same_on_the_gpu_by_every_method() {
    let demo = Demo::new();
    for method in [
        &["--method", "frames", "--extractor", "chroma"][..],
        &["--method", "frames", "--slope", "0.5:2", "--lambda", "0.3"],
        &["--method", "frames", "--aligner", "dtw"],
    ] {
        let on = |device: &'static str| demo.align(method.iter().chain(&["-q", "--device", device])).ok();
        assert_same_times(&on("cpu"), &on("gpu"));
    }
}

/// Some seconds of it only: a card made of software would listen to the demo for minutes.
#[test]
fn an_ear_hears_the_same_on_the_gpu() {
    let demo = Demo::new();
    let notes: Vec<_> = (0..14).map(|n: u8| (240 * u32::from(n), 220, 55 + 7 * n % 24)).collect();
    let score = demo.file("scale.mid", midi(500_000, &notes));
    let audio = demo.path("scale.wav");
    agogic([Path::new("synth"), &score, Path::new("-o"), &audio]).ok();
    let on = |device: &str| {
        let files = [Path::new("align"), &audio, &score].map(Path::as_os_str);
        agogic(files.into_iter().chain(["-q", "--ear", "small", "--device", device].map(OsStr::new))).ok()
    };
    assert_same_times(&on("cpu"), &on("gpu"));
}

#[test]
fn a_result_of_the_gpu_names_it_and_is_made_again_on_it() {
    let demo = Demo::new();
    let (first, second) = (demo.path("first.json"), demo.path("second.json"));
    let (first, second) = (first.to_str().unwrap(), second.to_str().unwrap());
    demo.align(["--method", "frames", "--device", "gpu", "-q", "-o", first]).ok();
    demo.align(["--like", first, "-q", "-o", second]).ok();
    assert_eq!(std::fs::read(first).unwrap(), std::fs::read(second).unwrap());
    let result: serde_json::Value = serde_json::from_slice(&std::fs::read(first).unwrap()).unwrap();
    let devices: serde_json::Value = serde_json::from_str(&agogic(["devices", "--json"]).ok().stdout).unwrap();
    assert_eq!(result["provenance"].get("device"), devices.get(1).map(|device| &device["name"]));
}

#[test]
fn without_any_driver_the_program_says_so_once_and_works() {
    let demo = Demo::new();
    let usual = demo.align(["-q", "--device", "cpu"]).ok();
    // No driver is found where there is none to be found.
    let run: Run = program()
        .env("VK_DRIVER_FILES", "/nonexistent.json")
        .env("VK_ICD_FILENAMES", "/nonexistent.json")
        .args(["align".as_ref(), demo.audio.as_os_str(), demo.score.as_os_str(), "-q".as_ref()])
        .args(["--device", "gpu"])
        .output()
        .unwrap()
        .into();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(run.stdout, usual.stdout);
    if cfg!(target_os = "linux") {
        let told = run.stderr.lines().filter(|line| line.contains("no graphics card can be used")).count();
        assert_eq!(told, 1, "{}", run.stderr);
    }
}

#[test]
fn devices_are_listed_with_what_a_user_should_know() {
    let text = agogic(["devices"]).ok().stdout;
    assert!(text.starts_with("cpu: "), "{text}");
    let json: serde_json::Value = serde_json::from_str(&agogic(["devices", "--json"]).ok().stdout).unwrap();
    for device in json.as_array().unwrap() {
        for field in ["name", "kind", "backend", "driver", "remark"] {
            assert!(device[field].is_string(), "{field} of {device}");
        }
        if device["kind"] == "software" {
            assert!(text.contains("no gain"), "{text}");
        }
    }
}

#[test]
fn the_bench_prints_the_same_rows_for_every_device() {
    let folder = tempfile::tempdir().unwrap();
    let wave = |frames: usize, pace: f32| -> Vec<u8> {
        let values = (0..frames * 2).map(|i| (pace * (i / 2) as f32 + (i % 2) as f32).sin());
        values.flat_map(f32::to_le_bytes).collect()
    };
    std::fs::write(folder.path().join("problems.csv"), "kind,n,dim,lambda\ntoy,40,2,0.1\n").unwrap();
    std::fs::write(folder.path().join("toy_40_x.f32"), wave(40, 0.3)).unwrap();
    std::fs::write(folder.path().join("toy_40_y.f32"), wave(40, 0.31)).unwrap();
    let rows = |device: &str| -> serde_json::Value {
        let folder = folder.path().to_str().unwrap();
        serde_json::from_str(&agogic(["bench", "--problems", folder, "--json", "--device", device]).ok().stdout)
            .unwrap()
    };
    let (cpu, gpu) = (rows("cpu"), rows("gpu"));
    let keys = |rows: &serde_json::Value| rows[0].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&cpu), keys(&gpu));
    assert_eq!(cpu[0]["device"], "cpu");
    let objective = |rows: &serde_json::Value| rows[0]["objective"].as_f64().unwrap();
    assert!((objective(&cpu) - objective(&gpu)).abs() <= 1e-5 * objective(&cpu));
    assert_eq!(agogic(["bench", "--device", "cuda"]).code, Some(2));
}
