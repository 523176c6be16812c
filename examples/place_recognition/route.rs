//! A generated route, and drives along it in changing weather.

/// Values of a descriptor that tell the place.
const PLACE_DIM: usize = 8;
/// Values that tell the weather of the day.
const WEATHER_DIM: usize = 8;
/// Values of a descriptor.
pub const DIM: usize = PLACE_DIM + WEATHER_DIM;

const LENGTH_M: f64 = 600.0;
/// Places look alike over this distance.
const PLACE_SCALE_M: f64 = 9.0;
/// Weather changes slowly along a drive.
const WEATHER_SCALE_M: f64 = 30.0;
const WEATHER_STRENGTH: f64 = 1.3;
const NOISE: f64 = 0.25;
const IMAGES_PER_QUERY: usize = 30;
/// How far off the rough position of a query may be.
const FIX_ERROR_M: f64 = 20.0;

/// Reproducible numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    /// Uniform in 0..1.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Roughly normal: mean 0, variance 1.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Smooth random curves over the route.
struct Curves {
    values: Vec<f64>,
    dim: usize,
    scale_m: f64,
}

impl Curves {
    fn new(dim: usize, scale_m: f64, random: &mut Random) -> Self {
        let knots = (LENGTH_M / scale_m) as usize + 3;
        Self { values: (0..knots * dim).map(|_| random.normal()).collect(), dim, scale_m }
    }

    fn at(&self, place_m: f64, c: usize) -> f64 {
        let position = place_m / self.scale_m;
        let k = position as usize;
        let a = position - k as f64;
        (1.0 - a) * self.values[k * self.dim + c] + a * self.values[(k + 1) * self.dim + c]
    }
}

/// What the places look like, and how a descriptor mixes place and weather.
pub struct Route {
    places: Curves,
    mixing: Vec<f64>,
}

/// Images in the order they were taken.
pub struct Drive {
    /// Seconds from the start of the drive.
    pub times_s: Vec<f64>,
    /// Geotags: metres along the route.
    pub places_m: Vec<f64>,
    /// Descriptors, row-major.
    pub descriptors: Vec<f64>,
    /// A rough fix: all images were taken between these places.
    pub within_m: (f64, f64),
}

impl Route {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let places = Curves::new(PLACE_DIM, PLACE_SCALE_M, &mut random);
        let mixing = (0..DIM * DIM).map(|_| random.normal() / (DIM as f64).sqrt()).collect();
        Self { places, mixing }
    }

    pub fn length_m(&self) -> f64 {
        LENGTH_M
    }

    /// One image every two metres from `start_m` to `end_m` at 2 m/s, in the weather that `seed` makes.
    pub fn drive(&self, start_m: f64, end_m: f64, seed: u64) -> Drive {
        let count = ((end_m - start_m) / 2.0) as usize;
        let places = (0..count).map(|i| start_m + 2.0 * i as f64).collect();
        self.film(places, &mut Random::new(seed))
    }

    /// A drive along a random part of the route, at a speed that changes.
    pub fn query(&self, seed: u64) -> Drive {
        let mut random = Random::new(seed);
        let mut place = 10.0 + (LENGTH_M - 160.0) * random.uniform();
        let (speed, sway) = (1.5 + 1.5 * random.uniform(), 6.0 * random.uniform());
        let mut places = Vec::with_capacity(IMAGES_PER_QUERY);
        for i in 0..IMAGES_PER_QUERY {
            places.push(place);
            place += speed * (1.0 + 0.4 * (0.3 * i as f64 + sway).sin());
        }
        self.film(places, &mut random)
    }

    fn film(&self, places_m: Vec<f64>, random: &mut Random) -> Drive {
        let weather = Curves::new(WEATHER_DIM, WEATHER_SCALE_M, random);
        let mut descriptors = Vec::with_capacity(places_m.len() * DIM);
        for &place in &places_m {
            let mut causes = [0.0; DIM];
            for (c, cause) in causes.iter_mut().enumerate() {
                *cause = if c < PLACE_DIM {
                    self.places.at(place, c)
                } else {
                    WEATHER_STRENGTH * weather.at(place, c - PLACE_DIM)
                };
            }
            for row in self.mixing.chunks_exact(DIM) {
                let mixed: f64 = row.iter().zip(&causes).map(|(m, c)| m * c).sum();
                descriptors.push(mixed + NOISE * random.normal());
            }
        }
        let (first, last) = (places_m[0], places_m[places_m.len() - 1]);
        let mut margin = || FIX_ERROR_M * (1.0 + random.uniform());
        let within_m = (first - margin(), last + margin());
        // One image per second: the geotags carry the speed.
        Drive { times_s: (0..places_m.len()).map(|i| i as f64).collect(), places_m, descriptors, within_m }
    }
}
