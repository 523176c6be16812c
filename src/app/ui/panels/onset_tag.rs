//! Where the selected onset is, and by how much it was moved, in words.

use super::clock;
use crate::app::document::Document;

/// Smaller moves are not worth a word.
const LEAST_MOVE_MS: f64 = 0.05;

/// The place of the selected onset in the recording, and what is said of it.
pub fn selected_onset(document: &Document) -> Option<(f64, String)> {
    let score_s = document.selected?;
    let now = document.place_of(score_s)?;
    let fixed = document.settings.anchors.iter().any(|anchor| anchor.score_s == score_s);
    // While it is moved and until that is solved, the alignment is the one before.
    let before = match document.moved {
        Some(_) => document.solution.as_ref(),
        None => document.ghost.as_ref().filter(|_| fixed),
    };
    let moved_ms = before.map(|before| 1e3 * (now - before.alignment.warp.at(score_s)));
    Some((now, words(now, moved_ms)))
}

fn words(place_s: f64, moved_ms: Option<f64>) -> String {
    let place = clock(place_s, 3);
    match moved_ms.filter(|ms| ms.abs() >= LEAST_MOVE_MS) {
        Some(ms) => format!("{place}   {ms:+.1} ms"),
        None => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_is_told_with_its_sign() {
        assert_eq!(words(61.25, Some(-5.0)), "1:01.250   -5.0 ms");
        assert_eq!(words(61.25, Some(12.34)), "1:01.250   +12.3 ms");
        assert_eq!(words(61.25, Some(0.001)), "1:01.250");
        assert_eq!(words(0.5, None), "0:00.500");
    }
}
