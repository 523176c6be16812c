//! Two voices on one staff: heads that would cover one another stand side by side.

use super::glyph::HEAD_WIDTH;
use super::{Chord, Head};

/// Shifts chords of lower voices to the right where their heads would touch those of an upper one: a second apart, or the same place with
/// another kind of head. Like heads at one place are one.
pub(super) fn keep_apart(chords: &mut [(usize, usize, Chord)], heads: &[Head]) {
    let positions = |chord: &Chord| {
        let first = chord.first_head as usize;
        heads[first..first + usize::from(chord.head_count)].iter().map(|head| head.position)
    };
    let together = |a: &(usize, usize, Chord), b: &(usize, usize, Chord)| {
        (a.0, a.2.column) == (b.0, b.2.column) && a.2.grace.is_some() == b.2.grace.is_some()
    };
    for group in chords.chunk_by_mut(together).filter(|group| group.len() > 1 && group[0].2.grace.is_none()) {
        let is_upper = |chord: &Chord| chord.rank.is_none_or(|rank| rank % 2 == 0);
        let mut upper: Vec<(i16, i8, u8)> = Vec::new();
        for (_, _, chord) in group.iter().filter(|(_, _, chord)| is_upper(chord)) {
            upper.extend(positions(chord).map(|position| (position, chord.value.power.min(2), chord.value.dots)));
        }
        for (_, _, chord) in group.iter_mut().filter(|(_, _, chord)| !is_upper(chord)) {
            let kind = (chord.value.power.min(2), chord.value.dots);
            let touches = positions(chord).any(|low| {
                upper.iter().any(|&(high, power, dots)| match (high - low).abs() {
                    0 => (power, dots) != kind,
                    distance => distance == 1,
                })
            });
            if touches {
                chord.shift = HEAD_WIDTH - 0.1;
            }
        }
    }
}

/// How many columns have notes, by staff and bar.
pub(super) fn crowds(chords: &[(usize, usize, Chord)], staves: usize, bars: usize) -> Vec<u16> {
    let mut crowds = vec![0u16; staves * bars];
    let mut last = None;
    for (staff, bar, chord) in chords {
        let here = (*staff, chord.column, chord.grace.map(|grace| grace.steps_before));
        if last.replace(here) != Some(here) {
            let crowd = &mut crowds[staff * bars + bar];
            *crowd = crowd.saturating_add(1);
        }
    }
    crowds
}
