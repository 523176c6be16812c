//! From levels of a recording to what the network sees.

use super::layout::{ATTACKS, INPUTS, KINDS, SCALE, SHIFTS, bands};
use crate::features::{EAR_BANDS, EAR_ROW};

/// The inputs of a pitch, [`INPUTS`] values per frame, from rows of levels.
pub(super) fn fill(rows: &[f32], pitch: usize, inputs: &mut [f32]) {
    let bands = bands(pitch);
    for (row, inputs) in rows.chunks_exact(EAR_ROW).zip(inputs.chunks_exact_mut(INPUTS)) {
        for (kind, inputs) in inputs.chunks_exact_mut(SHIFTS.len()).enumerate() {
            let levels = &row[kind * EAR_BANDS..(kind + 1) * EAR_BANDS];
            for (input, band) in inputs.iter_mut().zip(bands) {
                *input = band.map_or(0.0, |band| SCALE * levels[band]);
            }
        }
    }
}

/// What all pitches share: the attack, [`ATTACKS`] values per frame.
pub(super) fn fill_attack(rows: &[f32], inputs: &mut [f32]) {
    for (row, inputs) in rows.chunks_exact(EAR_ROW).zip(inputs.chunks_exact_mut(ATTACKS)) {
        inputs.iter_mut().zip(&row[KINDS * EAR_BANDS..]).for_each(|(input, level)| *input = SCALE * level);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_ordered_by_kind_of_window_then_by_band_and_the_attack_comes_last() {
        let rows: Vec<f32> = (0..2 * EAR_ROW).map(|i| i as f32).collect();
        let mut inputs = vec![f32::NAN; 2 * INPUTS];
        fill(&rows, 39, &mut inputs);
        let second = &inputs[INPUTS..];
        for (kind, shift, band) in [(0, 0, 39), (0, 10, 27), (1, 1, 51), (2, 12, 40), (3, 6, 75)] {
            assert_eq!(second[SHIFTS.len() * kind + shift], 0.3 * (EAR_ROW + kind * EAR_BANDS + band) as f32);
        }
        let mut attack = vec![f32::NAN; 2 * ATTACKS];
        fill_attack(&rows, &mut attack);
        assert_eq!(attack[2 * ATTACKS - 1], 0.3 * (2 * EAR_ROW - 1) as f32);
        fill(&rows, 87, &mut inputs);
        assert!(inputs[3] == 0.0 && inputs.iter().all(|value| value.is_finite()), "nothing above the last band");
    }
}
