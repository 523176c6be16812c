//! Ctrl-C: exit code 130, soon, and nothing written.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Demo, midi, names_in, noise, program, write_float_wav};

/// Waits until the process catches SIGINT, as /proc tells, then a little longer: it is at work.
fn wait_until_at_work(child: &Child) {
    const SIGINT_BIT: u64 = 1 << 1;
    let status = format!("/proc/{}/status", child.id());
    let caught = || {
        let text = std::fs::read_to_string(&status).unwrap();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap() & SIGINT_BIT != 0
    };
    let begun = Instant::now();
    while !caught() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the program never came up");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
}

#[test]
fn an_interrupted_alignment_leaves_nothing_behind() {
    let (inputs, outputs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (audio, score) = (inputs.path().join("long.wav"), inputs.path().join("long.mid"));
    // Forty minutes at another rate than that of the analysis: minutes of work, if nobody stops it.
    let minutes = 40;
    write_float_wav(&audio, 32_000, 1, noise().take(minutes * 60 * 32_000));
    let notes: Vec<_> = (0..minutes as u32 * 240).map(|i| (i * 240, 200, 40 + (i * 7 % 45) as u8)).collect();
    std::fs::write(&score, midi(500_000, &notes)).unwrap();
    let out = outputs.path().join("out.csv");
    let child = spawn_align(&audio, &score, &out);
    wait_until_at_work(&child);
    assert_ends_when_interrupted(child);
    assert!(names_in(outputs.path()).is_empty(), "{:?}", names_in(outputs.path()));
}

fn spawn_align(audio: &Path, score: &Path, out: &Path) -> Child {
    let mut command = program();
    command.arg("align").args([audio, score]).args(["--format", "csv", "-o"]).arg(out);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn assert_ends_when_interrupted(mut child: Child) {
    let begun = Instant::now();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ended = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "it goes on regardless");
        std::thread::sleep(Duration::from_millis(10));
    };
    let said = child.wait_with_output().unwrap();
    assert_eq!(ended.code(), Some(130), "{}", String::from_utf8_lossy(&said.stderr));
    assert_eq!(String::from_utf8_lossy(&said.stderr).trim(), "agogic: cancelled");
    assert!(said.stdout.is_empty());
}

fn named_pipe(demo: &Demo) -> PathBuf {
    let pipe = demo.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    pipe
}

/// Waits until the alignment is done and only its output is left: the program then uses no processor time.
fn wait_until_idle(child: &Child) {
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let begun = Instant::now();
    let mut before = 0;
    while ticks() > before + 2 {
        assert!(begun.elapsed() < Duration::from_secs(120), "it works on and on");
        before = ticks();
        std::thread::sleep(Duration::from_millis(500));
    }
}

#[test]
fn a_pipe_that_nobody_reads_can_be_given_up() {
    let demo = Demo::new();
    let child = spawn_align(&demo.audio, &demo.score, &named_pipe(&demo));
    wait_until_at_work(&child);
    wait_until_idle(&child);
    assert_ends_when_interrupted(child);
}

#[test]
fn a_reader_that_comes_late_gets_everything() {
    let demo = Demo::new();
    let pipe = named_pipe(&demo);
    let child = spawn_align(&demo.audio, &demo.score, &pipe);
    wait_until_at_work(&child);
    wait_until_idle(&child);
    let through_pipe = std::fs::read_to_string(&pipe).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(through_pipe, demo.align(["-q"]).ok().stdout);
    // A WAV file's header is written last, which a pipe does not allow: it must come out whole all the same.
    let mut child = program().arg("synth").arg(&demo.score).arg("-o").arg(&pipe).spawn().unwrap();
    let bytes = std::fs::read(&pipe).unwrap();
    assert!(child.wait().unwrap().success());
    let seconds = hound::WavReader::new(bytes.as_slice()).unwrap().duration() / 22_050;
    assert!((27..32).contains(&seconds), "{seconds}");
}
