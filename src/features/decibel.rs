//! Logarithmic levels with a floor.

/// Levels more than this below the loudest of the clip are raised to it.
const DYNAMIC_RANGE_DB: f32 = 80.0;

/// Power in dB. Powers under 1e-10 count as 1e-10.
pub(super) fn power_to_db(power: f32) -> f32 {
    10.0 * power.max(1e-10).log10()
}

/// Amplitude in dB. Amplitudes under 1e-5 count as 1e-5.
pub(super) fn amplitude_to_db(amplitude: f32) -> f32 {
    20.0 * amplitude.max(1e-5).log10()
}

/// The largest level.
pub(super) fn loudest(levels: &[f32]) -> f32 {
    levels.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

/// Raises every level to no less than 80 dB below the loudest.
pub(super) fn limit_range(levels: &mut [f32]) {
    let floor = loudest(levels) - DYNAMIC_RANGE_DB;
    for level in levels {
        *level = level.max(floor);
    }
}

/// Makes levels relative to the loudest, which becomes 0 dB, with a floor at -80 dB.
pub(super) fn relative_to_loudest(levels: &mut [f32]) {
    let top = loudest(levels);
    for level in levels {
        *level = (*level - top).max(-DYNAMIC_RANGE_DB);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_has_a_finite_level_and_the_range_is_80_db() {
        assert_eq!(power_to_db(0.0), -100.0);
        assert_eq!(amplitude_to_db(0.0), -100.0);
        assert_eq!(amplitude_to_db(10.0), power_to_db(100.0));
        let mut levels = [-5.0, -100.0, -60.0];
        limit_range(&mut levels);
        assert_eq!(levels, [-5.0, -85.0, -60.0]);
        relative_to_loudest(&mut levels);
        assert_eq!(levels, [0.0, -80.0, -55.0]);
    }
}
