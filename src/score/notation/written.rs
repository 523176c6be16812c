//! The score as it is written: every note once, with all that its file says and MIDI cannot.

use serde::Serialize;

pub use super::quarters::Quarters;

/// A score as its file writes it. Places are a bar and a distance from that bar's line.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct WrittenScore {
    /// Title, if the file has one.
    pub title: Option<String>,
    /// Who wrote the music, if the file says so.
    pub composer: Option<String>,
    /// Parts from the top of the page.
    pub parts: Vec<Part>,
    /// Bars in the order of the page.
    pub bars: Vec<Bar>,
    /// The bars in the order that the file itself prescribes, where it does; otherwise it follows from the repeats.
    pub prescribed: Option<Vec<u32>>,
    /// Notes by bar and place; grace notes stand before the note that they lead to.
    pub notes: Vec<WrittenNote>,
    /// Rests by bar and place.
    pub rests: Vec<WrittenRest>,
    /// Tempo marks in order.
    pub tempi: Vec<TempoMark>,
    /// Key signatures in order, of all parts that agree once.
    pub keys: Vec<Key>,
    /// Clefs in order.
    pub clefs: Vec<Clef>,
    /// Dynamics in order.
    pub dynamics: Vec<Dynamic>,
    /// Where the sustain pedal goes down and up.
    pub pedal: Vec<PedalMark>,
    /// What was left out or taken otherwise than it is written, a sentence each.
    pub notices: Vec<String>,
}

/// A part: what one player reads.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Part {
    /// The file's own name for it.
    pub id: String,
    /// As it is printed.
    pub name: String,
    /// How many staves it is written on.
    pub staves: u8,
    /// General MIDI program, 0 to 127.
    pub program: Option<u8>,
}

/// A place in the written score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
pub struct Place {
    /// Index of the bar.
    pub bar: u32,
    /// Distance from its bar line.
    #[serde(rename = "quarters_in_bar")]
    pub at: Quarters,
}

/// A bar of all parts.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Bar {
    /// Its number as printed: usually digits, but "12a" or "X1" are seen.
    pub label: String,
    /// Index of the measure of the file that it is, or a part of.
    #[serde(skip)]
    pub measure: u32,
    /// Where it begins when every bar is read once.
    #[serde(rename = "start_quarters")]
    pub start: Quarters,
    /// How long it is: a pickup is shorter than its meter says.
    #[serde(rename = "length_quarters")]
    pub length: Quarters,
    /// The time signature in force.
    pub meter: Meter,
    /// A repeat begins here.
    #[serde(skip_serializing_if = "is_false")]
    pub repeat_start: bool,
    /// A repeat ends here: how often its section is played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_end: Option<u8>,
    /// The times of the section at which this bar is played, if it stands under a bracket.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ending: Vec<u8>,
    /// The bracket begins with this bar.
    #[serde(skip_serializing_if = "is_false")]
    pub ending_start: bool,
    /// Signs of jumps at this bar.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signs: Vec<Sign>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A sign that sends the player elsewhere or is sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// Where "dal segno" goes to: the bar's beginning.
    Segno,
    /// Where the coda begins: the bar's beginning.
    Coda,
    /// The music ends with this bar after a jump.
    Fine,
    /// After a jump the player goes from the end of this bar to the coda.
    ToCoda,
    /// From the end of this bar to the beginning.
    DaCapo,
    /// From the end of this bar to the segno.
    DalSegno,
}

/// A time signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Meter {
    /// Beats in a bar, at least 1; the sum of 3+2.
    pub beats: u8,
    /// What a beat is, as a fraction of a whole note: 1, 2, 4, 8 …
    pub beat_type: u16,
}

impl Default for Meter {
    fn default() -> Self {
        Self { beats: 4, beat_type: 4 }
    }
}

impl Meter {
    /// A time signature, if such numbers can be one.
    pub fn new(beats: u32, beat_type: u32) -> Option<Self> {
        let beat_type = u16::try_from(beat_type).ok().filter(|&unit| unit.is_power_of_two() && unit <= 128)?;
        let beats = u8::try_from(beats).ok().filter(|&beats| beats > 0)?;
        Some(Self { beats, beat_type })
    }

    /// How long a full bar is.
    pub fn bar(self) -> Quarters {
        Quarters::ratio(i64::from(self.beats) * 4, self.beat_type.into())
    }
}

/// A pitch as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct WrittenPitch {
    /// C to B.
    pub step: char,
    /// Semitones: -1 flat, 1 sharp. Quarter tones are rounded towards the natural.
    pub alter: i8,
    /// Middle C stands in octave 4.
    pub octave: i8,
}

impl WrittenPitch {
    /// MIDI number of this pitch played so many semitones higher than written, if there is one.
    pub fn sounding(self, transposition: i32) -> Option<u8> {
        let step = match self.step {
            'C' => 0,
            'D' => 2,
            'E' => 4,
            'F' => 5,
            'G' => 7,
            'A' => 9,
            _ => 11,
        };
        let number = (i32::from(self.octave) + 1) * 12 + step + i32::from(self.alter) + transposition;
        u8::try_from(number).ok().filter(|&pitch| pitch < 128)
    }
}

/// A note as it is written. A chord is several notes at one place of one voice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrittenNote {
    /// The file's own name for it, or one made from its place in the file.
    pub id: String,
    /// Index of its part.
    pub part: u16,
    /// Staff of the part, from 1.
    pub staff: u8,
    /// Voice of the part, from 1.
    pub voice: u16,
    /// Where it stands.
    #[serde(flatten)]
    pub place: Place,
    /// How long it is; nothing for a grace note.
    #[serde(rename = "duration_quarters")]
    pub duration: Quarters,
    /// As it is spelled on the page.
    pub written: WrittenPitch,
    /// MIDI number of what sounds.
    pub pitch: u8,
    /// A tie leads here from an earlier note.
    #[serde(skip_serializing_if = "is_false")]
    pub tied_from: bool,
    /// A tie leads from here to a later note.
    #[serde(skip_serializing_if = "is_false")]
    pub tied_to: bool,
    /// A grace note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace: Option<Grace>,
    /// What else is written at it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// How it is drawn.
    #[serde(skip)]
    pub look: Look,
}

/// A rest as it is written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrittenRest {
    /// Index of its part.
    pub part: u16,
    /// Staff of the part, from 1.
    pub staff: u8,
    /// Voice of the part, from 1.
    pub voice: u16,
    /// Where it stands.
    #[serde(flatten)]
    pub place: Place,
    /// How long it is.
    #[serde(rename = "duration_quarters")]
    pub duration: Quarters,
    /// It stands for a whole bar, whatever its length.
    pub whole_bar: bool,
    /// As it is drawn, if the file says so.
    #[serde(skip)]
    pub value: Option<NoteValue>,
}

/// How a note is drawn, as far as its file says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Look {
    /// Note value and dots.
    pub value: Option<NoteValue>,
    /// Where it stands under a beam.
    pub beam: Option<BeamPlace>,
    /// Which way its stem goes.
    pub stem: Option<Stem>,
    /// An accidental is printed.
    pub accidental: bool,
    /// A tuplet whose number is printed begins or ends here.
    pub tuplet: Option<TupletEdge>,
}

/// A note value as it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoteValue {
    /// 0 for a whole note, 1 for a half, 2 for a quarter …; -1 for a breve.
    pub power: i8,
    /// How many dots.
    pub dots: u8,
    /// So many in the time of so many: (3, 2) in a triplet, (1, 1) in none.
    pub tuplet: (u8, u8),
}

impl NoteValue {
    /// How long a note of this value is.
    pub fn length(self) -> Quarters {
        let plain = match self.power {
            power @ ..=0 => Quarters::ratio(4 << power.unsigned_abs().min(4), 1),
            power => Quarters::ratio(4, 1 << power.min(12)),
        };
        let dots = self.dots.min(6);
        let dotted = plain.scaled((2 << dots) - 1, 1 << dots);
        dotted.scaled(self.tuplet.1.into(), self.tuplet.0.into())
    }
}

/// Where a note stands under a beam.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeamPlace {
    /// The beam begins.
    Begin,
    /// It goes on.
    Inside,
    /// It ends.
    End,
}

/// Which way a stem goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stem {
    /// Upwards, right of the head.
    Up,
    /// Downwards, left of the head.
    Down,
}

/// Where a tuplet begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TupletEdge {
    /// It begins.
    Begin,
    /// It ends.
    End,
}

/// A grace note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Grace {
    /// It has a stroke through its stem.
    pub slashed: bool,
    /// How many steps it stands before the note that it leads to, at least 1.
    pub steps_before: u8,
}

/// What is written at a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Trill, turn, mordent …, by its name in MusicXML.
    Ornament(String),
    /// Strokes through the stem: the note is repeated, eighths for one stroke, sixteenths for two.
    Tremolo {
        /// How many.
        strokes: u8,
        /// The tremolo goes to and fro between this note and another.
        between: Option<Between>,
    },
    /// The chord is broken, upwards unless it says otherwise.
    Arpeggio {
        /// Downwards.
        down: bool,
    },
    /// A fermata.
    Fermata,
    /// Staccato, accent, tenuto …, by its name in MusicXML.
    Articulation(String),
    /// Text that is sung.
    Lyric {
        /// Verse as printed.
        verse: String,
        /// The syllable.
        text: String,
    },
}

/// The two sides of a tremolo between two notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Between {
    /// The first.
    First,
    /// The second.
    Second,
}

/// A tempo mark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TempoMark {
    /// Where it holds from.
    #[serde(flatten)]
    pub place: Place,
    /// Quarter notes per minute.
    pub quarters_per_minute: f64,
    /// The words, if there are any.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// A key signature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Key {
    /// Index of the part.
    pub part: u16,
    /// Where it holds from.
    #[serde(flatten)]
    pub place: Place,
    /// Sharps (positive) or flats (negative), as written.
    pub accidentals: i8,
    /// Minor mode.
    pub minor: bool,
    /// Semitones that the part sounds higher than written.
    pub transposition: i8,
}

/// A clef.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Clef {
    /// Index of the part.
    pub part: u16,
    /// Staff of the part, from 1.
    pub staff: u8,
    /// Where it holds from.
    #[serde(flatten)]
    pub place: Place,
    /// G, F, C or another sign.
    pub sign: String,
    /// Line from the bottom, from 1.
    pub line: i8,
    /// Octaves that the staff sounds higher than the sign says.
    pub octaves: i8,
}

/// A dynamic mark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dynamic {
    /// Index of the part.
    pub part: u16,
    /// Staff of the part, from 1, if it is for one of them only.
    pub staff: Option<u8>,
    /// Where it holds from.
    #[serde(flatten)]
    pub place: Place,
    /// As it is printed: "pp", "sfz" …
    pub mark: String,
}

/// The sustain pedal goes down or up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PedalMark {
    /// Index of the part.
    pub part: u16,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// Down or up.
    pub down: bool,
}

impl WrittenScore {
    /// Distance of a place from the beginning when every bar is read once.
    pub fn as_written(&self, place: Place) -> Quarters {
        self.bars.get(place.bar as usize).map_or(Quarters::ZERO, |bar| bar.start) + place.at
    }
}
