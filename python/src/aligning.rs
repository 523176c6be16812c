//! A recording and its score.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agogic::scripting::{self, AlignOptions};
use agogic::{
    AlignedFiles, Anchor, FixedNote, Format, JobContext, Kept, ReadPerformance, Result, Settings, Stopwatch,
    align_and_keep, read_performance,
};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::exception;
use crate::job::{Job, Watching, run};
use crate::sound::{SAMPLES, Samples};

/// A finished alignment with the score that was aligned.
#[pyclass(frozen, module = "agogic._agogic")]
pub struct Aligned {
    outcome: Arc<AlignedFiles>,
    kept: Option<Arc<Kept>>,
    score: PathBuf,
    /// What must not be written over.
    inputs: Vec<PathBuf>,
}

/// Aligns a file, given options as the command line has them.
#[pyfunction]
pub fn align_file(
    py: Python<'_>,
    audio: PathBuf,
    score: PathBuf,
    settings: Vec<(String, String)>,
    keep: bool,
    job: Option<Py<Job>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Aligned> {
    let watching = Watching { job, progress };
    let (outcome, kept, inputs) = run(py, &watching, {
        let score = score.clone();
        move |ctx| {
            let options = AlignOptions::parse(&settings)?;
            options.check_performance(&audio)?;
            let name = audio.file_name().unwrap_or(audio.as_os_str()).to_string_lossy().into_owned();
            let (outcome, kept) = align(ctx, &name, |ctx| read_performance(ctx, &audio), &score, &options)?;
            let inputs = [audio, score].into_iter().chain(options.files()).collect();
            Ok((outcome, kept, inputs))
        }
    })?;
    Ok(Aligned { outcome: Arc::new(outcome), kept: keep.then(|| Arc::new(kept)), score, inputs })
}

/// Aligns samples: rows are moments, columns are channels.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a function of Python, which has names for them")]
pub fn align_samples(
    py: Python<'_>,
    samples: PyReadonlyArray2<'_, f32>,
    rate: u32,
    score: PathBuf,
    settings: Vec<(String, String)>,
    keep: bool,
    job: Option<Py<Job>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Aligned> {
    let watching = Watching { job, progress };
    let samples = Samples::new(&samples, rate)?;
    let (outcome, kept, inputs) = run(py, &watching, {
        let score = score.clone();
        move |ctx| {
            let options = AlignOptions::parse(&settings)?;
            let read = |ctx: &JobContext| {
                let performance = samples.clip(ctx)?.into();
                Ok(ReadPerformance { performance, sample_rate: samples.rate, damage: None })
            };
            let (outcome, kept) = align(ctx, SAMPLES, read, &score, &options)?;
            Ok((outcome, kept, [score].into_iter().chain(options.files()).collect()))
        }
    })?;
    Ok(Aligned { outcome: Arc::new(outcome), kept: keep.then(|| Arc::new(kept)), score, inputs })
}

fn align(
    ctx: &JobContext,
    name: &str,
    read: impl FnOnce(&JobContext) -> Result<ReadPerformance>,
    score: &Path,
    options: &AlignOptions,
) -> Result<(AlignedFiles, Kept)> {
    // The wheel has no graphics cards that could fail halfway: nothing will be notified.
    let device = options.open_device(Box::new(|_| {}))?;
    align_and_keep(&ctx.on(device.accelerated), name, read, score, &options.settings, &device.candle)
}

#[pymethods]
impl Aligned {
    /// The content of a file in a format.
    fn render<'py>(&self, py: Python<'py>, format: &str, truth: Option<PathBuf>) -> PyResult<Bound<'py, PyBytes>> {
        let format = Format::by_name(format).map_err(|error| exception(py, &error))?;
        let (outcome, score) = (Arc::clone(&self.outcome), self.score.clone());
        let render = move |_: &JobContext| scripting::render(&outcome, format, &score, truth.as_deref());
        Ok(PyBytes::new(py, &run(py, &Watching::default(), render)?))
    }

    /// Writes a file; the format is that of its extension unless it is named.
    fn save(&self, py: Python<'_>, path: PathBuf, format: Option<&str>, truth: Option<PathBuf>) -> PyResult<()> {
        let format = match format {
            Some(name) => Format::by_name(name),
            None => Format::from_extension(&path),
        };
        let format = format.map_err(|error| exception(py, &error))?;
        let (outcome, score, mut inputs) = (Arc::clone(&self.outcome), self.score.clone(), self.inputs.clone());
        inputs.extend(truth.clone());
        run(py, &Watching::default(), move |ctx| {
            let content = scripting::render(&outcome, format, &score, truth.as_deref())?;
            scripting::save(ctx, &path, &content, &inputs)
        })
    }

    /// Metrics against a ground truth, as JSON.
    fn evaluate(&self, py: Python<'_>, truth: PathBuf) -> PyResult<String> {
        let (outcome, score) = (Arc::clone(&self.outcome), self.score.clone());
        let metrics = run(py, &Watching::default(), move |_| scripting::evaluate_with(&outcome, &score, &truth))?;
        serde_json::to_string(&metrics).map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
    }

    /// Performance times of score times.
    fn performance_time<'py>(&self, py: Python<'py>, score_s: PyReadonlyArray1<'py, f64>) -> Bound<'py, PyArray1<f64>> {
        let warp = &self.outcome.alignment.warp;
        PyArray1::from_iter(py, score_s.as_array().iter().map(|&at| warp.at(at)))
    }

    /// Score times of performance times.
    fn score_time<'py>(&self, py: Python<'py>, performance_s: PyReadonlyArray1<'py, f64>) -> Bound<'py, PyArray1<f64>> {
        let warp = &self.outcome.alignment.warp;
        PyArray1::from_iter(py, performance_s.as_array().iter().map(|&at| warp.inverse(at)))
    }

    /// Seconds that each stage took, in order.
    fn times(&self) -> Vec<(String, f64)> {
        self.outcome.times.iter().map(|stage| (stage.stage.to_string(), stage.seconds)).collect()
    }

    /// Whether what was heard is still there, to align again.
    #[getter]
    fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Aligns again with more moments and notes fixed: the whole, or only the passages round them.
    fn realign(
        &self,
        py: Python<'_>,
        anchors: Vec<(f64, f64)>,
        fix_notes: Vec<(usize, f64)>,
        passage: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let Some(kept) = self.kept.clone() else {
            let cause = "what was heard was not kept";
            let error = agogic::Error::unsuitable("realign", cause, "align it with keep=True");
            return Err(exception(py, &error));
        };
        let outcome = Arc::clone(&self.outcome);
        let aligned = run(py, &Watching { job: None, progress }, move |ctx| {
            let corrections = Corrections { anchors, fix_notes };
            if passage { corrections.passages(ctx, &kept, &outcome) } else { corrections.whole(ctx, &kept, &outcome) }
        })?;
        let (score, inputs) = (self.score.clone(), self.inputs.clone());
        Ok(Self { outcome: Arc::new(aligned), kept: self.kept.clone(), score, inputs })
    }
}

/// What a user puts right.
struct Corrections {
    anchors: Vec<(f64, f64)>,
    fix_notes: Vec<(usize, f64)>,
}

impl Corrections {
    /// The whole is aligned again, as if it had been asked for with these corrections.
    fn whole(self, ctx: &JobContext, kept: &Kept, before: &AlignedFiles) -> Result<AlignedFiles> {
        let mut settings = before.alignment.settings.clone();
        for (score_s, performance_s) in self.anchors {
            settings.fix_moment(Anchor { score_s, performance_s });
        }
        for (note, performance_s) in self.fix_notes {
            settings.fix_note(FixedNote { note, performance_s });
        }
        let mut watch = Stopwatch::default();
        let alignment = kept.align(ctx, &before.score, &settings, &mut watch)?;
        Ok(AlignedFiles { alignment, times: watch.into_times(), ..before.clone() })
    }

    /// One passage after the other is solved again; the rest stays as it is.
    fn passages(self, ctx: &JobContext, kept: &Kept, before: &AlignedFiles) -> Result<AlignedFiles> {
        let mut aligned = before.clone();
        let mut settings = before.alignment.settings.clone();
        let mut solve = |settings: &Settings, at_s: f64| -> Result<()> {
            aligned.alignment = kept.realign(ctx, &before.score, &aligned.alignment, settings, at_s)?;
            Ok(())
        };
        for (score_s, performance_s) in self.anchors {
            settings.fix_moment(Anchor { score_s, performance_s });
            solve(&settings, score_s)?;
        }
        for (note, performance_s) in self.fix_notes {
            settings.fix_note(FixedNote { note, performance_s });
            // A note that the score does not have is refused before its time is asked for.
            solve(&settings, before.score.notes.get(note).map_or(0.0, |note| note.onset_s))?;
        }
        Ok(aligned)
    }
}

/// Refuses settings that do not fit, before there is a file to align.
#[pyfunction]
pub fn check_settings(py: Python<'_>, settings: Vec<(String, String)>) -> PyResult<()> {
    AlignOptions::parse(&settings).map(drop).map_err(|error| exception(py, &error))
}

/// The settings that are understood, as the command line names them.
#[pyfunction]
pub fn setting_names() -> Vec<String> {
    AlignOptions::names()
}

/// The formats that can be written: name, extension and what is in the file.
#[pyfunction]
pub fn formats() -> Vec<(&'static str, &'static str, &'static str)> {
    Format::all().map(|format| (format.name(), format.extension(), format.description())).collect()
}
