//! Who plays which part of a passage.

use super::excerpt::Excerpt;
use super::expression::Player;
use super::instruments::{Family, Instrument, Orchestra};
use super::material::{Source, Texture};
use crate::base::random::Random;

/// Who plays which part.
pub(super) struct Cast {
    pub players: Vec<Player>,
    /// For each part of the source the player who has it.
    pub player_of: Vec<usize>,
}

impl Cast {
    /// Gives the parts to instruments. Parts that none reaches are moved by octaves, and what still lies outside is left out.
    pub fn draw(
        random: &mut Random,
        source: &Source,
        excerpt: &mut Excerpt,
        orchestra: &Orchestra,
        for_piano: bool,
    ) -> Option<Self> {
        let groups = if for_piano {
            vec![(vec![Family::Piano], (0..source.parts.len()).collect())]
        } else {
            draw_groups(random, source)
        };
        let mut cast = Self { players: Vec::new(), player_of: vec![0; source.parts.len()] };
        let mut octaves = vec![0; source.parts.len()];
        let mut instruments: Vec<&Instrument> = Vec::new();
        for (families, parts) in groups {
            let pitches: Vec<u8> =
                excerpt.notes.iter().filter(|note| parts.contains(&note.part)).map(|note| note.pitch).collect();
            if pitches.is_empty() {
                continue;
            }
            let (instrument, octave) = draw_within_reach(random, orchestra, &families, &pitches)?;
            let place = orchestra.instruments.iter().position(|other| std::ptr::eq(other, instrument))?;
            for part in parts {
                cast.player_of[part] = cast.players.len();
                octaves[part] = octave;
            }
            cast.players.push(Player { instrument: place, family: instrument.family });
            instruments.push(instrument);
        }
        excerpt.transpose(|part| octaves[part]);
        excerpt.notes.retain(|note| instruments[cast.player_of[note.part]].reaches(note.pitch));
        Some(cast)
    }
}

/// An instrument for these pitches, as they are or moved by octaves.
fn draw_within_reach<'a>(
    random: &mut Random,
    orchestra: &'a Orchestra,
    families: &[Family],
    pitches: &[u8],
) -> Option<(&'a Instrument, i16)> {
    // Scores keep to the middle: flutes and double basses would hardly be heard if parts always stayed where they are.
    let octaves = match random.unit() {
        up if up < 0.15 => [12, 0, -12, 24, -24],
        down if down < 0.22 => [-12, 0, 12, -24, 24],
        _ => [0, -12, 12, -24, 24],
    };
    octaves.into_iter().find_map(|octave: i16| {
        let moved: Vec<u8> = pitches.iter().map(|&pitch| (i16::from(pitch) + octave).clamp(0, 127) as u8).collect();
        orchestra.draw(random, families, &moved).map(|instrument| (instrument, octave))
    })
}

/// The families for groups of parts that are played on one instrument each.
fn draw_groups(random: &mut Random, source: &Source) -> Vec<(Vec<Family>, Vec<usize>)> {
    let parts = 0..source.parts.len();
    let melodies: Vec<usize> = parts.clone().filter(|&part| !source.parts[part].is_keyboard).collect();
    let chords: Vec<usize> = parts.clone().filter(|&part| source.parts[part].is_keyboard).collect();
    match source.texture {
        Texture::Keyboard => vec![(vec![CHORDAL[random.below(CHORDAL.len())]], chords)],
        Texture::Song => {
            let family = LEADING[random.below(LEADING.len())];
            let keyboard = if random.chance(0.75) { Family::Piano } else { CHORDAL[random.below(CHORDAL.len())] };
            let each = melodies.into_iter().map(|part| (vec![family], vec![part]));
            each.chain([(vec![keyboard], chords)]).collect()
        }
        Texture::Solo => vec![(vec![SOLO[random.below(SOLO.len())]], melodies)],
        Texture::Ensemble | Texture::Orchestra => {
            let colour = COLOURS[random.weighted(&[0.36, 0.18, 0.12, 0.24, 0.05, 0.03, 0.02])];
            if colour == [Family::Organ] {
                return vec![(colour.to_vec(), parts.collect())];
            }
            parts.map(|part| (colour.to_vec(), vec![part])).collect()
        }
    }
}

/// Who may play music for keyboards.
const CHORDAL: [Family; 12] = [
    Family::Harpsichord,
    Family::Harpsichord,
    Family::Organ,
    Family::Organ,
    Family::Organ,
    Family::Guitar,
    Family::Guitar,
    Family::Harp,
    Family::Mallets,
    Family::Reeds,
    Family::Strings,
    Family::Choir,
];
/// Who may sing a song.
const LEADING: [Family; 8] = [
    Family::Winds,
    Family::Winds,
    Family::Winds,
    Family::Strings,
    Family::Strings,
    Family::Strings,
    Family::Brass,
    Family::Choir,
];
/// Who may play a melody alone.
const SOLO: [Family; 6] =
    [Family::Winds, Family::Strings, Family::Brass, Family::Guitar, Family::Mallets, Family::Reeds];
/// Who may play together.
const COLOURS: [&[Family]; 7] = [
    &[Family::Strings],
    &[Family::Winds],
    &[Family::Brass],
    &[Family::Strings, Family::Winds, Family::Brass],
    &[Family::Choir],
    &[Family::Organ],
    &[Family::Pizzicato],
];
