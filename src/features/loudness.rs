//! What counts as loud in a recording, whatever share of it is silence.

/// Frames quieter than this share of the loudest one (-80 dB) are silence and do not count.
const SILENT_SHARE: f32 = 1e-4;

/// The level that `share` of the sounding frames stay below; at least `least`.
pub fn loud_level(levels: impl IntoIterator<Item = f32>, share: f64, least: f32) -> f32 {
    let mut sorted: Vec<f32> = levels.into_iter().collect();
    sorted.sort_by(f32::total_cmp);
    let loudest = sorted.last().copied().unwrap_or(0.0);
    let sounding = &sorted[sorted.partition_point(|&level| level <= SILENT_SHARE * loudest)..];
    let index = (share * sounding.len() as f64) as usize;
    sounding.get(index).copied().unwrap_or(loudest).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_does_not_count_however_long_it_is() {
        let music = || (1..=100u8).map(f32::from);
        assert_eq!(loud_level(music(), 0.9, 0.0), 91.0);
        let late = std::iter::repeat_n(0.0, 10_000).chain(music());
        assert_eq!(loud_level(late, 0.9, 0.0), 91.0);
        assert_eq!(loud_level([0.0; 5], 0.9, 1e-6), 1e-6);
        assert_eq!(loud_level([], 0.9, 1e-6), 1e-6);
    }
}
