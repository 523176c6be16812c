//! Studies for the piano, written by rule: runs, arpeggios, double notes and tremolos as composers of études ask for, which scores that
//! are free to use have few of.

use std::path::Path;

use super::excerpt::{TICKS_PER_BEAT, WrittenNote};
use super::material::{Part, Source, Texture};
use super::midi_files::study_bytes;
use crate::base::error::Result;
use crate::base::random::Random;
use crate::score::Score;

/// Bars of four beats.
const BARS: u32 = 40;
const BAR: u32 = 4 * TICKS_PER_BEAT as u32;
const LICENCE: &str = "written by rule, no rights reserved";
/// Degrees of the scale on which chords stand, the usual ones more often.
const DEGREES: [usize; 12] = [0, 0, 0, 3, 3, 4, 4, 4, 5, 1, 1, 2];
const MAJOR: [i32; 7] = [0, 2, 4, 5, 7, 9, 11];
const MINOR: [i32; 7] = [0, 2, 3, 5, 7, 8, 11];
/// Where the hands play, lowest and highest pitch.
const LEFT: (i32, i32) = (24, 67);
const RIGHT: (i32, i32) = (53, 101);

/// Studies, each different, the same for the same seed.
pub(super) fn write_studies(seed: u64, count: usize) -> Result<Vec<Source>> {
    (0..count as u64).map(|number| write_study(&mut Random::at(seed, &[number, u64::MAX]), number)).collect()
}

fn write_study(random: &mut Random, number: u64) -> Result<Source> {
    let mut notes = Vec::new();
    let tonic = random.below(12) as i32;
    let scale = if random.chance(0.5) { MAJOR } else { MINOR };
    let mut bar = 0;
    while bar < BARS {
        // A figure is kept for some bars, as studies do.
        let bars = [2, 4, 4, 8][random.below(4)];
        let mut hands = [Figure::draw(random), Figure::draw(random)];
        // Mostly one hand runs and the other sings or accompanies.
        if random.chance(0.6) {
            hands[random.below(2)] = Figure::draw_calm(random);
        }
        for bar in bar..(bar + bars).min(BARS) {
            let harmony = Harmony::draw(random, tonic, &scale);
            for (part, (figure, range)) in hands.iter().zip([RIGHT, LEFT]).enumerate() {
                figure.write(random, &harmony, range, bar * BAR, part, &mut notes);
            }
        }
        bar += bars;
    }
    notes.sort_unstable();
    notes.dedup_by_key(|note| (note.tick, note.pitch));
    let name = format!("study_{number:03}");
    // Quarters at this tempo: what is written in sixteenths comes to between 6 and 12 a second.
    let micros = random.between(330_000.0, 650_000.0) as u32;
    let score = Score::from_bytes(Path::new(&name), &study_bytes(&notes, micros)?)?;
    let mut tracks: Vec<u16> = score.notes.iter().map(|note| note.track).collect();
    tracks.sort_unstable();
    tracks.dedup();
    let parts = tracks.into_iter().map(|track| Part { track, is_keyboard: true }).collect();
    Ok(Source { name, licence: LICENCE.to_owned(), texture: Texture::Keyboard, parts, score })
}

/// What sounds in a bar.
struct Harmony {
    /// Pitch classes of the chord and of the scale.
    chord: Vec<i32>,
    scale: Vec<i32>,
}

impl Harmony {
    fn draw(random: &mut Random, tonic: i32, scale: &[i32; 7]) -> Self {
        let class = |degree: usize| (tonic + scale[degree % 7]).rem_euclid(12);
        let root = DEGREES[random.below(DEGREES.len())];
        let mut chord = vec![class(root), class(root + 2), class(root + 4)];
        match random.unit() {
            seventh if seventh < 0.35 => chord.push(class(root + 6)),
            diminished if diminished < 0.45 => chord = (0..4).map(|k| (class(root) + 3 * k).rem_euclid(12)).collect(),
            _ => {}
        }
        let scale = if random.chance(0.15) { (0..12).collect() } else { (0..7).map(class).collect() };
        Self { chord, scale }
    }

    /// The pitches of some classes within a range, upwards.
    fn pitches(classes: &[i32], (low, high): (i32, i32)) -> Vec<i32> {
        (low..=high).filter(|pitch| classes.contains(&pitch.rem_euclid(12))).collect()
    }
}

/// What a hand does for some bars.
#[derive(Debug, Clone, Copy)]
struct Figure {
    kind: Kind,
    /// Notes to a beat.
    per_beat: u32,
    /// Each note is doubled so many semitones above, where that is in the range.
    doubled: Option<i32>,
    /// A pattern of four steps, for broken chords.
    pattern: [usize; 4],
    /// How many pitches a run covers before it turns.
    reach: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Arpeggio,
    Scale,
    Broken,
    Tremolo,
    /// A low note and chords above it.
    Stride,
    /// Long notes, alone or in chords.
    Sung,
}

impl Figure {
    fn draw(random: &mut Random) -> Self {
        let kinds = [Kind::Arpeggio, Kind::Scale, Kind::Broken, Kind::Tremolo, Kind::Stride, Kind::Sung];
        let kind = kinds[random.weighted(&[0.34, 0.22, 0.22, 0.05, 0.09, 0.08])];
        let mut pattern = [0, 1, 2, 3];
        random.shuffle(&mut pattern);
        let is_calm = matches!(kind, Kind::Stride | Kind::Sung);
        let per_beat = if is_calm { [1, 1, 2, 2, 3] } else { [3, 4, 4, 6, 6] }[random.below(5)];
        let doubled = random.chance(0.22).then(|| [12, 12, 3, 4, 8, 9][random.below(6)]);
        Self { kind, per_beat, doubled, pattern, reach: 4 + random.below(13) }
    }

    fn draw_calm(random: &mut Random) -> Self {
        let kind = if random.chance(0.5) { Kind::Stride } else { Kind::Sung };
        Self { kind, per_beat: [1, 1, 2, 2, 3][random.below(5)], ..Self::draw(random) }
    }

    /// Writes a bar.
    fn write(
        &self,
        random: &mut Random,
        harmony: &Harmony,
        range: (i32, i32),
        from: u32,
        part: usize,
        notes: &mut Vec<WrittenNote>,
    ) {
        let classes = if self.kind == Kind::Scale { &harmony.scale } else { &harmony.chord };
        let pitches = Harmony::pitches(classes, range);
        let reach = self.reach.min(pitches.len() - 1).max(1);
        let lowest = random.below(pitches.len() - reach);
        let turned = random.chance(0.5);
        let step = u32::from(TICKS_PER_BEAT) / self.per_beat;
        for k in 0..4 * self.per_beat {
            let place = match self.kind {
                Kind::Arpeggio | Kind::Scale => {
                    // Up and down again, or the other way round.
                    let at = k as usize % (2 * reach);
                    let up = if at <= reach { at } else { 2 * reach - at };
                    lowest + if turned { reach - up } else { up }
                }
                Kind::Broken => lowest + self.pattern[k as usize % 4].min(reach),
                Kind::Tremolo => lowest + if k.is_multiple_of(2) { 0 } else { reach.min(3) },
                Kind::Stride => lowest + if k.is_multiple_of(2) { 0 } else { reach.min(3 + self.pattern[0]) },
                Kind::Sung => lowest + random.below(reach + 1),
            };
            let mut own = vec![pitches[place]];
            own.extend(self.doubled.map(|by| pitches[place] + by));
            let is_chord = match self.kind {
                Kind::Stride => k % 2 == 1,
                Kind::Sung => self.pattern[1] == 0,
                _ => false,
            };
            if is_chord {
                own.extend(pitches[place..].iter().skip(1).take(2 + self.pattern[2] % 2));
            }
            let (tick, end_tick) = (from + k * step, from + (k + 1) * step);
            own.retain(|pitch| (21..=108).contains(pitch));
            notes.extend(own.into_iter().map(|pitch| WrittenNote { tick, pitch: pitch as u8, part, end_tick }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn studies_are_dense_use_the_keyboard_and_differ_by_seed_alone() {
        let studies = write_studies(3, 30).unwrap();
        for study in &studies {
            let score = &study.score;
            let rate = score.notes.len() as f64 / score.end_s();
            assert!((3.0..60.0).contains(&rate), "{}: {rate} notes a second", study.name);
            assert!((50.0..120.0).contains(&score.end_s()), "{}: {} s", study.name, score.end_s());
            assert!(score.notes.iter().all(|note| (21..=108).contains(&note.pitch)), "{}", study.name);
        }
        let pitches = |sources: &[Source]| -> Vec<u8> {
            sources.iter().flat_map(|source| source.score.notes.iter().map(|note| note.pitch)).collect()
        };
        let all = pitches(&studies);
        assert!(all.iter().filter(|&&pitch| pitch < 48).count() > all.len() / 6, "the bass is used");
        assert_eq!(all, pitches(&write_studies(3, 30).unwrap()));
        assert_ne!(all, pitches(&write_studies(4, 30).unwrap()));
    }
}
