//! How far the curve may well be off, as a band around it.

use crate::app::document::view_model::{PlacedOnset, Solution};

/// Confidence below which nothing can be said of how far off an onset is.
const LEAST_CONFIDENCE: f64 = 0.05;
/// A confidence is the chance to be this near.
const NEAR_S: f64 = 0.05;
/// No onset is drawn as if it were farther off than this.
const MOST_SPREAD_S: f64 = 1.0;

/// How far an onset may well be off: twice the mean error if errors fall off exponentially and `confidence` is the chance
/// to be near.
pub fn spread_s(confidence: f64) -> f64 {
    let missed = (1.0 - confidence).clamp(1e-6, 1.0 - LEAST_CONFIDENCE);
    (2.0 * NEAR_S / -missed.ln()).min(MOST_SPREAD_S)
}

/// The onsets that matter between two times: those whose spread reaches in, and one neighbour on either side, so that nothing
/// is left out however close the look.
pub fn onsets_around(solution: &Solution, from_s: f64, to_s: f64) -> &[PlacedOnset] {
    let onsets = &solution.onsets;
    let first = onsets.partition_point(|onset| onset.performance_s < from_s - MOST_SPREAD_S);
    let last = onsets.partition_point(|onset| onset.performance_s <= to_s + MOST_SPREAD_S);
    &onsets[first.saturating_sub(1).min(last)..(last + 1).min(onsets.len())]
}

/// Lowest and highest score time that the curve may well have at each of `times`, which are in order.
///
/// The curve never runs backwards: an onset cannot be later than the latest place of one that follows, nor earlier than the
/// earliest place of one before. So both edges rise, and sure onsets narrow the band around unsure neighbours.
pub fn band(onsets: &[PlacedOnset], times: &[f64]) -> Vec<(f64, f64)> {
    if onsets.is_empty() {
        return Vec::new();
    }
    let spread = |onset: &PlacedOnset| spread_s(onset.confidence);
    let mut early: Vec<f64> = onsets.iter().map(|onset| onset.performance_s - spread(onset)).collect();
    let mut late: Vec<f64> = onsets.iter().map(|onset| onset.performance_s + spread(onset)).collect();
    for index in 1..onsets.len() {
        early[index] = early[index].max(early[index - 1]);
    }
    for index in (0..onsets.len() - 1).rev() {
        late[index] = late[index].min(late[index + 1]);
    }
    times.iter().map(|&time| (score_at(onsets, &late, time), score_at(onsets, &early, time))).collect()
}

/// The score time at which an edge, given at the onsets, reaches a time.
fn score_at(onsets: &[PlacedOnset], edge: &[f64], time: f64) -> f64 {
    let after = edge.partition_point(|&place| place < time);
    match (after.checked_sub(1), onsets.get(after)) {
        (None, _) => onsets[0].score_s,
        (Some(before), None) => onsets[before].score_s,
        (Some(before), Some(next)) => {
            let share = (time - edge[before]) / (edge[after] - edge[before]).max(1e-12);
            onsets[before].score_s + share * (next.score_s - onsets[before].score_s)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn onsets() -> Vec<PlacedOnset> {
        let confidences = [0.99, 0.1, 0.95, 0.3, 0.99, 0.02, 0.9, 0.99];
        let onset = |(index, confidence)| PlacedOnset {
            score_s: index as f64 * 0.4,
            performance_s: 1.0 + index as f64 * 0.5,
            confidence,
        };
        confidences.into_iter().enumerate().map(onset).collect()
    }

    #[test]
    fn the_band_holds_the_curve_and_its_edges_rise_without_gaps() {
        let onsets = onsets();
        let times: Vec<f64> = (0..=350).map(|step| 1.0 + 0.01 * f64::from(step)).collect();
        let band = band(&onsets, &times);
        assert_eq!(band.len(), times.len(), "there is a value at every time");
        for ((low, high), time) in band.iter().zip(&times) {
            let curve = (time - 1.0) / 0.5 * 0.4;
            assert!(*low <= curve + 1e-9 && curve <= *high + 1e-9, "{low} {curve} {high} at {time}");
        }
        for pair in band.windows(2) {
            assert!(pair[0].0 <= pair[1].0 + 1e-9 && pair[0].1 <= pair[1].1 + 1e-9, "a jag: {pair:?}");
        }
    }

    #[test]
    fn between_two_onsets_there_is_a_band_too() {
        let times: Vec<f64> = (0..20).map(|step| 1.6 + 0.001 * f64::from(step)).collect();
        assert!(band(&onsets(), &times).iter().all(|(low, high)| high > low));
    }

    #[test]
    fn the_less_sure_the_wider() {
        assert!(spread_s(0.9) < spread_s(0.5) && spread_s(0.5) < spread_s(0.1));
        assert_eq!(spread_s(0.0), MOST_SPREAD_S);
    }
}
