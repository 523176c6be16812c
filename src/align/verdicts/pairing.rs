//! Which stroke is which note: of one pitch, in order of time, each stroke at most one note.

/// Pairs notes with strokes. `notes` and `strokes` are times in order; `gain` says what it is worth that a note is a stroke, and is
/// asked only for those at most `reach_s` apart. Of all pairings in which times go forward, the one that gains most; a pair that
/// gains nothing is none.
///
/// Only strokes within reach of a note are looked at, so the work grows with the number of notes.
pub(super) fn pair(
    notes: &[f64],
    strokes: &[f64],
    reach_s: f64,
    gain: &dyn Fn(usize, usize) -> f64,
) -> Vec<(usize, usize)> {
    let mut rows: Vec<Row> = Vec::with_capacity(notes.len());
    for (note, &time) in notes.iter().enumerate() {
        let first = strokes.partition_point(|&stroke| stroke < time - reach_s);
        let end = strokes.partition_point(|&stroke| stroke <= time + reach_s);
        let before = |stroke: usize| rows.last().map_or(0.0, |row| row.at(stroke));
        let mut best = vec![before(first)];
        for stroke in first..end {
            let with = before(stroke) + gain(note, stroke).max(0.0);
            let without = before(stroke + 1).max(best[best.len() - 1]);
            best.push(with.max(without));
        }
        rows.push(Row { first, best });
    }
    walk_back(&rows, gain)
}

/// What can be gained with the notes so far, by how many of the strokes may be used.
struct Row {
    /// Fewer strokes than this gain what the note before gains with them.
    first: usize,
    best: Vec<f64>,
}

impl Row {
    fn at(&self, strokes: usize) -> f64 {
        self.best[strokes.saturating_sub(self.first).min(self.best.len() - 1)]
    }
}

fn walk_back(rows: &[Row], gain: &dyn Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut strokes = rows.last().map_or(0, |row| row.first + row.best.len() - 1);
    for note in (0..rows.len()).rev() {
        let row = &rows[note];
        let before = |strokes: usize| note.checked_sub(1).map_or(0.0, |note| rows[note].at(strokes));
        strokes = strokes.min(row.first + row.best.len() - 1);
        while strokes > row.first {
            let here = row.at(strokes);
            if here == before(strokes) {
                break;
            }
            if here > row.at(strokes - 1) {
                // Neither leaving the note out nor the stroke gains as much: they belong together.
                pairs.push((note, strokes - 1));
                strokes -= 1;
                break;
            }
            strokes -= 1;
        }
    }
    pairs.reverse();
    debug_assert!(pairs.iter().all(|&(note, stroke)| gain(note, stroke) > 0.0), "a pair that gains nothing is none");
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    const REACH_S: f64 = 0.1;

    /// Every pairing, tried one by one.
    fn oracle(notes: &[f64], strokes: &[f64], gain: &dyn Fn(usize, usize) -> f64) -> f64 {
        let Some((&first, rest)) = notes.split_first() else { return 0.0 };
        let later = |note: usize, stroke: usize| gain(note + 1, stroke);
        let mut best = oracle(rest, strokes, &later);
        for (stroke, time) in strokes.iter().enumerate().filter(|(_, time)| (*time - first).abs() <= REACH_S) {
            let _ = time;
            let after = |note: usize, other: usize| gain(note + 1, stroke + 1 + other);
            best = best.max(gain(0, stroke).max(0.0) + oracle(rest, &strokes[stroke + 1..], &after));
        }
        best
    }

    proptest::proptest! {
        #[test]
        fn nothing_gains_more_than_the_pairing_that_is_found(
            mut notes in proptest::collection::vec(0.0f64..0.6, 0..6),
            mut strokes in proptest::collection::vec(0.0f64..0.6, 0..6),
            worth in proptest::collection::vec(-1.0f64..3.0, 6),
        ) {
            notes.sort_by(f64::total_cmp);
            strokes.sort_by(f64::total_cmp);
            let gain = |note: usize, stroke: usize| worth[stroke] - 20.0 * (notes[note] - strokes[stroke]).abs();
            let pairs = pair(&notes, &strokes, REACH_S, &gain);
            let forward = pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1);
            proptest::prop_assert!(forward, "{pairs:?}");
            for &(note, stroke) in &pairs {
                proptest::prop_assert!((notes[note] - strokes[stroke]).abs() <= REACH_S && gain(note, stroke) > 0.0);
            }
            let gained: f64 = pairs.iter().map(|&(note, stroke)| gain(note, stroke)).sum();
            let most = oracle(&notes, &strokes, &gain);
            proptest::prop_assert!((gained - most).abs() < 1e-9, "{gained} of {most}");
        }
    }

    #[test]
    fn a_trill_that_is_late_is_matched_stroke_by_stroke() {
        let notes: Vec<f64> = (0..10).map(|note| 0.1 * f64::from(note)).collect();
        let strokes: Vec<f64> = notes.iter().map(|time| time + 0.06).collect();
        let gain = |note: usize, stroke: usize| 10.0 - ((strokes[stroke] - notes[note]) / 0.05_f64).powi(2);
        let pairs = pair(&notes, &strokes, REACH_S, &gain);
        assert_eq!(pairs, (0..10).map(|index| (index, index)).collect::<Vec<_>>());
    }
}
