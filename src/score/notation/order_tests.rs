use proptest::prelude::*;

use super::*;

/// Bars from a line of signs, one word a bar: `|:` and `:|` for repeats (`:|3` for three times), `[1` and `[1,2` for the first bar of a bracket,
/// `1]` for the following ones, and the names of signs.
pub(in crate::score::notation) fn bars(words: &str) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (index, word) in words.split_whitespace().enumerate() {
        let mut bar = Bar { label: (index + 1).to_string(), ..Bar::default() };
        for sign in word.split('_') {
            match sign {
                "|:" => bar.repeat_start = true,
                "D.C." => bar.signs.push(Sign::DaCapo),
                "D.S." => bar.signs.push(Sign::DalSegno),
                "fine" => bar.signs.push(Sign::Fine),
                "segno" => bar.signs.push(Sign::Segno),
                "coda" => bar.signs.push(Sign::Coda),
                "to" => bar.signs.push(Sign::ToCoda),
                _ if sign.starts_with(":|") => bar.repeat_end = Some(sign[2..].parse().unwrap_or(2)),
                _ if sign.starts_with('[') => {
                    bar.ending = sign[1..].split(',').map(|number| number.parse().unwrap()).collect();
                    bar.ending_start = true;
                }
                _ if sign.ends_with(']') => bar.ending = vec![sign[..1].parse().unwrap()],
                _ => {}
            }
        }
        bars.push(bar);
    }
    bars
}

/// The bars as they are played, by number.
fn played(words: &str) -> String {
    let (order, _) = playing_order(&bars(words));
    order.iter().map(|bar| (bar + 1).to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn without_signs_every_bar_is_played_once() {
    assert_eq!(played(". . ."), "1 2 3");
    assert_eq!(played(""), "");
}

#[test]
fn a_repeat_goes_back_to_its_sign_or_to_the_end_of_the_one_before() {
    assert_eq!(played(". |:_. :| ."), "1 2 3 2 3 4");
    assert_eq!(played(". :| . :|"), "1 2 1 2 3 4 3 4");
    assert_eq!(played("|:_:|3 ."), "1 1 1 2");
}

#[test]
fn brackets_are_played_at_their_times() {
    assert_eq!(played("|: [1_:| [2 ."), "1 2 1 3 4");
    assert_eq!(played("|: [1 1]_:| [2 2] ."), "1 2 3 1 4 5 6");
    assert_eq!(played("|: [1,2_:| [3 ."), "1 2 1 2 1 3 4");
    // The section after the second bracket is repeated by itself.
    assert_eq!(played(". [1_:| [2 . :|"), "1 2 1 3 4 5 4 5");
    // Only the first time has a bracket.
    assert_eq!(played("|: [1_:| . ."), "1 2 1 3 4");
    // A rondo whose last bracket leads back to the beginning.
    assert_eq!(played("|: [1,4_:|_fine [2_:| [3_D.C."), "1 2 1 3 1 4 1 2");
}

#[test]
fn repeats_stand_within_repeats() {
    assert_eq!(played("|: |:_:| :|"), "1 2 2 3 1 2 2 3");
}

#[test]
fn jumps_lead_to_fine_and_coda_without_repeats() {
    assert_eq!(played("|: :|_fine |: :|_D.C."), "1 2 1 2 3 4 3 4 1 2");
    assert_eq!(played(". segno to . D.S. coda ."), "1 2 3 4 5 2 3 6 7");
    assert_eq!(played("|: [1_:| [2_fine . D.C."), "1 2 1 3 4 5 1 3");
    // Brackets without a repeat: the second is for after the jump.
    assert_eq!(played(". [1_D.C. [2 ."), "1 2 1 3 4");
}

#[test]
fn signs_that_lead_nowhere_are_passed_over_with_a_notice() {
    let (order, notices) = playing_order(&bars(". to D.S. ."));
    assert_eq!((order.len(), notices), (4, vec!["bar 3 sends back to a sign, but there is none before it".to_owned()]));
    let (order, notices) = playing_order(&bars(". to D.C. ."));
    assert_eq!((order, notices.len()), (vec![0, 1, 2, 0, 1, 2, 3], 1));
}

#[test]
fn jumps_stay_in_their_movement() {
    let mut two = bars(". . fine D.C.");
    let second = bars("|: :|_fine . D.C.");
    two.extend(second);
    assert_eq!(playing_order(&two).0, [0, 1, 2, 3, 0, 1, 2, 4, 5, 4, 5, 6, 7, 4, 5]);
    // A trio with numbers of its own leads back to the minuet.
    let mut trio = bars(". . fine");
    trio.extend(bars(". D.C."));
    assert_eq!(playing_order(&trio).0, [0, 1, 2, 3, 4, 0, 1, 2]);
}

#[test]
fn what_would_take_for_ever_is_read_once() {
    let nested = "|: ".repeat(40) + &":| ".repeat(40);
    let (order, notices) = playing_order(&bars(&nested));
    assert_eq!((order.len(), notices.len()), (80, 1));
}

proptest! {
    #[test]
    fn any_signs_end_and_every_bar_without_a_bracket_is_played(
        words in proptest::collection::vec(
            proptest::sample::select(vec![".", "|:", ":|", "[1", "[2_:|", "1]", "[1,2_:|", "D.C.", "D.S.", "fine", "segno", "coda", "to", "|:_:|"]),
            0..14,
        ),
    ) {
        let bars = bars(&words.join(" "));
        let (order, _) = playing_order(&bars);
        prop_assert!(order.iter().all(|&bar| (bar as usize) < bars.len()));
        let leaves_out = bars.iter().any(|bar| !bar.signs.is_empty());
        for (index, bar) in bars.iter().enumerate() {
            prop_assert!(leaves_out || !bar.ending.is_empty() || order.contains(&(index as u32)), "bar {}", index + 1);
        }
    }
}
