//! Chords and voices of a bar of a staff: two at most, the upper one with stems upwards.

use super::lengths::longest_within;
use super::{Stretch, lengths};
use crate::score::written::Quarters;

/// Notes that begin and end together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BarChord {
    pub at: Quarters,
    pub end: Quarters,
    /// 0 for the upper voice, 1 for the lower.
    pub voice: u16,
    pub stretches: Vec<Stretch>,
}

impl BarChord {
    fn mean_pitch(&self) -> f64 {
        self.stretches.iter().map(|one| f64::from(one.pitch)).sum::<f64>() / self.stretches.len().max(1) as f64
    }
}

/// Makes chords of the stretches of a bar, in two voices.
pub(super) fn chords(stretches: &[Stretch], length: Quarters) -> Vec<BarChord> {
    let mut onsets: Vec<Quarters> = stretches.iter().map(|one| one.at).collect();
    onsets.push(length);
    onsets.sort_unstable();
    onsets.dedup();
    let mut groups: Vec<BarChord> = Vec::new();
    for one in stretches {
        let end = meant_end(one, &onsets, length);
        match groups.iter_mut().find(|group| group.at == one.at && group.end == end) {
            Some(group) => group.stretches.push(*one),
            None => groups.push(BarChord { at: one.at, end, voice: 0, stretches: vec![*one] }),
        }
    }
    groups.sort_by(|a, b| a.at.cmp(&b.at).then(b.mean_pitch().total_cmp(&a.mean_pitch())));
    let mut chords: Vec<BarChord> = Vec::new();
    for group in groups {
        let last = |voice: u16, chords: &[BarChord]| chords.iter().rposition(|chord| chord.voice == voice);
        let free = (0..2).find(|&voice| last(voice, &chords).is_none_or(|index| chords[index].end <= group.at));
        if let Some(voice) = free {
            chords.push(BarChord { voice, ..group });
            continue;
        }
        // No voice is free: one that began before ends here, or notes of two lengths become one chord.
        let earlier = (0..2).filter_map(|voice| last(voice, &chords)).filter(|&index| chords[index].at < group.at);
        match earlier.min_by_key(|&index| chords[index].end) {
            Some(index) => {
                chords[index].end = group.at;
                let voice = chords[index].voice;
                chords.push(BarChord { voice, ..group });
            }
            None => {
                let same = chords.iter_mut().rev().find(|chord| chord.at == group.at);
                if let Some(chord) = same {
                    chord.stretches.extend(group.stretches);
                }
            }
        }
    }
    name_voices(&mut chords);
    chords
}

/// The upper voice is the one with the higher pitches.
fn name_voices(chords: &mut [BarChord]) {
    let mean = |voice: u16| {
        let of_voice: Vec<f64> = chords.iter().filter(|chord| chord.voice == voice).map(BarChord::mean_pitch).collect();
        (!of_voice.is_empty()).then(|| of_voice.iter().sum::<f64>() / of_voice.len() as f64)
    };
    if let (Some(first), Some(second)) = (mean(0), mean(1))
        && second > first
    {
        chords.iter_mut().for_each(|chord| chord.voice = 1 - chord.voice);
    }
}

/// Where a note is meant to end: at the next onset if it nearly reaches or hardly passes it, else as its length says.
fn meant_end(one: &Stretch, onsets: &[Quarters], length: Quarters) -> Quarters {
    if one.to {
        return length;
    }
    let sounding = (one.end - one.at).as_f64();
    let after = onsets.partition_point(|&onset| onset <= one.at);
    let near = onsets[after.min(onsets.len() - 1)..].iter().find(|&&onset| {
        let gap = (onset - one.at).as_f64();
        (0.7 * gap..=1.12 * gap).contains(&sounding)
    });
    if let Some(&onset) = near {
        return onset;
    }
    let next = onsets.get(after).copied().unwrap_or(length);
    let meant = lengths::on_grid(one.end).min(length);
    if meant < next {
        // Short of the next onset: a plain value, and a rest.
        let plain = longest_within((meant - one.at).max(Quarters::ratio(1, 8)));
        let doubled = plain.scaled(2, 1);
        let fits = one.at + doubled <= next && sounding > 0.6 * doubled.as_f64();
        return one.at + if fits { doubled } else { plain.min(next - one.at) };
    }
    meant
}

/// Where nothing sounds.
pub(super) fn gaps(chords: &[BarChord], length: Quarters) -> Vec<(Quarters, Quarters)> {
    let mut stretches: Vec<(Quarters, Quarters)> = chords.iter().map(|chord| (chord.at, chord.end)).collect();
    stretches.sort_unstable();
    let mut reached = Quarters::ZERO;
    let mut gaps = Vec::new();
    for (at, end) in stretches {
        if at > reached {
            gaps.push((reached, at));
        }
        reached = reached.max(end);
    }
    if length > reached {
        gaps.push((reached, length));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(note: u32, pitch: u8, at: f64, end: f64) -> Stretch {
        let place = Quarters::nearest;
        Stretch { note, pitch, at: lengths::on_grid(place(at)), end: place(end), from: false, to: false }
    }

    #[test]
    fn detached_notes_reach_to_the_next_and_short_ones_leave_a_rest() {
        let four = Quarters::ratio(4, 1);
        let found = chords(&[stretch(0, 60, 0.0, 0.95), stretch(1, 62, 1.0, 1.4), stretch(2, 64, 3.0, 3.9)], four);
        let lengths: Vec<f64> = found.iter().map(|chord| (chord.end - chord.at).as_f64()).collect();
        assert_eq!(lengths, [1.0, 0.5, 1.0]);
        assert_eq!(gaps(&found, four), [(Quarters::ratio(3, 2), Quarters::ratio(3, 1))]);
    }

    #[test]
    fn a_held_note_gets_a_voice_of_its_own() {
        let four = Quarters::ratio(4, 1);
        let found = chords(&[stretch(0, 48, 0.0, 4.0), stretch(1, 64, 1.0, 2.0), stretch(2, 67, 2.0, 4.0)], four);
        assert_eq!(found.iter().map(|chord| chord.voice).collect::<Vec<_>>(), [1, 0, 0]);
        assert!(gaps(&found, four).is_empty());
    }

    #[test]
    fn no_note_is_lost_when_three_sound_at_once() {
        let four = Quarters::ratio(4, 1);
        let notes: Vec<Stretch> =
            (0..12).map(|n| stretch(n, 40 + n as u8, f64::from(n) * 0.25, 4.0 - f64::from(n % 3) * 0.5)).collect();
        let found = chords(&notes, four);
        let mut drawn: Vec<u32> = found.iter().flat_map(|chord| chord.stretches.iter().map(|one| one.note)).collect();
        drawn.sort_unstable();
        assert_eq!(drawn, (0..12).collect::<Vec<_>>());
    }
}
