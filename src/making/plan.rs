//! What is played, by whom: a passage, its instruments, and the notes of the performance.

use super::casting::Cast;
use super::embellish::embellish;
use super::excerpt::Excerpt;
use super::expression::{PlayedNote, Player, play};
use super::instruments::{Family, Orchestra};
use super::material::{Source, Texture};
use super::pedal::{PedalMove, draw_pedal, hold};
use super::timing::Timing;
use crate::base::error::{Error, Result};
use crate::base::random::Random;

/// Passages that are tried before it is given up to find one that can be played.
const ATTEMPTS: usize = 200;
/// Fewer notes teach nothing.
const FEWEST_NOTES: usize = 12;
/// More notes a second than that no ear could tell apart, and no player plays.
const MOST_NOTES_PER_S: f64 = 42.0;
/// Parts of an orchestra that are taken for an ensemble, and for a piano.
const MOST_PARTS: usize = 9;
const MOST_PARTS_OF_PIANO: usize = 5;
/// How often a piece for the piano is played as fast as hands are: scores for everyone are slower than what pianists record.
const BRILLIANT: f64 = 0.3;
/// How often each [`Texture`] is drawn for the piano and for other instruments.
const FOR_PIANO: [f64; 5] = [0.48, 0.28, 0.04, 0.16, 0.04];
const FOR_OTHERS: [f64; 5] = [0.26, 0.22, 0.08, 0.29, 0.15];

/// A performance that is yet to be heard.
#[derive(Debug)]
pub(super) struct Plan {
    /// Index among the sources.
    pub source: usize,
    /// The passage as it is written beside the recording: only notes that are played.
    pub excerpt: Excerpt,
    pub players: Vec<Player>,
    /// One for each note of the excerpt, in the same order.
    pub notes: Vec<PlayedNote>,
    /// Pedalling of each player.
    pub pedals: Vec<Vec<PedalMove>>,
    /// Length of the recording.
    pub seconds: f64,
}

impl Plan {
    /// Draws passages until one can be played.
    pub fn draw(random: &mut Random, sources: &[Source], orchestra: &Orchestra, seconds: f64) -> Result<Self> {
        let for_piano = random.chance(0.5);
        for attempt in 0..ATTEMPTS {
            // Where there is nothing else to play on, or nothing fits, there is still the piano.
            let for_piano = for_piano || attempt >= ATTEMPTS / 4;
            if let Some(plan) = Self::attempt(random, sources, orchestra, seconds, for_piano)? {
                return Ok(plan);
            }
        }
        Err(Error::unsuitable(
            "the scores",
            format!("in {ATTEMPTS} passages none could be played for {seconds} s with the instruments there are"),
            "give longer scores, more SoundFonts or a smaller --seconds",
        ))
    }

    fn attempt(
        random: &mut Random,
        sources: &[Source],
        orchestra: &Orchestra,
        seconds: f64,
        for_piano: bool,
    ) -> Result<Option<Self>> {
        let place = draw_source(random, sources, if for_piano { &FOR_PIANO } else { &FOR_OTHERS });
        let source = &sources[place];
        let mut excerpt = Excerpt::draw(random, source, seconds)?;
        keep_some_parts(random, &mut excerpt, source, for_piano);
        transpose(random, &mut excerpt, for_piano);
        if excerpt.notes.len() < FEWEST_NOTES {
            return Ok(None);
        }
        let Some(cast) = Cast::draw(random, source, &mut excerpt, orchestra, for_piano) else { return Ok(None) };
        embellish(random, &mut excerpt);
        merge_unisons(&mut excerpt, &cast.player_of);
        keep_heard(&mut excerpt, &cast, orchestra)?;
        if excerpt.notes.len() < FEWEST_NOTES {
            return Ok(None);
        }
        let is_brilliant = for_piano && random.chance(BRILLIANT);
        let timing = Timing::draw(random, &excerpt, is_brilliant);
        let melody = melody_part(&excerpt, source);
        let mut notes = play(random, &excerpt, &timing, &cast.players, &cast.player_of, melody);
        let lead_in = random.between(0.15, 0.9);
        let shift = lead_in - notes.iter().map(|note| note.onset_s).fold(f64::INFINITY, f64::min);
        notes.iter_mut().for_each(|note| note.shift(shift));
        cut_after(&mut excerpt, &mut notes, seconds - 0.5);
        let dense = notes.len() as f64 > MOST_NOTES_PER_S * seconds;
        if notes.len() < FEWEST_NOTES || dense || excerpt.chords().len() < FEWEST_NOTES / 2 {
            return Ok(None);
        }
        let end_s = notes.iter().map(|note| note.release_s).fold(0.0, f64::max);
        let pedals = cast.players.iter().enumerate().map(|(player, Player { family, .. })| {
            let mut pedal = Vec::new();
            if *family == Family::Piano {
                pedal = draw_pedal(random, &excerpt, &timing, end_s - shift);
                pedal.iter_mut().for_each(|change| change.second += shift);
            }
            hold(&mut notes, player, &pedal, end_s + 1.0);
            let rings = family.rings() && random.chance(0.6);
            let ring_s = if rings { random.between(0.4, 3.0) } else { 0.0 };
            notes.iter_mut().filter(|note| note.player == player).for_each(|note| note.damped_s += ring_s);
            pedal
        });
        let pedals: Vec<Vec<PedalMove>> = pedals.collect();
        let heard_s = notes.iter().map(|note| note.damped_s).fold(0.0, f64::max);
        let length = (heard_s + random.between(0.1, 1.2)).min(seconds + 1.0);
        Ok(Some(Self { source: place, excerpt, players: cast.players, notes, pedals, seconds: length }))
    }
}

fn draw_source(random: &mut Random, sources: &[Source], weights: &[f64; 5]) -> usize {
    let count = |texture: Texture| sources.iter().filter(|source| source.texture == texture).count();
    let there: Vec<f64> = Texture::ALL
        .iter()
        .zip(weights)
        .map(|(&texture, weight)| if count(texture) > 0 { *weight } else { 0.0 })
        .collect();
    let texture = Texture::ALL[random.weighted(&there)];
    let wanted = random.below(count(texture));
    let mut of_texture = (0..sources.len()).filter(|&place| sources[place].texture == texture);
    of_texture.nth(wanted).unwrap_or(0)
}

/// Leaves parts out where there are too many, and sometimes the melody of a song that is for the piano alone.
fn keep_some_parts(random: &mut Random, excerpt: &mut Excerpt, source: &Source, for_piano: bool) {
    let mut parts: Vec<usize> = (0..source.parts.len()).collect();
    let most = if for_piano { MOST_PARTS_OF_PIANO } else { MOST_PARTS };
    if parts.len() > most {
        random.shuffle(&mut parts);
        parts.truncate(2 + random.below(most - 1));
    }
    if for_piano && source.texture == Texture::Song && random.chance(0.5) {
        parts.retain(|&part| source.parts[part].is_keyboard);
    }
    excerpt.notes.retain(|note| parts.contains(&note.part));
}

/// Another key, now and then: scores keep to some keys, and to the middle of the keyboard.
fn transpose(random: &mut Random, excerpt: &mut Excerpt, for_piano: bool) {
    let mut steps = if random.chance(0.5) { random.below(11) as i16 - 5 } else { 0 };
    if for_piano {
        match random.unit() {
            down if down < 0.2 => steps = -5 - random.below(10) as i16,
            up if up < 0.3 => steps = 5 + random.below(10) as i16,
            _ => {}
        }
    }
    excerpt.transpose(|_| steps);
}

/// The part that sings: the highest of those that are no keyboard, or of all.
fn melody_part(excerpt: &Excerpt, source: &Source) -> usize {
    let mean = |part: usize| {
        let pitches: Vec<f64> =
            excerpt.notes.iter().filter(|note| note.part == part).map(|note| f64::from(note.pitch)).collect();
        if pitches.is_empty() { f64::NEG_INFINITY } else { pitches.iter().sum::<f64>() / pitches.len() as f64 }
    };
    let rank = |part: usize| mean(part) + if source.parts[part].is_keyboard { 0.0 } else { 200.0 };
    (0..source.parts.len()).max_by(|&a, &b| rank(a).total_cmp(&rank(b))).unwrap_or(0)
}

/// One key is struck once, however many parts ask for it: the longest stays.
fn merge_unisons(excerpt: &mut Excerpt, player_of: &[usize]) {
    excerpt.notes.sort_by_key(|note| (note.tick, note.pitch, player_of[note.part], std::cmp::Reverse(note.end_tick)));
    excerpt.notes.dedup_by_key(|note| (note.tick, note.pitch, player_of[note.part]));
    excerpt.notes.sort_unstable();
}

/// Leaves out notes for which an instrument has no sound, whatever its range is said to be.
fn keep_heard(excerpt: &mut Excerpt, cast: &Cast, orchestra: &Orchestra) -> Result<()> {
    let mut heard = Vec::with_capacity(excerpt.notes.len());
    for note in &excerpt.notes {
        heard.push(orchestra.sounds(cast.players[cast.player_of[note.part]].instrument, note.pitch)?);
    }
    let mut heard = heard.into_iter();
    excerpt.notes.retain(|_| heard.next().unwrap_or(false));
    Ok(())
}

/// Leaves out the chords that begin after a moment, and all that follow them.
fn cut_after(excerpt: &mut Excerpt, notes: &mut Vec<PlayedNote>, latest_s: f64) {
    let late = |chord: &std::ops::Range<usize>| notes[chord.clone()].iter().any(|note| note.onset_s > latest_s);
    let kept = excerpt.chords().into_iter().find(late).map_or(notes.len(), |chord| chord.start);
    excerpt.notes.truncate(kept);
    notes.truncate(kept);
}
