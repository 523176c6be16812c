use proptest::prelude::*;

use super::*;

fn map(changes: &[(u64, u32)]) -> TempoMap {
    let changes: Vec<_> =
        changes.iter().map(|&(tick, micros_per_beat)| TempoChange { tick, micros_per_beat }).collect();
    TempoMap::new(Division::PerBeat(480), &changes).unwrap()
}

#[test]
fn a_file_without_tempo_plays_at_120() {
    let map = map(&[]);
    assert_eq!(map.tick_to_seconds(960.0), 1.0);
    assert_eq!(map.seconds_to_beat(1.0), 2.0);
    assert_eq!(map.changes().count(), 1);
}

#[test]
fn the_tempo_before_the_first_change_is_120_and_the_last_of_several_at_one_tick_wins() {
    let map = map(&[(480, 250_000), (480, 1_000_000)]);
    assert_eq!(map.tick_to_seconds(480.0), 0.5);
    assert_eq!(map.tick_to_seconds(960.0), 1.5);
    assert_eq!(map.beat_to_seconds(1.5), 1.0);
}

#[test]
fn times_before_zero_and_beyond_the_last_change_go_on_straight() {
    let map = map(&[(0, 1_000_000), (480, 500_000)]);
    assert_eq!(map.tick_to_seconds(-480.0), -1.0);
    assert_eq!(map.seconds_to_tick(-1.0), -480.0);
    assert_eq!(map.seconds_to_tick(11.0), 480.0 * 21.0);
}

#[test]
fn a_division_of_nothing_is_refused() {
    assert!(TempoMap::new(Division::PerBeat(0), &[]).is_err());
    assert!(TempoMap::new(Division::PerSecond(f64::NAN), &[]).is_err());
}

/// Sums tick by tick: the definition, without any of the map's shortcuts.
fn seconds_by_counting(changes: &[(u64, u32)], tick: u64) -> f64 {
    let tempo_at = |at: u64| {
        let latest = changes.iter().filter(|c| c.0 <= at).map(|c| c.0).max();
        let micros = latest.and_then(|l| changes.iter().rfind(|c| c.0 == l)).map_or(DEFAULT_MICROS_PER_BEAT, |c| c.1);
        f64::from(micros)
    };
    (0..tick).map(|at| tempo_at(at) / 480e6).sum()
}

proptest! {
    #[test]
    fn seconds_agree_with_counting_tick_by_tick(
        changes in proptest::collection::vec((0u64..3000, 100_000u32..2_000_000), 0..6),
        tick in 0u64..4000,
    ) {
        let expected = seconds_by_counting(&changes, tick);
        prop_assert!((map(&changes).tick_to_seconds(tick as f64) - expected).abs() < 1e-9);
    }

    #[test]
    fn every_conversion_is_undone_by_its_inverse(
        changes in proptest::collection::vec((0u64..100_000, 20_000u32..16_000_000), 0..20),
        tick in -1000.0f64..200_000.0,
        smpte in any::<bool>(),
    ) {
        let division = if smpte { Division::PerSecond(1000.0) } else { Division::PerBeat(480) };
        let changes: Vec<_> =
            changes.iter().map(|&(tick, micros_per_beat)| TempoChange { tick, micros_per_beat }).collect();
        let map = TempoMap::new(division, &changes).unwrap();
        prop_assert!((map.seconds_to_tick(map.tick_to_seconds(tick)) - tick).abs() < 1e-5);
        prop_assert!((map.beat_to_tick(map.tick_to_beat(tick)) - tick).abs() < 1e-5);
        prop_assert!(map.tick_to_seconds(tick + 1.0) > map.tick_to_seconds(tick));
        let beat = map.tick_to_beat(tick);
        prop_assert!((map.seconds_to_beat(map.beat_to_seconds(beat)) - beat).abs() < 1e-6);
    }
}
