//! Linear systems of knots that move together: runs of tied knots are one unknown, pinned runs none, and what is left is
//! tridiagonal.

use std::ops::Range;

/// The contracted system and its buffers.
#[derive(Debug, Default)]
pub(super) struct BlockSystem {
    /// First knot of each block, then the number of knots.
    starts: Vec<usize>,
    pinned: Vec<bool>,
    /// How far each pinned block is moved all the same.
    moves: Vec<f64>,
    diagonal: Vec<f64>,
    /// Coupling of each block to the next.
    upper: Vec<f64>,
    values: Vec<f64>,
}

/// The tridiagonal Hessian before contraction: node curvatures, and curvatures of the segments' costs in their advance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hessian<'a> {
    pub nodes: &'a [f64],
    pub segments: &'a [f64],
}

impl BlockSystem {
    /// Groups knots: `tied[i]` joins knots `i` and `i + 1`; a block moves as its first pinned knot is told to (`moves`, mostly 0).
    pub fn group(&mut self, pinned: &[bool], tied: &[bool], moves: &[f64]) {
        self.starts.clear();
        self.pinned.clear();
        self.moves.clear();
        for (i, &pin) in pinned.iter().enumerate() {
            if i == 0 || !tied[i - 1] {
                self.starts.push(i);
                self.pinned.push(pin);
                self.moves.push(if pin { moves[i] } else { 0.0 });
            } else if let (Some(last), Some(by), true) = (self.pinned.last_mut(), self.moves.last_mut(), pin)
                && !*last
            {
                (*last, *by) = (true, moves[i]);
            }
        }
        self.starts.push(pinned.len());
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.pinned.len()
    }

    /// The knots of a block.
    pub fn knots(&self, block: usize) -> Range<usize> {
        self.starts[block]..self.starts[block + 1]
    }

    /// Solves `H p = right` for moves `p` that are equal within each block and prescribed in pinned ones. Returns false, with `p`
    /// undefined, if the contracted matrix is not positive definite after adding `ridge` to its diagonal.
    pub fn solve(&mut self, hessian: Hessian<'_>, right: &[f64], ridge: f64, p: &mut [f64]) -> bool {
        let blocks = self.len();
        self.diagonal.clear();
        self.upper.clear();
        self.values.clear();
        for b in 0..blocks {
            let Range { start, end } = self.knots(b);
            let mut diagonal = ridge;
            let mut value = 0.0;
            let mut upper = 0.0;
            if self.pinned[b] {
                diagonal = 1.0;
            } else {
                diagonal += hessian.nodes[start..end].iter().sum::<f64>();
                value += right[start..end].iter().sum::<f64>();
                if start > 0 {
                    diagonal += hessian.segments[start - 1];
                    value += hessian.segments[start - 1] * self.moves[b - 1];
                }
                if end < right.len() {
                    diagonal += hessian.segments[end - 1];
                    value += hessian.segments[end - 1] * self.moves[b + 1];
                    if !self.pinned[b + 1] {
                        upper = -hessian.segments[end - 1];
                    }
                }
            }
            // Forward elimination as the rows are made.
            if b > 0 && !self.pinned[b] && !self.pinned[b - 1] {
                let ratio = self.upper[b - 1] / self.diagonal[b - 1];
                diagonal -= ratio * self.upper[b - 1];
                value -= ratio * self.values[b - 1];
            }
            if diagonal.is_nan() || diagonal <= 0.0 {
                return false;
            }
            self.diagonal.push(diagonal);
            self.upper.push(upper);
            self.values.push(value);
        }
        let mut next = 0.0;
        for b in (0..blocks).rev() {
            let value = (self.values[b] - self.upper[b] * next) / self.diagonal[b];
            next = if self.pinned[b] { 0.0 } else { value };
            p[self.starts[b]..self.starts[b + 1]].fill(next + self.moves[b]);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dense Gaussian elimination of the full system with the ties as extra equations.
    fn dense(nodes: &[f64], segments: &[f64], right: &[f64], pinned: &[bool], tied: &[bool]) -> Vec<f64> {
        let m = nodes.len();
        let mut rows = Vec::new();
        for (i, &pin) in pinned.iter().enumerate() {
            if pin {
                rows.push((0..m).map(|c| f64::from(u8::from(c == i))).collect::<Vec<f64>>());
            }
        }
        for (i, &tie) in tied.iter().enumerate() {
            if tie {
                rows.push((0..m).map(|c| if c == i { -1.0 } else { f64::from(u8::from(c == i + 1)) }).collect());
            }
        }
        let n = m + rows.len();
        let mut a = vec![vec![0.0; n + 1]; n];
        for i in 0..m {
            a[i][i] = nodes[i];
            a[i][n] = right[i];
        }
        for (i, &k) in segments.iter().enumerate() {
            a[i][i] += k;
            a[i + 1][i + 1] += k;
            a[i][i + 1] -= k;
            a[i + 1][i] -= k;
        }
        for (r, row) in rows.iter().enumerate() {
            for (c, &v) in row.iter().enumerate() {
                a[m + r][c] = v;
                a[c][m + r] = v;
            }
        }
        for c in 0..n {
            let pivot = (c..n).max_by(|&i, &j| a[i][c].abs().total_cmp(&a[j][c].abs())).unwrap();
            a.swap(c, pivot);
            for r in 0..n {
                if r != c {
                    let factor = a[r][c] / a[c][c];
                    let source = a[c].clone();
                    a[r].iter_mut().zip(source).for_each(|(x, y)| *x -= factor * y);
                }
            }
        }
        (0..m).map(|i| a[i][n] / a[i][i]).collect()
    }

    #[test]
    fn contracted_solution_equals_the_dense_one() {
        let nodes = [1.0, 0.5, 2.0, 0.1, 0.7, 1.3, 0.2];
        let segments = [3.0, 1.0, 0.5, 2.0, 4.0, 0.3];
        let right = [1.0, -2.0, 0.5, 3.0, -1.0, 0.2, 0.9];
        for (pinned, tied) in [
            ([false; 7], [false; 6]),
            ([true, false, false, false, false, false, true], [false; 6]),
            ([false; 7], [false, true, true, false, false, true]),
            ([false, false, true, false, false, false, false], [false, true, true, false, true, false]),
        ] {
            let mut system = BlockSystem::default();
            system.group(&pinned, &tied, &[0.0; 7]);
            let mut p = [0.0; 7];
            assert!(system.solve(Hessian { nodes: &nodes, segments: &segments }, &right, 0.0, &mut p));
            let expected = dense(&nodes, &segments, &right, &pinned, &tied);
            for i in 0..7 {
                assert!((p[i] - expected[i]).abs() < 1e-12, "{i}: {p:?} {expected:?}");
            }
        }
    }

    #[test]
    fn prescribed_moves_pull_their_neighbours() {
        let mut system = BlockSystem::default();
        system.group(&[false, true, false], &[false, false], &[0.0, 2.0, 0.0]);
        let mut p = [0.0; 3];
        // (1 + 3) p0 = 3·2 and (1 + 1) p2 = 1·2 + 4.
        assert!(system.solve(Hessian { nodes: &[1.0; 3], segments: &[3.0, 1.0] }, &[0.0, 9.0, 4.0], 0.0, &mut p));
        assert_eq!(p, [1.5, 2.0, 3.0]);
    }

    #[test]
    fn an_indefinite_system_is_refused() {
        let mut system = BlockSystem::default();
        system.group(&[false, false], &[false], &[0.0; 2]);
        let hessian = Hessian { nodes: &[1.0, -2.0], segments: &[0.5] };
        assert!(!system.solve(hessian, &[1.0, 1.0], 0.0, &mut [0.0; 2]));
    }
}
