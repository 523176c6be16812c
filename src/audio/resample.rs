//! Band-limited resampling of a stream of mono samples, with the filter's delay taken out exactly.

use rubato::audioadapter_buffers::direct::InterleavedSlice;
use rubato::{Fft, FixedSync, Indexing, Resampler};

use crate::base::error::{Error, Result};

/// Rates outside this range are absurd for a recording, and would make blocks or outputs of absurd size.
pub(super) const LEGAL_RATES: std::ops::RangeInclusive<u32> = 1_000..=1_000_000;

/// About how many output samples one block yields: long enough for a steep filter, short enough to stay in cache.
const BLOCK: usize = 2048;

/// Resamples mono samples that arrive in pieces of any length. Output sample `k` is the input at time `k / to`; the
/// output ends with the last sample whose time lies within the input.
pub(super) struct StreamResampler {
    from: u32,
    to: u32,
    /// `None` when the rates are equal.
    engine: Option<Engine>,
    taken: u64,
    given: u64,
}

struct Engine {
    fft: Fft<f32>,
    /// Input waiting for a full block.
    pending: Vec<f32>,
    block_in: usize,
    block: Vec<f32>,
    /// Output samples of the filter's delay still to be dropped.
    delay_left: usize,
}

impl StreamResampler {
    /// A resampler from rate `from` (within [`LEGAL_RATES`]) to rate `to`.
    pub(super) fn new(from: u32, to: u32) -> Result<Self> {
        if !LEGAL_RATES.contains(&from) {
            return Err(Error::invalid("sample rate", from, "between 1,000 and 1,000,000 Hz"));
        }
        let engine = if from == to { None } else { Some(Engine::new(from as usize, to as usize)?) };
        Ok(Self { from, to, engine, taken: 0, given: 0 })
    }

    /// Takes `input` and appends the output that is ready to `output`.
    pub(super) fn push(&mut self, input: &[f32], output: &mut Vec<f32>) -> Result<()> {
        let before = output.len();
        self.taken += input.len() as u64;
        match &mut self.engine {
            None => output.extend_from_slice(input),
            Some(engine) => engine.push(input, output)?,
        }
        self.given += (output.len() - before) as u64;
        Ok(())
    }

    /// Ends the stream: appends what the filter still holds, up to the end of the input.
    pub(super) fn finish(mut self, output: &mut Vec<f32>) -> Result<()> {
        let wanted = (self.taken * u64::from(self.to)).div_ceil(u64::from(self.from));
        let Some(engine) = &mut self.engine else { return Ok(()) };
        let zeros = vec![0.0; engine.block_in];
        while self.given < wanted {
            let before = output.len();
            engine.push(&zeros, output)?;
            self.given += (output.len() - before) as u64;
        }
        output.truncate(output.len() - (self.given - wanted) as usize);
        Ok(())
    }
}

impl Engine {
    fn new(from: usize, to: usize) -> Result<Self> {
        // Blocks of an even number of the smallest whole ratio: then the filter's centre falls on an input sample and
        // its delay is a whole number of output samples, so that it can be taken out exactly.
        let common = greatest_common_divisor(from, to);
        let ratios = BLOCK.div_ceil(to / common).next_multiple_of(2);
        let block_in = ratios * (from / common);
        let fft = Fft::new(from, to, block_in, 1, FixedSync::Both)
            .map_err(|e| Error::invalid("sample rate", from, e.to_string()))?;
        let delay_left = fft.output_delay();
        let block = vec![0.0; fft.output_frames_max()];
        Ok(Self { pending: Vec::with_capacity(block_in), block_in, block, delay_left, fft })
    }

    fn push(&mut self, mut input: &[f32], output: &mut Vec<f32>) -> Result<()> {
        while !input.is_empty() {
            let (now, later) = input.split_at(input.len().min(self.block_in - self.pending.len()));
            self.pending.extend_from_slice(now);
            input = later;
            if self.pending.len() == self.block_in {
                self.process_block(output)?;
            }
        }
        Ok(())
    }

    fn process_block(&mut self, output: &mut Vec<f32>) -> Result<()> {
        let failed = |e: &dyn std::fmt::Display| {
            Error::unsuitable("audio", format!("resampling failed: {e}"), "convert the file to 44.1 kHz")
        };
        let block_len = self.block.len();
        let source = InterleavedSlice::new(&self.pending, 1, self.block_in).map_err(|e| failed(&e))?;
        let mut target = InterleavedSlice::new_mut(&mut self.block, 1, block_len).map_err(|e| failed(&e))?;
        let (_, made) =
            self.fft.process_into_buffer(&source, &mut target, Some(&Indexing::new())).map_err(|e| failed(&e))?;
        self.pending.clear();
        let dropped = made.min(self.delay_left);
        self.delay_left -= dropped;
        output.extend_from_slice(&self.block[dropped..made]);
        Ok(())
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use proptest::prelude::*;

    use super::*;
    use crate::base::time::ANALYSIS_RATE;

    /// A burst of three tones under a smooth envelope, below every tested rate's band limit: the exact value at any
    /// time, so the oracle of band-limited interpolation.
    fn burst(t: f64) -> f64 {
        let envelope = (-((t - 0.3) / 0.06).powi(2)).exp();
        envelope * ((TAU * 100.0 * t).sin() + 0.5 * (TAU * 237.0 * t).cos() + 0.3 * (TAU * 340.0 * t).sin())
    }

    fn resampled(input: &[f32], from: u32, piece: usize) -> Vec<f32> {
        let mut resampler = StreamResampler::new(from, ANALYSIS_RATE).unwrap();
        let mut output = Vec::new();
        for piece in input.chunks(piece) {
            resampler.push(piece, &mut output).unwrap();
        }
        resampler.finish(&mut output).unwrap();
        output
    }

    #[test]
    fn output_sample_k_is_the_input_at_time_k_over_the_rate() {
        for from in
            [1_000, 8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000, 192_000, 44_099, 37_337]
        {
            let len = from as usize * 7 / 10;
            let input: Vec<f32> = (0..len).map(|k| burst(k as f64 / f64::from(from)) as f32).collect();
            let output = resampled(&input, from, 1152);
            assert_eq!(output.len(), (len as f64 * 22_050.0 / f64::from(from)).ceil() as usize, "length from {from}");
            // A delay of a hundredth of a sample would already show as 1e-3 here.
            for (k, &value) in output.iter().enumerate() {
                let wanted = burst(k as f64 / 22_050.0);
                assert!((f64::from(value) - wanted).abs() < 2e-4, "from {from}, sample {k}: {value} against {wanted}");
            }
        }
    }

    #[test]
    fn tones_above_the_new_band_limit_do_not_fold_back() {
        let input: Vec<f32> = (0..44_100).map(|k| (TAU * 15_000.0 * f64::from(k) / 44_100.0).sin() as f32).collect();
        let output = resampled(&input, 44_100, 4096);
        let middle = &output[4000..18_000];
        let loudest = middle.iter().fold(0.0f32, |peak, x| peak.max(x.abs()));
        assert!(loudest < 1e-4, "a 15 kHz tone leaves {loudest}");
    }

    #[test]
    fn absurd_rates_are_refused() {
        for rate in [0, 1, 999, 1_000_001, u32::MAX] {
            assert!(matches!(StreamResampler::new(rate, ANALYSIS_RATE), Err(Error::Invalid { .. })));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn the_pieces_in_which_samples_arrive_do_not_matter(
            len in 0usize..6000, piece in 1usize..3000, from in prop::sample::select(vec![8_000u32, 22_050, 44_100, 48_000]),
        ) {
            let input: Vec<f32> = (0..len).map(|k| ((k * k) as f32 * 0.001).sin()).collect();
            prop_assert_eq!(resampled(&input, from, piece), resampled(&input, from, len.max(1)));
        }
    }
}
