//! Slower without deeper: overlapping windows of the source, each moved a little so that waves meet in phase (WSOLA).

/// Samples of a window, 46 ms at 22,050 Hz: longer than a period of the lowest piano tones that matter.
const WINDOW: usize = 1024;
/// Samples that a step yields.
pub const STEP: usize = WINDOW / 2;
/// How far a window may be moved to meet the one before it in phase.
const REACH: i64 = 180;
/// Every which place is tried, and every which sample compared, in the first search.
const COARSE: usize = 4;

/// Makes the output step by step. The source is a function, so that what is heard can change at any time.
#[derive(Debug, Clone)]
pub struct Stretcher {
    /// Where the next window should begin in the source.
    place: f64,
    /// Where the last window went on, if nothing were stretched: what the next one should resemble.
    natural: Option<i64>,
    /// The second half of the last window, faded out.
    tail: Vec<[f32; 2]>,
    fade_in: Vec<f32>,
}

impl Stretcher {
    /// Begins at a sample of the source.
    pub fn new(place: f64) -> Self {
        let fade = |n: usize| (std::f32::consts::PI * (n as f32 + 0.5) / (2 * STEP) as f32).sin().powi(2);
        Self { place, natural: None, tail: vec![[0.0; 2]; STEP], fade_in: (0..STEP).map(fade).collect() }
    }

    /// Where the next step's output belongs in the source.
    pub fn place(&self) -> f64 {
        self.place
    }

    /// Appends [`STEP`] samples to `out`, having gone `STEP * speed` samples through the source.
    pub fn step(&mut self, speed: f64, source: &dyn Fn(i64) -> [f32; 2], out: &mut Vec<[f32; 2]>) {
        let target = self.place.round() as i64;
        self.place += STEP as f64 * speed;
        let Some(natural) = self.natural else {
            out.extend((0..STEP as i64).map(|n| source(target + n)));
            self.set_tail(target, source);
            return;
        };
        // At full speed the natural place is the target, and the copy is exact.
        let chosen = if natural == target { target } else { best_place(target, natural, source) };
        out.extend(self.tail.iter().zip(&self.fade_in).enumerate().map(|(n, (old, fade))| {
            let new = source(chosen + n as i64);
            [old[0] + fade * new[0], old[1] + fade * new[1]]
        }));
        self.set_tail(chosen, source);
    }

    fn set_tail(&mut self, begun: i64, source: &dyn Fn(i64) -> [f32; 2]) {
        let natural = begun + STEP as i64;
        self.natural = Some(natural);
        for (n, (tail, fade)) in self.tail.iter_mut().zip(&self.fade_in).enumerate() {
            let [left, right] = source(natural + n as i64);
            *tail = [(1.0 - fade) * left, (1.0 - fade) * right];
        }
    }
}

/// The place near `target` whose samples are most like those at `natural`.
fn best_place(target: i64, natural: i64, source: &dyn Fn(i64) -> [f32; 2]) -> i64 {
    let mono = |at: i64| {
        let [left, right] = source(at);
        left + right
    };
    let wanted: Vec<f32> = (0..STEP as i64).map(|n| mono(natural + n)).collect();
    let around: Vec<f32> = (-REACH..REACH + STEP as i64).map(|n| mono(target + n)).collect();
    let likeness = |offset: i64, stride: usize| {
        let candidate = &around[(offset + REACH) as usize..][..STEP];
        let (mut product, mut power) = (0.0f32, 1e-9f32);
        for (a, b) in wanted.iter().step_by(stride).zip(candidate.iter().step_by(stride)) {
            product += a * b;
            power += b * b;
        }
        product / power.sqrt()
    };
    let best = |offsets: &mut dyn Iterator<Item = i64>, stride: usize| {
        offsets.max_by(|&a, &b| likeness(a, stride).total_cmp(&likeness(b, stride))).unwrap_or(0)
    };
    let rough = best(&mut (-REACH..=REACH).step_by(COARSE), COARSE);
    let fine = best(&mut ((rough - 3).max(-REACH)..=(rough + 3).min(REACH)), 1);
    target + fine
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(frequency: f64) -> impl Fn(i64) -> [f32; 2] {
        move |n| {
            let value = (n as f64 / 22_050.0 * frequency * std::f64::consts::TAU).sin() as f32 * 0.5;
            [value, value]
        }
    }

    fn stretched(speed: f64, steps: usize, source: &dyn Fn(i64) -> [f32; 2]) -> Vec<[f32; 2]> {
        let mut stretcher = Stretcher::new(1000.0);
        let mut out = Vec::new();
        for _ in 0..steps {
            stretcher.step(speed, source, &mut out);
        }
        assert!((stretcher.place() - 1000.0 - speed * out.len() as f64).abs() < 1e-6);
        out
    }

    #[test]
    fn at_full_speed_every_sample_is_as_it_was() {
        let source = tone(441.3);
        for (n, frame) in stretched(1.0, 8, &source).iter().enumerate() {
            assert!((frame[0] - source(1000 + n as i64)[0]).abs() < 1e-6);
        }
    }

    #[test]
    fn slower_keeps_pitch_and_level() {
        for speed in [0.25, 0.5, 0.8] {
            let out = stretched(speed, 60, &tone(330.0));
            let samples: Vec<f32> = out[2048..].iter().map(|frame| frame[0]).collect();
            let crossings = samples.windows(2).filter(|pair| pair[0] < 0.0 && pair[1] >= 0.0).count();
            let frequency = crossings as f64 / (samples.len() as f64 / 22_050.0);
            assert!((frequency - 330.0).abs() < 6.0, "{frequency} Hz at {speed}");
            let power = samples.iter().map(|s| s * s).sum::<f32>() / samples.len() as f32;
            assert!((power - 0.125).abs() < 0.02, "{power} at {speed}");
        }
    }
}
