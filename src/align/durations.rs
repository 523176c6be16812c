//! When notes end: where that is heard, else by the score's proportion.
//!
//! A note ends at the first clear end after its stroke: the ear says that it ends, or that it no longer sounds. It ends at the latest
//! when its key is struck again. A pedal lets a string sound on after the key is released, and what is heard then is the damper,
//! not the key: a note that sounds clearly longer than written therefore ends where the warp puts the score's offset.

use super::heard::Heard;

/// A note does not end sooner after its stroke than this many frames: 35 ms.
const SHORTEST: usize = 3;
/// Sound that is gone for this many frames does not come back: 35 ms.
const SILENT: usize = 3;
/// Odds from which on an end is clear.
const CLEAR_END: f32 = 0.0;
/// A note that sounds more than this many times as long as written, and …
const SUSTAINED: f64 = 1.25;
/// … this many seconds longer, is held by the pedal: of ends that were heard so late one in seven was right, of those by the
/// score's proportion three in four.
const SUSTAINED_S: f64 = 0.05;
/// What is struck again was released this long before, at the least.
const RELEASE_S: f64 = 0.02;
/// No note is shorter.
const LEAST_S: f64 = 0.02;

/// Where a note ends, and how likely that is right to within 50 ms or a fifth of the note.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct End {
    /// Seconds of the performance.
    pub offset_s: f64,
    /// 0 to 1.
    pub confidence: f64,
}

/// A note whose end is looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sounding {
    pub pitch: u8,
    /// Seconds of the performance.
    pub onset_s: f64,
    /// Where the warp puts the score's offset; none of a note that the score does not have.
    pub written_s: Option<f64>,
    /// When the same pitch is struck again.
    pub next_s: Option<f64>,
}

/// Where a note ends.
pub(super) fn end(heard: &Heard, note: &Sounding) -> End {
    let latest_s = note.next_s.map(|next_s| (next_s - RELEASE_S).max(note.onset_s + LEAST_S));
    let heard_end =
        heard_end(heard, note).map(|(end_s, odds)| (latest_s.map_or(end_s, |latest| end_s.min(latest)), odds));
    let written_s = note.written_s.map(|end_s| end_s.max(note.onset_s + LEAST_S));
    let at_latest = |end_s: f64| latest_s.map_or(end_s, |latest_s| end_s.min(latest_s));
    match (heard_end, written_s) {
        (Some((offset_s, odds)), Some(written_s)) => {
            let (sounds, written) = (offset_s - note.onset_s, written_s - note.onset_s);
            if sounds > (SUSTAINED * written).max(written + SUSTAINED_S) {
                End { offset_s: at_latest(written_s), confidence: BY_PROPORTION }
            } else {
                End { offset_s, confidence: confidence(odds, sounds / written) }
            }
        }
        (Some((offset_s, odds)), None) => End { offset_s, confidence: confidence(odds, 1.0) },
        (None, Some(written_s)) => End { offset_s: at_latest(written_s), confidence: BY_PROPORTION },
        (None, None) => End { offset_s: latest_s.unwrap_or(note.onset_s + UNKNOWN_S), confidence: BY_PROPORTION },
    }
}

/// The first clear end after the stroke, with its odds; none where the note is not heard to end before the recording does.
fn heard_end(heard: &Heard, note: &Sounding) -> Option<(f64, f32)> {
    let step = Heard::step_s();
    let first = (note.onset_s / step).round().max(0.0) as usize + SHORTEST;
    let next = note.next_s.map(|next_s| (next_s / step).round().max(0.0) as usize);
    let last = next.unwrap_or(usize::MAX).min(heard.frames().saturating_sub(SILENT));
    let at = |frame: usize| heard.at(note.pitch, frame);
    for frame in first..last {
        let ends = at(frame).ends;
        let is_peak = ends >= CLEAR_END && ends > at(frame - 1).ends && ends >= at(frame + 1).ends;
        if is_peak {
            return Some((frame as f64 * step, ends));
        }
        if (frame..frame + SILENT).all(|frame| at(frame).sounds < 0.0) {
            let (before, here) = (at(frame - 1).sounds, at(frame).sounds);
            // Between the two frames where the odds are even, if it sounded at all.
            let back = if before > 0.0 { f64::from(here / (here - before)) } else { 0.0 };
            return Some(((frame as f64 - back) * step, -here));
        }
    }
    next.map(|_| (f64::INFINITY, 0.0))
}

/// How likely an end that was heard is right, given its odds and how long the note was against what is written: a logistic
/// regression on 15,000 ends of pianos and other instruments. Players detach more than they hold on.
fn confidence(odds: f32, stretch: f64) -> f64 {
    let unusual = stretch.max(1e-3).ln();
    let (shorter, longer) = ((-unusual).max(0.0), unusual.max(0.0));
    1.0 / (1.0 + (-(1.0 + 0.9 * f64::from(odds.clamp(-4.0, 4.0)) - 1.2 * shorter - 3.4 * longer)).exp())
}

/// How likely an end is right that is only the score's proportion.
const BY_PROPORTION: f64 = 0.6;
/// A note that is heard to begin, and to end nowhere, lasts this long.
const UNKNOWN_S: f64 = 0.2;

#[cfg(test)]
#[path = "durations_tests.rs"]
mod tests;
