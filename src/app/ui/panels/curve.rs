//! Lines over the time axis.

use eframe::egui::{Pos2, Shape, Stroke, pos2};

use super::canvas::Canvas;

/// Samples a function of time at every other point of the width, where it has a value.
pub fn sampled(canvas: &Canvas, value: impl Fn(f64) -> Option<f32>) -> Vec<Pos2> {
    let columns = (canvas.plot.width() / 2.0).ceil() as usize;
    let xs = (0..=columns).map(|column| canvas.plot.left() + 2.0 * column as f32);
    xs.filter_map(|x| value(canvas.time(x)).map(|y| pos2(x, y))).collect()
}

/// A solid line.
pub fn solid(canvas: &Canvas, points: Vec<Pos2>, stroke: Stroke) {
    if points.len() > 1 {
        canvas.painter.with_clip_rect(canvas.plot).line(points, stroke);
    }
}

/// A dashed line.
pub fn dashed(canvas: &Canvas, points: &[Pos2], stroke: Stroke) {
    if points.len() > 1 {
        canvas.painter.with_clip_rect(canvas.plot).extend(Shape::dashed_line(points, stroke, 6.0, 4.0));
    }
}

/// A round step (1, 2 or 5 times a power of ten) of which about `count` fit into `span`.
pub fn round_step(span: f64, count: f64) -> f64 {
    let raw = (span / count.max(1.0)).max(1e-9);
    let power = 10f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= raw).unwrap_or(10.0);
    factor * power
}

/// A step of a clock, in seconds, of which about `count` fit into `span`.
pub fn clock_step(span: f64, count: f64) -> f64 {
    let raw = span / count.max(1.0);
    if raw <= 1.0 {
        return round_step(span, count);
    }
    let steps = [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0];
    steps.into_iter().find(|step| *step >= raw).unwrap_or(3600.0)
}

/// Every how many bars one is marked, so that marks are about `room` apart; `per_bar` is the width of a bar.
pub fn bar_step(per_bar: f32, room: f32) -> u32 {
    let steps = [1, 2, 4, 8, 10, 20, 50, 100, 200, 500, 1000];
    steps.into_iter().find(|step| *step as f32 * per_bar >= room).unwrap_or(2000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_and_bars_are_marked_at_numbers_that_people_count_in() {
        assert_eq!(clock_step(400.0, 10.0), 60.0);
        assert_eq!(clock_step(40.0, 10.0), 5.0);
        assert!((clock_step(0.4, 10.0) - 0.05).abs() < 1e-12);
        assert_eq!(bar_step(100.0, 30.0), 1);
        assert_eq!(bar_step(4.0, 30.0), 8);
        assert_eq!(bar_step(0.001, 30.0), 2000);
    }

    #[test]
    fn steps_are_round() {
        assert!((round_step(10.0, 5.0) - 2.0).abs() < 1e-9);
        assert!((round_step(61.0, 10.0) - 10.0).abs() < 1e-9);
        assert!((round_step(0.007, 10.0) - 0.001).abs() < 1e-9);
    }
}
