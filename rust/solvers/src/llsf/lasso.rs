//! A small dense lasso, `min 1/2 w^T H w - b^T w + beta ||w||_1`, from a start whose gradient is known.
//!
//! Cyclic coordinate descent finds the support and the signs quickly, but converges slowly where columns are nearly
//! dependent. So every burst of passes ends in a Newton step on the present support: with the signs held, the minimiser
//! is one linear system away. An exact line search towards it passes over the points where a coefficient changes its
//! sign, so that the objective always falls.

use super::certificate::violation;
use super::line_search::{SearchEnd, search};
use super::soft_threshold::coordinate;
use crate::linalg::vector::{axpy, dot};
use crate::memory;

/// Bursts of passes, each with a Newton step, before giving up.
const MAX_BURSTS: usize = 30;
/// Passes in a burst for a small problem.
const SHORT_BURST: usize = 6;
/// A Newton step costs as much as this fraction of the support's size in passes: bursts grow with it.
const NEWTON_COST: usize = 12;
/// A pivot below this fraction of its diagonal entry means a column that depends on those before it.
const DEPENDENT: f64 = 1e-10;

/// A lasso and its present point.
#[derive(Debug)]
pub struct Lasso {
    /// `H`, `m x m`.
    pub form: Vec<f64>,
    /// The point `w`.
    pub weights: Vec<f64>,
    /// `H w - b`.
    pub gradient: Vec<f64>,
    /// Weight of the l1 norm.
    pub beta: f64,
}

impl Lasso {
    /// Improves the point until it violates the optimality conditions by no more than `tolerance`.
    pub fn solve(&mut self, tolerance: f64) {
        for _ in 0..MAX_BURSTS {
            let passes = SHORT_BURST + self.weights.len() / NEWTON_COST;
            for _ in 0..passes {
                // Small steps alone prove nothing: many of them may still add up to a long way.
                if self.pass() <= tolerance {
                    break;
                }
            }
            if self.violation() <= tolerance {
                return;
            }
            self.newton();
        }
    }

    fn violation(&self) -> f64 {
        self.weights
            .iter()
            .zip(&self.gradient)
            .map(|(&w, &g)| violation(w, g, self.beta))
            .fold(0.0, f64::max)
    }

    /// Minimises along each coordinate in turn. Returns the largest change of a coordinate's own gradient.
    fn pass(&mut self) -> f64 {
        let m = self.weights.len();
        let mut largest = 0.0_f64;
        for k in 0..m {
            let curvature = self.form[k * m + k];
            let new = coordinate(self.weights[k], self.gradient[k], curvature, self.beta);
            let change = new - self.weights[k];
            if change != 0.0 {
                self.weights[k] = new;
                axpy(change, &self.form[k * m..(k + 1) * m], &mut self.gradient);
                largest = largest.max(change.abs() * curvature);
            }
        }
        largest
    }

    /// Goes towards the minimiser for the present signs, as far as the objective falls.
    fn newton(&mut self) {
        let m = self.weights.len();
        let Factor { rows, lower } = self.factorise();
        let descent = rows
            .iter()
            .map(|&k| -(self.gradient[k] + self.beta.copysign(self.weights[k])));
        let mut direction = descent.collect::<Vec<_>>();
        // The slope along the direction at its start is minus the curvature: the minimum is at 1.
        let right = direction.to_vec();
        solve_factored(&lower, &mut direction);
        let curvature = dot(&right, &direction);
        if !(curvature > 0.0 && curvature.is_finite()) {
            return;
        }

        let weights = rows.iter().map(|&k| self.weights[k]).collect::<Vec<_>>();
        let SearchEnd { length, vanishing } = search(&weights, &direction, curvature, self.beta);
        for (place, &k) in rows.iter().enumerate() {
            let zero = vanishing == Some(place);
            let change = if zero {
                -self.weights[k]
            } else {
                length * direction[place]
            };
            self.weights[k] = if zero { 0.0 } else { self.weights[k] + change };
            axpy(change, &self.form[k * m..(k + 1) * m], &mut self.gradient);
        }
    }

    /// The Cholesky factor of the form on the support, from which `slide` drops the columns that depend on others.
    fn factorise(&mut self) -> Factor {
        let m = self.weights.len();
        let mut rows: Vec<usize> = Vec::new();
        let mut lower: Vec<Vec<f64>> = Vec::new();
        let mut k = 0;
        while k < m {
            if self.weights[k] == 0.0 {
                k += 1;
                continue;
            }
            let mut row = memory::room(rows.len() + 1);
            for (place, &other) in rows.iter().enumerate() {
                let above = &lower[place];
                let value = self.form[k * m + other] - dot(&row, &above[..place]);
                row.push(value / above[place]);
            }
            let diagonal = self.form[k * m + k];
            let pivot = diagonal - dot(&row, &row);
            if pivot > DEPENDENT * diagonal {
                row.push(pivot.sqrt());
                rows.push(k);
                lower.push(row);
                k += 1;
            } else {
                let dropped = self.slide(k, &rows, &lower, row);
                if let Ok(place) = rows.binary_search(&dropped) {
                    // The factor's rows from here on were made with the dropped column.
                    rows.truncate(place);
                    lower.truncate(place);
                }
                k = dropped;
            }
        }
        Factor { rows, lower }
    }

    /// Column `k` depends on the columns `rows`: moves along the combination that leaves the quadratic term alone, in
    /// the direction in which the rest does not grow, until a coefficient vanishes. Returns which one.
    fn slide(&mut self, k: usize, rows: &[usize], lower: &[Vec<f64>], row: Vec<f64>) -> usize {
        let m = self.weights.len();
        let mut combination = row;
        solve_transposed(lower, &mut combination);
        combination.iter_mut().for_each(|z| *z = -*z);
        combination.push(1.0);
        let columns = rows.iter().copied().chain([k]).collect::<Vec<_>>();
        let slope: f64 = columns
            .iter()
            .zip(&combination)
            .map(|(&j, &z)| z * (self.gradient[j] + self.beta.copysign(self.weights[j])))
            .sum();
        let first_zero = |direction: f64| {
            columns
                .iter()
                .zip(&combination)
                .map(|(&j, &z)| (-self.weights[j] / (direction * z), j))
                .filter(|&(t, _)| t > 0.0)
                .min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let downhill = if slope > 0.0 { -1.0 } else { 1.0 };
        // Only rounding can hide that the l1 norm grows in the end: then the other direction has a zero.
        let (step, dropped) = first_zero(downhill)
            .map(|(t, j)| (downhill * t, j))
            .or_else(|| first_zero(-downhill).map(|(t, j)| (-downhill * t, j)))
            .unwrap_or((0.0, k));
        for (&j, &z) in columns.iter().zip(&combination) {
            let change = if j == dropped {
                -self.weights[j]
            } else {
                step * z
            };
            self.weights[j] = if j == dropped {
                0.0
            } else {
                self.weights[j] + change
            };
            axpy(change, &self.form[j * m..(j + 1) * m], &mut self.gradient);
        }
        dropped
    }
}

/// A Cholesky factor and the coordinates that its rows stand for.
struct Factor {
    rows: Vec<usize>,
    lower: Vec<Vec<f64>>,
}

/// Solves `L L^T x = b` in place.
fn solve_factored(lower: &[Vec<f64>], x: &mut [f64]) {
    for (k, row) in lower.iter().enumerate() {
        x[k] = (x[k] - dot(&row[..k], &x[..k])) / row[k];
    }
    solve_transposed(lower, x);
}

/// Solves `L^T x = b` in place.
fn solve_transposed(lower: &[Vec<f64>], x: &mut [f64]) {
    for (k, row) in lower.iter().enumerate().rev() {
        x[k] /= row[k];
        let value = x[k];
        axpy(-value, &row[..k], &mut x[..k]);
    }
}
