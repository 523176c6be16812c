use super::*;
use crate::align::settings::{Method, OnsetMethod, Settings};
use crate::align::{Alignment, Named, Stopwatch, align};
use crate::networks::Device;
use crate::score::{SynthParams, synthesise_mapped};

/// A minuet-like score in MusicXML: sections of four bars of a melody of their own, each with a repeat sign, the first with two endings.
fn score() -> Score {
    let mut bars = String::new();
    let mut number = 0;
    let mut state = 7u32;
    let mut bar = |left: &str, right: &str| {
        number += 1;
        let mut notes = String::new();
        for _ in 0..8 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let step = ["C", "D", "E", "F", "G", "A", "B"][(state >> 26) as usize % 7];
            let octave = 3 + (state >> 22) % 3;
            notes += &format!(
                "<note><pitch><step>{step}</step><octave>{octave}</octave></pitch><duration>1</duration></note>"
            );
        }
        let attributes =
            "<attributes><divisions>2</divisions><time><beats>4</beats><beat-type>4</beat-type></time></attributes>";
        let attributes = if number == 1 { attributes } else { "" };
        bars += &format!("<measure number=\"{number}\">{attributes}{left}{notes}{right}</measure>");
    };
    let ending = |number: u8, kind: &str, repeat: &str| {
        format!("<barline location=\"right\"><ending number=\"{number}\" type=\"{kind}\"/>{repeat}</barline>")
    };
    let begin =
        |number: u8| format!("<barline location=\"left\"><ending number=\"{number}\" type=\"start\"/></barline>");
    let back = "<repeat direction=\"backward\"/>";
    for _ in 0..4 {
        bar("", "");
    }
    bar(&begin(1), &ending(1, "stop", back));
    bar(&begin(2), &ending(2, "stop", ""));
    bar("<barline location=\"left\"><repeat direction=\"forward\"/></barline>", "");
    for _ in 0..3 {
        bar("", "");
    }
    bar("", &format!("<barline location=\"right\">{back}</barline>"));
    bar("", "");
    let text = format!(
        "<score-partwise><part-list><score-part id=\"P1\"><part-name>Piano</part-name></score-part></part-list>\
         <part id=\"P1\">{bars}</part></score-partwise>"
    );
    Score::from_bytes(std::path::Path::new("score.musicxml"), text.as_bytes()).unwrap()
}

/// Slower than written, and not steady.
fn performed(score_s: f64) -> f64 {
    0.5 + 1.15 * score_s + 0.2 * (0.6 * score_s).sin()
}

fn aligned(score: &Score, played: &[usize], path: Path) -> Result<Alignment> {
    let ctx = JobContext::new();
    let reading = reading_along(score, score.notation.form.as_deref().unwrap(), played);
    let clip = synthesise_mapped(&ctx, &reading.score, &SynthParams::default(), &performed).unwrap().into();
    let method = Method::Onsets(OnsetMethod { path, ..OnsetMethod::default() });
    let settings = Settings { method, ..Settings::default() };
    let (recording, score) = (Named { name: "clip", content: &clip }, Named { name: "score", content: score });
    Ok(align(&ctx, recording, score, &settings, &Device::Cpu, &mut Stopwatch::default())?.0)
}

fn letters(alignment: &Alignment) -> String {
    alignment.sections.iter().map(|section| section.label.as_str()).collect::<Vec<_>>().join(" ")
}

fn way(score: &Score, text: &str) -> Vec<usize> {
    let labels: Vec<String> = text.split(' ').map(str::to_owned).collect();
    score.notation.form.as_deref().unwrap().path_of_labels(&labels).unwrap()
}

#[test]
fn the_way_that_was_played_is_found_and_timed() {
    let score = score();
    let form = score.notation.form.as_deref().unwrap();
    assert_eq!(form.labels(&form.as_written()).join(" "), "A B A C D D E");
    for played in ["A B A C D D E", "A C D D E", "A B A C D E", "A C D E"] {
        let alignment = aligned(&score, &way(&score, played), Path::Auto).unwrap();
        assert_eq!(letters(&alignment), played);
        let mut begun = 0.0;
        for section in &alignment.sections {
            let off = (section.performance_from_s - performed(begun)).abs();
            assert!(off < 0.05, "{played}: {} begins {off} s off", section.label);
            begun += section.score_to_s - section.score_from_s;
        }
        let told = alignment.warnings.iter().any(|warning| warning.contains("a repeat that was not played"));
        assert_eq!(told, played != "A B A C D D E", "{:?}", alignment.warnings);
    }
}

#[test]
fn a_way_that_is_asked_for_is_taken_and_what_it_leaves_out_is_not_sought() {
    let score = score();
    let alignment = aligned(&score, &way(&score, "A C D E"), Path::NoRepeats).unwrap();
    assert_eq!(letters(&alignment), "A C D E");
    assert!(alignment.warnings.is_empty(), "{:?}", alignment.warnings);
    let once_more = Path::Sections(["A", "C", "D", "D", "D", "E"].map(str::to_owned).to_vec());
    let alignment = aligned(&score, &way(&score, "A C D D D E"), once_more).unwrap();
    assert_eq!(letters(&alignment), "A C D D D E");
    // The last note stands behind one repeat less and one more.
    let (first, last) = (score.notation.form.as_deref().map(|form| seconds(&score, form, 1)), score.notes.last());
    let (ending, last) = (first.unwrap(), last.unwrap());
    let a = seconds(&score, score.notation.form.as_deref().unwrap(), 0);
    let d = seconds(&score, score.notation.form.as_deref().unwrap(), 4);
    let as_played = last.onset_s - (ending.end - ending.start) - (a.end - a.start) + (d.end - d.start);
    let found = alignment.notes.last().unwrap().onset_s;
    assert!((found - performed(as_played)).abs() < 0.05, "{found} for {}", performed(as_played));
}

#[test]
fn what_the_score_does_not_have_is_refused() {
    let score = score();
    let unknown = asked(&score, &Path::Sections(vec!["A".to_owned(), "X".to_owned()])).unwrap_err().to_string();
    assert!(unknown.contains('X') && unknown.contains("A to E"), "{unknown}");
    let mut plain = score.clone();
    plain.notation.form = None;
    assert!(asked(&plain, &Path::NoRepeats).unwrap_err().to_string().contains("no repeats"));
    assert_eq!(asked(&plain, &Path::Written).unwrap(), None);
}

#[test]
fn what_the_user_fixed_is_fixed_in_what_was_played() {
    let score = score();
    let form = score.notation.form.as_deref().unwrap();
    let reading = reading_along(&score, form, &way(&score, "A C D E"));
    let second = |pass: usize| seconds(&score, form, pass).start;
    let anchor = |score_s| crate::align::settings::Anchor { score_s, performance_s: 1.0 };
    // In the first A, in the repeat that is left out, in the second ending.
    let settings = Settings {
        anchors: vec![anchor(1.0), anchor(second(2) + 1.0), anchor(second(3) + 0.5)],
        ..Settings::default()
    };
    let played: Vec<f64> = reading.constraints(&settings).anchors.iter().map(|anchor| anchor.score_s).collect();
    assert_eq!(played.len(), 2);
    assert!((played[0] - 1.0).abs() < 1e-9 && (played[1] - (second(1) + 0.5)).abs() < 1e-9, "{played:?}");
}
