//! Performances that are MIDI, and transcriptions beside a recording.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use agogic::Score;

use crate::support::{Demo, Run, TickNote, agogic, midi, program};

/// Ticks of a tenth of a millisecond.
const MICROS_PER_BEAT: u32 = 48_000;
const TICK_S: f64 = 1e-4;

/// A performance of the demo's score that is not quite together, with a note that is left out, one too many and a wrong one.
pub struct Take {
    /// Onset and end of each note of the score, in seconds; none if it is not played.
    pub notes: Vec<Option<(f64, f64)>>,
    pub ticks: Vec<TickNote>,
}

pub const LEFT_OUT: usize = 40;
pub const WRONG: usize = 70;

impl Take {
    pub fn new() -> Self {
        let score = Score::from_bytes("score.mid".as_ref(), agogic::demo_piece::score_bytes()).unwrap();
        let played = |second: f64| 0.7 + 1.15 * second + 0.4 * (0.3 * second).sin();
        let tick = |second: f64| (second / TICK_S).round() as u32;
        let mut ticks: Vec<TickNote> = Vec::new();
        let mut notes = Vec::new();
        for (index, note) in score.notes.iter().enumerate() {
            let late = 0.001 * (index * 7 % 23) as f64;
            let (onset, end) = (tick(played(note.onset_s) + late), tick(played(note.offset_s) - 0.03 + late));
            let end = end.max(onset + 200);
            notes.push(
                (![LEFT_OUT, WRONG].contains(&index)).then(|| (f64::from(onset) * TICK_S, f64::from(end) * TICK_S)),
            );
            match index {
                LEFT_OUT => {}
                WRONG => ticks.push((onset, end - onset, note.pitch + 1)),
                _ => ticks.push((onset, end - onset, note.pitch)),
            }
        }
        ticks.push((tick(played(5.03)), 500, 100));
        Self { notes, ticks }
    }

    pub fn bytes(&self) -> Vec<u8> {
        midi(MICROS_PER_BEAT, &self.ticks)
    }
}

fn align(performance: &std::path::Path, demo: &Demo, more: &[&str]) -> Run {
    program().arg("align").args([performance, &demo.score]).args(more).output().unwrap().into()
}

/// Onset and end in the recording of each note of `--per note`.
fn notes(run: &Run) -> Vec<(f64, f64)> {
    let rows = run.stdout.lines().filter(|line| !line.starts_with('#')).skip(1);
    let field = |row: &str, column: usize| row.split(',').nth(column).unwrap().parse::<f64>().unwrap();
    rows.map(|row| (field(row, 6), field(row, 7))).collect()
}

#[test]
fn notes_of_a_midi_performance_are_found_at_its_own_times() {
    let (demo, take) = (Demo::new(), Take::new());
    let file = demo.file("take.mid", take.bytes());
    let found = notes(&align(&file, &demo, &["-q", "--per", "note"]).ok());
    assert_eq!(found.len(), take.notes.len());
    for (index, (found, played)) in found.iter().zip(&take.notes).enumerate() {
        let Some(played) = played else { continue };
        assert!((found.0 - played.0).abs() < 2e-4, "note {index} begins at {} and not at {}", played.0, found.0);
        assert!((found.1 - played.1).abs() < 2e-4, "note {index} ends at {} and not at {}", played.1, found.1);
    }
    for index in [LEFT_OUT, WRONG] {
        let near = |other: usize| take.notes[other].unwrap().0;
        let (before, after) = (near(index - 1) - 0.3, near(index + 1) + 0.3);
        assert!((before..after).contains(&found[index].0), "an unplayed note is placed between its neighbours");
    }
}

#[test]
fn a_cadenza_that_is_not_in_the_score_moves_no_note_of_it() {
    let (demo, take) = (Demo::new(), Take::new());
    let second = |ticks: u32| f64::from(ticks) * TICK_S;
    let tick = |second: f64| (second / TICK_S).round() as u32;
    // Between two chords, neither of which is torn apart.
    let mut later_half = take.ticks.windows(2).skip(take.ticks.len() / 2);
    let middle = later_half.find(|pair| pair[1].0 > pair[0].0 + tick(0.05)).unwrap()[1].0;
    let later = |onset: u32| if onset >= middle { onset + tick(7.0) } else { onset };
    let mut ticks: Vec<TickNote> =
        take.ticks.iter().map(|&(onset, length, pitch)| (later(onset), length, pitch)).collect();
    // Up and down through two octaves, in the place of nothing that is written.
    ticks.extend((0..60).map(|k: u32| (middle + tick(0.3 + 0.11 * f64::from(k)), tick(0.1), 60 + (k * 5 % 24) as u8)));
    let file = demo.file("cadenza.mid", midi(MICROS_PER_BEAT, &ticks));
    let found = notes(&align(&file, &demo, &["-q", "--per", "note"]).ok());
    let is_moved = |(found, played): (&(f64, f64), &Option<(f64, f64)>)| {
        played.is_some_and(|(onset, _)| (found.0 - second(later(tick(onset)))).abs() >= 2e-4)
    };
    let moved: Vec<usize> =
        found.iter().zip(&take.notes).enumerate().filter(|(_, pair)| is_moved(*pair)).map(|(index, _)| index).collect();
    // Those beside the cadenza may be taken for strokes of it, in which their pitches are struck, too.
    assert!(moved.len() <= 4, "notes {moved:?} were moved");
}

#[test]
fn a_midi_performance_is_told_by_its_content_also_from_a_pipe() {
    let (demo, take) = (Demo::new(), Take::new());
    let rows = |run: Run| run.stdout.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    let usual = rows(align(&demo.file("take.mid", take.bytes()), &demo, &["-q"]).ok());
    assert_eq!(rows(align(&demo.file("take.wav", take.bytes()), &demo, &["-q"]).ok()), usual);
    let mut child = program()
        .args(["align".as_ref(), "/dev/stdin".as_ref(), demo.score.as_os_str(), "-q".as_ref()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&take.bytes()).unwrap();
    assert_eq!(rows(child.wait_with_output().unwrap().into()), usual);
}

#[test]
fn a_midi_performance_is_aligned_by_frames_too_and_says_what_it_was() {
    let (demo, take) = (Demo::new(), Take::new());
    let file = demo.file("take.mid", take.bytes());
    let found = notes(&align(&file, &demo, &["-q", "--per", "note", "--method", "frames"]).ok());
    let errors = found.iter().zip(&take.notes).filter_map(|(found, played)| Some((found.0 - (*played)?.0).abs()));
    let mut errors: Vec<f64> = errors.collect();
    errors.sort_by(f64::total_cmp);
    assert!(errors[errors.len() / 2] < 0.05, "{errors:?}");
    let (first, second) = (demo.path("first.json"), demo.path("second.json"));
    align(&file, &demo, &["-q", "-o", first.to_str().unwrap()]).ok();
    let text = std::fs::read_to_string(&first).unwrap();
    let made: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(made["provenance"]["performance"], "midi");
    assert_eq!(made["provenance"]["recording"]["name"], "take.mid");
    assert!(made["provenance"]["ear"].is_null(), "nothing was listened to");
    align(&file, &demo, &["-q", "--like", first.to_str().unwrap(), "-o", second.to_str().unwrap()]).ok();
    assert_eq!(std::fs::read_to_string(&second).unwrap(), text);
}

#[test]
fn a_performance_of_something_else_is_doubted() {
    let demo = Demo::new();
    let other: Vec<TickNote> = (0..200).map(|k| (k * 2500, 2000, 40 + (k * 17 % 45) as u8)).collect();
    let run = align(&demo.file("other.mid", midi(MICROS_PER_BEAT, &other)), &demo, &["--json"]).ok();
    assert!(run.json()["confidence"].as_f64().unwrap() < 0.5, "{}", run.stdout);
    let own = align(&demo.file("take.mid", Take::new().bytes()), &demo, &["--json"]).ok();
    assert!(own.json()["confidence"].as_f64().unwrap() > 0.9, "{}", own.stdout);
}

#[test]
fn what_means_nothing_to_a_midi_performance_is_refused() {
    let (demo, take) = (Demo::new(), Take::new());
    let file = demo.file("take.mid", take.bytes());
    let name = file.to_str().unwrap();
    for (more, option) in [(["--ear", "none"], "--ear"), (["--transcription", name], "--transcription")] {
        let run = align(&file, &demo, &more);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("{option} belongs to a recording")), "{}", run.stderr);
    }
    let empty = align(&demo.file("empty.mid", midi(MICROS_PER_BEAT, &[])), &demo, &[]);
    assert_eq!(empty.code, Some(1));
    assert!(empty.stderr.contains("empty.mid: the performance has no notes"), "{}", empty.stderr);
    let cut = align(&demo.file("cut.mid", &take.bytes()[..90]), &demo, &[]);
    assert_eq!(cut.code, Some(1));
    assert!(cut.stderr.contains("cut.mid") && cut.stderr.contains("cut short"), "{}", cut.stderr);
}

/// The demo's notes where its truth has them, all late by so much: a transcription of its recording.
fn transcription(demo: &Demo, late_s: f64) -> PathBuf {
    let truth = String::from_utf8(agogic::demo_piece::truth_bytes().to_vec()).unwrap();
    let rows: Vec<(f64, f64)> = truth
        .lines()
        .skip(1)
        .map(|row| {
            let mut fields = row.split(',').skip(1).map(|field| field.trim().parse().unwrap());
            (fields.next().unwrap(), fields.next().unwrap())
        })
        .collect();
    let score = Score::from_bytes("score.mid".as_ref(), agogic::demo_piece::score_bytes()).unwrap();
    let tick = |second: f64| (second / TICK_S).round() as u32;
    let note = |note: &agogic::Note| {
        let row = rows.iter().find(|row| (row.0 - note.onset_s).abs() < 1e-3)?;
        Some((tick(row.1 + late_s), 1000, note.pitch))
    };
    let ticks: Vec<TickNote> = score.notes.iter().filter_map(note).collect();
    assert!(ticks.len() > 50);
    demo.file("heard.mid", midi(MICROS_PER_BEAT, &ticks))
}

#[test]
fn a_transcription_counts_is_named_and_must_be_the_same_to_make_a_result_again() {
    let demo = Demo::new();
    let heard = transcription(&demo, 0.04);
    let with = ["-q", "--per", "note", "--transcription", heard.to_str().unwrap()];
    let (usual, told) = (notes(&demo.align(["-q", "--per", "note"]).ok()), notes(&demo.align(with).ok()));
    let later = usual.iter().zip(&told).filter(|(usual, told)| told.0 > usual.0 + 0.01).count();
    assert!(later > usual.len() / 4, "{later} of {} notes follow the transcription", usual.len());

    let (first, second) = (demo.path("first.json"), demo.path("second.json"));
    let (made, again) = (first.to_str().unwrap(), second.to_str().unwrap());
    demo.align(["-q", "--transcription", heard.to_str().unwrap(), "-o", made]).ok();
    let text = std::fs::read_to_string(&first).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["provenance"]["transcription"]["name"], "heard.mid");
    assert_eq!(value["provenance"]["performance"], "audio");
    demo.align(["-q", "--like", made, "-o", again]).ok();
    assert_eq!(std::fs::read_to_string(&second).unwrap(), text);
    let overwritten = demo.align(["-q", "--like", made, "--format", "json", "-o", heard.to_str().unwrap()]);
    assert_eq!(overwritten.code, Some(2), "{}", overwritten.stderr);
    transcription(&demo, 0.05);
    let refused = demo.align(["-q", "--like", made, "-o", again]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("another version of the transcription"), "{}", refused.stderr);
}

#[test]
fn a_transcription_that_is_none_is_named() {
    let demo = Demo::new();
    let missing = demo.align(["--transcription", demo.path("missing.mid").to_str().unwrap()]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("missing.mid"), "{}", missing.stderr);
    let audio = demo.align(["--transcription", demo.audio.to_str().unwrap()]);
    assert_eq!(audio.code, Some(1));
    assert!(audio.stderr.contains("this is not a MIDI file"), "{}", audio.stderr);
}

#[test]
fn a_batch_takes_midi_performances_and_transcriptions() {
    let (demo, take) = (Demo::new(), Take::new());
    demo.file("take.mid", take.bytes());
    transcription(&demo, 0.04);
    let rows = "id,audio,score,transcription\n\
                played,take.mid,score.mid,\n\
                plain,performance.ogg,score.mid,\n\
                told,performance.ogg,score.mid,heard.mid\n";
    let manifest = demo.file("manifest.csv", rows);
    let out = demo.path("out");
    let args = ["batch", manifest.to_str().unwrap(), "--out-dir", out.to_str().unwrap()];
    let run = |more: &[&str]| agogic(args.iter().chain(more));
    run(&[]).ok();
    let written = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_ne!(written("plain.csv"), written("told.csv"));
    assert!(written("played.csv").contains("take.mid"));
    assert_eq!(run(&["--resume"]).ok().stderr.matches("already done").count(), 3);
    // A transcription that has become another is read again.
    transcription(&demo, -0.0405);
    let again = run(&["--resume"]).ok();
    assert_eq!(again.stderr.matches("already done").count(), 2, "{}", again.stderr);

    let frames = run(&["--method", "frames"]);
    assert_eq!(frames.code, Some(1));
    assert!(frames.stderr.contains("told: a transcription belongs to --method onsets"), "{}", frames.stderr);
    let twice = run(&["--transcription", demo.path("heard.mid").to_str().unwrap()]);
    assert!(twice.stderr.contains("told: ") && twice.stderr.contains("not both"), "{}", twice.stderr);
    assert!(twice.stderr.contains("played: ") && twice.stderr.contains("a MIDI performance"), "{}", twice.stderr);
    let only_takes = demo.file("takes.csv", "take.mid,score.mid\n");
    let refused = agogic(["batch", only_takes.to_str().unwrap(), "--out-dir", out.to_str().unwrap(), "--ear", "none"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--ear belongs to a recording"), "{}", refused.stderr);
}
