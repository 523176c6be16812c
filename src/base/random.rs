//! Repeatable random numbers: a small generator that is started anew for every epoch, piece and slice, so that what is
//! drawn for one depends on nothing but the seed and its place, whatever was drawn before.

/// SplitMix64.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// A generator of its own for each seed and place.
    pub fn at(seed: u64, place: &[u64]) -> Self {
        let mut random = Self { state: seed };
        for &part in place {
            random.state = random.next().wrapping_add(part.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform from 0 (included) to 1 (excluded).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform between two numbers.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Puts the items into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = ((self.unit() * (last + 1) as f64) as usize).min(last);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_draws_its_own_numbers_and_always_the_same() {
        let draw = |seed, place: &[u64]| Random::at(seed, place).unit();
        assert_eq!(draw(1, &[2, 3]), draw(1, &[2, 3]));
        let others = [draw(1, &[2, 3]), draw(1, &[3, 2]), draw(2, &[2, 3]), draw(1, &[2]), draw(1, &[2, 4])];
        for (i, a) in others.iter().enumerate() {
            assert!(others[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn a_shuffle_keeps_every_item_and_reaches_every_order() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let mut items = [1, 2, 3];
            Random::at(seed, &[]).shuffle(&mut items);
            seen.insert(items);
        }
        assert_eq!(seen.len(), 6);
    }
}
