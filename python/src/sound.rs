//! Sounds and features.

use std::path::PathBuf;

use agogic::{
    AudioClip, FeatureKind, FeatureParams, FeatureSeq, JobContext, Result, clip_of_samples, extract_features,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::exception;
use crate::job::{Watching, run};

/// What messages and results call samples that came without a file.
pub const SAMPLES: &str = "samples";

/// Samples, copied while the interpreter is held: whoever owns the array may change it meanwhile.
pub struct Samples {
    values: Vec<f32>,
    channels: usize,
    /// Samples per second.
    pub rate: u32,
}

impl Samples {
    /// Rows are moments, columns are channels.
    pub fn new(samples: &PyReadonlyArray2<'_, f32>, rate: u32) -> PyResult<Self> {
        Ok(Self { values: samples.as_slice()?.to_vec(), channels: samples.shape()[1], rate })
    }

    /// Mono, at the rate of the analysis.
    pub fn clip(&self, ctx: &JobContext) -> Result<AudioClip> {
        clip_of_samples(ctx, SAMPLES, &self.values, self.channels, self.rate)
    }
}

type Features<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f32>>);

/// Times and features of a recording, or of a score as it is played.
#[pyfunction]
pub fn features_of_file<'py>(
    py: Python<'py>,
    input: PathBuf,
    kind: &str,
    hop: usize,
    soundfont: Option<PathBuf>,
) -> PyResult<Features<'py>> {
    let params = params(py, kind, hop)?;
    let features = run(py, &Watching::default(), move |ctx| {
        extract_features(ctx, &agogic::scripting::load_sound(ctx, &input, soundfont.as_deref())?, &params)
    })?;
    to_arrays(py, features)
}

/// Times and features of samples.
#[pyfunction]
pub fn features_of_samples<'py>(
    py: Python<'py>,
    samples: PyReadonlyArray2<'py, f32>,
    rate: u32,
    kind: &str,
    hop: usize,
) -> PyResult<Features<'py>> {
    let params = params(py, kind, hop)?;
    let samples = Samples::new(&samples, rate)?;
    let features = run(py, &Watching::default(), move |ctx| extract_features(ctx, &samples.clip(ctx)?, &params))?;
    to_arrays(py, features)
}

fn params(py: Python<'_>, kind: &str, hop: usize) -> PyResult<FeatureParams> {
    let kind: FeatureKind = serde_json::from_value(kind.into()).map_err(|_| {
        let error = agogic::Error::invalid("--features", format!("\"{kind}\""), "one of cqt, chroma, mel");
        exception(py, &error)
    })?;
    Ok(FeatureParams { kind, hop })
}

fn to_arrays(py: Python<'_>, features: FeatureSeq) -> PyResult<Features<'_>> {
    let shape = [features.frames(), features.dim];
    let values = PyArray1::from_vec(py, features.values).reshape(shape)?;
    Ok((PyArray1::from_vec(py, features.times), values))
}

/// A score as sound: samples and their rate.
#[pyfunction]
pub fn synthesize<'py>(
    py: Python<'py>,
    score: PathBuf,
    part: Vec<String>,
    soundfont: Option<PathBuf>,
) -> PyResult<(Bound<'py, PyArray1<f32>>, u32)> {
    let clip = run(py, &Watching::default(), move |ctx| {
        agogic::scripting::play_score(ctx, &score, &part, soundfont.as_deref())
    })?;
    Ok((PyArray1::from_vec(py, clip.samples), clip.sample_rate))
}

/// Writes the demo piece: performance, score and truth.
#[pyfunction]
pub fn demo(py: Python<'_>, folder: PathBuf) -> PyResult<[PathBuf; 3]> {
    run(py, &Watching::default(), move |ctx| agogic::scripting::write_demo(ctx, &folder))
}
