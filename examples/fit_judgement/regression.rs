//! Logistic regression by Newton's method, with a little ridge: the same rows give the same weights.

/// Keeps the weight of a feature that tells nothing near zero; features are standardised first.
const RIDGE: f64 = 1.0;
const MOST_STEPS: usize = 50;

/// Rows of features, the first of which is always 1, with what is to be foretold of each.
#[derive(Default)]
pub struct Rows {
    pub features: Vec<Vec<f64>>,
    pub outcomes: Vec<bool>,
}

impl Rows {
    pub fn push(&mut self, features: &[f64], outcome: bool) {
        self.features.push(features.to_vec());
        self.outcomes.push(outcome);
    }

    /// The weights under which the outcomes are likeliest.
    pub fn fit(&self) -> Vec<f64> {
        let Some(first) = self.features.first() else { return Vec::new() };
        let (count, width) = (self.features.len() as f64, first.len());
        let mean: Vec<f64> =
            (0..width).map(|at| self.features.iter().map(|row| row[at]).sum::<f64>() / count).collect();
        let spread: Vec<f64> = (0..width)
            .map(|at| {
                (self.features.iter().map(|row| (row[at] - mean[at]).powi(2)).sum::<f64>() / count).sqrt().max(1e-9)
            })
            .collect();
        let standard = |row: &[f64]| -> Vec<f64> {
            let others = (1..width).map(|at| (row[at] - mean[at]) / spread[at]);
            std::iter::once(1.0).chain(others).collect()
        };
        let rows: Vec<Vec<f64>> = self.features.iter().map(|row| standard(row)).collect();
        let mut weights = vec![0.0; width];
        for _ in 0..MOST_STEPS {
            let step = newton_step(&rows, &self.outcomes, &weights);
            weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight += step);
            if step.iter().all(|step| step.abs() < 1e-9) {
                break;
            }
        }
        let mut plain: Vec<f64> = weights.iter().zip(&spread).map(|(weight, spread)| weight / spread).collect();
        plain[0] = weights[0] - (1..width).map(|at| plain[at] * mean[at]).sum::<f64>();
        plain
    }
}

/// Logarithm of the odds that weights give a row.
pub fn odds(row: &[f64], weights: &[f64]) -> f64 {
    row.iter().zip(weights).map(|(value, weight)| value * weight).sum()
}

/// The chance that odds stand for.
pub fn chance(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

fn newton_step(rows: &[Vec<f64>], outcomes: &[bool], weights: &[f64]) -> Vec<f64> {
    let width = weights.len();
    let mut system = vec![vec![0.0; width + 1]; width];
    for (row, &outcome) in rows.iter().zip(outcomes) {
        let likely = chance(odds(row, weights));
        let residual = f64::from(u8::from(outcome)) - likely;
        for (a, equation) in system.iter_mut().enumerate() {
            for (b, value) in row.iter().enumerate() {
                equation[b] += likely * (1.0 - likely) * row[a] * value;
            }
            equation[width] += residual * row[a];
        }
    }
    for (at, equation) in system.iter_mut().enumerate() {
        let ridge = if at == 0 { 1e-9 } else { RIDGE };
        equation[at] += ridge;
        equation[width] -= ridge * weights[at];
    }
    solve(system)
}

/// Gaussian elimination with pivoting; the last column is the right side.
fn solve(mut system: Vec<Vec<f64>>) -> Vec<f64> {
    let width = system.len();
    for column in 0..width {
        let pivot = (column..width).max_by(|&a, &b| system[a][column].abs().total_cmp(&system[b][column].abs()));
        system.swap(column, pivot.unwrap_or(column));
        let (above, below) = system.split_at_mut(column + 1);
        let pivot = &above[column];
        for row in below {
            let factor = row[column] / pivot[column];
            row.iter_mut().zip(pivot).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    let mut solution = vec![0.0; width];
    for row in (0..width).rev() {
        let known: f64 = (row + 1..width).map(|at| system[row][at] * solution[at]).sum();
        solution[row] = (system[row][width] - known) / system[row][row];
    }
    solution
}
