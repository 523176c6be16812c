//! A linear embedding, its alignment error, and its training by the gradient through the solver.

use agogic::JobContext;
use agogic::engine::Signal;
use agogic::engine::{NodeGradient, Problem, Solution, SolveOptions, Workspace, gradient, solve};
use agogic::{Error, Result};

use crate::route::{DIM, Drive};

/// Strength of the pull to an even speed.
const LAMBDA: f64 = 4.0;
/// The query's speed may be between these multiples of the database's.
const SLOPES: (f64, f64) = (0.1, 4.0);
const EPOCHS: usize = 40;
const STEP: f64 = 0.01;

/// What an error costs in training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The mean over the images of a query.
    Mean,
    /// The worst image of a query.
    Max,
}

/// A square matrix that is applied to every descriptor.
#[derive(Debug, Clone)]
pub struct Embedding(Vec<f64>);

impl Embedding {
    pub fn identity() -> Self {
        Self((0..DIM * DIM).map(|i| f64::from(u8::from(i % (DIM + 1) == 0))).collect())
    }

    fn apply(&self, descriptors: &[f64]) -> Vec<f64> {
        let embed = |d: &[f64]| -> Vec<f64> {
            self.0.chunks_exact(DIM).map(|row| row.iter().zip(d).map(|(w, v)| w * v).sum()).collect()
        };
        descriptors.chunks_exact(DIM).flat_map(embed).collect()
    }
}

/// Aligns a query with the database and hands problem and solution to `then`.
fn aligned<R>(
    embedding: &Embedding,
    database: &Drive,
    query: &Drive,
    then: impl FnOnce(&Problem<'_, f64>, &Solution) -> Result<R>,
) -> Result<R> {
    let last = database.times_s.len() - 1;
    let (x, y) = (embedding.apply(&query.descriptors), embedding.apply(&database.descriptors));
    let (x, y) = (Signal::new(&query.times_s, &x, DIM)?, Signal::new(&database.times_s, &y, DIM)?);
    let mut problem = Problem::from_signals(x, y, LAMBDA).with_slope_limits(SLOPES.0, SLOPES.1);
    let time_of = |place_m: f64| database.times_s[database.places_m.partition_point(|&p| p < place_m).min(last)];
    problem.lower.fill(time_of(query.within_m.0));
    problem.upper.fill(time_of(query.within_m.1));
    let solution = solve(&JobContext::new(), &problem, &SolveOptions::default(), &mut Workspace::default())?;
    then(&problem, &solution)
}

/// Signed error of every image in metres, and metres per second of the database there.
fn offsets(database: &Drive, query: &Drive, phi: &[f64]) -> Vec<(f64, f64)> {
    let (times, places) = (&database.times_s, &database.places_m);
    let offset = |(&at, truth): (&f64, &f64)| {
        let k = times.partition_point(|&t| t <= at).clamp(1, times.len() - 1) - 1;
        let speed = (places[k + 1] - places[k]) / (times[k + 1] - times[k]);
        (places[k] + (at - times[k]) * speed - truth, speed)
    };
    phi.iter().zip(&query.places_m).map(offset).collect()
}

/// Error of every image of a query in metres.
pub fn errors(embedding: &Embedding, database: &Drive, query: &Drive) -> Result<Vec<f64>> {
    aligned(embedding, database, query, |_, solution| {
        Ok(offsets(database, query, &solution.phi).iter().map(|(error, _)| error.abs()).collect())
    })
}

/// Derivative of the loss with respect to the warp.
fn loss_gradient(offsets: &[(f64, f64)], loss: Loss) -> Vec<f64> {
    let count = offsets.len() as f64;
    let worst = offsets.iter().map(|(e, _)| e.abs()).fold(0.0, f64::max);
    let slope = |(error, speed): &(f64, f64)| match loss {
        Loss::Mean => error.signum() * speed / count,
        Loss::Max if error.abs() == worst => error.signum() * speed,
        Loss::Max => 0.0,
    };
    offsets.iter().map(slope).collect()
}

/// Gradient of a query's loss with respect to the embedding: it acts through the descriptors of both signals.
fn embedding_gradient(embedding: &Embedding, database: &Drive, query: &Drive, loss: Loss) -> Result<Vec<f64>> {
    aligned(embedding, database, query, |problem, solution| {
        let direction = loss_gradient(&offsets(database, query, &solution.phi), loss);
        let NodeGradient::Features { x, y } = gradient(problem, solution, &direction)?.nodes else {
            return Err(Error::invalid("kind of gradient", "a table's", "that of features"));
        };
        let mut total = vec![0.0; DIM * DIM];
        for (outer, descriptors) in [(&x, &query.descriptors), (&y, &database.descriptors)] {
            for (slope, d) in outer.chunks_exact(DIM).zip(descriptors.chunks_exact(DIM)) {
                for (row, s) in total.chunks_exact_mut(DIM).zip(slope) {
                    row.iter_mut().zip(d).for_each(|(t, v)| *t += s * v);
                }
            }
        }
        Ok(total)
    })
}

/// Adam, one query at a time.
pub fn train(mut embedding: Embedding, database: &Drive, queries: &[Drive], loss: Loss) -> Result<Embedding> {
    let (mut mean, mut square) = (vec![0.0; DIM * DIM], vec![0.0; DIM * DIM]);
    let mut steps = 0;
    for epoch in 0..EPOCHS {
        let rate = STEP * 0.5 * (1.0 + (std::f64::consts::PI * epoch as f64 / EPOCHS as f64).cos());
        for query in queries {
            let mut slope = embedding_gradient(&embedding, database, query, loss)?;
            // A query on the edge between two alignments has a huge gradient: its direction is enough.
            let norm = slope.iter().map(|g| g * g).sum::<f64>().sqrt();
            slope.iter_mut().for_each(|g| *g /= norm.max(1.0));
            steps += 1;
            let corrections = (1.0 - 0.9_f64.powi(steps), 1.0 - 0.999_f64.powi(steps));
            for (i, g) in slope.iter().enumerate() {
                mean[i] = 0.9 * mean[i] + 0.1 * g;
                square[i] = 0.999 * square[i] + 0.001 * g * g;
                let size = (square[i] / corrections.1).sqrt() + 1e-8;
                embedding.0[i] -= rate * mean[i] / corrections.0 / size;
            }
        }
    }
    Ok(embedding)
}
