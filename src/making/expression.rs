//! How each note is played: when, how loud, how long. Rules with chance in them; what comes out is the exact truth.

use std::collections::HashMap;

use super::excerpt::Excerpt;
use super::instruments::Family;
use super::timing::Timing;
use crate::base::random::Random;

/// Onsets of the score follow each other at least at this distance.
const CLOSEST_ONSETS_S: f64 = 0.002;
/// A key is struck again at the earliest after this time, and was up for a moment before.
const CLOSEST_REPEAT_S: f64 = 0.04;
const KEY_UP_S: f64 = 0.014;
/// The shortest touch.
const SHORTEST_S: f64 = 0.05;
/// Loudness that notes are kept to: softer ones would be dropped by a SoundFont.
const SOFTEST: f64 = 13.0;
const LOUDEST: f64 = 125.0;

/// Someone who plays some of the parts.
#[derive(Debug, Clone)]
pub(super) struct Player {
    /// Index among the instruments of the orchestra.
    pub instrument: usize,
    pub family: Family,
}

/// A note as it is played.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlayedNote {
    /// Index among the notes of the excerpt.
    pub written: usize,
    pub player: usize,
    pub pitch: u8,
    /// 1 to 127.
    pub velocity: u8,
    /// When it is heard to begin, in seconds of the recording.
    pub onset_s: f64,
    /// When the key, the bow or the breath lets go.
    pub release_s: f64,
    /// When its sound is damped: at the release, or with the pedal.
    pub damped_s: f64,
}

/// Habits that last for a whole piece.
struct Manner {
    /// Standard deviation of single onsets.
    jitter_s: f64,
    /// How much earlier a melody begins than what accompanies it.
    melody_lead_s: f64,
    rolled: f64,
    loudness: f64,
    swell: f64,
    uneven_touch: f64,
}

/// Habits of a part.
struct Role {
    lead_s: f64,
    /// Velocity steps beside the melody's.
    level: f64,
    /// Share of the written length that is held, per phrase.
    articulation: Vec<f64>,
}

/// Plays an excerpt. `player_of` says who plays each part, `melody` which part leads. Notes are those of the excerpt in its order.
pub(super) fn play(
    random: &mut Random,
    excerpt: &Excerpt,
    timing: &Timing,
    players: &[Player],
    player_of: &[usize],
    melody: usize,
) -> Vec<PlayedNote> {
    let manner = Manner::draw(random);
    let families: Vec<Family> = player_of.iter().map(|&player| players[player].family).collect();
    let roles: Vec<Role> =
        (0..player_of.len()).map(|part| Role::draw(random, timing, families[part], part == melody)).collect();
    let swells = Swells::draw(random, timing, &manner);
    let mut notes = Vec::with_capacity(excerpt.notes.len());
    let chords = excerpt.chords();
    for (place, chord) in chords.iter().enumerate() {
        let tick = excerpt.notes[chord.start].tick;
        let at = timing.at(tick);
        let next = chords.get(place + 1).map(|next| timing.at(excerpt.notes[next.start].tick));
        let gap = next.map_or(1.0, |next| next - at).max(0.01);
        let beat_accent = if tick.is_multiple_of(excerpt.bar_ticks()) { 5.0 } else { 0.0 };
        let phrase = timing.phrases.partition_point(|&start| start <= tick).saturating_sub(1);
        let roll = Roll::draw(random, &manner, chord.len(), gap, families[excerpt.notes[chord.start].part]);
        let top = chord.clone().filter(|&n| excerpt.notes[n].part == melody).max_by_key(|&n| excerpt.notes[n].pitch);
        for (rank, index) in chord.clone().enumerate() {
            let written = excerpt.notes[index];
            let role = &roles[written.part];
            let jitter = manner.jitter_s.min(0.12 * gap + 0.001) * random.normal().clamp(-2.5, 2.5);
            let lead = if top == Some(index) { manner.melody_lead_s.min(0.3 * gap) } else { 0.0 };
            let onset_s = at + role.lead_s.clamp(-0.3 * gap, 0.3 * gap) + jitter + roll.delay(rank) - lead;
            let held = (timing.at(written.end_tick) - at).max(0.03);
            let share = (role.articulation[phrase.min(role.articulation.len() - 1)] + 0.06 * random.normal()).max(0.15);
            let voicing = if top == Some(index) { 6.0 } else { -3.0 };
            let level = swells.at(tick) + role.level + beat_accent + voicing + manner.uneven_touch * random.normal();
            let release_s = onset_s + (held * share).max(SHORTEST_S);
            notes.push(PlayedNote {
                written: index,
                player: player_of[written.part],
                pitch: written.pitch,
                velocity: level.clamp(SOFTEST, LOUDEST) as u8,
                onset_s,
                release_s,
                damped_s: release_s,
            });
        }
    }
    keep_order(&mut notes, &chords);
    release_before_repeats(&mut notes);
    notes
}

impl Manner {
    fn draw(random: &mut Random) -> Self {
        Self {
            jitter_s: random.between(0.001, 0.011),
            melody_lead_s: if random.chance(0.6) { random.between(0.0, 0.035) } else { 0.0 },
            rolled: random.between(0.0, 0.12),
            loudness: random.between(42.0, 92.0),
            swell: random.between(4.0, 26.0),
            uneven_touch: random.between(2.0, 8.0),
        }
    }
}

impl Role {
    fn draw(random: &mut Random, timing: &Timing, family: Family, is_melody: bool) -> Self {
        let softer = match random.unit() {
            balanced if balanced < 0.45 => random.between(0.0, 10.0),
            behind if behind < 0.75 => random.between(10.0, 20.0),
            _ => random.between(20.0, 40.0),
        };
        let usual = articulation(random, family);
        let phrases = timing.phrases.iter();
        Self {
            lead_s: (0.008 * random.normal()).clamp(-0.02, 0.02),
            level: if is_melody { 0.0 } else { -softer },
            articulation: phrases
                .map(|_| if random.chance(0.7) { usual } else { articulation(random, family) })
                .collect(),
        }
    }
}

/// From staccato to legato, as a share of the written length.
fn articulation(random: &mut Random, family: Family) -> f64 {
    match random.unit() {
        short if short < 0.15 && family != Family::Organ => random.between(0.25, 0.5),
        detached if detached < 0.5 => random.between(0.6, 0.88),
        _ => random.between(0.9, 1.06),
    }
}

/// Loudness over the piece: a level, arches over phrases, and long growing and fading.
struct Swells {
    phrases: Vec<u32>,
    knots: Vec<(f64, f64)>,
}

impl Swells {
    fn draw(random: &mut Random, timing: &Timing, manner: &Manner) -> Self {
        let mut level = manner.loudness;
        let knot = |_: &u32| {
            // Terraces and long swells: the level of the next phrase, and the arch over this one.
            level = 0.6 * level + 0.4 * manner.loudness + 0.6 * manner.swell * random.normal();
            (level, manner.swell * random.between(-0.3, 0.8))
        };
        Self { knots: timing.phrases.iter().map(knot).collect(), phrases: timing.phrases.clone() }
    }

    fn at(&self, tick: u32) -> f64 {
        let phrase = self.phrases.partition_point(|&start| start <= tick).saturating_sub(1);
        let (level, arch) = self.knots[phrase];
        let Some(&next) = self.phrases.get(phrase + 1) else { return level };
        let x = f64::from(tick - self.phrases[phrase]) / f64::from(next - self.phrases[phrase]);
        level + x * (self.knots[phrase + 1].0 - level) + arch * (1.0 - (2.0 * x - 1.0).powi(2))
    }
}

/// Whether and how fast the notes of a chord follow one another.
struct Roll {
    step_s: f64,
    /// Notes of the chord, if it is rolled from the top down.
    from_top: Option<usize>,
    before_s: f64,
}

impl Roll {
    fn draw(random: &mut Random, manner: &Manner, notes: usize, gap: f64, family: Family) -> Self {
        let chance = match family {
            Family::Harp | Family::Guitar => 0.4,
            Family::Piano | Family::Harpsichord => manner.rolled,
            _ => 0.0,
        };
        if notes < 2 || !random.chance(chance) {
            return Self { step_s: 0.0, from_top: None, before_s: 0.0 };
        }
        let step_s = random.between(0.008, 0.06).min(0.5 * gap.min(0.8) / notes as f64);
        let from_top = random.chance(0.1).then_some(notes);
        // The roll begins on the beat, or ends on it.
        let before_s = if random.chance(0.4) { step_s * (notes - 1) as f64 } else { 0.0 };
        Self { step_s, from_top, before_s }
    }

    fn delay(&self, rank: usize) -> f64 {
        let steps = self.from_top.map_or(rank, |notes| notes - 1 - rank);
        steps as f64 * self.step_s - self.before_s
    }
}

/// Moves notes on where chance has put a chord before the one that is written before it, or a key's stroke too soon after its last.
fn keep_order(notes: &mut [PlayedNote], chords: &[std::ops::Range<usize>]) {
    let mut struck: HashMap<(usize, u8), f64> = HashMap::new();
    let mut previous = f64::NEG_INFINITY;
    for chord in chords {
        let chord = &mut notes[chord.clone()];
        for note in chord.iter_mut() {
            let earliest = struck.get(&(note.player, note.pitch)).map_or(f64::NEG_INFINITY, |s| s + CLOSEST_REPEAT_S);
            note.delay(earliest - note.onset_s);
        }
        let mean = chord.iter().map(|note| note.onset_s).sum::<f64>() / chord.len() as f64;
        let late = previous + CLOSEST_ONSETS_S - mean;
        chord.iter_mut().for_each(|note| note.delay(late));
        previous = mean + late.max(0.0);
        struck.extend(chord.iter().map(|note| ((note.player, note.pitch), note.onset_s)));
    }
}

impl PlayedNote {
    fn delay(&mut self, seconds: f64) {
        if seconds > 0.0 {
            self.shift(seconds);
        }
    }

    /// Moves it in time.
    pub fn shift(&mut self, seconds: f64) {
        self.onset_s += seconds;
        self.release_s += seconds;
        self.damped_s += seconds;
    }
}

/// A key that is to be struck again has to come up before.
fn release_before_repeats(notes: &mut [PlayedNote]) {
    let mut next: HashMap<(usize, u8), f64> = HashMap::new();
    for note in notes.iter_mut().rev() {
        if let Some(&again) = next.get(&(note.player, note.pitch)) {
            note.release_s = note.release_s.min(again - KEY_UP_S);
        }
        note.damped_s = note.release_s;
        next.insert((note.player, note.pitch), note.onset_s);
    }
}
