//! What an ear should say of notes that are known, and what it costs to say otherwise.

use super::super::loss_op::Loss;
use super::note_sounds::PlayedNote;
use crate::base::error::Result;
use crate::base::number::Real;
use crate::networks::ear::OUTPUTS;
use crate::networks::ops::Element;

/// Frames from an onset to where none is expected any more: where it is known, and where it was read between two known times.
const REACH: f64 = 1.5;
const UNSURE_REACH: f64 = 3.0;
/// The same for an end, which is heard less clearly.
const END_REACH: f64 = 3.0;
/// Within this many frames of an onset its place is asked for.
const OFFSET_REACH: f64 = 2.0;
/// Frames where a note begins count so much: there are few of them.
const BEGIN_WEIGHT: f64 = 3.0;
/// What the parts of the loss count.
const BEGINS: f64 = 10.0;
const SOUNDS: f64 = 0.3;
const ENDS: f64 = 3.0;
const OFFSET: f64 = 0.4;
/// The logarithm of the scale is kept within these.
const SCALES: (f64, f64) = (-4.0, 2.0);

/// What is right at one frame of one key.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Target {
    /// Whether the frame counts at all.
    pub is_judged: bool,
    pub begins: f32,
    /// None where it is not known how long notes sound.
    pub sounds: Option<f32>,
    pub ends: Option<f32>,
    /// Frames to the onset near by, if there is one.
    pub offset: Option<f32>,
}

/// What is right of a key from frame `first` on; frames for which `is_judged` is false do not count.
pub(super) fn targets(
    notes: &[PlayedNote],
    first: isize,
    frames: usize,
    ends_known: bool,
    is_judged: impl Fn(usize) -> bool,
) -> Vec<Target> {
    let mut targets: Vec<Target> =
        (0..frames).map(|index| Target { is_judged: is_judged(index), ..Target::default() }).collect();
    if ends_known {
        targets.iter_mut().for_each(|target| (target.sounds, target.ends) = (Some(0.0), Some(0.0)));
    }
    let mut nearest = vec![f64::INFINITY; frames];
    let range = |from: f64, until: f64| {
        let within = |frame: f64| (frame - first as f64).clamp(0.0, frames as f64) as usize;
        within(from.ceil())..within(until.floor() + 1.0)
    };
    for note in notes {
        let reach = if note.is_exact { REACH } else { UNSURE_REACH };
        let widest = reach.max(OFFSET_REACH);
        for index in range(note.onset - widest, note.onset + widest) {
            let away = note.onset - (first + index as isize) as f64;
            let target = &mut targets[index];
            target.begins = target.begins.max((1.0 - away.abs() / reach).max(0.0) as f32);
            if away.abs() < nearest[index] {
                nearest[index] = away.abs();
                target.offset = (note.is_exact && away.abs() < OFFSET_REACH).then_some(away as f32);
            }
        }
        let Some(end) = note.end else { continue };
        for index in range(end - END_REACH, end + END_REACH) {
            let away = end - (first + index as isize) as f64;
            let value = (1.0 - away.abs() / END_REACH).max(0.0) as f32;
            targets[index].ends = targets[index].ends.map(|old| old.max(value));
        }
        // A frame sounds if its middle does.
        for index in range(note.onset - 0.5, end - 0.5 - 1e-9) {
            targets[index].sounds = Some(1.0);
        }
    }
    targets
}

/// The loss of what is said of many frames.
pub(super) struct NoteLoss {
    /// In the order of the answers.
    pub targets: Vec<Target>,
}

/// A sum over frames that becomes a mean.
#[derive(Default)]
struct Mean {
    sum: f64,
    count: f64,
}

/// Cross entropy of a logit with a target from 0 to 1, and its derivative.
fn cross_entropy(logit: f64, target: f64) -> (f64, f64) {
    let softplus = logit.max(0.0) + (-logit.abs()).exp().ln_1p();
    (softplus - logit * target, 1.0 / (1.0 + (-logit).exp()) - target)
}

/// Laplace's loss of an offset and the logarithm of its scale, and the derivatives with respect to both.
fn laplace(offset: f64, scale: f64, target: f64) -> (f64, [f64; 2]) {
    let kept = scale.clamp(SCALES.0, SCALES.1);
    let (off, inverse) = (offset - target, (-kept).exp());
    let by_scale = if kept == scale { 1.0 - off.abs() * inverse } else { 0.0 };
    let by_offset = if off == 0.0 { 0.0 } else { off.signum() * inverse };
    (off.abs() * inverse + kept, [by_offset, by_scale])
}

impl Loss for NoteLoss {
    fn value_and_gradient<F: Element>(&self, inputs: &[&[F]]) -> Result<(f64, Vec<Vec<F>>)> {
        let answers = inputs[0].as_chunks::<OUTPUTS>().0;
        let mut flow = vec![[0.0; OUTPUTS]; answers.len()];
        let mut means: [Mean; 4] = std::array::from_fn(|_| Mean::default());
        let judged = || answers.iter().zip(&self.targets).enumerate().filter(|(_, (_, target))| target.is_judged);
        for (index, (answer, target)) in judged() {
            let [begins, sounds, ends, offset, scale] = answer.map(Real::to_f64);
            let flow = &mut flow[index];
            let mut entropy = |part: usize, logit: f64, target: Option<f32>, weight: f64| {
                let Some(target) = target else { return };
                let (value, slope) = cross_entropy(logit, f64::from(target));
                means[part].sum += weight * value;
                means[part].count += 1.0;
                flow[part] = weight * slope;
            };
            let weight = if target.begins > 0.0 { BEGIN_WEIGHT } else { 1.0 };
            entropy(0, begins, Some(target.begins), weight);
            entropy(1, sounds, target.sounds, 1.0);
            entropy(2, ends, target.ends, 1.0);
            if let Some(target) = target.offset {
                let (value, slopes) = laplace(offset, scale, f64::from(target));
                means[3].sum += value;
                means[3].count += 1.0;
                flow[3..].copy_from_slice(&slopes);
            }
        }
        let shares = [BEGINS, SOUNDS, ENDS, OFFSET];
        let shares: [f64; 4] = std::array::from_fn(|part| shares[part] / means[part].count.max(1.0));
        let value = means.iter().zip(shares).map(|(mean, share)| mean.sum * share).sum();
        let of_output = [shares[0], shares[1], shares[2], shares[3], shares[3]];
        let gradient = flow.iter().flat_map(|flow| flow.iter().zip(of_output));
        Ok((value, vec![gradient.map(|(slope, share)| <F as Real>::from_f64(slope * share)).collect()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(onset: f64, end: Option<f64>, is_exact: bool) -> PlayedNote {
        PlayedNote { onset, end, is_exact }
    }

    #[test]
    fn targets_peak_at_the_onset_and_tell_how_far_it_is() {
        let found = targets(&[note(10.25, Some(14.5), true)], 5, 12, true, |_| true);
        let at = |frame: usize| found[frame - 5];
        assert!((at(10).begins - (1.0 - 0.25 / 1.5)).abs() < 1e-6 && (at(11).begins - 0.5).abs() < 1e-6);
        assert_eq!((at(8).begins, at(12).begins, at(13).offset), (0.0, 0.0, None));
        assert_eq!((at(9).offset, at(10).offset, at(12).offset), (Some(1.25), Some(0.25), Some(-1.75)));
        let sounding: Vec<usize> = (5..17).filter(|&frame| at(frame).sounds == Some(1.0)).collect();
        assert_eq!(sounding, [10, 11, 12, 13]);
        assert!((at(14).ends.unwrap() - (1.0 - 0.5 / 3.0)).abs() < 1e-6 && at(11).ends == Some(0.0));
    }

    #[test]
    fn what_the_labels_do_not_know_is_not_asked_for() {
        let found = targets(&[note(10.0, None, false)], 5, 12, false, |index| index > 2);
        assert!(found.iter().all(|target| target.sounds.is_none() && target.ends.is_none() && target.offset.is_none()));
        assert!((found[3].begins - (1.0 / 3.0)).abs() < 1e-6 && found[5].begins == 1.0, "wide, because it is unsure");
        assert!(!found[2].is_judged && found[3].is_judged);
    }

    #[test]
    fn a_repeated_note_is_told_by_the_nearer_onset() {
        let found = targets(&[note(4.0, None, true), note(7.0, None, true)], 0, 12, false, |_| true);
        assert_eq!((found[5].offset, found[6].offset), (Some(-1.0), Some(1.0)));
    }

    #[test]
    fn the_gradient_of_the_loss_is_that_of_finite_differences() {
        let mut targets = targets(&[note(2.3, Some(4.0), true)], 0, 7, true, |index| index > 0);
        targets.extend(self::targets(&[note(3.0, None, false)], 0, 4, false, |_| true));
        let loss = NoteLoss { targets };
        let answers: Vec<f64> = (0..11 * OUTPUTS).map(|i| 2.0 * (0.7 * i as f64).sin()).collect();
        let value = |answers: &[f64]| loss.value_and_gradient(&[answers]).unwrap().0;
        let gradient = loss.value_and_gradient(&[&answers[..]]).unwrap().1.remove(0);
        for index in 0..answers.len() {
            let moved = |by: f64| {
                let mut moved = answers.clone();
                moved[index] += by;
                value(&moved)
            };
            let expected = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((gradient[index] - expected).abs() < 1e-6, "{index}: {} {expected}", gradient[index]);
        }
        assert!(gradient[..OUTPUTS].iter().all(|&slope| slope == 0.0), "the first frame does not count");
    }
}
