//! From values to places, and ticks at round values.

/// A linear axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// Values at the two ends.
    pub values: (f64, f64),
    /// Places of the two ends.
    pub places: (f64, f64),
}

impl Axis {
    /// Place of a value, also beyond the ends.
    pub fn place(&self, value: f64) -> f64 {
        let span = self.values.1 - self.values.0;
        let share = if span == 0.0 { 0.5 } else { (value - self.values.0) / span };
        self.places.0 + share * (self.places.1 - self.places.0)
    }

    /// Place of a value, kept between the ends.
    pub fn place_within(&self, value: f64) -> f64 {
        self.place(value.clamp(self.values.0, self.values.1.max(self.values.0)))
    }

    /// Round values at least `spacing` apart on the page.
    pub fn ticks(&self, spacing: f64, steps: Steps) -> Vec<f64> {
        let span = self.values.1 - self.values.0;
        let room = ((self.places.1 - self.places.0).abs() / spacing).max(1.0);
        if !(span > 0.0 && span.is_finite()) {
            return vec![self.values.0];
        }
        let step = steps.at_least(span / room);
        let first = (self.values.0 / step - 1e-9).ceil();
        let count = ((self.values.1 / step + 1e-9).floor() - first).max(-1.0) as usize;
        (0..=count)
            .map(|index| (first + index as f64) * step)
            .filter(|tick| *tick <= self.values.1 + 1e-9 * step)
            .collect()
    }
}

/// Which steps between ticks are round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// 1, 2, 5, 10, 20 …
    Decimal,
    /// Those up to 10, then 15 s, 30 s, minutes and hours.
    Time,
}

impl Steps {
    fn at_least(self, least: f64) -> f64 {
        const TIMES: [f64; 12] =
            [15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 18_000.0, 36_000.0];
        if self == Self::Time && least > 10.0 {
            return TIMES.into_iter().find(|&step| step >= least).unwrap_or_else(|| decimal_step(least));
        }
        decimal_step(least)
    }
}

fn decimal_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|&step| step >= least * (1.0 - 1e-9))
        .unwrap_or(least)
}

/// A time as 0:00, with decimals if ticks are closer than a second.
pub fn time_label(seconds: f64, step: f64) -> String {
    let sign = if seconds < -1e-9 { "\u{2212}" } else { "" };
    let seconds = seconds.abs();
    let decimals = if step >= 0.999 { 0 } else { (-step.log10()).ceil().clamp(1.0, 3.0) as usize };
    let unit = 10f64.powi(decimals as i32);
    // Rounded before it is split, so that 59.99 does not become 0:60.
    let rounded = (seconds * unit).round() / unit;
    let (minutes, rest) = ((rounded / 60.0 + 1e-9).floor(), rounded);
    let rest = (rest - minutes * 60.0).max(0.0);
    let width = if decimals == 0 { 2 } else { 3 + decimals };
    format!("{sign}{minutes:.0}:{rest:0width$.decimals$}")
}

/// A number with as many decimals as ticks of this step need.
pub fn number_label(value: f64, step: f64) -> String {
    let decimals = if step >= 0.999 { 0 } else { (-step.log10()).ceil().clamp(1.0, 6.0) as usize };
    format!("{value:.decimals$}").replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_keep_their_distance() {
        let axis = Axis { values: (3.0, 97.0), places: (0.0, 500.0) };
        assert_eq!(axis.ticks(100.0, Steps::Decimal), [20.0, 40.0, 60.0, 80.0]);
        assert_eq!(axis.ticks(100.0, Steps::Time), [30.0, 60.0, 90.0]);
        let long = Axis { values: (0.0, 3000.0), places: (0.0, 1000.0) };
        assert_eq!(long.ticks(100.0, Steps::Time).len(), 11);
        assert_eq!(Axis { values: (2.0, 2.0), places: (0.0, 9.0) }.ticks(10.0, Steps::Time), [2.0]);
    }

    #[test]
    fn labels_carry_as_many_decimals_as_the_step_needs() {
        assert_eq!((time_label(75.0, 15.0).as_str(), time_label(5.5, 0.5).as_str()), ("1:15", "0:05.5"));
        assert_eq!((time_label(59.999, 1.0).as_str(), time_label(-2.0, 1.0).as_str()), ("1:00", "\u{2212}0:02"));
        assert_eq!((number_label(-20.0, 20.0).as_str(), number_label(0.25, 0.05).as_str()), ("\u{2212}20", "0.25"));
    }
}
