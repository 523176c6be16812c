//! Bar lines: repeat signs and the brackets of first and second endings.

use roxmltree::Node;

use super::super::draft::{BarDraft, Cut};
use super::super::numbers::numbers;
use super::super::quarters::Quarters;
use super::super::xml::{Element, whole};

/// A bracket that is open from bar to bar.
#[derive(Debug, Default)]
pub(super) struct OpenEnding(Option<Vec<u8>>);

impl OpenEnding {
    /// A new bar stands under the bracket that is open.
    pub fn enter(&mut self, bar: &mut BarDraft) {
        if let Some(numbers) = &self.0 {
            bar.ending.clone_from(numbers);
        }
    }
}

/// Reads a `barline` that stands at a distance from the beginning of its bar.
pub(super) fn read_barline(node: Node<'_, '_>, at: Quarters, bar: &mut BarDraft, open: &mut OpenEnding) {
    let location = node.attr("location").unwrap_or("right");
    if let Some(repeat) = node.child("repeat") {
        let times = || repeat.attr("times").and_then(whole).map_or(2, |times| times.clamp(1, 100) as u8);
        let end = (repeat.attr("direction") != Some("forward")).then(times);
        match (location, end) {
            ("middle", repeat_end) => bar.cuts.push(Cut { at, repeat_end, repeat_start: repeat_end.is_none() }),
            (_, None) => {
                bar.repeat_start = true;
                // A bracket that is never closed ends where the next section begins.
                if !bar.ending_start {
                    bar.ending.clear();
                    open.0 = None;
                }
            }
            (_, end) => bar.repeat_end = end.max(bar.repeat_end),
        }
    }
    if let Some(ending) = node.child("ending") {
        match ending.attr("type") {
            Some("start") => {
                let numbers = numbers(ending.attr("number").unwrap_or_default());
                if !numbers.is_empty() {
                    bar.ending.clone_from(&numbers);
                    bar.ending_start = true;
                    open.0 = Some(numbers);
                }
            }
            _ => open.0 = None,
        }
    }
}
