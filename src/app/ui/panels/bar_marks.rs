//! Which bars and beats are numbered on the ruler: as many as there is room for, none over another, always at least one.

use eframe::egui::Rangef;

use super::curve;
use crate::app::document::view_model::PlacedBeat;

/// Numbers of bars are about this far apart.
const BAR_ROOM: f32 = 36.0;
/// Beats are numbered if they are this far apart.
const BEAT_ROOM: f32 = 56.0;
/// Beats are marked without a number if they are this far apart.
const TICK_ROOM: f32 = 10.0;
/// Least distance between two numbers.
const GAP: f32 = 6.0;
/// Numbers stand this far right of their line.
const INDENT: f32 = 4.0;

/// What a mark stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// The start of a bar.
    Bar,
    /// Another beat.
    Beat,
    /// What goes on at the left edge: it began before.
    Continued,
}

/// A line on the ruler, with or without a number.
#[derive(Debug, Clone, PartialEq)]
pub struct BarMark {
    /// Where its line is.
    pub x: f32,
    /// Where its number begins.
    pub text_x: f32,
    /// The number; empty if there is no room for it.
    pub text: String,
    /// What it stands for.
    pub kind: MarkKind,
}

/// The marks of the visible `beats`; `before` is the last beat before them. `x` places a time, `width` measures a number.
pub fn bar_marks(
    beats: &[PlacedBeat],
    before: Option<&PlacedBeat>,
    plot: Rangef,
    x: &dyn Fn(f64) -> f32,
    width: &dyn Fn(&str) -> f32,
) -> Vec<BarMark> {
    let bars = beats.iter().filter(|beat| beat.beat == 1).count();
    let step = curve::bar_step(plot.span() / bars.max(1) as f32, BAR_ROOM);
    let per_beat = plot.span() / beats.len().max(1) as f32;
    let (with_numbers, with_ticks) = (step == 1 && per_beat > BEAT_ROOM, step == 1 && per_beat > TICK_ROOM);
    let is_numbered = |beat: &PlacedBeat| beat.beat == 1 && (beat.bar.is_multiple_of(step) || beat.bar == 1);
    let mut marks: Vec<BarMark> = Vec::new();
    let mut free_from = f32::NEG_INFINITY;
    for (index, beat) in beats.iter().enumerate() {
        let place = x(beat.performance_s);
        let text_x = place + INDENT;
        if is_numbered(beat) {
            let text = beat.bar.to_string();
            let end = text_x + width(&text);
            // Half a number would be another number.
            let text = if end <= plot.max { text } else { String::new() };
            if text_x >= free_from {
                free_from = end + GAP;
                marks.push(BarMark { x: place, text_x, text, kind: MarkKind::Bar });
            }
        } else if beat.beat != 1 && with_ticks {
            let text = format!("{}.{}", beat.bar, beat.beat);
            let end = text_x + width(&text) + GAP;
            // The next bar's number goes before a beat's.
            let next_bar = beats[index + 1..].iter().find(|next| next.beat == 1).map(|next| x(next.performance_s));
            let end_of_room = next_bar.map_or(plot.max + GAP, |next| (next + INDENT).min(plot.max + GAP));
            let fits = with_numbers && text_x >= free_from && end <= end_of_room;
            if fits {
                free_from = end;
            }
            let text = if fits { text } else { String::new() };
            marks.push(BarMark { x: place, text_x, text, kind: MarkKind::Beat });
        }
    }
    if let Some(before) = before {
        let text = match before.beat {
            1 => before.bar.to_string(),
            _ if with_numbers || beats.is_empty() => format!("{}.{}", before.bar, before.beat),
            _ => before.bar.to_string(),
        };
        let text_x = plot.min + INDENT;
        let first = marks.iter().find(|mark| !mark.text.is_empty()).map_or(f32::INFINITY, |mark| mark.text_x);
        if text_x + width(&text) + GAP <= first {
            marks.insert(0, BarMark { x: plot.min, text_x, text, kind: MarkKind::Continued });
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four beats a bar at a tempo that varies by a factor of ten.
    fn beats() -> Vec<PlacedBeat> {
        let mut time = 0.0;
        let beat = |index: u32| {
            time += if (index / 40).is_multiple_of(2) { 0.1 } else { 1.0 };
            PlacedBeat { performance_s: time, bar: index / 4 + 1, beat: index % 4 + 1 }
        };
        (0..1600).map(beat).collect()
    }

    fn width(text: &str) -> f32 {
        7.0 * text.len() as f32
    }

    fn marks(start: f64, span: f64) -> Vec<BarMark> {
        let beats = beats();
        let first = beats.partition_point(|beat| beat.performance_s < start);
        let last = beats.partition_point(|beat| beat.performance_s <= start + span);
        let before = first.checked_sub(1).map(|index| &beats[index]);
        let x = |time: f64| ((time - start) / span * 1000.0) as f32;
        bar_marks(&beats[first..last], before, Rangef::new(0.0, 1000.0), &x, &width)
    }

    #[test]
    fn no_number_is_printed_over_another_and_there_is_one_at_every_zoom() {
        for span in [0.005, 0.05, 0.3, 1.0, 3.0, 10.0, 60.0, 300.0, 880.0] {
            for start in [0.2, 3.0, 17.77, 250.0, 500.0] {
                let shown: Vec<_> = marks(start, span).into_iter().filter(|mark| !mark.text.is_empty()).collect();
                assert!(!shown.is_empty(), "nothing tells the bar at {start} over {span} s");
                assert!(shown.iter().all(|mark| mark.text_x + width(&mark.text) <= 1000.0), "{shown:?} is cut off");
                for pair in shown.windows(2) {
                    assert!(
                        pair[0].text_x + width(&pair[0].text) < pair[1].text_x,
                        "{pair:?} at {start} over {span} s"
                    );
                }
            }
        }
    }

    #[test]
    fn far_in_the_bar_and_beat_go_on_from_the_left_edge() {
        let marks = marks(40.25, 0.1);
        assert_eq!(marks.len(), 1, "{marks:?}");
        assert_eq!(marks[0].kind, MarkKind::Continued);
        assert!(marks[0].text.contains('.'), "{marks:?}");
    }
}
