//! Ctrl-C: exit code 130, soon, and nothing written.

#![cfg(target_os = "linux")]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{midi, names_in, noise, program, write_float_wav};

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
    let mut child = program()
        .arg("align")
        .args([&audio, &score])
        .arg("-o")
        .arg(&out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until_at_work(&child);
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
    assert!(names_in(outputs.path()).is_empty(), "{:?}", names_in(outputs.path()));
}
