//! From the path to the exact time of each chord.

use super::chord::Chord;
use super::evidence::Evidence;
use super::params::OnsetParams;
use super::pattern;
use super::voices::vertex;

/// Moves each onset to the best place near by, in order: the path was chosen by what tells chords apart, the place is chosen by
/// what is sharp in time.
pub(super) fn refine_times(
    evidence: &Evidence,
    chords: &[Chord],
    fixed: &[(usize, f64)],
    params: &OnsetParams,
    times: &mut [f64],
) {
    let step = Evidence::step_s();
    let last = evidence.frames() - 1;
    let grid = times.to_vec();
    let patterns = pattern::of_chords(chords, &grid, &params.local());
    for (index, pattern) in patterns.iter().enumerate() {
        if fixed.iter().any(|&(knot, _)| knot == index) || pattern.bands.is_empty() {
            continue;
        }
        let at = grid[index];
        let earlier = index.checked_sub(1).map_or(f64::INFINITY, |i| 0.5 * (at - grid[i])).min(params.local_reach_s);
        let later = grid.get(index + 1).map_or(f64::INFINITY, |t| 0.5 * (t - at)).min(params.local_reach_s);
        let value = |frame: usize| {
            let away = (frame as f64 * step - at) / 0.03;
            f64::from(evidence.at(frame, pattern)) - params.local_price * away * away
        };
        let here = ((at / step).round() as usize).min(last);
        let first = (((at - earlier) / step).ceil().max(0.0) as usize).min(here);
        let end = (((at + later) / step).floor().max(0.0) as usize).min(last).max(here);
        let best = (first..=end).fold(here, |best, frame| if value(frame) > value(best) { frame } else { best });
        times[index] = vertex(&value, best, 0, last) * step;
    }
    put_in_order(times, fixed);
}

/// The time of a chord is the median of its notes' onsets; never backwards, and through what is fixed.
pub(super) fn medians(
    chords: &[Chord],
    notes: &[(usize, f64)],
    fixed: &[(usize, f64)],
    mut times: Vec<f64>,
) -> Vec<f64> {
    let mut rest = notes;
    for (chord, time) in chords.iter().zip(&mut times) {
        let (own, others) = rest.split_at(chord.notes.len());
        rest = others;
        let mut onsets: Vec<f64> = own.iter().map(|note| note.1).collect();
        onsets.sort_by(f64::total_cmp);
        if let (Some(low), Some(high)) = (onsets.get((onsets.len().max(1) - 1) / 2), onsets.get(onsets.len() / 2)) {
            *time = 0.5 * (low + high);
        }
    }
    put_in_order(&mut times, fixed);
    times
}

/// Makes times go forward and pass through what is fixed.
fn put_in_order(times: &mut [f64], fixed: &[(usize, f64)]) {
    for index in 1..times.len() {
        times[index] = times[index].max(times[index - 1]);
    }
    for &(knot, time) in fixed {
        times[..knot].iter_mut().for_each(|t| *t = t.min(time));
        times[knot] = time;
        times[knot..].iter_mut().for_each(|t| *t = t.max(time));
    }
}
