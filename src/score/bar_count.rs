//! Counting the bars of MIDI, which does not say how they are numbered.

use serde::{Deserialize, Serialize};

use super::types::Score;
use crate::base::error::{Error, Result};

/// How the bars of a MIDI score are counted.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct BarCount {
    /// The number of the first bar; `None`: 1, or 0 if it is a pickup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_bar: Option<u32>,
    /// How long a pickup is, in quarter notes; `None`: the first bar is a whole one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pickup_quarters: Option<f64>,
}

impl BarCount {
    /// Whether the bars are counted as the file says.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl Score {
    /// The score with its bars counted otherwise. Notation has numbers of its own.
    pub fn counting_bars(mut self, count: BarCount) -> Result<Self> {
        if count.is_usual() {
            return Ok(self);
        }
        if self.notation.manuscript.is_some() {
            let option = if count.first_bar.is_some() { "--first-bar" } else { "--pickup" };
            return Err(Error::misplaced(option, "a MIDI score", "a score that numbers its bars itself"));
        }
        let counted = self.meter.counted(count.first_bar, count.pickup_quarters);
        self.meter = counted.ok_or_else(|| {
            let quarters = count.pickup_quarters.unwrap_or_default();
            Error::invalid("--pickup", quarters, "a number of quarter notes, shorter than the first bar")
        })?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain_score;
    use super::*;

    fn bars(score: &Score) -> Vec<(u32, f64)> {
        score.notes.iter().map(|note| score.position(note)).map(|place| (place.bar, place.beat)).collect()
    }

    #[test]
    fn bars_are_counted_from_any_number_and_after_a_pickup() {
        // Two notes a second: bars of two seconds.
        let score = plain_score(&[(0.0, 0.5, 60), (0.5, 0.5, 62), (1.0, 0.5, 64), (2.5, 0.5, 65)]);
        let count = |first_bar, pickup_quarters| {
            Ok::<_, Error>(bars(&score.clone().counting_bars(BarCount { first_bar, pickup_quarters })?))
        };
        let plain = bars(&score);
        assert_eq!(count(None, None).unwrap(), plain);
        let from_ten: Vec<_> = plain.iter().map(|(bar, beat)| (bar + 9, *beat)).collect();
        assert_eq!(count(Some(10), None).unwrap(), from_ten);
        assert_eq!(count(None, Some(1.0)).unwrap(), [(0, 1.0), (1, 1.0), (1, 2.0), (2, 1.0)]);
        assert_eq!(count(Some(1), Some(1.0)).unwrap()[1], (2, 1.0));
        for wrong in [0.0, -1.0, 4.0, f64::NAN] {
            assert!(count(None, Some(wrong)).unwrap_err().to_string().contains("--pickup"), "{wrong}");
        }
    }
}
