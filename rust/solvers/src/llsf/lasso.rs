//! A small dense lasso, `min 1/2 w^T H w - b^T w + beta ||w||_1`, from a start whose gradient is known.
//!
//! Cyclic coordinate descent finds the support and the signs quickly, but converges slowly where columns are nearly
//! dependent. So every few passes Anderson's extrapolation takes its place, where that is the better point: the
//! combination of the last points, with weights that sum to 1, whose combined steps are shortest.

use super::certificate::violation;
use crate::linalg::vector::{axpy, dot};
use nalgebra::{SMatrix, SVector};

/// Extrapolations before giving up.
const MOST_EXTRAPOLATIONS: usize = 60;
/// Passes from one extrapolation to the next.
const PASSES: usize = 8;
/// What is added to the products of steps, as a share of the largest one: they are nearly dependent in the end.
const REGULARISATION: f64 = 1e-12;

/// A lasso and its present point.
#[derive(Debug)]
pub struct Lasso {
    /// `H`, `m x m`.
    pub form: Vec<f64>,
    /// The present point.
    pub point: Point,
    /// Weight of the l1 norm.
    pub beta: f64,
}

/// A point of a lasso.
#[derive(Clone, Debug)]
pub struct Point {
    /// `w`
    pub weights: Vec<f64>,
    /// `H w - b`.
    pub gradient: Vec<f64>,
}

impl Lasso {
    /// Improves the point until it violates the optimality conditions by no more than `tolerance`.
    pub fn solve(&mut self, tolerance: f64) {
        for _ in 0..MOST_EXTRAPOLATIONS {
            let mut path = vec![self.point.clone()];
            for _ in 0..PASSES {
                // Small steps alone prove nothing: many of them may still add up to a long way.
                if self.pass() <= tolerance && self.violation() <= tolerance {
                    return;
                }
                path.push(self.point.clone());
            }
            if let Some(point) = extrapolated(&path).filter(|point| self.rise(point) < 0.0) {
                self.point = point;
            }
        }
    }

    fn violation(&self) -> f64 {
        let Point { weights, gradient } = &self.point;
        let of_all = weights.iter().zip(gradient);
        of_all.fold(0.0, |largest, (&w, &g)| {
            largest.max(violation(w, g, self.beta))
        })
    }

    /// Minimises along each coordinate in turn. Returns the largest change of a coordinate's own gradient.
    fn pass(&mut self) -> f64 {
        let Point { weights, gradient } = &mut self.point;
        let m = weights.len();
        let mut largest = 0.0_f64;
        for (k, row) in self.form.chunks_exact(m.max(1)).enumerate() {
            let curvature = row[k];
            let new = if curvature > 0.0 {
                soft_threshold(weights[k] - gradient[k] / curvature, self.beta / curvature)
            } else {
                0.0
            };
            let change = new - weights[k];
            if change != 0.0 {
                weights[k] = new;
                axpy(change, row, gradient);
                largest = largest.max(change.abs() * curvature);
            }
        }
        largest
    }

    /// The objective at another point less that at the present one.
    fn rise(&self, other: &Point) -> f64 {
        let Point { weights, gradient } = &self.point;
        let (before, after) = (
            weights.iter().zip(gradient),
            other.weights.iter().zip(&other.gradient),
        );
        let rises = before
            .zip(after)
            .map(|((v, g), (w, h))| 0.5 * (w - v) * (g + h) + self.beta * (w.abs() - v.abs()));
        rises.sum()
    }
}

/// Anderson's extrapolation of `PASSES + 1` points.
fn extrapolated(path: &[Point]) -> Option<Point> {
    let steps = path.windows(2).map(|pair| {
        let ends = pair[1].weights.iter().zip(&pair[0].weights);
        ends.map(|(new, old)| new - old).collect::<Vec<_>>()
    });
    let steps = steps.collect::<Vec<_>>();
    let products = SMatrix::<f64, PASSES, PASSES>::from_fn(|a, b| dot(&steps[a], &steps[b]));
    let ridge = SMatrix::from_diagonal_element(REGULARISATION * products.diagonal().max());
    let shares = (products + ridge).cholesky()?.solve(&SVector::repeat(1.0));
    let shares = shares / shares.sum();
    let combined = |of: fn(&Point) -> &[f64]| {
        let mut sum = vec![0.0; of(&path[0]).len()];
        for (point, &share) in path[1..].iter().zip(&shares) {
            axpy(share, of(point), &mut sum);
        }
        sum
    };
    Some(Point {
        weights: combined(|point| &point.weights),
        gradient: combined(|point| &point.gradient),
    })
}

/// The proximal map of the l1 norm, (11) of the paper.
pub(super) fn soft_threshold(value: f64, threshold: f64) -> f64 {
    if value > threshold {
        value - threshold
    } else if value < -threshold {
        value + threshold
    } else {
        0.0
    }
}
