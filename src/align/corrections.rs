//! What the user fixed by hand, checked and as constraints of the problem.

use crate::align::onsets::{chords, median};
use crate::align::performance::Performance;
use crate::align::result::AlignedNote;
use crate::align::settings::{Anchor, Settings};
use crate::base::error::{Error, Result};
use crate::base::time::SAME_MOMENT_S;
use crate::score::Score;

/// The settings as the stages below solve them: in order, and with an anchor at every onset all of whose notes are fixed.
/// Without that a lone note that was moved would push the onsets after it out of its way.
pub(super) fn as_constraints(score: &Score, settings: &Settings) -> Settings {
    let mut settings = settings.in_order();
    if settings.fixed_notes.is_empty() {
        return settings;
    }
    let time_of = |note: usize| {
        let found = settings.fixed_notes.binary_search_by_key(&note, |fixed| fixed.note);
        found.ok().map(|index| settings.fixed_notes[index].performance_s)
    };
    let mut implied = Vec::new();
    for chord in chords(score) {
        let times: Option<Vec<f64>> = chord.notes.map(time_of).collect();
        if let Some(performance_s) = times.and_then(median) {
            implied.push(Anchor { score_s: chord.onset_s, performance_s });
        }
    }
    let is_anchored = |new: &Anchor| settings.anchors.iter().any(|a| (a.score_s - new.score_s).abs() <= SAME_MOMENT_S);
    implied.retain(|new| !is_anchored(new));
    settings.anchors.extend(implied);
    settings.in_order()
}

/// What is fixed must lie within both files and go forward; anything else is reported before the work begins.
pub(super) fn check(recording: &Performance, score: &Score, settings: &Settings) -> Result<()> {
    let heard = 0.0..=recording.duration_s();
    let within = || format!("within the recording, 0 to {:.3} s", recording.duration_s());
    for fixed in &settings.fixed_notes {
        if fixed.note >= score.notes.len() {
            let allowed = format!("a note of the score, 0 to {}", score.notes.len().saturating_sub(1));
            return Err(Error::invalid("fixed note", fixed.note, allowed));
        }
        if !heard.contains(&fixed.performance_s) {
            return Err(Error::invalid("time of a fixed note", fixed.performance_s, within()));
        }
    }
    let ordered = as_constraints(score, settings);
    if let Some(pair) = ordered.fixed_notes.windows(2).find(|pair| pair[0].note == pair[1].note) {
        return Err(Error::invalid("fixed note", format!("{} twice", pair[0].note), "fixed once"));
    }
    for anchor in &ordered.anchors {
        if !(0.0..=score.end_s()).contains(&anchor.score_s) {
            let allowed = format!("within the score, 0 to {:.3} s", score.end_s());
            return Err(Error::invalid("score time of an anchor", anchor.score_s, allowed));
        }
        if !heard.contains(&anchor.performance_s) {
            return Err(Error::invalid("performance time of an anchor", anchor.performance_s, within()));
        }
    }
    let contradicts =
        |pair: &&[Anchor]| pair[1].performance_s < pair[0].performance_s || pair[0].score_s == pair[1].score_s;
    match ordered.anchors.windows(2).find(contradicts) {
        Some(pair) => Err(Error::Infeasible {
            reason: format!(
                "the anchors {}={} and {}={} contradict each other",
                pair[0].score_s, pair[0].performance_s, pair[1].score_s, pair[1].performance_s
            ),
        }),
        None => Ok(()),
    }
}

/// What the user fixed is where it was put, and certain.
pub(super) fn trust(score: &Score, settings: &Settings, notes: &mut [AlignedNote]) {
    for anchor in &settings.anchors {
        let first = score.notes.partition_point(|note| note.onset_s < anchor.score_s - SAME_MOMENT_S);
        let at_anchor = score.notes[first..].iter().take_while(|note| note.onset_s <= anchor.score_s + SAME_MOMENT_S);
        notes[first..first + at_anchor.count()].iter_mut().for_each(|note| note.confidence = 1.0);
    }
    for fixed in &settings.fixed_notes {
        if let Some(note) = notes.get_mut(fixed.note) {
            note.onset_s = fixed.performance_s;
            note.offset_s = note.offset_s.max(fixed.performance_s);
            note.confidence = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::settings::FixedNote;
    use crate::audio::AudioClip;
    use crate::score::plain_score;

    fn settings(notes: &[(usize, f64)]) -> Settings {
        let fixed_notes = notes.iter().map(|&(note, performance_s)| FixedNote { note, performance_s }).collect();
        Settings { fixed_notes, ..Settings::default() }
    }

    #[test]
    fn an_onset_whose_notes_are_all_fixed_is_an_anchor_and_one_with_a_free_note_is_none() {
        let score = plain_score(&[(0.0, 1.0, 60), (1.0, 1.0, 62), (1.0, 1.0, 65), (2.0, 1.0, 64)]);
        let anchors = |notes: &[(usize, f64)]| as_constraints(&score, &settings(notes)).anchors;
        assert_eq!(anchors(&[(3, 4.0), (0, 0.5)]).iter().map(|a| a.performance_s).collect::<Vec<_>>(), [0.5, 4.0]);
        assert!(anchors(&[(1, 2.0)]).is_empty());
        assert_eq!(anchors(&[(1, 2.0), (2, 2.2)])[0].performance_s, 2.1);
    }

    #[test]
    fn a_note_that_is_fixed_twice_or_against_another_is_refused() {
        let score = plain_score(&[(0.0, 1.0, 60), (1.0, 1.0, 62)]);
        let recording = AudioClip { samples: vec![0.1; 22_050 * 5], sample_rate: 22_050 }.into();
        let message = |notes| check(&recording, &score, &settings(notes)).unwrap_err().to_string();
        assert!(message(&[(1, 2.0), (1, 3.0)]).contains("twice"));
        assert!(message(&[(0, 3.0), (1, 2.0)]).contains("contradict"));
        assert!(message(&[(7, 3.0)]).contains("0 to 1"));
        assert!(check(&recording, &score, &settings(&[(0, 2.0), (1, 3.0)])).is_ok());
    }
}
