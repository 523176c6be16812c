//! Strokes: the moments at which a pitch is heard to begin, whether or not the score has a note there.

use crate::align::heard::Heard;

/// Odds are clipped to plus and minus this: beyond it they tell nothing more, and what is known and what was heard weigh alike.
pub(super) const CLEAR: f32 = 4.0;
/// Frames with lower odds are no strokes at all.
const FAINTEST: f32 = -3.5;
/// Of strokes of one pitch that are fewer frames apart than this only the clearest is one: nobody repeats a key in 46 ms.
const APART: usize = 4;
/// Frames after a stroke over which its sound is judged: from 23 to 104 ms.
const AFTER: std::ops::Range<usize> = 2..9;
/// Semitones down to the pitches whose partials could be taken for a note of their own.
const PARTIALS: [u8; 5] = [12, 19, 24, 28, 31];
/// A note and its partials begin within so many frames.
const TOGETHER: usize = 2;

/// A moment at which a pitch is heard to begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::align) struct Stroke {
    /// MIDI number.
    pub pitch: u8,
    /// Seconds of the performance.
    pub onset_s: f64,
    /// Odds that a note begins, clipped.
    pub begins: f32,
    /// Mean odds that it sounds afterwards, clipped.
    pub sounds: f32,
    /// Odds that a lower note begins at the same time, of which this may be a partial: those of the likeliest, clipped.
    pub lower: f32,
    /// Odds that the octave above begins at the same time, clipped.
    pub octave: f32,
}

/// All strokes between two moments, by pitch and in order of time.
pub(in crate::align) fn strokes(heard: &Heard, (from_s, to_s): (f64, f64)) -> Vec<Vec<Stroke>> {
    let step = Heard::step_s();
    let frame = |time_s: f64| ((time_s / step).round().max(0.0) as usize).min(heard.frames());
    let frames = frame(from_s)..frame(to_s + step);
    (0..128).map(|pitch| if heard.hears(pitch) { of_pitch(heard, pitch, frames.clone()) } else { Vec::new() }).collect()
}

fn of_pitch(heard: &Heard, pitch: u8, frames: std::ops::Range<usize>) -> Vec<Stroke> {
    let begins = |frame: usize| heard.at(pitch, frame).begins;
    let mut found: Vec<(usize, f32)> = Vec::new();
    for frame in frames {
        let here = begins(frame);
        // The first of equals, so that a plateau is one stroke.
        let is_peak = here >= FAINTEST && (frame == 0 || begins(frame - 1) < here) && begins(frame + 1) <= here;
        if !is_peak {
            continue;
        }
        match found.last_mut().filter(|last| frame - last.0 < APART) {
            Some(last) if last.1 < here => *last = (frame, here),
            Some(_) => {}
            None => found.push((frame, here)),
        }
    }
    found.into_iter().map(|(frame, begins)| stroke(heard, pitch, frame, begins)).collect()
}

fn stroke(heard: &Heard, pitch: u8, frame: usize, begins: f32) -> Stroke {
    let after: Vec<usize> = AFTER.map(|after| frame + after).filter(|&at| at < heard.frames()).collect();
    let sounds: f32 = after.iter().map(|&at| clipped(heard.at(pitch, at).sounds)).sum();
    let together = |pitch: u8| {
        let near = frame.saturating_sub(TOGETHER)..=frame + TOGETHER;
        near.map(|at| clipped(heard.at(pitch, at).begins)).fold(-CLEAR, f32::max)
    };
    Stroke {
        pitch,
        onset_s: heard.onset_s(pitch, frame).0,
        begins: clipped(begins),
        sounds: if after.is_empty() { -CLEAR } else { sounds / after.len() as f32 },
        lower: PARTIALS.iter().filter_map(|&down| pitch.checked_sub(down)).map(together).fold(-CLEAR, f32::max),
        octave: together(pitch + 12),
    }
}

fn clipped(odds: f32) -> f32 {
    odds.clamp(-CLEAR, CLEAR)
}
