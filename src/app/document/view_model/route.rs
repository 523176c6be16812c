//! The sections of a score as they were played, beside what its repeat signs say: what was left out, and what can be changed.

use crate::align::result::PlayedSection;
use crate::score::Form;

/// Sections one after another, by their letters.
pub type Labels = Vec<String>;

/// Sections that the score has and that were not played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Before which of the sections as played they are missing; behind the last one if it is their number.
    pub before: usize,
    /// Their letters.
    pub labels: Labels,
}

/// What was left out of the way that the score prescribes.
pub fn left_out(form: &Form, played: &[PlayedSection]) -> Vec<LeftOut> {
    let written = form.labels(&form.as_written());
    let mut found: Vec<LeftOut> = Vec::new();
    let mut missing = Vec::new();
    let mut at = 0;
    for (index, section) in played.iter().enumerate() {
        // A section that is played more often than written stands nowhere in the rest of it.
        let Some(steps) = written[at..].iter().position(|label| *label == section.label) else { continue };
        missing.extend_from_slice(&written[at..at + steps]);
        at += steps + 1;
        if !missing.is_empty() {
            found.push(LeftOut { before: index, labels: std::mem::take(&mut missing) });
        }
    }
    missing.extend_from_slice(&written[at..]);
    if !missing.is_empty() {
        found.push(LeftOut { before: played.len(), labels: missing });
    }
    found
}

/// The letters of what was played.
pub fn labels(played: &[PlayedSection]) -> Labels {
    played.iter().map(|section| section.label.clone()).collect()
}

/// The way without the repeat that a section belongs to, or, if it belongs to none, without the section. A repeat with two endings goes with the
/// first of them. None if nothing would be left.
pub fn without(labels: &Labels, index: usize) -> Option<Labels> {
    let is = |at: usize, other: usize| labels.get(at).zip(labels.get(other)).is_some_and(|(a, b)| a == b);
    let next_to_itself = is(index, index + 1) || (index > 0 && is(index - 1, index));
    // The first ending of a b a c, or one of the two that it parts.
    let ends = [index.checked_sub(1), Some(index), index.checked_sub(2)];
    let ending = ends.into_iter().flatten().find(|&first| is(first, first + 2) && !is(first + 1, first + 3));
    let cut = match ending {
        _ if next_to_itself => index..index + 1,
        Some(first) => first + 1..first + 3,
        None => index..index + 1,
    };
    let kept: Labels =
        labels.iter().enumerate().filter(|(at, _)| !cut.contains(at)).map(|(_, one)| one.clone()).collect();
    (!kept.is_empty()).then_some(kept)
}

/// Whether a section is played twice in a row or with two endings, so that one of the times can be left out.
pub fn is_repeated(labels: &Labels, index: usize) -> bool {
    without(labels, index)
        .is_some_and(|rest| labels.iter().all(|label| rest.contains(label)) || rest.len() + 2 == labels.len())
}

/// The way with a section played once more.
pub fn again(labels: &Labels, index: usize) -> Labels {
    let mut longer = labels.clone();
    longer.insert(index, labels[index].clone());
    longer
}

/// The way with what was left out.
pub fn with(labels: &Labels, left_out: &LeftOut) -> Labels {
    let mut longer = labels.clone();
    longer.splice(left_out.before..left_out.before, left_out.labels.iter().cloned());
    longer
}

/// Sections in words: "A, bars 1 to 16".
pub fn name(form: &Form, labels: &[String]) -> String {
    let section = |label: &String| form.sections.iter().find(|section| section.label == *label);
    let bars = labels.first().and_then(section).zip(labels.last().and_then(section));
    match bars {
        Some((first, last)) if first.first_bar == last.last_bar => {
            format!("{}, bar {}", labels.join(" "), first.first_bar)
        }
        Some((first, last)) => format!("{}, bars {} to {}", labels.join(" "), first.first_bar, last.last_bar),
        None => labels.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Labels {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_repeat_goes_with_its_first_ending_and_anything_else_alone() {
        let without = |text: &str, index| without(&words(text), index).unwrap().join(" ");
        assert_eq!(without("A A B", 0), "A B");
        assert_eq!(without("A A B", 1), "A B");
        assert_eq!(without("A A B", 2), "A A");
        for index in 0..3 {
            assert_eq!(without("A B A C D", index), "A C D", "{index}");
        }
        assert_eq!(without("A B A C D", 3), "A B A D");
        // A minuet after its trio is no repeat with two endings.
        assert_eq!(without("A B C A B", 4), "A B C A");
        assert!(super::without(&words("A"), 0).is_none());
    }

    #[test]
    fn only_repeats_are_called_so() {
        let repeated = |text: &str, index| is_repeated(&words(text), index);
        assert!(repeated("A A B", 1) && repeated("A B A C", 0) && repeated("A B A C", 1));
        assert!(!repeated("A A B", 2) && !repeated("A B C", 1));
    }

    #[test]
    fn what_is_put_back_or_played_again_stands_where_it_belongs() {
        let left_out = LeftOut { before: 1, labels: words("B A") };
        assert_eq!(with(&words("A C"), &left_out), words("A B A C"));
        assert_eq!(again(&words("A C"), 1), words("A C C"));
    }
}
