//! Writes a SoundFont 2 file with one preset of one instrument.

/// A looped mono sample.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Up to 19 letters.
    pub name: String,
    /// The sound.
    pub data: Vec<i16>,
    /// Where the loop begins.
    pub loop_start: u32,
    /// Where the loop ends; the sample there equals the one at `loop_start`.
    pub loop_end: u32,
    /// Samples per second.
    pub rate: u32,
    /// The key whose pitch this is.
    pub key: u8,
}

/// A range of keys and velocities that plays a sample.
#[derive(Debug, Clone)]
pub struct Zone {
    /// Lowest and highest key.
    pub keys: (u8, u8),
    /// Lowest and highest velocity.
    pub velocities: (u8, u8),
    /// Generators in any order: number and amount.
    pub generators: Vec<(u16, i16)>,
    /// Index of the sample.
    pub sample: u16,
}

/// Numbers of the generators used here.
pub mod generator {
    /// Low-pass cutoff in absolute cents.
    pub const FILTER_CUTOFF: u16 = 8;
    /// Delay of the volume in timecents.
    pub const VOLUME_DELAY: u16 = 33;
    /// Attack of the volume in timecents.
    pub const VOLUME_ATTACK: u16 = 34;
    /// Hold of the volume in timecents.
    pub const VOLUME_HOLD: u16 = 35;
    /// Decay of the volume in timecents.
    pub const VOLUME_DECAY: u16 = 36;
    /// Fall of the volume at the end of the decay in centibels.
    pub const VOLUME_SUSTAIN: u16 = 37;
    /// Release of the volume in timecents.
    pub const VOLUME_RELEASE: u16 = 38;
    /// 1: the sample is looped.
    pub const SAMPLE_MODES: u16 = 54;
    pub(super) const INSTRUMENT: u16 = 41;
    pub(super) const KEY_RANGE: u16 = 43;
    pub(super) const VELOCITY_RANGE: u16 = 44;
    pub(super) const SAMPLE_ID: u16 = 53;
}

/// The bytes of the file.
pub fn soundfont(name: &str, copyright: &str, samples: &[Sample], zones: &[Zone]) -> Vec<u8> {
    let mut body = b"sfbk".to_vec();
    list(&mut body, b"INFO", |info| {
        chunk(info, b"ifil", &[2, 0, 1, 0]);
        chunk(info, b"isng", &text("EMU8000"));
        chunk(info, b"INAM", &text(name));
        chunk(info, b"ICOP", &text(copyright));
    });
    list(&mut body, b"sdta", |data| chunk(data, b"smpl", &sample_data(samples)));
    list(&mut body, b"pdta", |data| parameters(data, name, samples, zones));
    let mut file = Vec::new();
    chunk(&mut file, b"RIFF", &body);
    file
}

/// Silence that the format asks for after every sample.
const GUARD: usize = 46;

fn sample_data(samples: &[Sample]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for sample in samples {
        bytes.extend(sample.data.iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend([0; 2 * GUARD]);
    }
    bytes
}

fn parameters(out: &mut Vec<u8>, name: &str, samples: &[Sample], zones: &[Zone]) {
    let preset = |name: &str, bag: u16| [fixed(name), words(&[0, 0, bag]), vec![0; 12]].concat();
    chunk(out, b"phdr", &[preset(name, 0), preset("EOP", 1)].concat());
    chunk(out, b"pbag", &words(&[0, 0, 1, 0]));
    chunk(out, b"pmod", &[0; 10]);
    chunk(out, b"pgen", &words(&[generator::INSTRUMENT, 0, 0, 0]));
    let instrument = |name: &str, bag: usize| [fixed(name), words(&[index(bag)])].concat();
    chunk(out, b"inst", &[instrument(name, 0), instrument("EOI", zones.len())].concat());
    let mut bags = Vec::new();
    let mut generators = Vec::new();
    for zone in zones {
        bags.extend(words(&[index(generators.len() / 4), 0]));
        // The format fixes the places of the ranges (first) and of the sample (last).
        generators.extend(words(&[generator::KEY_RANGE, u16::from_le_bytes([zone.keys.0, zone.keys.1])]));
        let (low, high) = zone.velocities;
        generators.extend(words(&[generator::VELOCITY_RANGE, u16::from_le_bytes([low, high])]));
        for &(number, amount) in &zone.generators {
            generators.extend(words(&[number, amount as u16]));
        }
        generators.extend(words(&[generator::SAMPLE_ID, zone.sample]));
    }
    bags.extend(words(&[index(generators.len() / 4), 0]));
    generators.extend([0; 4]);
    chunk(out, b"ibag", &bags);
    chunk(out, b"imod", &[0; 10]);
    chunk(out, b"igen", &generators);
    chunk(out, b"shdr", &sample_headers(samples));
}

fn sample_headers(samples: &[Sample]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut start = 0u32;
    for sample in samples {
        let length = u32::try_from(sample.data.len()).expect("samples are seconds long");
        bytes.extend(fixed(&sample.name));
        let places = [start, start + length, start + sample.loop_start, start + sample.loop_end, sample.rate];
        bytes.extend(places.iter().flat_map(|place| place.to_le_bytes()));
        bytes.extend([sample.key, 0]);
        bytes.extend(words(&[0, 1]));
        start += length + GUARD as u32;
    }
    bytes.extend(fixed("EOS"));
    bytes.extend([0; 26]);
    bytes
}

fn list(out: &mut Vec<u8>, kind: &[u8; 4], fill: impl FnOnce(&mut Vec<u8>)) {
    let mut body = kind.to_vec();
    fill(&mut body);
    chunk(out, b"LIST", &body);
}

fn chunk(out: &mut Vec<u8>, id: &[u8; 4], body: &[u8]) {
    out.extend(id);
    out.extend(u32::try_from(body.len()).expect("far below 4 GB").to_le_bytes());
    out.extend(body);
    assert!(body.len().is_multiple_of(2), "chunks of odd length would need padding");
}

/// Text with its end mark, of even length.
fn text(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    if bytes.len() % 2 == 1 {
        bytes.push(0);
    }
    bytes
}

fn fixed(name: &str) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    bytes.resize(20, 0);
    bytes
}

fn words(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn index(value: usize) -> u16 {
    u16::try_from(value).expect("the font is small")
}
