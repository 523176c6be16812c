//! What a tone is expected to sound like: its partials and how it dies away.

/// Partials in semitones above the fundamental, each [`PARTIAL_RATIO`] of the one before.
pub(super) const PARTIAL_SEMITONES: [usize; 8] = [0, 12, 19, 24, 28, 31, 34, 36];
pub(super) const PARTIAL_RATIO: f32 = 0.8;

/// Decay of middle C while held; two octaves higher it is half as long.
const HELD_DECAY_S: f64 = 0.8;
/// Decay after the key is released. Longer than a damper's, because the pedal may be down.
const RELEASED_DECAY_S: f64 = 0.25;
/// A tone counts until it has fallen to this.
pub(super) const INAUDIBLE: f64 = 0.02;

/// Bands of a pitch's partials with their amplitudes, as far as they lie within `bands`.
pub(super) fn partials(band: usize, bands: usize) -> impl Iterator<Item = (usize, f32)> {
    let all = PARTIAL_SEMITONES.into_iter().enumerate();
    all.map(move |(h, semitones)| (band + semitones, PARTIAL_RATIO.powi(h as i32)))
        .filter(move |(band, _)| *band < bands)
}

/// Seconds in which a held tone falls by the factor e.
pub(super) fn held_decay_s(pitch: u8) -> f64 {
    HELD_DECAY_S * 2f64.powf((60.0 - f64::from(pitch)) / 24.0)
}

/// The level of a tone `since` seconds after its onset and `released` seconds after its end (zero while held).
pub(super) fn level(held_decay_s: f64, since: f64, released: f64) -> f64 {
    (-(since - released) / held_decay_s - released / RELEASED_DECAY_S).exp()
}
