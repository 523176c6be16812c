//! Clicks that lead into the music before it plays.

use super::engine::click_sound;

/// A bar that is counted before the music begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CountIn {
    beats: u32,
    beat_s: f64,
    /// Samples of the output that have sounded.
    sounded: u64,
}

impl CountIn {
    /// So many beats, each so long as it is heard.
    pub fn new(beats: u32, beat_s: f64) -> Self {
        Self { beats, beat_s: beat_s.clamp(0.05, 5.0), sounded: 0 }
    }

    /// Fills what it takes of a buffer and says how much that is.
    pub fn fill(&mut self, out: &mut [[f32; 2]], rate: u32) -> usize {
        let rate = f64::from(rate);
        for (index, frame) in out.iter_mut().enumerate() {
            let at = self.sounded as f64 / rate;
            let beat = (at / self.beat_s).floor();
            if beat >= f64::from(self.beats) {
                return index;
            }
            *frame = [click_sound(at - beat * self.beat_s, beat == 0.0); 2];
            self.sounded += 1;
        }
        out.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_beat_clicks_and_then_the_music_begins() {
        let mut count = CountIn::new(3, 0.5);
        let mut out = vec![[0.0; 2]; 20_000];
        assert_eq!(count.fill(&mut out[..7000], 10_000), 7000);
        let rest = count.fill(&mut out[7000..], 10_000);
        assert_eq!(rest, 8000, "a second and a half in all");
        for beat in 0..3 {
            let begins = beat * 5000;
            assert!(out[begins..begins + 100].iter().any(|frame| frame[0].abs() > 0.05), "{beat}");
            assert!(out[begins + 1000..begins + 4990].iter().all(|frame| frame[0] == 0.0), "{beat}");
        }
    }
}
