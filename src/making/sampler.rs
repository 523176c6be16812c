//! Recorded single notes: the nearest one, brought to the pitch, held as long as is wanted.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::instruments::{Family, Instrument, Sound, family_by_name};
use super::onset_delay::onset_delay;
use crate::audio::decode;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::base::time::ANALYSIS_RATE;
use crate::base::whole_file::read_whole;

const RATE: f64 = ANALYSIS_RATE as f64;
/// Silence that is put before a recording: many are cut at the attack, and interpolation looks back.
const MARGIN: usize = 8;
/// A recorded note may be moved so many semitones.
const REACH: u8 = 7;
/// Velocities that recordings with a word for their dynamic stand for.
const SOFT: u8 = 40;
const LOUD: u8 = 90;
/// Notes so much softer than their recording are made duller.
const MUCH_SOFTER: u8 = 28;
/// Recordings are brought to this peak.
const PEAK: f32 = 0.7;
/// Recordings are used up to this length.
const LONGEST_S: f64 = 9.0;
/// Held notes shorter than this may be played with recordings of short notes.
const SHORT_S: f64 = 0.22;
/// Recordings of notes that are held, and can be held longer than they were.
const HELD: [&str; 2] = ["sustain", "muted"];
const MOST_LIST_BYTES: u64 = 256 << 20;
const REMEDY: &str = "give a folder whose samples.csv has the columns file, instrument, articulation, midi_pitch, dynamic and tuning_cents";

/// One recorded note.
#[derive(Debug)]
struct Sample {
    path: PathBuf,
    articulation: String,
    pitch: u8,
    /// The velocity that it was played with, or stands for.
    velocity: u8,
    tuning_cents: f64,
    sound: OnceLock<Result<Recorded, String>>,
}

/// The sound of a recorded note and the sample at which it begins.
#[derive(Debug)]
struct Recorded {
    samples: Vec<f32>,
    onset: f64,
}

#[derive(Debug)]
struct SampledInstrument {
    name: String,
    /// Name of the folder that it is from.
    folder: String,
    family: Family,
    samples: Vec<Sample>,
}

/// The recorded instruments of some folders. Files are decoded when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct SampleLibrary {
    instruments: Vec<SampledInstrument>,
}

/// How an instrument is played in one piece.
#[derive(Debug, Clone)]
pub(crate) struct SampledManner {
    /// The recordings that all notes are played with, if the player has only one way.
    only: Option<String>,
    release_s: f64,
}

/// What is to be played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SampledNote {
    pub pitch: u8,
    pub velocity: u8,
    pub onset_s: f64,
    pub damped_s: f64,
    pub tuning_cents: f64,
}

impl SampleLibrary {
    /// Reads the lists of folders. Instruments whose family is not known are passed over.
    pub fn open(folders: &[impl AsRef<Path>]) -> Result<Self> {
        let mut library = Self::default();
        folders.iter().try_for_each(|folder| library.read(folder.as_ref()))?;
        Ok(library)
    }

    fn read(&mut self, folder: &Path) -> Result<()> {
        let before = self.instruments.len();
        let folder_name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
        let list = folder.join("samples.csv");
        let malformed = |cause: String| Error::malformed(&list, cause, REMEDY);
        let text = read_whole(&list, MOST_LIST_BYTES, REMEDY)?;
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_slice());
        let header = reader.headers().map_err(|e| malformed(e.to_string()))?.clone();
        let column = |name: &str| {
            let found = header.iter().position(|column| column == name);
            found.ok_or_else(|| malformed(format!("the column {name} is missing")))
        };
        let [file, instrument, articulation] = [column("file")?, column("instrument")?, column("articulation")?];
        let [pitch, dynamic, tuning] = [column("midi_pitch")?, column("dynamic")?, column("tuning_cents")?];
        for record in reader.records() {
            let record = record.map_err(|e| malformed(e.to_string()))?;
            let line = record.position().map_or(0, csv::Position::line);
            let name = &record[instrument];
            let Some(family) = family_by_name(name) else { continue };
            let wrong = |what: &str| malformed(format!("line {line} has no legal {what}"));
            self.add(
                (name, &folder_name),
                family,
                Sample {
                    path: folder.join(&record[file]),
                    articulation: record[articulation].to_owned(),
                    pitch: record[pitch]
                        .parse()
                        .ok()
                        .filter(|pitch| *pitch < 128)
                        .ok_or_else(|| wrong("midi_pitch"))?,
                    velocity: velocity(&record[dynamic]).ok_or_else(|| wrong("dynamic"))?,
                    tuning_cents: record[tuning].parse().map_err(|_| wrong("tuning_cents"))?,
                    sound: OnceLock::new(),
                },
            );
        }
        if self.instruments.len() == before {
            return Err(malformed("it lists no instrument whose name is known".to_owned()));
        }
        Ok(())
    }

    fn add(&mut self, (name, folder): (&str, &str), family: Family, sample: Sample) {
        let is_it = |instrument: &&mut SampledInstrument| instrument.name == name && instrument.folder == folder;
        match self.instruments.iter_mut().find(is_it) {
            Some(instrument) => instrument.samples.push(sample),
            None => {
                let (name, folder) = (name.to_owned(), folder.to_owned());
                self.instruments.push(SampledInstrument { name, folder, family, samples: vec![sample] });
            }
        }
    }

    /// The instruments, as the orchestra lists them.
    pub fn instruments(&self) -> impl Iterator<Item = Instrument> + '_ {
        self.instruments.iter().enumerate().map(|(place, instrument)| {
            let pitches = || instrument.samples.iter().map(|sample| sample.pitch);
            Instrument {
                name: instrument.name.replace('_', " "),
                source: format!("recorded notes ({})", instrument.folder),
                family: instrument.family,
                sound: Sound::Sampled { instrument: place },
                low: pitches().min().unwrap_or(0).saturating_sub(REACH / 2),
                high: pitches().max().unwrap_or(0) + REACH / 2,
            }
        })
    }

    /// How an instrument is played in a piece.
    pub fn draw_manner(&self, random: &mut Random, instrument: usize) -> SampledManner {
        let instrument = &self.instruments[instrument];
        let only = random
            .chance(0.15)
            .then(|| instrument.samples[random.below(instrument.samples.len())].articulation.clone());
        let release_s = if instrument.family.decays() { random.between(0.06, 0.2) } else { random.between(0.03, 0.12) };
        SampledManner { only, release_s }
    }

    /// Adds a note to `mix`, so that it is heard to begin at its onset.
    pub fn play(
        &self,
        random: &mut Random,
        instrument: usize,
        manner: &SampledManner,
        note: SampledNote,
        mix: &mut [f32],
    ) -> Result<()> {
        let instrument = &self.instruments[instrument];
        let sample = instrument.choose(random, manner, note);
        let sustained = !instrument.family.decays() && HELD.contains(&sample.articulation.as_str());
        let recorded = sample.sound(instrument.family)?;
        let cents = 100.0 * (f64::from(note.pitch) - f64::from(sample.pitch)) - sample.tuning_cents
            + note.tuning_cents
            + 3.0 * random.normal();
        let step = 2f64.powf(cents / 1200.0);
        let start = note.onset_s * RATE - recorded.onset / step;
        let first = start.floor();
        let wanted = ((note.damped_s + manner.release_s) * RATE - start).max(0.0) as usize;
        let mut sound = resampled(&recorded.samples, step, (first - start) * step, wanted);
        if sustained && sound.len() < wanted {
            sound = looped(sound, wanted);
        }
        if sound.len() == wanted {
            fade_out(&mut sound, (manner.release_s * RATE) as usize);
        }
        let softer = sample.velocity.saturating_sub(note.velocity).saturating_sub(MUCH_SOFTER);
        if softer > 0 {
            dull(&mut sound, f32::from(softer) / 80.0);
        }
        let gain = (f32::from(note.velocity) / 127.0).powf(1.6);
        add_at(mix, first as isize, &sound, gain);
        Ok(())
    }
}

impl SampledInstrument {
    /// The recording that suits a note best, with some chance in it.
    fn choose(&self, random: &mut Random, manner: &SampledManner, note: SampledNote) -> &Sample {
        let has = |articulation: &str| self.samples.iter().any(|sample| sample.articulation == articulation);
        let is_short = !self.family.decays() && note.damped_s - note.onset_s < SHORT_S;
        let short = ["staccato", "spiccato"].into_iter().find(|articulation| is_short && has(articulation));
        let short = if random.chance(0.6) { short } else { None };
        let usual = if has("sustain") { "sustain" } else { &self.samples[0].articulation };
        let wanted = manner.only.as_deref().or(short).unwrap_or(usual);
        let mut best = (&self.samples[0], f64::INFINITY);
        for sample in &self.samples {
            let away = f64::from(sample.pitch.abs_diff(note.pitch));
            let mut cost = 4.0 * away + 5.0 * random.unit();
            cost += 0.12 * f64::from(sample.velocity.abs_diff(note.velocity));
            // Another way of playing is better than a note moved out of its nature.
            cost += if sample.articulation != wanted { 30.0 } else { 0.0 };
            if cost < best.1 {
                best = (sample, cost);
            }
        }
        best.0
    }
}

impl Sample {
    fn sound(&self, family: Family) -> Result<&Recorded> {
        let decoded = self.sound.get_or_init(|| {
            let clip = decode(&JobContext::new(), &self.path).map_err(|error| error.to_string())?.clip;
            let mut samples = vec![0.0; MARGIN];
            samples.extend(clip.samples.iter().take((LONGEST_S * RATE) as usize));
            if clip.samples.len() > samples.len() {
                fade_out(&mut samples, (0.5 * RATE) as usize);
            }
            let peak = samples.iter().fold(0.0f32, |peak, sample| peak.max(sample.abs()));
            let onset = onset_delay(&samples, RATE, family).ok_or("it is silent")? * RATE;
            samples.iter_mut().for_each(|sample| *sample *= PEAK / peak);
            Ok(Recorded { samples, onset })
        });
        decoded.as_ref().map_err(|cause| {
            Error::malformed(
                &self.path,
                format!("a recorded note cannot be used ({cause})"),
                "take it out of samples.csv",
            )
        })
    }
}

/// The velocity that a dynamic stands for: a word, or the number itself.
fn velocity(dynamic: &str) -> Option<u8> {
    match dynamic {
        "soft" => Some(SOFT),
        "medium" | "loud" => Some(LOUD),
        number => number.parse().ok().filter(|velocity| (1..128).contains(velocity)),
    }
}

/// `source` read at steps of `step` from `from` on (which may lie before it), at most `count` samples, by cubic interpolation.
fn resampled(source: &[f32], step: f64, from: f64, count: usize) -> Vec<f32> {
    let last = source.len().saturating_sub(3) as f64;
    let mut sound = Vec::with_capacity(count.min((last / step) as usize + 2));
    for k in 0..count {
        let at = from + k as f64 * step;
        if at >= last {
            break;
        }
        if at < 1.0 {
            sound.push(0.0);
            continue;
        }
        let (place, t) = (at as usize, (at - at.floor()) as f32);
        let [a, b, c, d] = [source[place - 1], source[place], source[place + 1], source[place + 2]];
        sound.push(b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a))));
    }
    sound
}

/// A sound made longer by going over its middle again, the joins blended.
fn looped(mut sound: Vec<f32>, wanted: usize) -> Vec<f32> {
    let (from, to) = (sound.len() * 2 / 5, sound.len() * 17 / 20);
    let blend = (to - from) / 3;
    let blend = blend.min((0.08 * RATE) as usize);
    if blend == 0 {
        return sound;
    }
    let again = sound[from - blend..to].to_vec();
    sound.truncate(to);
    while sound.len() < wanted {
        let join = sound.len() - blend;
        for (k, (old, new)) in sound[join..].iter_mut().zip(&again).enumerate() {
            let share = k as f32 / blend as f32;
            *old = *old * (1.0 - share).sqrt() + new * share.sqrt();
        }
        sound.extend_from_slice(&again[blend..]);
    }
    sound.truncate(wanted);
    sound
}

/// Lets the last samples die away.
pub(super) fn fade_out(sound: &mut [f32], count: usize) {
    let count = count.min(sound.len());
    let from = sound.len() - count;
    for (k, sample) in sound[from..].iter_mut().enumerate() {
        *sample *= (1.0 - k as f32 / count as f32).powi(2);
    }
}

/// Takes some brightness away, as a softer touch does.
fn dull(sound: &mut [f32], share: f32) {
    let mut before = 0.0;
    for sample in sound {
        let now = *sample;
        *sample = (now + share * before) / (1.0 + share);
        before = now;
    }
}

/// Adds a sound to the mix from a sample on; what lies outside the mix is left out.
pub(super) fn add_at(mix: &mut [f32], first: isize, sound: &[f32], gain: f32) {
    let skipped = (-first).max(0) as usize;
    let start = first.max(0) as usize;
    if skipped < sound.len() && start < mix.len() {
        mix[start..].iter_mut().zip(&sound[skipped..]).for_each(|(sum, sample)| *sum += gain * sample);
    }
}
