//! Stored solver problems: `problems.csv` beside `<kind>_<n>_x.f32` and `<kind>_<n>_y.f32`.
//!
//! `x` is the performance and `y` the score: knots are frames of `y`, and what is interpolated is `x`. Both are row-major
//! little-endian f32 on `t = linspace(0, 1, n)`; the ends are pinned, the slope is at least 0
//! and 1 is what costs nothing. Further columns of the table are ignored.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::inputs::{OwnedSignal, times};
use super::kernels::{classic, solve_and_differentiate};
use super::measure::{Contestant, take_turns};
use super::on_one_thread;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::whole_file::read_whole;
use crate::warping::gdtw::{Problem, SolveOptions, Workspace, solve};

const TABLE: &str = "problems.csv";
const MOST_TABLE_BYTES: u64 = 16 << 20;
const REMEDY: &str = "give a folder with problems.csv (kind,n,dim,lambda) beside <kind>_<n>_x.f32 and <kind>_<n>_y.f32";
/// Larger problems are no kernels any more.
const MOST_FRAMES: usize = 16_384;
const MOST_VALUES_PER_FRAME: usize = 4096;

/// What was found and how long it took: medians, one thread.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProblemResult {
    /// The features, as the table calls them.
    pub kind: String,
    /// Frames of either signal.
    pub n: usize,
    /// Values per frame.
    pub dim: usize,
    /// Weight of the regulariser.
    pub lambda: f64,
    /// Objective of the warp that was found.
    pub objective: f64,
    /// How far it is from stationary.
    pub kkt_residual: f64,
    /// The solver alone.
    pub forward_ms: f64,
    /// Solver and gradient.
    pub forward_backward_ms: f64,
    /// Classic DTW on the same signals, in turn with the above.
    pub dtw_ms: f64,
    /// Where it was solved.
    pub device: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    kind: String,
    n: usize,
    dim: usize,
    lambda: f64,
}

/// Solves every problem of a folder with the solver's default options.
pub fn run_problems(ctx: &JobContext, folder: &Path) -> Result<Vec<ProblemResult>> {
    let rows = read_table(&folder.join(TABLE))?;
    // All files are read first: a missing one is reported before minutes have been spent on the others.
    let problems: Vec<(Row, OwnedSignal, OwnedSignal)> = rows
        .into_iter()
        .map(|row| {
            let (x, y) = (read_signal(folder, &row, "x")?, read_signal(folder, &row, "y")?);
            Ok((row, x, y))
        })
        .collect::<Result<_>>()?;
    on_one_thread(|| {
        let mut results = Vec::with_capacity(problems.len());
        for (index, (row, x, y)) in problems.iter().enumerate() {
            ctx.report("problems", index as f32 / problems.len() as f32)?;
            results.push(run_problem(&ctx.quiet(), row, x, y)?);
        }
        ctx.report("problems", 1.0)?;
        Ok(results)
    })
}

fn run_problem(ctx: &JobContext, row: &Row, x: &OwnedSignal, y: &OwnedSignal) -> Result<ProblemResult> {
    let (x, y) = (x.signal()?, y.signal()?);
    let problem = Problem::from_signals(y, x, row.lambda).with_pinned_ends();
    let options = SolveOptions::default();
    let (mut forward, mut both) = (Workspace::default(), Workspace::default());
    let solution = solve(ctx, &problem, &options, &mut forward)?;
    let mut contestants = [
        Contestant::new("forward", || solve(ctx, &problem, &options, &mut forward)),
        Contestant::new("forward + backward", || solve_and_differentiate(ctx, &problem, &options, &mut both)),
        Contestant::new("dtw", || classic(ctx, &y, &x)),
    ];
    let times = take_turns(ctx, &row.kind, 1, &mut contestants)?;
    Ok(ProblemResult {
        kind: row.kind.clone(),
        n: row.n,
        dim: row.dim,
        lambda: row.lambda,
        objective: solution.objective,
        kkt_residual: solution.kkt_residual,
        forward_ms: times[0].median_ms,
        forward_backward_ms: times[1].median_ms,
        dtw_ms: times[2].median_ms,
        device: ctx.device_name(),
    })
}

pub(crate) fn read_table(path: &Path) -> Result<Vec<Row>> {
    let text = read_whole(path, MOST_TABLE_BYTES, REMEDY)?;
    let mut rows: Vec<Row> = Vec::new();
    for (index, row) in
        csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_slice()).deserialize().enumerate()
    {
        let row: Row = row.map_err(|error| Error::malformed(path, error.to_string(), REMEDY))?;
        check(&row).map_err(|cause| Error::malformed(path, format!("problem {}: {cause}", index + 1), REMEDY))?;
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(Error::malformed(path, "it lists no problem", REMEDY));
    }
    Ok(rows)
}

fn check(row: &Row) -> std::result::Result<(), String> {
    if row.kind.is_empty() || !row.kind.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
        return Err(format!("kind is {:?}, but must be a plain name", row.kind));
    }
    if !(2..=MOST_FRAMES).contains(&row.n) {
        return Err(format!("n is {}, but must be between 2 and {MOST_FRAMES}", row.n));
    }
    if !(1..=MOST_VALUES_PER_FRAME).contains(&row.dim) {
        return Err(format!("dim is {}, but must be between 1 and {MOST_VALUES_PER_FRAME}", row.dim));
    }
    if !(row.lambda.is_finite() && row.lambda >= 0.0) {
        return Err(format!("lambda is {}, but must be a number, zero or more", row.lambda));
    }
    Ok(())
}

fn read_signal(folder: &Path, row: &Row, which: &str) -> Result<OwnedSignal> {
    let path: PathBuf = folder.join(format!("{}_{}_{which}.f32", row.kind, row.n));
    let expected = row.n * row.dim * size_of::<f32>();
    let found = std::fs::metadata(&path).map_err(|source| Error::io("read", &path, source))?.len();
    if found != expected as u64 {
        let cause = format!("it has {found} bytes, but {} x {} values take {expected}", row.n, row.dim);
        return Err(Error::malformed(&path, cause, REMEDY));
    }
    let bytes = std::fs::read(&path).map_err(|source| Error::io("read", &path, source))?;
    let values: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
    match values.iter().position(|value| !value.is_finite()) {
        Some(at) => {
            let cause = format!("value {} of frame {} is not a finite number", at % row.dim, at / row.dim);
            Err(Error::malformed(&path, cause, REMEDY))
        }
        None => Ok(OwnedSignal { times: times(row.n, 1.0), values, dim: row.dim }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::inputs::pair;

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// A folder with one small problem.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let (score, performance) = pair(24, 24, 3, 1.0);
        std::fs::write(folder.path().join(TABLE), "kind,n,dim,lambda,objective_other\ntoy,24,3,0.1,\n").unwrap();
        std::fs::write(folder.path().join("toy_24_x.f32"), bytes(&performance.values)).unwrap();
        std::fs::write(folder.path().join("toy_24_y.f32"), bytes(&score.values)).unwrap();
        folder
    }

    fn complaint(folder: &tempfile::TempDir) -> String {
        run_problems(&JobContext::new(), folder.path()).unwrap_err().to_string()
    }

    #[test]
    fn a_stored_problem_is_solved_to_its_optimum() {
        let results = run_problems(&JobContext::new(), folder().path()).unwrap();
        let result = &results[0];
        assert_eq!((result.kind.as_str(), result.n, result.dim, result.lambda), ("toy", 24, 3, 0.1));
        let (score, performance) = pair(24, 24, 3, 1.0);
        let problem = Problem::from_signals(score.signal().unwrap(), performance.signal().unwrap(), 0.1);
        let (lowest, identity) = (result.objective, problem.objective(&score.times));
        assert!(lowest < identity, "{lowest} against {identity}");
        let optimum = |problem: Problem<'_>| {
            let (ctx, options) = (JobContext::new(), SolveOptions::default());
            solve(&ctx, &problem.with_pinned_ends(), &options, &mut Workspace::default()).unwrap().objective
        };
        assert_eq!(lowest, optimum(problem));
        let swapped = Problem::from_signals(performance.signal().unwrap(), score.signal().unwrap(), 0.1);
        assert_ne!(lowest, optimum(swapped), "score and performance are not interchangeable");
        assert!(result.kkt_residual < 1e-6, "{}", result.kkt_residual);
        assert!(result.forward_ms > 0.0 && result.forward_backward_ms > 0.0 && result.dtw_ms > 0.0);
    }

    #[test]
    fn files_that_are_missing_short_or_not_numbers_are_named() {
        let broken = folder();
        let y = broken.path().join("toy_24_y.f32");
        let mut values = std::fs::read(&y).unwrap();
        values[40..44].copy_from_slice(&f32::NAN.to_le_bytes());
        std::fs::write(&y, &values).unwrap();
        assert!(complaint(&broken).contains("toy_24_y.f32: value 1 of frame 3 is not a finite number"));
        std::fs::write(&y, &values[..100]).unwrap();
        assert!(complaint(&broken).contains("100 bytes, but 24 x 3 values take 288"));
        std::fs::remove_file(&y).unwrap();
        assert!(complaint(&broken).contains("toy_24_y.f32"));
    }

    #[test]
    fn a_bad_table_is_explained() {
        let broken = folder();
        for (table, word) in [
            ("kind,n,dim,lambda\n", "no problem"),
            ("kind,n,dim,lambda\n../x,24,3,0.1\n", "plain name"),
            ("kind,n,dim,lambda\ntoy,1,3,0.1\n", "between 2 and"),
            ("kind,n,dim,lambda\ntoy,99999999999,3,0.1\n", "between 2 and"),
            ("kind,n,dim,lambda\ntoy,24,3,NaN\n", "zero or more"),
            ("kind,n\ntoy,24\n", "dim"),
        ] {
            std::fs::write(broken.path().join(TABLE), table).unwrap();
            let message = complaint(&broken);
            assert!(message.contains(word) && message.contains(TABLE), "{message}");
        }
        std::fs::remove_file(broken.path().join(TABLE)).unwrap();
        assert!(complaint(&broken).contains(TABLE));
    }
}
