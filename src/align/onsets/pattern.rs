//! What an onset sounds like: the partials of its pitches that the chords beside it do not have.

use crate::align::tone::{PARTIAL_RATIO, PARTIAL_SEMITONES, partials};
use crate::features::SEMITONE_BANDS;

use super::chord::Chord;
use super::evidence::Pattern;
use super::params::OnsetParams;

/// The pattern of one pitch of a chord: partials that it shares with the chord's other pitches count by its share.
pub(super) fn of_note(chord: &Chord, band: usize, params: &OnsetParams) -> Pattern {
    let (mut weights, mut all) = ([0.0; SEMITONE_BANDS], [0.0; SEMITONE_BANDS]);
    add_note(&mut weights, band, 1.0);
    chord.bands.iter().for_each(|&band| add_note(&mut all, band, 1.0));
    let total: f32 = weights.iter().sum();
    for (weight, all) in weights.iter_mut().zip(all) {
        *weight *= (*weight / all.max(f32::MIN_POSITIVE)).min(1.0);
    }
    let kept: f32 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight *= total / kept.max(f32::MIN_POSITIVE));
    Pattern {
        attack: params.voice_attack as f32,
        pitches: vec![band],
        learned: params.voice_learned as f32,
        ..sparse(&weights, params.evidence_weight as f32)
    }
}

/// The pattern of each chord.
pub(crate) fn of_chords(chords: &[Chord], times: &[f64], params: &OnsetParams) -> Vec<Pattern> {
    (0..chords.len())
        .map(|index| {
            let mut weights = [0.0; SEMITONE_BANDS];
            chords[index].bands.iter().for_each(|&band| add_note(&mut weights, band, 1.0));
            let mut others = [0.0; SEMITONE_BANDS];
            if params.rival_share > 0.0 {
                let near = |&other: &usize| (times[other] - times[index]).abs() < params.rival_reach_s;
                let before = index.checked_sub(1).filter(near);
                let after = Some(index + 1).filter(|&i| i < chords.len()).filter(near);
                for other in before.into_iter().chain(after) {
                    let mut theirs = [0.0; SEMITONE_BANDS];
                    chords[other].bands.iter().for_each(|&band| add_note(&mut theirs, band, 1.0));
                    for (sum, their) in others.iter_mut().zip(theirs) {
                        *sum = their.max(*sum);
                    }
                }
                for (weight, other) in weights.iter_mut().zip(others) {
                    *weight -= params.rival_share as f32 * f32::max(other, 0.0);
                }
            }
            let root = (chords[index].bands.len().max(1) as f32).sqrt();
            let scale = params.evidence_weight as f32 / root;
            let attack = if chords[index].bands.is_empty() { 0.0 } else { params.attack_weight as f32 * root };
            Pattern {
                attack,
                pitches: chords[index].bands.clone(),
                learned: params.learned_weight as f32 / root,
                ..sparse(&weights, scale)
            }
        })
        .collect()
}

fn add_note(weights: &mut [f32; SEMITONE_BANDS], band: usize, level: f32) {
    let total: f32 = (0..PARTIAL_SEMITONES.len() as i32).map(|h| PARTIAL_RATIO.powi(h)).sum();
    for (band, amplitude) in partials(band, SEMITONE_BANDS) {
        weights[band] += level / total * amplitude;
    }
}

fn sparse(weights: &[f32; SEMITONE_BANDS], scale: f32) -> Pattern {
    let used = weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
    Pattern { bands: used.map(|(band, weight)| (band, scale * weight)).collect(), ..Pattern::default() }
}
