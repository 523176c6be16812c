//! The instruments that there are to choose from: presets of SoundFonts, recorded notes, and made-up pianos.

use std::path::Path;

use super::font_voices::Delays;
use super::sampler::SampleLibrary;
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::score::SoundFont;

/// Instruments that can stand in for one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    Piano,
    Harpsichord,
    Organ,
    Guitar,
    Harp,
    Mallets,
    Reeds,
    Strings,
    Pizzicato,
    Winds,
    Brass,
    Choir,
}

impl Family {
    /// Whether its sounds die away by themselves, whatever the player does.
    pub fn decays(self) -> bool {
        matches!(self, Self::Piano | Self::Harpsichord | Self::Guitar | Self::Harp | Self::Mallets | Self::Pizzicato)
    }

    /// Whether its sounds ring on when the player lets go.
    pub fn rings(self) -> bool {
        matches!(self, Self::Guitar | Self::Harp | Self::Mallets | Self::Pizzicato)
    }
}

/// Where an instrument's sounds come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sound {
    /// A program of a SoundFont, by its place in [`Orchestra::fonts`].
    Font { font: usize, program: u8 },
    /// Recorded notes, by the place of the instrument in the library.
    Sampled { instrument: usize },
    /// A piano that is made up anew for every piece.
    MadeUpPiano,
}

/// Something to play on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Instrument {
    pub name: String,
    /// Who provides its sounds.
    pub source: String,
    pub family: Family,
    pub sound: Sound,
    /// Lowest and highest pitch.
    pub low: u8,
    pub high: u8,
}

impl Instrument {
    pub fn reaches(&self, pitch: u8) -> bool {
        (self.low..=self.high).contains(&pitch)
    }
}

/// Everything that can be played on.
pub(super) struct Orchestra {
    pub fonts: Vec<SoundFont>,
    pub samples: SampleLibrary,
    pub instruments: Vec<Instrument>,
    pub delays: Delays,
}

/// General MIDI programs that are worth learning from: program, name, family, lowest and highest pitch. Programs whose notes
/// have no one beginning (tremolo, pads, effects) are left out.
const PROGRAMS: &[(u8, &str, Family, u8, u8)] = &[
    (0, "grand piano", Family::Piano, 21, 108),
    (1, "bright piano", Family::Piano, 21, 108),
    (2, "electric grand", Family::Piano, 28, 103),
    (3, "honky-tonk piano", Family::Piano, 24, 103),
    (6, "harpsichord", Family::Harpsichord, 29, 89),
    (8, "celesta", Family::Mallets, 60, 108),
    (9, "glockenspiel", Family::Mallets, 72, 108),
    (11, "vibraphone", Family::Mallets, 53, 89),
    (12, "marimba", Family::Mallets, 45, 96),
    (13, "xylophone", Family::Mallets, 65, 108),
    (16, "drawbar organ", Family::Organ, 36, 96),
    (19, "church organ", Family::Organ, 28, 96),
    (20, "reed organ", Family::Organ, 36, 96),
    (21, "accordion", Family::Reeds, 41, 96),
    (22, "harmonica", Family::Reeds, 55, 96),
    (24, "nylon guitar", Family::Guitar, 40, 84),
    (25, "steel guitar", Family::Guitar, 40, 84),
    (26, "jazz guitar", Family::Guitar, 40, 84),
    (40, "violin", Family::Strings, 55, 100),
    (41, "viola", Family::Strings, 48, 88),
    (42, "cello", Family::Strings, 36, 79),
    (43, "contrabass", Family::Strings, 28, 62),
    (45, "pizzicato strings", Family::Pizzicato, 28, 96),
    (46, "harp", Family::Harp, 24, 103),
    (48, "string ensemble", Family::Strings, 28, 96),
    (49, "slow strings", Family::Strings, 28, 96),
    (52, "choir aahs", Family::Choir, 41, 84),
    (53, "voice oohs", Family::Choir, 41, 84),
    (56, "trumpet", Family::Brass, 54, 86),
    (57, "trombone", Family::Brass, 40, 74),
    (58, "tuba", Family::Brass, 28, 60),
    (59, "muted trumpet", Family::Brass, 54, 86),
    (60, "horn", Family::Brass, 35, 77),
    (61, "brass section", Family::Brass, 36, 86),
    (64, "soprano saxophone", Family::Winds, 56, 88),
    (65, "alto saxophone", Family::Winds, 49, 81),
    (66, "tenor saxophone", Family::Winds, 44, 76),
    (67, "baritone saxophone", Family::Winds, 36, 69),
    (68, "oboe", Family::Winds, 58, 91),
    (69, "English horn", Family::Winds, 52, 81),
    (70, "bassoon", Family::Winds, 34, 74),
    (71, "clarinet", Family::Winds, 50, 92),
    (72, "piccolo", Family::Winds, 74, 108),
    (73, "flute", Family::Winds, 59, 98),
    (74, "recorder", Family::Winds, 60, 98),
    (75, "pan flute", Family::Winds, 60, 96),
];

/// Words in the names of recorded instruments, and what they are. The first that fits counts.
const WORDS: &[(&str, Family)] = &[
    ("piano", Family::Piano),
    ("harpsichord", Family::Harpsichord),
    ("organ", Family::Organ),
    ("harmonica", Family::Reeds),
    ("accordion", Family::Reeds),
    ("guitar", Family::Guitar),
    ("strumstick", Family::Guitar),
    ("tranh", Family::Guitar),
    ("lute", Family::Guitar),
    ("harp", Family::Harp),
    ("marimba", Family::Mallets),
    ("vibraphone", Family::Mallets),
    ("xylophone", Family::Mallets),
    ("glockenspiel", Family::Mallets),
    ("kalimba", Family::Mallets),
    ("celesta", Family::Mallets),
    ("violin", Family::Strings),
    ("viola", Family::Strings),
    ("cello", Family::Strings),
    ("bass_section", Family::Strings),
    ("contrabass", Family::Strings),
    ("flute", Family::Winds),
    ("piccolo", Family::Winds),
    ("oboe", Family::Winds),
    ("clarinet", Family::Winds),
    ("bassoon", Family::Winds),
    ("saxophone", Family::Winds),
    ("ocarina", Family::Winds),
    ("recorder", Family::Winds),
    ("horn", Family::Brass),
    ("trumpet", Family::Brass),
    ("trombone", Family::Brass),
    ("tuba", Family::Brass),
    ("choir", Family::Choir),
    ("voice", Family::Choir),
];

/// The family of a program of General MIDI; those that are not listed are nobody's, and played by nobody.
pub(super) fn family_of_program(program: u8) -> Family {
    PROGRAMS.iter().find(|row| row.0 == program).map_or(Family::Winds, |row| row.2)
}

/// The family of a recorded instrument, if its name tells.
pub(super) fn family_by_name(name: &str) -> Option<Family> {
    WORDS.iter().find(|(word, _)| name.contains(word)).map(|&(_, family)| family)
}

impl Orchestra {
    /// The built-in piano, made-up pianos, and what the SoundFonts and the folders of recorded notes hold.
    pub fn gather(ctx: &JobContext, soundfonts: &[impl AsRef<Path>], samples: &[impl AsRef<Path>]) -> Result<Self> {
        let mut fonts = vec![SoundFont::builtin()];
        for (count, path) in soundfonts.iter().enumerate() {
            ctx.report("reading the SoundFonts", count as f32 / soundfonts.len() as f32)?;
            fonts.push(SoundFont::read(path.as_ref())?);
        }
        let samples = SampleLibrary::open(samples)?;
        let mut instruments = vec![made_up_piano()];
        for (place, font) in fonts.iter().enumerate() {
            // The built-in piano answers to every program, always with the same sound.
            let known = PROGRAMS.iter().filter(|row| if place == 0 { row.0 == 0 } else { font.has_program(row.0) });
            instruments.extend(known.map(|row| of_font(place, &font.name(), row)));
        }
        instruments.extend(samples.instruments());
        Ok(Self { fonts, samples, instruments, delays: Delays::default() })
    }

    /// An instrument of one of these families that reaches most of the pitches of a part, if there is one. Sources are
    /// drawn first, so that a SoundFont with many presets does not crowd out the others.
    pub fn draw(&self, random: &mut Random, families: &[Family], pitches: &[u8]) -> Option<&Instrument> {
        let reached = |instrument: &Instrument| pitches.iter().filter(|&&pitch| instrument.reaches(pitch)).count();
        let enough = (0.95 * pitches.len() as f64).ceil() as usize;
        let fitting: Vec<&Instrument> = self
            .instruments
            .iter()
            .filter(|instrument| families.contains(&instrument.family) && reached(instrument) >= enough)
            .collect();
        let mut sources: Vec<(&str, f64)> =
            fitting.iter().map(|instrument| (instrument.source.as_str(), source_weight(instrument))).collect();
        sources.dedup_by_key(|(source, _)| *source);
        let weights: Vec<f64> = sources.iter().map(|(_, weight)| *weight).collect();
        let (source, _) = sources.get(random.weighted(&weights))?;
        let of_source: Vec<&&Instrument> = fitting.iter().filter(|instrument| instrument.source == *source).collect();
        let weights: Vec<f64> = of_source.iter().map(|instrument| preset_weight(instrument)).collect();
        of_source.get(random.weighted(&weights)).map(|instrument| **instrument)
    }
}

impl Orchestra {
    /// Whether an instrument has a sound for a pitch.
    pub fn sounds(&self, instrument: usize, pitch: u8) -> Result<bool> {
        match self.instruments[instrument].sound {
            Sound::Font { font, program } => self.delays.knows(font, &self.fonts[font], program, pitch),
            Sound::Sampled { .. } | Sound::MadeUpPiano => Ok(true),
        }
    }
}

/// How often a source is drawn, compared with others.
fn source_weight(instrument: &Instrument) -> f64 {
    match instrument.sound {
        Sound::MadeUpPiano => 2.2,
        Sound::Sampled { .. } => 1.5,
        Sound::Font { font: 0, .. } => 0.4,
        Sound::Font { .. } => 1.0,
    }
}

/// How often an instrument is drawn among those of its source: honky-tonk and electric pianos are rare, and sections that reach
/// every pitch would crowd out the others.
fn preset_weight(instrument: &Instrument) -> f64 {
    match instrument.sound {
        Sound::Font { program: 0, .. } => 3.0,
        Sound::Font { program: 2 | 3 | 48 | 49 | 61, .. } => 0.5,
        _ => 1.0,
    }
}

fn made_up_piano() -> Instrument {
    Instrument {
        name: "made-up piano".to_owned(),
        source: "model of strings".to_owned(),
        family: Family::Piano,
        sound: Sound::MadeUpPiano,
        low: 21,
        high: 108,
    }
}

fn of_font(font: usize, font_name: &str, row: &(u8, &str, Family, u8, u8)) -> Instrument {
    let &(program, name, family, low, high) = row;
    let sound = Sound::Font { font, program };
    Instrument { name: name.to_owned(), source: font_name.to_owned(), family, sound, low, high }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_recorded_instruments_tell_their_family() {
        for (name, family) in [
            ("harpsichord_english", Some(Family::Harpsichord)),
            ("harp", Some(Family::Harp)),
            ("piano_old_upright", Some(Family::Piano)),
            ("contrabass", Some(Family::Strings)),
            ("harmonica", Some(Family::Reeds)),
            ("theremin", None),
        ] {
            assert_eq!(family_by_name(name), family, "{name}");
        }
    }

    #[test]
    fn without_any_file_there_are_pianos_and_nothing_else() {
        let orchestra = Orchestra::gather(&JobContext::new(), &[] as &[&Path], &[] as &[&Path]).unwrap();
        let mut random = Random::at(1, &[]);
        assert!(orchestra.draw(&mut random, &[Family::Piano], &[30, 60]).is_some());
        assert!(orchestra.draw(&mut random, &[Family::Strings], &[60]).is_none());
        let drawn: std::collections::BTreeSet<String> = (0..50)
            .filter_map(|_| orchestra.draw(&mut random, &[Family::Piano], &[60]).map(|i| i.name.clone()))
            .collect();
        assert_eq!(drawn.len(), 2, "{drawn:?}");
    }
}
