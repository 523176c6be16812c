//! Every kind of file, and what is said of broken ones.

use super::*;

fn file(folder: &tempfile::TempDir, name: &str, content: &str) -> std::path::PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn read_content(content: &str, clock: Option<&BeatClock>) -> Result<Prediction> {
    let folder = tempfile::tempdir().unwrap();
    read(&file(&folder, "some.file", content), clock)
}

fn message(content: &str) -> String {
    read_content(content, None).unwrap_err().to_string()
}

#[test]
fn csv_columns_are_found_by_name_in_any_order_among_comments() {
    let csv = "# agogic\nspread,performance_time_s,score_time_s\n1,2.5,1\n# inside\n1,0.5,0\n";
    let read = read_content(csv, None).unwrap();
    assert_eq!((read.times.score_s, read.times.performance_s), (vec![0.0, 1.0], vec![0.5, 2.5]));
    assert!(read.beats.is_none());
    let with_beats = read_content("\u{feff}score_beat,score_time_s,performance_time_s\n0,0,1\n4,1,2\n", None).unwrap();
    assert_eq!(with_beats.beats.unwrap().seconds(2.0), 0.5);
    let notes = "note,bar,beat,pitch,score_time_s,score_duration_s,performance_onset_s,performance_offset_s\n\
                 0,1,1,60,0,1,0.5,1\n1,1,2,62,1,1,1.5,2\n";
    assert_eq!(read_content(notes, None).unwrap().times.performance_s, [0.5, 1.5]);
}

#[test]
fn thickstun_text_and_json_are_recognised_by_content() {
    let text = read_content("# score performance\n0.000000 0.5\n1.000000\t2.0\n", None).unwrap();
    assert_eq!(text.times.performance_s, [0.5, 2.0]);
    let json = r#"{"format":"agogic-alignment/1","change_points":[{"score_beat":0,"score_s":0,"performance_s":1},
                   {"score_beat":2,"score_s":1,"performance_s":3}],"more":[]}"#;
    let json = read_content(json, None).unwrap();
    assert_eq!(json.times.performance_s, [1.0, 3.0]);
    assert_eq!(json.beats.unwrap().seconds(1.0), 0.5);
}

#[test]
fn asap_annotations_are_read_in_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let performance = file(&folder, "Pianist01_annotations.txt", "0.7\t0.7\tdb,4/4,-1\n1.3\t1.3\tb\n");
    let alone = read_ground_truth(&performance, None).unwrap_err().to_string();
    assert!(alone.contains("midi_score_annotations.txt is not beside it"), "{alone}");
    file(&folder, "midi_score_annotations.txt", "0.0\t0.0\tdb,4/4,-1\n0.5\t0.5\tb\n");
    let found = read_ground_truth(&performance, None).unwrap();
    assert_eq!((found.score_s.clone(), found.performance_s.clone()), (vec![0.0, 0.5], vec![0.7, 1.3]));
    file(&folder, "midi_score_annotations.txt", "0.0\t0.0\tdb\n0.5\t0.5\tb\n1.0\t1.0\tb\n");
    let uneven = read_ground_truth(&performance, None).unwrap_err().to_string();
    assert!(uneven.contains("2 beats") && uneven.contains("has 3"), "{uneven}");
}

const MATCH: &str = "info(matchFileVersion,1.0.0).\ninfo(midiClockUnits,1000).\ninfo(midiClockRate,500000).\n\
    scoreprop(timeSignature,6/8,0:2,0,-1.0000).\n\
    snote(n0,[C,n],4,0:1,0,1/8,-1.0000,0.0000,[v1])-deletion.\n\
    snote(n1,[D,n],4,1:1,0,1/8,0.0000,1.0000,[v1])-note(0,62,1000,1500,64,0,0).\n\
    snote(n2,[F,n],4,1:1,0,1/8,0.0000,1.0000,[v1])-note(1,65,1020,1500,64,0,0).\n\
    scoreprop(timeSignature,2/4,2:1,0,6.0000).\n\
    snote(n3,[E,n],4,2:2,0,1/4,7.0000,8.0000,[v1])-note(2,64,4000,4500,64,0,0).\n\
    insertion-note(3,70,2000,2100,50,0,0).\nsustain(10,127).\n";

#[test]
fn match_files_are_told_in_seconds_by_the_clock_of_the_score() {
    // One quarter lasts 2 s; the pickup stands at beat 0 of the MIDI file.
    let clock = BeatClock::from_rows(vec![(0.0, 0.0), (10.0, 20.0)]).unwrap();
    let found = read_content(MATCH, Some(&clock)).unwrap().times;
    assert_eq!(found.score_s, [1.0, 9.0], "an eighth after the pickup, then six eighths and a quarter more");
    assert_eq!(found.performance_s, [0.5, 2.0]);
    assert!(message(MATCH).contains("counts beats"));
    let old = MATCH.replace("1.0.0", "5.0");
    let old = read_content(&old, Some(&clock)).unwrap_err().to_string();
    assert!(old.contains("version 5.0 is not supported"), "{old}");
}

#[test]
fn broken_files_are_named_with_the_line() {
    assert!(message("").contains("empty"));
    assert!(message("hello\nworld\n").contains("not an alignment"));
    assert!(message("score_beat,score_time_s\n0,1\n").contains("performance_time_s is missing"));
    let text = message("score_time_s,performance_time_s\n0,0\n1,soon\n");
    assert!(text.contains("line 3") && text.contains("performance_time_s is \"soon\""), "{text}");
    assert!(message("score_time_s,performance_time_s\n0,0\n1\n").contains("line 3"));
    assert!(
        message("score_time_s,performance_time_s\n0,0\n1,1e308\n").contains("1e308 is not a valid time in seconds")
    );
    assert!(message("score_time_s,performance_time_s\n0,0\n1,NaN\n").contains("not a finite number"));
    assert!(message("score_time_s,performance_time_s\n0,0\n").contains("fewer than two"));
    assert!(message("0 0\n1 2 3\n").contains("line 2: 3 columns"));
    assert!(message("{\"format\":\"other\",\"change_points\":[]}").contains("\"other\""));
    assert!(message("{").contains("not an Agogic alignment"));
    let missing = read_prediction(Path::new("no such file.csv")).unwrap_err().to_string();
    assert!(missing.contains("no such file.csv"), "{missing}");
}

proptest::proptest! {
    #[test]
    fn arbitrary_text_never_panics(
        head in proptest::sample::select(vec!["", "{", "info(matchFileVersion,1.0.0).\n", "0 0\n", "0\t0\tb\n", "score_time_s,performance_time_s\n"]),
        tail in "(snote\\(|scoreprop\\(timeSignature,|info\\(|\\)-note\\(|\\)\\.|[-0-9.,:\\[\\]/\t\n ab\"#]){0,60}",
    ) {
        let clock = BeatClock::from_rows(vec![(0.0, 0.0), (10.0, 20.0)]).unwrap();
        let _ = read_content(&format!("{head}{tail}"), Some(&clock));
    }
}
