use std::path::Path;

use proptest::prelude::*;

use super::super::order::tests::bars;
use super::super::playing::{Reading, play_out};
use super::*;

fn score(words: &str) -> WrittenScore {
    let mut bars = bars(words);
    for (index, bar) in bars.iter_mut().enumerate() {
        (bar.start, bar.length) = (Quarters::ratio(4 * index as i64, 1), Quarters::ratio(4, 1));
    }
    WrittenScore { bars, ..WrittenScore::default() }
}

fn form(words: &str) -> Option<Form> {
    let score = score(words);
    let played = play_out(Path::new("x"), &score, Reading::WithRepeats).unwrap();
    Form::of(&score, &played, |at| at.to_ticks(1))
}

fn written(form: &Form) -> String {
    form.labels(&form.as_written()).join(" ")
}

#[test]
fn sections_are_cut_where_somebody_may_leave_or_land() {
    assert!(form(". . .").is_none());
    let whole = form(". . :|").unwrap();
    assert_eq!(written(&whole), "A A");
    let binary = form(". :| . :|").unwrap();
    assert_eq!(written(&binary), "A A B B");
    let bars: Vec<_> = binary.sections.iter().map(|one| (one.first_bar.as_str(), one.last_bar.as_str())).collect();
    assert_eq!(bars, [("1", "2"), ("3", "4")]);
    let ticks: Vec<_> = binary.written.iter().map(|pass| (pass.from_tick, pass.to_tick)).collect();
    assert_eq!(ticks, [(0, 8), (8, 16), (16, 24), (24, 32)]);
    assert_eq!(written(&form("|: [1_:| [2 .").unwrap()), "A B A C");
    assert_eq!(written(&form("|: :|_fine |: :|_D.C.").unwrap()), "A A B B A");
}

#[test]
fn repeats_are_left_out_with_their_first_endings_and_da_capo_is_not() {
    let without = |words: &str| {
        let form = form(words).unwrap();
        form.labels(&form.without_repeats()).join(" ")
    };
    assert_eq!(without(". :| . :|"), "A B");
    assert_eq!(without("|: [1_:| [2 ."), "A C");
    assert_eq!(without("|: :|_fine |: :|_D.C."), "A B A");
    assert_eq!(without("|:_:|3 ."), "A B");
}

#[test]
fn single_choices_lead_to_the_ways_next_to_the_written_one() {
    let ways = |words: &str| {
        let form = form(words).unwrap();
        let mut ways: Vec<String> = form.neighbours(None).iter().map(|(_, path)| form.labels(path).join(" ")).collect();
        ways.sort();
        ways
    };
    assert_eq!(ways(". :| . :|"), ["A A B", "A B B"]);
    assert_eq!(ways("|:_:|3 ."), ["A A B", "A B"]);
    // Without the da capo, and with repeats after it, too.
    assert_eq!(ways("|: :|_fine |: :|_D.C."), ["A A B A", "A A B B", "A A B B A A", "A B B A"]);
}

#[test]
fn a_way_is_found_by_its_letters_and_an_unknown_one_is_named() {
    let form = form(". :| . :|").unwrap();
    let labels = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(form.path_of_labels(&labels("b A b")), Ok(vec![1, 0, 1]));
    assert_eq!(form.path_of_labels(&labels("A C")), Err("C".to_owned()));
}

#[test]
fn there_are_letters_for_any_number_of_sections() {
    assert_eq!([0, 25, 26, 27, 701, 702].map(letters), ["A", "Z", "AA", "AB", "ZZ", "AAA"]);
}

proptest! {
    #[test]
    fn every_choice_leads_along_whole_sections(
        words in proptest::collection::vec(
            proptest::sample::select(vec![".", "|:", ":|", "[1", "[2_:|", "1]", "[1,2_:|", "D.C.", "D.S.", "fine", "segno", "coda", "to", "|:_:|"]),
            1..14,
        ),
    ) {
        let words = words.join(" ");
        let score = score(&words);
        let played = play_out(Path::new("x"), &score, Reading::WithRepeats).unwrap();
        let Some(form) = form(&words) else { return Ok(()) };
        let order: Vec<u32> = played.bars.iter().map(|bar| bar.bar).collect();
        let along = |path: &[usize]| -> Vec<u32> {
            path.iter().flat_map(|&section| form.sections[section].bars.clone()).collect()
        };
        prop_assert_eq!(&along(&form.as_written()), &order);
        let others: usize =
            form.ways.choices.iter().map(|choice| usize::from(choice.most - choice.least)).sum();
        prop_assert_eq!(form.neighbours(None).len(), others);
        // The passes follow one another without a gap.
        for pair in form.written.windows(2) {
            prop_assert_eq!(pair[0].to_tick, pair[1].from_tick);
        }
    }
}
