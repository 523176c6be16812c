//! The only place that converts between samples, frames and seconds. (Ticks and beats: [`crate::score::TempoMap`].)

/// Times closer than this are the same moment of the score, whatever rounding made of them.
pub const SAME_MOMENT_S: f64 = 1e-6;

/// The rate at which all analysis is done, in Hz. Clips of other rates are resampled to it.
pub const ANALYSIS_RATE: u32 = 22_050;

/// Time of a sample.
pub fn samples_to_seconds(samples: usize, rate: u32) -> f64 {
    samples as f64 / f64::from(rate)
}

/// The sample nearest to a time; times before zero give sample 0.
pub fn seconds_to_samples(seconds: f64, rate: u32) -> usize {
    (seconds * f64::from(rate)).round().max(0.0) as usize
}

/// Time of the centre of a feature frame: frames are centred on multiples of the hop.
pub fn frame_to_seconds(frame: usize, hop: usize, rate: u32) -> f64 {
    frame as f64 * hop as f64 / f64::from(rate)
}

/// How many centred frames a clip has: one at sample 0, then one for each full hop.
pub fn frame_count(samples: usize, hop: usize) -> usize {
    if samples == 0 { 0 } else { samples / hop + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_round_trip_through_seconds() {
        for sample in [0, 1, 511, 22_050, 79_380_000] {
            assert_eq!(seconds_to_samples(samples_to_seconds(sample, ANALYSIS_RATE), ANALYSIS_RATE), sample);
        }
        assert_eq!(seconds_to_samples(-0.1, ANALYSIS_RATE), 0);
    }

    #[test]
    fn frames_are_centred_on_multiples_of_the_hop_as_librosa_does() {
        assert_eq!(frame_count(0, 1024), 0);
        assert_eq!(frame_count(1, 1024), 1);
        assert_eq!(frame_count(1023, 1024), 1);
        assert_eq!(frame_count(1024, 1024), 2);
        assert_eq!(frame_to_seconds(2, 1024, 22_050), 2048.0 / 22_050.0);
    }
}
