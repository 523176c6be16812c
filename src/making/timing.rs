//! The tempo of a performance: phrases that arch, slow down and breathe, a drift, uneven beats, agogic accents.

use super::excerpt::{Excerpt, TICKS_PER_BEAT};
use crate::base::random::Random;

/// Ticks between two points at which the time is computed.
const STEP: u32 = 60;
/// Seconds between onsets: a quarter of them may be no closer than the first, their mean no longer than the second.
const BUSIEST_S: f64 = 0.06;
const CALMEST_S: f64 = 1.1;
/// No tempo is so many times slower than the score's own.
const SLOWEST: f64 = 2.2;
/// Phrases in bars.
const PHRASES: [u32; 8] = [1, 2, 2, 3, 4, 4, 4, 8];

/// When each tick is played, in seconds from the first.
pub(super) struct Timing {
    seconds: Vec<f64>,
    /// Where phrases begin, in ticks; the first is 0.
    pub phrases: Vec<u32>,
}

/// How free the tempo of a piece is.
struct Freedom {
    arch: f64,
    ritardando: f64,
    drift: f64,
    beats: f64,
    accents: f64,
    breaths: f64,
}

impl Freedom {
    fn draw(random: &mut Random) -> Self {
        // Some play like a metronome, some very freely.
        let all = match random.unit() {
            strict if strict < 0.1 => 0.1,
            free if free > 0.85 => 1.6,
            _ => 1.0,
        };
        Self {
            arch: all * random.between(0.0, 0.28),
            ritardando: all * random.between(0.0, 0.5),
            drift: all * random.between(0.01, 0.11),
            beats: all * random.between(0.004, 0.06),
            accents: random.between(0.0, 0.25),
            breaths: random.between(0.0, 0.45),
        }
    }
}

impl Timing {
    /// A tempo for an excerpt; the mean is between half and twice the score's own, or as fast as hands are if it `is_brilliant`.
    pub fn draw(random: &mut Random, excerpt: &Excerpt, is_brilliant: bool) -> Self {
        let end = excerpt.notes.iter().map(|note| note.end_tick).max().unwrap_or(0) + u32::from(TICKS_PER_BEAT);
        let points = (end / STEP) as usize + 2;
        let freedom = Freedom::draw(random);
        let phrases = draw_phrases(random, excerpt, end);
        let usual = (0.28 * random.normal()).exp().clamp(0.5, 1.9);
        let fastest = random.between(BUSIEST_S, 0.15);
        let rate = if is_brilliant { brilliant_rate(excerpt, fastest) } else { usual };
        let rate = rate_within_limits(excerpt, rate);
        let mut slowness = vec![0.0; points];
        add_phrases(random, &phrases, end, &freedom, &mut slowness);
        add_drift(random, freedom.drift, &mut slowness);
        add_beats(random, excerpt, &freedom, &mut slowness);
        let pauses = draw_pauses(random, &phrases, &freedom);
        let mut seconds = Vec::with_capacity(points);
        let mut now = 0.0;
        for (point, slow) in slowness.iter().enumerate() {
            let tick = point as u32 * STEP;
            let pause = pauses.iter().find(|(at, _)| tick.abs_diff(*at) < STEP / 2 || tick == *at);
            now += pause.map_or(0.0, |(_, length)| *length);
            seconds.push(now);
            now += rate * slow.exp() * (excerpt.second(tick + STEP) - excerpt.second(tick));
        }
        Self { seconds, phrases }
    }

    /// When a tick is played.
    pub fn at(&self, tick: u32) -> f64 {
        let point = ((tick / STEP) as usize).min(self.seconds.len() - 2);
        let share = f64::from(tick) / f64::from(STEP) - point as f64;
        self.seconds[point] + share * (self.seconds[point + 1] - self.seconds[point])
    }
}

/// Seconds from each onset to the next at the score's own tempo, the shortest first.
fn gaps(excerpt: &Excerpt) -> Vec<f64> {
    let chords = excerpt.chords();
    let seconds = |place: usize| excerpt.second(excerpt.notes[chords[place].start].tick);
    let mut gaps: Vec<f64> = (1..chords.len()).map(|place| seconds(place) - seconds(place - 1)).collect();
    gaps.sort_by(f64::total_cmp);
    gaps
}

/// The rate at which a quarter of the onsets follow each other within `fastest` seconds; never slower than the score.
fn brilliant_rate(excerpt: &Excerpt, fastest: f64) -> f64 {
    let gaps = gaps(excerpt);
    gaps.get(gaps.len() / 4).map_or(1.0, |gap| (fastest / gap.max(1e-3)).clamp(0.3, 1.0))
}

/// Keeps a tempo from being absurd for what is written: the score's own may already be at the edge.
fn rate_within_limits(excerpt: &Excerpt, rate: f64) -> f64 {
    let gaps = gaps(excerpt);
    if gaps.is_empty() {
        return rate;
    }
    let (fast, mean) = (gaps[gaps.len() / 4], gaps.iter().sum::<f64>() / gaps.len() as f64);
    rate.min(CALMEST_S / mean.max(1e-3)).max((BUSIEST_S / fast.max(1e-3)).min(SLOWEST))
}

fn draw_phrases(random: &mut Random, excerpt: &Excerpt, end: u32) -> Vec<u32> {
    let bar = excerpt.bar_ticks();
    let usual = PHRASES[random.below(PHRASES.len())];
    let mut phrases = vec![0];
    let mut next = 0;
    while next < end {
        let bars = if random.chance(0.7) { usual } else { PHRASES[random.below(PHRASES.len())] };
        next += bars * bar;
        phrases.push(next);
    }
    phrases
}

/// Slow at the beginning of a phrase, faster in the middle, slower again to the end.
fn add_phrases(random: &mut Random, phrases: &[u32], end: u32, freedom: &Freedom, slowness: &mut [f64]) {
    for pair in phrases.windows(2) {
        let (from, to) = (pair[0], pair[1].min(end));
        let depth = freedom.arch * random.between(0.4, 1.4);
        let ritardando = if random.chance(0.55) { freedom.ritardando * random.between(0.3, 1.0) } else { 0.0 };
        let reach = random.between(1.0, 3.0) * f64::from(TICKS_PER_BEAT) / f64::from(pair[1] - from).max(1.0);
        for point in (from / STEP) as usize..=((to / STEP) as usize).min(slowness.len() - 1) {
            let x = (f64::from(point as u32 * STEP) - f64::from(from)) / f64::from(pair[1] - from);
            let bend = (2.0 * x - 1.0).powi(2);
            slowness[point] += depth * (if x > 0.5 { bend } else { 0.6 * bend } - 0.3);
            slowness[point] += ritardando * ((x - 1.0 + reach) / reach).clamp(0.0, 1.0).powi(2);
        }
    }
}

/// A tempo that wanders over some beats.
fn add_drift(random: &mut Random, depth: f64, slowness: &mut [f64]) {
    let span = (random.between(4.0, 14.0) * f64::from(TICKS_PER_BEAT) / f64::from(STEP)) as usize;
    let knots: Vec<f64> = (0..slowness.len() / span + 2).map(|_| depth * random.normal()).collect();
    for (point, slow) in slowness.iter_mut().enumerate() {
        let (knot, share) = (point / span, (point % span) as f64 / span as f64);
        *slow += knots[knot] + share * (knots[knot + 1] - knots[knot]);
    }
}

/// Beats are never equally long, and some first beats of bars are leaned on.
fn add_beats(random: &mut Random, excerpt: &Excerpt, freedom: &Freedom, slowness: &mut [f64]) {
    let beat_points = (u32::from(TICKS_PER_BEAT) / STEP) as usize;
    let bar_points = (excerpt.bar_ticks() / STEP).max(1) as usize;
    for beat in slowness.chunks_mut(beat_points) {
        let uneven = freedom.beats * random.normal();
        beat.iter_mut().for_each(|slow| *slow += uneven);
    }
    for bar in slowness.chunks_mut(bar_points) {
        if random.chance(freedom.accents) {
            let lean = random.between(0.05, 0.3);
            bar.iter_mut().take(beat_points / 2).for_each(|slow| *slow += lean);
        }
    }
}

/// Breaths before phrases, now and then a long one.
fn draw_pauses(random: &mut Random, phrases: &[u32], freedom: &Freedom) -> Vec<(u32, f64)> {
    let mut pauses = Vec::new();
    for &phrase in phrases.iter().skip(1) {
        if random.chance(freedom.breaths) {
            let long = random.chance(0.08);
            pauses.push((phrase, if long { random.between(0.5, 1.6) } else { random.between(0.03, 0.4) }));
        }
    }
    pauses
}
