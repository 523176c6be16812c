//! Lowers the sample rate by a whole factor, without delay, for analyses that need only the low frequencies.

use std::borrow::Cow;
use std::f64::consts::PI;

use rayon::prelude::*;

use super::dot::dot;
use crate::base::error::Result;
use crate::base::job::JobContext;

/// What is left of frequencies that would fold back into the passband: -100 dB.
const KAISER_BETA: f64 = 10.06;
/// Taps times transition width (in cycles per sample) of a Kaiser window with that attenuation.
const TAPS_TIMES_WIDTH: f64 = 6.4;

/// A signal at a lower rate. Its sample `lead + k` is centred on sample `k * factor` of the original.
pub(super) struct Decimated<'a> {
    /// The samples, with the filter's tails before and after the original signal.
    pub(super) samples: Cow<'a, [f32]>,
    /// How many samples lie before the original's first.
    pub(super) lead: usize,
    /// How many original samples there are for each.
    pub(super) factor: usize,
}

impl Decimated<'_> {
    /// Index of the sample at the place of sample `original` of the original, which must be a multiple of the factor.
    pub(super) fn index_of(&self, original: usize) -> usize {
        self.lead + original / self.factor
    }
}

/// The largest factor up to `limit` (a power of two) for which all multiples of `hop` fall on samples.
pub(super) fn factor_for_hop(hop: usize, limit: usize) -> usize {
    (1 << hop.trailing_zeros()).min(limit)
}

/// Keeps every `factor`-th sample of the signal after removing what would fold back. Frequencies up to `passband` (cycles per
/// original sample) are unchanged.
pub(super) fn decimate<'a>(
    ctx: &JobContext,
    samples: &'a [f32],
    factor: usize,
    passband: f64,
) -> Result<Decimated<'a>> {
    if factor == 1 {
        return Ok(Decimated { samples: Cow::Borrowed(samples), lead: 0, factor });
    }
    let taps = lowpass(passband, 1.0 / factor as f64 - passband);
    let reach = taps.len() / 2;
    let lead = reach.div_ceil(factor);
    let mut out = vec![0.0; samples.len().div_ceil(factor) + 2 * lead];
    const BLOCK: usize = 4096;
    out.par_chunks_mut(BLOCK).enumerate().try_for_each(|(block, out)| {
        ctx.check()?;
        for (offset, out) in out.iter_mut().enumerate() {
            // First sample under the taps, counted from `reach + lead * factor` before the signal.
            let from = (block * BLOCK + offset) * factor;
            let before = lead * factor + reach;
            let skipped = before.saturating_sub(from).min(taps.len());
            let start = (from + skipped).saturating_sub(before).min(samples.len());
            let end = (from + taps.len()).saturating_sub(before).clamp(start, samples.len());
            *out = dot(&samples[start..end], &taps[skipped..skipped + end - start]);
        }
        Ok(())
    })?;
    Ok(Decimated { samples: Cow::Owned(out), lead, factor })
}

/// Symmetric low-pass filter of unit gain: passes up to `pass`, stops from `stop` (cycles per sample).
fn lowpass(pass: f64, stop: f64) -> Vec<f32> {
    let reach = (TAPS_TIMES_WIDTH / (stop - pass) / 2.0).ceil() as i64;
    let cutoff = (pass + stop) / 2.0;
    let taps: Vec<f64> = (-reach..=reach)
        .map(|n| {
            let x = n as f64;
            let sinc = if n == 0 { 2.0 * cutoff } else { (2.0 * PI * cutoff * x).sin() / (PI * x) };
            sinc * bessel_i0(KAISER_BETA * (1.0 - (x / (reach as f64 + 1.0)).powi(2)).sqrt())
        })
        .collect();
    let gain: f64 = taps.iter().sum();
    taps.iter().map(|tap| (tap / gain) as f32).collect()
}

/// Modified Bessel function of the first kind, order zero, by its power series.
fn bessel_i0(x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..60 {
        term *= quarter / f64::from(k * k);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    fn tone(cycles_per_sample: f64) -> Vec<f32> {
        (0..4000).map(|n| (TAU * cycles_per_sample * f64::from(n)).cos() as f32).collect()
    }

    #[test]
    fn tones_in_the_passband_keep_value_and_place_and_others_vanish() {
        let passband = 2000.0 / 22_050.0;
        for hz in [0.0, 300.0, 1990.0] {
            let original = tone(hz / 22_050.0);
            let low = decimate(&JobContext::new(), &original, 4, passband).unwrap();
            for n in (200..3800).step_by(4) {
                assert!((low.samples[low.index_of(n)] - original[n]).abs() < 5e-5, "{hz} Hz at {n}");
            }
        }
        for hz in [3600.0, 5512.5, 10_000.0] {
            let original = tone(hz / 22_050.0);
            let low = decimate(&JobContext::new(), &original, 4, passband).unwrap();
            let inside = &low.samples[low.index_of(200)..low.index_of(3800)];
            assert!(inside.iter().all(|s| s.abs() < 5e-5), "{hz} Hz");
        }
    }

    #[test]
    fn the_tails_beyond_both_ends_are_kept() {
        let low = decimate(&JobContext::new(), &[0.0, 0.0, 1.0], 4, 0.09).unwrap();
        let sum: f32 = low.samples.iter().sum();
        assert!((sum * 4.0 - 1.0).abs() < 1e-3, "an impulse keeps its area: {sum}");
        assert!(low.samples[..low.lead].iter().any(|s| s.abs() > 1e-3));
    }

    #[test]
    fn the_factor_divides_the_hop() {
        assert_eq!([1024, 100, 1001, 2].map(|hop| factor_for_hop(hop, 8)), [8, 4, 1, 2]);
    }
}
