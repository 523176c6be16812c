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

    /// Normally distributed with mean 0 and standard deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A whole number from 0 (included) to `count` (excluded); 0 if `count` is.
    pub fn below(&mut self, count: usize) -> usize {
        ((self.unit() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// A place in a list of weights, each with a probability in proportion to its weight.
    pub fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut left = self.unit() * weights.iter().sum::<f64>();
        for (place, weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return place;
            }
        }
        // Rounding may leave nothing: then it is the last one that can be drawn at all.
        weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
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
    fn normal_numbers_have_their_mean_and_spread_and_weights_their_shares() {
        let mut random = Random::at(3, &[]);
        let drawn: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / drawn.len() as f64;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
        let mut counts = [0; 3];
        (0..9000).for_each(|_| counts[random.weighted(&[1.0, 0.0, 2.0])] += 1);
        assert!(counts[1] == 0 && (2800..3200).contains(&counts[0]), "{counts:?}");
        assert!((0..100).all(|_| random.below(3) < 3) && random.below(0) == 0);
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
