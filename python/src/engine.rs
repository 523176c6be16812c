//! The engine on batches of arrays. Python gives contiguous arrays of equal batch sizes; times are shares of each sequence's length.

use agogic::engine::{
    Band, Banded, DtwParams, EdgeGradient, Ends, LocalCost, NodeGradient, Problem, Real, Signal, Solution,
    SolveOptions, local_cost, smoothed_gradient, solve_many, squared_euclidean_gradient,
};
use agogic::{Error, JobContext, Result};
use numpy::ndarray::{Array2, Array3, ArrayView2, Axis, s};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

use crate::job::{Watching, run};

/// Features in either precision: batch, frames, values.
#[derive(FromPyObject)]
pub enum Features<'py> {
    /// float32.
    #[pyo3(transparent)]
    Single(PyReadonlyArray3<'py, f32>),
    /// float64.
    #[pyo3(transparent)]
    Double(PyReadonlyArray3<'py, f64>),
}

/// Two batches of sequences, each with its own length, copied: whoever owns the arrays may change them while the engine works.
struct Pairs<T> {
    x: Array3<T>,
    y: Array3<T>,
    lengths: Vec<(usize, usize)>,
    times: Vec<(Vec<f64>, Vec<f64>)>,
}

impl<T: Real + Element> Pairs<T> {
    fn new(x: &PyReadonlyArray3<'_, T>, y: &PyReadonlyArray3<'_, T>, lengths: Vec<(usize, usize)>) -> Self {
        let times = lengths.iter().map(|&(x, y)| (times(x), times(y))).collect();
        Self { x: x.as_array().to_owned(), y: y.as_array().to_owned(), lengths, times }
    }

    fn count(&self) -> usize {
        self.lengths.len()
    }

    /// The sequences of one pair, without what only fills the batch up.
    fn signals(&self, index: usize) -> Result<(Signal<'_, T>, Signal<'_, T>)> {
        let ((frames_x, frames_y), (times_x, times_y)) = (self.lengths[index], &self.times[index]);
        let (x, y) = (frames(&self.x, index, frames_x), frames(&self.y, index, frames_y));
        let (x, y) = x.zip(y).ok_or_else(|| {
            let given = format!("{frames_x} and {frames_y} in pair {index}");
            let most = format!("at most {} and {}", self.x.shape()[1], self.y.shape()[1]);
            Error::invalid("lengths", given, most)
        })?;
        Ok((Signal::new(times_x, x, self.x.shape()[2])?, Signal::new(times_y, y, self.y.shape()[2])?))
    }
}

/// The first frames of one sequence of a batch.
fn frames<T>(batch: &Array3<T>, index: usize, count: usize) -> Option<&[T]> {
    let size = (batch.shape()[1] * batch.shape()[2], batch.shape()[2]);
    batch.as_slice()?.get(index * size.0..)?.get(..size.0)?.get(..count * size.1)
}

/// Frames spread evenly from 0 to 1.
fn times(frames: usize) -> Vec<f64> {
    let last = frames.saturating_sub(1).max(1) as f64;
    (0..frames).map(|frame| frame as f64 / last).collect()
}

/// What GDTW is asked for beside the features, one entry or row for each pair.
struct Limits {
    lambda: Vec<f64>,
    slope: Vec<(f64, f64)>,
    lower: Array2<f64>,
    upper: Array2<f64>,
}

/// A solved batch.
struct Solved<T> {
    pairs: Pairs<T>,
    limits: Limits,
    solutions: Vec<Solution>,
}

impl<T: Real + Element> Solved<T> {
    fn solve(ctx: &JobContext, pairs: Pairs<T>, limits: Limits) -> Result<Self> {
        let mut solved = Self { pairs, limits, solutions: Vec::new() };
        let problems = solved.problems()?;
        let solutions = solve_many(ctx, &problems, &SolveOptions::default())?;
        drop(problems);
        solved.solutions = solutions;
        Ok(solved)
    }

    fn problems(&self) -> Result<Vec<Problem<'_, T>>> {
        (0..self.pairs.count()).map(|index| self.problem(index)).collect()
    }

    fn problem(&self, index: usize) -> Result<Problem<'_, T>> {
        let (x, y) = self.pairs.signals(index)?;
        let (least, greatest) = self.limits.slope[index];
        let mut problem = Problem::from_signals(x, y, self.limits.lambda[index]).with_slope_limits(least, greatest);
        let bounds = |all: &Array2<f64>| all.row(index).slice(s![..x.frames()]).to_vec();
        (problem.lower, problem.upper) = (bounds(&self.limits.lower), bounds(&self.limits.upper));
        Ok(problem)
    }

    /// The warps, each filled up with its last value.
    fn phi(&self) -> Array2<f64> {
        let mut phi = Array2::zeros((self.pairs.count(), self.pairs.x.shape()[1]));
        for (mut row, solution) in phi.rows_mut().into_iter().zip(&self.solutions) {
            let last = solution.phi.last().copied().unwrap_or(0.0);
            let filled = solution.phi.iter().copied().chain(std::iter::repeat(last));
            row.iter_mut().zip(filled).for_each(|(cell, value)| *cell = value);
        }
        phi
    }

    /// Gradients of a loss with respect to both features and to λ, given that with respect to the warps.
    fn vjp(&self, loss: ArrayView2<'_, f64>, smooth: f64) -> Result<(Array3<T>, Array3<T>, Vec<f64>)> {
        let of_one = |index: usize| -> Result<(Vec<T>, Vec<T>, f64)> {
            let (frames_x, frames_y) = self.pairs.lengths[index];
            let width = smooth / (frames_y.saturating_sub(1).max(1)) as f64;
            let loss = loss.row(index).slice(s![..frames_x]).to_vec();
            let found = smoothed_gradient(&self.problem(index)?, &self.solutions[index], &loss, width)?;
            let (x, y) = match found.nodes {
                NodeGradient::Features { x, y } => (x, y),
                NodeGradient::Table(_) => (Vec::new(), Vec::new()),
            };
            let lambda = match found.edges {
                EdgeGradient::Slope { lambda, .. } => lambda.iter().sum(),
                EdgeGradient::LogTempo { .. } => 0.0,
            };
            Ok((x, y, lambda))
        };
        let found = (0..self.pairs.count()).into_par_iter().map(of_one).collect::<Result<Vec<_>>>()?;
        let x = filled_up(self.pairs.x.dim(), found.iter().map(|(x, ..)| x.as_slice()));
        let y = filled_up(self.pairs.y.dim(), found.iter().map(|(_, y, _)| y.as_slice()));
        Ok((x, y, found.iter().map(|(.., lambda)| *lambda).collect()))
    }
}

/// A batch of sequences, with zeros after the shorter ones.
fn filled_up<'a, T: Real + Element>(
    shape: (usize, usize, usize),
    sequences: impl Iterator<Item = &'a [T]>,
) -> Array3<T> {
    let mut batch = Array3::from_elem(shape, T::ZERO);
    for (mut to, from) in batch.axis_iter_mut(Axis(0)).zip(sequences) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
    batch
}

/// A solved batch, from which gradients can be had.
#[pyclass(frozen, module = "agogic._agogic")]
pub struct Gdtw {
    solved: Either,
}

enum Either {
    Single(Arc<Solved<f32>>),
    Double(Arc<Solved<f64>>),
}

/// Gradients with respect to x, y and λ.
type Gradients<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl Gdtw {
    /// The warps.
    fn phi<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let phi = match &self.solved {
            Either::Single(solved) => solved.phi(),
            Either::Double(solved) => solved.phi(),
        };
        phi.into_pyarray(py)
    }

    /// Objective of each pair.
    fn objective<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.solutions().iter().map(|solution| solution.objective))
    }

    /// How far each is from stationary.
    fn kkt_residual<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.solutions().iter().map(|solution| solution.kkt_residual))
    }

    /// Gradients of a loss, given that with respect to the warps.
    fn vjp<'py>(&self, py: Python<'py>, grad: PyReadonlyArray2<'py, f64>, smooth: f64) -> PyResult<Gradients<'py>> {
        let grad = grad.as_array().to_owned();
        match &self.solved {
            Either::Single(solved) => gradients(py, Arc::clone(solved), grad, smooth),
            Either::Double(solved) => gradients(py, Arc::clone(solved), grad, smooth),
        }
    }
}

impl Gdtw {
    fn solutions(&self) -> &[Solution] {
        match &self.solved {
            Either::Single(solved) => &solved.solutions,
            Either::Double(solved) => &solved.solutions,
        }
    }
}

fn gradients<T: Real + Element>(
    py: Python<'_>,
    solved: Arc<Solved<T>>,
    loss: Array2<f64>,
    smooth: f64,
) -> PyResult<Gradients<'_>> {
    let (x, y, lambda) = run(py, &Watching::default(), move |_| solved.vjp(loss.view(), smooth))?;
    Ok((x.into_pyarray(py).into_any(), y.into_pyarray(py).into_any(), PyArray1::from_vec(py, lambda)))
}

/// Solves a batch.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a function of Python, which has names for them")]
pub fn gdtw(
    py: Python<'_>,
    x: Features<'_>,
    y: Features<'_>,
    lengths: Vec<(usize, usize)>,
    lam: Vec<f64>,
    slope: Vec<(f64, f64)>,
    lower: PyReadonlyArray2<'_, f64>,
    upper: PyReadonlyArray2<'_, f64>,
) -> PyResult<Gdtw> {
    let (lower, upper) = (lower.as_array().to_owned(), upper.as_array().to_owned());
    let limits = Limits { lambda: lam, slope, lower, upper };
    let solved = match (x, y) {
        (Features::Single(x), Features::Single(y)) => Either::Single(solve(py, Pairs::new(&x, &y, lengths), limits)?),
        (Features::Double(x), Features::Double(y)) => Either::Double(solve(py, Pairs::new(&x, &y, lengths), limits)?),
        _ => return Err(different_types()),
    };
    Ok(Gdtw { solved })
}

fn solve<T: Real + Element>(py: Python<'_>, pairs: Pairs<T>, limits: Limits) -> PyResult<Arc<Solved<T>>> {
    run(py, &Watching::default(), move |ctx| Solved::solve(ctx, pairs, limits)).map(Arc::new)
}

fn different_types() -> PyErr {
    pyo3::exceptions::PyTypeError::new_err("x and y have different types")
}

/// Costs and paths of classic DTW.
type Paths<'py> = (Bound<'py, PyArray1<f64>>, Vec<Bound<'py, PyArray2<i64>>>);

/// Classic DTW of a batch.
#[pyfunction]
pub fn dtw<'py>(
    py: Python<'py>,
    x: Features<'_>,
    y: Features<'_>,
    lengths: Vec<(usize, usize)>,
    band: Vec<f64>,
    free_ends: bool,
) -> PyResult<Paths<'py>> {
    let ends = if free_ends { Ends::Subsequence } else { Ends::Pinned };
    match (x, y) {
        (Features::Single(x), Features::Single(y)) => paths(py, Pairs::new(&x, &y, lengths), band, ends),
        (Features::Double(x), Features::Double(y)) => paths(py, Pairs::new(&x, &y, lengths), band, ends),
        _ => Err(different_types()),
    }
}

fn paths<T: Real + Element>(py: Python<'_>, pairs: Pairs<T>, band: Vec<f64>, ends: Ends) -> PyResult<Paths<'_>> {
    let found = run(py, &Watching::default(), move |ctx| {
        let of_one = |index: usize| {
            let (x, y) = pairs.signals(index)?;
            let path = agogic::engine::dtw(
                ctx,
                &costs(ctx, &x, &y, band[index])?,
                &DtwParams { ends, ..DtwParams::default() },
            )?;
            let cells = path.cells().iter().flat_map(|&(row, column)| [row as i64, column as i64]).collect();
            Ok((path.cost(), cells))
        };
        (0..pairs.count()).into_par_iter().map(of_one).collect::<Result<Vec<(f64, Vec<i64>)>>>()
    })?;
    let costs = PyArray1::from_iter(py, found.iter().map(|(cost, _)| *cost));
    let as_rows = |cells: Vec<i64>| Array2::from_shape_vec((cells.len() / 2, 2), cells).unwrap_or_default();
    Ok((costs, found.into_iter().map(|(_, cells)| as_rows(cells).into_pyarray(py)).collect()))
}

/// The squared distances of a pair within a band, given as a share of y.
fn costs<T: Real>(ctx: &JobContext, x: &Signal<'_, T>, y: &Signal<'_, T>, share: f64) -> Result<Banded<T>> {
    let (rows, columns) = (x.frames(), y.frames());
    let band = if share.is_finite() {
        // The little more keeps a tenth of ten columns from being none.
        let radius = share * columns.saturating_sub(1) as f64 + 1e-9;
        Band::sakoe_chiba(rows, columns, radius as usize)?
    } else {
        Band::full(rows, columns)?
    };
    local_cost(ctx, x, y, LocalCost::SquaredEuclidean, &band)
}

/// Values of soft-DTW, and their gradients with respect to x and y.
type SoftValues<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Soft-DTW of a batch, with its gradients.
#[pyfunction]
pub fn soft_dtw<'py>(
    py: Python<'py>,
    x: Features<'_>,
    y: Features<'_>,
    lengths: Vec<(usize, usize)>,
    band: Vec<f64>,
    gamma: f64,
) -> PyResult<SoftValues<'py>> {
    match (x, y) {
        (Features::Single(x), Features::Single(y)) => soft_values(py, Pairs::new(&x, &y, lengths), band, gamma),
        (Features::Double(x), Features::Double(y)) => soft_values(py, Pairs::new(&x, &y, lengths), band, gamma),
        _ => Err(different_types()),
    }
}

fn soft_values<T: Real + Element>(
    py: Python<'_>,
    pairs: Pairs<T>,
    band: Vec<f64>,
    gamma: f64,
) -> PyResult<SoftValues<'_>> {
    let (values, x, y) = run(py, &Watching::default(), move |ctx| {
        let of_one = |index: usize| {
            let (x, y) = pairs.signals(index)?;
            let soft = agogic::engine::soft_dtw(ctx, &costs(ctx, &x, &y, band[index])?, gamma)?;
            Ok((soft.value, squared_euclidean_gradient(&x, &y, &soft.expected_path)?))
        };
        let found = (0..pairs.count()).into_par_iter().map(of_one).collect::<Result<Vec<_>>>()?;
        let x = filled_up(pairs.x.dim(), found.iter().map(|(_, gradient)| gradient.score.as_slice()));
        let y = filled_up(pairs.y.dim(), found.iter().map(|(_, gradient)| gradient.performance.as_slice()));
        Ok((found.iter().map(|(value, _)| *value).collect::<Vec<f64>>(), x, y))
    })?;
    Ok((PyArray1::from_vec(py, values), x.into_pyarray(py).into_any(), y.into_pyarray(py).into_any()))
}
