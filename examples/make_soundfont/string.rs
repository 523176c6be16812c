//! A model of a struck piano string: inharmonic partials, each with a fast and a slow decay, and the knock of the hammer.

use std::f64::consts::{PI, TAU};

/// What makes one piano sound unlike another.
#[derive(Debug, Clone)]
pub struct Piano {
    /// Factor on the stiffness of a typical grand piano's strings.
    pub stiffness: f64,
    /// Factor on how far up the spectrum of a blow reaches.
    pub brightness: f64,
    /// Where the hammer hits the middle strings, as a share of their length.
    pub strike_position: f64,
    /// Largest detuning among the strings of one key, in cents.
    pub detuning_cents: f64,
    /// Factor on all rates of decay.
    pub damping: f64,
    /// Level of the hammer's knock against the strings.
    pub knock: f64,
    /// Depth of the soundboard's resonances in decibels.
    pub resonance_db: f64,
    /// Seed of everything that differs from key to key.
    pub seed: u64,
}

/// One partial of one key, struck at time 0.
#[derive(Debug, Clone)]
pub struct Partial {
    /// Amplitude at the start.
    pub amplitude: f64,
    /// Frequencies of the two or three strings in Hz.
    pub string_hz: Vec<f64>,
    /// Decay of the first sound, per second.
    pub fast_rate: f64,
    /// Decay of the after-sound, per second.
    pub slow_rate: f64,
    /// Share of the after-sound at the start.
    pub slow_share: f64,
}

impl Partial {
    /// The partial as a rotating complex amplitude; the real sound is its imaginary part.
    pub fn phasor(&self, t: f64) -> (f64, f64) {
        let decay =
            (1.0 - self.slow_share) * (-self.fast_rate * t).exp() + self.slow_share * (-self.slow_rate * t).exp();
        // The felt takes a moment to let the string go.
        let rise = 1.0 - (-t / CONTACT_S).exp();
        let scale = self.amplitude * decay * rise / self.string_hz.len() as f64;
        let (re, im) = self.string_hz.iter().fold((0.0, 0.0), |(re, im), hz| {
            let (sin, cos) = (TAU * hz * t).sin_cos();
            (re + cos, im + sin)
        });
        (re * scale, im * scale)
    }

    /// Mean frequency of the strings in Hz.
    pub fn mean_hz(&self) -> f64 {
        self.string_hz.iter().sum::<f64>() / self.string_hz.len() as f64
    }
}

/// How fast the sound of a blow rises, in seconds.
pub const CONTACT_S: f64 = 0.000_25;

/// Frequency of a key in equal temperament, A4 = 440 Hz.
pub fn key_hz(key: u8) -> f64 {
    440.0 * 2f64.powf((f64::from(key) - 69.0) / 12.0)
}

impl Piano {
    /// The partials of a key below `limit_hz`, struck with `hardness` from 0 (softest) to 1 (hardest).
    pub fn partials(&self, key: u8, hardness: f64, limit_hz: f64) -> Vec<Partial> {
        let mut random = Random::new(self.seed ^ (u64::from(key) << 8));
        let stiffness = self.inharmonicity(key);
        let strings = if key < 33 {
            1
        } else if key < 45 {
            2
        } else {
            3
        };
        let detuning: Vec<f64> = (0..strings).map(|_| self.detuning_cents * random.signed()).collect();
        let mean_detuning = detuning.iter().sum::<f64>() / strings as f64;
        let ratios: Vec<f64> = detuning.iter().map(|c| 2f64.powf((c - mean_detuning) / 1200.0)).collect();
        // The first partial is in tune, so the ideal string lies a little below.
        let ideal_hz = key_hz(key) / (1.0 + stiffness).sqrt();
        let slow_rate = self.damping * fundamental_rate(key);
        // A harder blow reaches further up; the felt of the treble hammers is harder from the start.
        let reach_hz = self.brightness * (350.0 + 1500.0 * hardness.powf(1.3)) + (1.1 + 1.1 * hardness) * key_hz(key);
        let strike = self.strike_position * if key > 72 { (-(f64::from(key) - 72.0) / 40.0).exp() } else { 1.0 };
        let mut partials = Vec::new();
        for n in 1..=160 {
            let number = f64::from(n);
            let hz = number * ideal_hz * (1.0 + stiffness * number * number).sqrt();
            if hz >= limit_hz {
                break;
            }
            // Real strings are neither ideal nor alike: the comb of the strike position is not quite deep, levels scatter.
            let comb = (number * PI * strike).sin().abs().max(0.06);
            let scatter_db = 1.5 * random.signed() + self.soundboard_db(hz);
            let body = 1.0 / (1.0 + (70.0 / hz).powi(2));
            let amplitude = comb * body * (-hz / reach_hz).exp() * 10f64.powf(scatter_db / 20.0) / number.powf(0.35);
            let losses = self.damping * 2.2e-7 * hz * hz;
            partials.push(Partial {
                amplitude,
                string_hz: ratios.iter().map(|ratio| hz * ratio).collect(),
                fast_rate: (3.6 + 0.8 * random.signed()) * slow_rate + 1.5 * losses,
                slow_rate: slow_rate + losses,
                slow_share: 0.22 + 0.08 * random.signed(),
            });
        }
        partials
    }

    /// The knock of the hammer at one sample of time `t`; `random` supplies its noise, one value for each sample.
    pub fn knock_at(&self, key: u8, hardness: f64, t: f64, random: &mut Random) -> f64 {
        let noise = random.signed() * (-t / 0.006).exp();
        let wood = (TAU * (90.0 + 0.6 * f64::from(key)) * t).sin() * (-t / 0.025).exp();
        self.knock * (0.4 + 0.6 * hardness) * (0.6 * noise + 0.5 * wood)
    }

    fn inharmonicity(&self, key: u8) -> f64 {
        let key = f64::from(key);
        let treble = (0.0926 * key - 13.64).exp();
        let bass = (-0.0847 * key - 5.82).exp();
        self.stiffness * (treble + bass)
    }

    /// Smooth resonances of the soundboard.
    fn soundboard_db(&self, hz: f64) -> f64 {
        let octave = (hz / 55.0).log2();
        let shift = (self.seed % 97) as f64;
        let wave =
            (2.3 * octave + shift).sin() + 0.7 * (5.1 * octave + 1.7 * shift).sin() + 0.5 * (11.0 * octave).sin();
        self.resonance_db * wave / 2.2
    }
}

/// Decay of the fundamental's after-sound, per second: from 20 s for 60 dB in the bass to half a second in the treble.
pub fn fundamental_rate(key: u8) -> f64 {
    const KNOTS: [(f64, f64); 4] = [(21.0, 0.35), (60.0, 0.85), (84.0, 2.6), (108.0, 13.0)];
    let key = f64::from(key).clamp(21.0, 108.0);
    let upper = KNOTS.iter().position(|knot| knot.0 >= key).unwrap_or(KNOTS.len() - 1).max(1);
    let ((k0, r0), (k1, r1)) = (KNOTS[upper - 1], KNOTS[upper]);
    r0 * (r1 / r0).powf((key - k0) / (k1 - k0))
}

/// A small random generator (splitmix64), so that every run makes the same bytes.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator; equal seeds give equal sequences.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, uniform between -1 and 1.
    pub fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
