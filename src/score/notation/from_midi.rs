//! MIDI as a written score: it fills what MIDI can tell.

use super::quarters::Quarters;
use super::written::{
    Bar, Key, Look, Meter, Part, PedalMark, Place, TempoMark, WrittenNote, WrittenPitch, WrittenScore,
};
use crate::score::types::{Note, Score};

/// Writes a MIDI file's score down: bars by its time signatures, pitches spelled by its keys.
pub(crate) fn from_midi(score: &Score) -> WrittenScore {
    let end = score.notes.iter().map(|note| note.offset_tick).max().unwrap_or(0);
    let lines = Lines { score, ticks: score.meter.bar_ticks_until(end.saturating_sub(1)) };
    let mut tracks: Vec<u16> = score.notes.iter().map(|note| note.track).collect();
    tracks.sort_unstable();
    tracks.dedup();
    let part_of = |track: u16| tracks.binary_search(&track).unwrap_or(0) as u16;
    let of_channel =
        |channel: u8| score.notes.iter().find(|note| note.channel == channel).map(|note| part_of(note.track));
    let notes = score.notes.iter().enumerate().map(|(index, note)| {
        let duration = lines.quarters(note.offset_tick) - lines.quarters(note.onset_tick);
        WrittenNote {
            id: format!("n{index}"),
            part: part_of(note.track),
            staff: 1,
            voice: 1,
            place: lines.place(note.onset_tick),
            duration,
            written: spelled(note.pitch, key_at(score, note.onset_tick)),
            pitch: note.pitch,
            tied_from: false,
            tied_to: false,
            grace: None,
            marks: Vec::new(),
            look: Look::default(),
        }
    });
    let tempi = score.tempo.changes().filter(|change| change.tick < end.max(1)).map(|change| TempoMark {
        place: lines.place(change.tick),
        quarters_per_minute: 60e6 / f64::from(change.micros_per_beat.max(1)),
        text: String::new(),
    });
    let keys = score.keys.iter().map(|key| Key {
        part: 0,
        place: lines.place(key.tick),
        accidentals: key.accidentals,
        minor: key.minor,
        transposition: 0,
    });
    let pedal = score.pedal.iter().filter_map(|change| {
        Some(PedalMark { part: of_channel(change.channel)?, place: lines.place(change.tick), down: change.value >= 64 })
    });
    WrittenScore {
        title: score.title.clone(),
        parts: tracks.iter().enumerate().map(|(index, &track)| part(score, index, track)).collect(),
        bars: lines.bars(end),
        notes: notes.collect(),
        tempi: tempi.collect(),
        keys: keys.collect(),
        pedal: pedal.collect(),
        notices: score.notation.notices.clone(),
        ..WrittenScore::default()
    }
}

fn part(score: &Score, index: usize, track: u16) -> Part {
    let name = score.notation.parts.get(usize::from(track)).cloned();
    let of_track = |note: &&Note| note.track == track;
    let channel = score.notes.iter().find(of_track).map(|note| note.channel);
    let program = score.programs.iter().find(|change| Some(change.channel) == channel).map(|change| change.program);
    let name = name.unwrap_or_else(|| format!("Track {}", u32::from(track) + 1));
    Part { id: format!("P{}", index + 1), name, staves: 1, program }
}

/// The bar lines.
struct Lines<'a> {
    score: &'a Score,
    ticks: Vec<u64>,
}

impl Lines<'_> {
    fn quarters(&self, tick: u64) -> Quarters {
        Quarters::nearest(self.score.tempo.tick_to_beat(tick as f64))
    }

    fn place(&self, tick: u64) -> Place {
        let bar = self.ticks.partition_point(|&line| line <= tick).max(1) - 1;
        let line = self.ticks.get(bar).copied().unwrap_or(0);
        Place { bar: bar as u32, at: self.quarters(tick) - self.quarters(line) }
    }

    fn bars(&self, end: u64) -> Vec<Bar> {
        let ends = self.ticks.iter().skip(1).copied().chain([end]);
        let bar = |(&tick, end): (&u64, u64)| {
            let signature = self.score.meter.signature(tick);
            let meter = Meter::new(signature.numerator.into(), signature.denominator.into()).unwrap_or_default();
            let start = self.quarters(tick);
            let is_last = Some(&tick) == self.ticks.last();
            Bar {
                label: self.score.meter.position(tick as f64).bar.to_string(),
                start,
                length: if is_last { meter.bar().max(self.quarters(end) - start) } else { self.quarters(end) - start },
                meter,
                ..Bar::default()
            }
        };
        self.ticks.iter().zip(ends).map(bar).collect()
    }
}

fn key_at(score: &Score, tick: u64) -> i8 {
    let after = score.keys.partition_point(|key| key.tick <= tick);
    after.checked_sub(1).map_or(0, |index| score.keys[index].accidentals)
}

/// Spells a pitch with the name that is nearest to a key on the line of fifths: from three fifths below its tonic to eight above.
pub(crate) fn spelled(pitch: u8, accidentals: i8) -> WrittenPitch {
    const STEPS: [char; 7] = ['F', 'C', 'G', 'D', 'A', 'E', 'B'];
    let lowest = i32::from(accidentals) - 3;
    let fifth = (lowest..lowest + 12).find(|fifth| (fifth * 7).rem_euclid(12) == i32::from(pitch % 12)).unwrap_or(0);
    let (step, alter) = (STEPS[(fifth + 1).rem_euclid(7) as usize], (fifth + 1).div_euclid(7) as i8);
    let natural = i32::from(pitch) - i32::from(alter);
    WrittenPitch { step, alter, octave: (natural.div_euclid(12) - 1) as i8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pitch_is_spelled_as_it_sounds_and_by_its_key() {
        for accidentals in -7..=7 {
            for pitch in 0..128 {
                assert_eq!(spelled(pitch, accidentals).sounding(0), Some(pitch), "{pitch} {accidentals}");
            }
        }
        let name = |pitch, key| (spelled(pitch, key).step, spelled(pitch, key).alter);
        assert_eq!([name(66, 0), name(70, 0), name(70, 3), name(61, -4)], [('F', 1), ('B', -1), ('A', 1), ('D', -1)]);
        assert_eq!(spelled(71, -7), WrittenPitch { step: 'C', alter: -1, octave: 5 });
    }
}
