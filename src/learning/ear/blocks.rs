//! The parts of a recording that have to be heard to place some chords: blocks of frames, and the keys that are asked for in each.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::levels::Levels;
use crate::networks::ear::{OUTPUTS, Scene};

/// Frames of a block that are used.
const USED: usize = 192;
/// Frames before and after them that are heard with them.
const CONTEXT: usize = 32;
/// Frames of a block.
const FRAMES: usize = USED + 2 * CONTEXT;
/// Odds below exp of this are none.
const LEAST_ODDS: f32 = -3.0;

/// For each block its keys.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    keys: BTreeMap<usize, BTreeSet<usize>>,
}

impl Blocks {
    /// A key that is asked for at some frames.
    pub fn voice(&mut self, key: usize, first: usize, last: usize) -> Voice {
        for block in first / USED..=last / USED {
            self.keys.entry(block).or_default().insert(key);
        }
        Voice { key, frames: first..last + 1, places: Vec::new() }
    }

    /// How many answers there will be.
    pub fn answers(&self) -> usize {
        self.keys.values().map(|keys| keys.len() * FRAMES * OUTPUTS).sum()
    }

    /// What is to be heard.
    pub fn scenes(&self, levels: &Levels) -> Vec<Scene> {
        let of_block = |(&block, keys): (&usize, &BTreeSet<usize>)| {
            let first = (block * USED) as isize - CONTEXT as isize;
            Scene { rows: levels.rows(first..first + FRAMES as isize), asked: keys.iter().copied().collect() }
        };
        self.keys.iter().map(of_block).collect()
    }

    /// Where the answers for a key begin in each block that has it.
    fn places(&self, key: usize) -> BTreeMap<usize, usize> {
        let (mut places, mut before) = (BTreeMap::new(), 0);
        for (&block, keys) in &self.keys {
            if keys.contains(&key) {
                places.insert(block, (before + keys.range(..key).count()) * FRAMES * OUTPUTS);
            }
            before += keys.len();
        }
        places
    }
}

/// A key at some frames, and where what is said of it will be found.
#[derive(Debug)]
pub(super) struct Voice {
    key: usize,
    frames: Range<usize>,
    /// First answer of each frame.
    places: Vec<usize>,
}

impl Voice {
    /// Finds the answers, the first of which will be number `first` among all.
    pub fn settle(&mut self, blocks: &Blocks, first: usize) {
        let places = blocks.places(self.key);
        let place = |frame: usize| {
            let start = places.get(&(frame / USED)).copied().unwrap_or_default();
            first + start + (CONTEXT + frame % USED) * OUTPUTS
        };
        self.places = self.frames.clone().map(place).collect();
    }

    /// Where the odds that the key begins at a frame are found among all answers.
    pub fn begins(&self, frame: usize) -> usize {
        self.places[frame - self.frames.start]
    }

    /// Where near a frame the key begins, and how much that counts; none if it does not.
    pub fn onset(&self, answers: &[f32], near: f64) -> Option<(f64, f64)> {
        let middle = near.round().max(0.0) as usize;
        let frames = (middle.saturating_sub(1)..=middle + 1).filter(|frame| self.frames.contains(frame));
        let best = frames.max_by(|&a, &b| answers[self.begins(a)].total_cmp(&answers[self.begins(b)]))?;
        let &[odds, _, _, offset, scale] = answers[self.begins(best)..].first_chunk::<OUTPUTS>()?;
        let weight = 1.0 / ((1.0 + f64::from(-odds).exp()) * f64::from(scale.clamp(-4.0, 2.0)).exp());
        (odds > LEAST_ODDS).then_some((best as f64 + f64::from(offset.clamp(-2.0, 2.0)), weight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_voice_finds_its_answers_across_blocks() {
        let mut blocks = Blocks::default();
        let mut voices = [blocks.voice(40, 185, 200), blocks.voice(7, 190, 191), blocks.voice(50, 400, 401)];
        voices.iter_mut().for_each(|voice| voice.settle(&blocks, 1000));
        // Block 0 has keys 7 and 40, block 1 has key 40, block 2 key 50.
        let at = |row: usize, frame: usize| 1000 + (row * FRAMES + CONTEXT + frame) * OUTPUTS;
        assert_eq!((voices[0].begins(185), voices[0].begins(192)), (at(1, 185), at(2, 0)));
        assert_eq!((voices[1].begins(190), voices[2].begins(401)), (at(0, 190), at(3, 17)));
        assert_eq!(blocks.answers(), 4 * FRAMES * OUTPUTS);
    }

    #[test]
    fn an_onset_is_where_the_surest_frame_says_and_silence_has_none() {
        let mut blocks = Blocks::default();
        let mut voice = blocks.voice(40, 10, 20);
        voice.settle(&blocks, 0);
        let mut answers = vec![-9.0; blocks.answers()];
        assert_eq!(voice.onset(&answers, 15.0), None);
        let at = voice.begins(16);
        answers[at..at + OUTPUTS].copy_from_slice(&[2.0, 0.0, 0.0, -0.25, 0.0]);
        let (onset, weight) = voice.onset(&answers, 15.2).unwrap();
        assert!((onset - 15.75).abs() < 1e-9 && (weight - 1.0 / (1.0 + (-2.0_f64).exp())).abs() < 1e-9);
    }
}
