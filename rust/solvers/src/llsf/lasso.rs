//! A small dense lasso, `min 1/2 w^T H w - b^T w + beta ||w||_1`, from a start whose gradient is known.
//!
//! Cyclic coordinate descent finds the support and the signs quickly, but converges slowly where columns are nearly
//! dependent. So every few passes are followed by a step on all nonzero coefficients: towards the minimiser for their
//! current signs, found by conjugate gradients, or along a combination of dependent columns.

use super::certificate::violation;
use super::tuning::LASSO;
use crate::linalg::vector::{axpy, dot};

/// A lasso and its current point.
#[derive(Debug)]
pub struct Lasso {
    /// `H`, `m x m`.
    pub form: Vec<f64>,
    /// The current point.
    pub point: Point,
    /// Weight of the l1 norm.
    pub beta: f64,
}

/// A point and the gradient of the smooth part there.
#[derive(Clone, Debug)]
pub struct Point {
    /// `w`
    pub weights: Vec<f64>,
    /// `H w - b`
    pub gradient: Vec<f64>,
}

impl Lasso {
    /// Improves the point until it violates the optimality conditions by no more than `tolerance`.
    pub fn solve(&mut self, tolerance: f64) {
        for _ in 0..LASSO.most_steps {
            for _ in 0..LASSO.passes {
                // Small steps alone prove nothing: many of them can add up to a large distance.
                if self.pass() <= tolerance && self.violation() <= tolerance {
                    return;
                }
            }
            self.step();
        }
    }

    fn violation(&self) -> f64 {
        let Point { weights, gradient } = &self.point;
        let of_all = weights.iter().zip(gradient);
        let of_all = of_all.map(|(&w, &g)| violation(w, g, self.beta));
        of_all.fold(0.0, f64::max)
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

    /// Moves towards the minimiser for the current signs as long as the objective decreases, past sign changes.
    fn step(&mut self) {
        let (direction, m) = (self.direction(), self.point.weights.len());
        let mut change = vec![0.0; m];
        for (d, row) in direction.iter().zip(self.form.chunks_exact(m.max(1))) {
            if *d != 0.0 {
                axpy(*d, row, &mut change);
            }
        }
        let Point { weights, gradient } = &mut self.point;
        let downhill = |k: usize| -direction[k] * (gradient[k] + self.beta.copysign(weights[k]));
        let mut fall: f64 = (0..m).map(downhill).sum();
        let curvature = dot(&direction, &change).max(0.0);
        let zeros = (0..m).map(|k| (-weights[k] / direction[k], k));
        let mut zeros: Vec<_> = zeros.filter(|(length, _)| *length > 0.0).collect();
        zeros.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut length, mut vanishing) = (fall / curvature, None);
        for (zero, k) in zeros {
            if length > zero {
                fall -= 2.0 * self.beta * direction[k].abs();
                length = zero.max(fall / curvature);
                vanishing = (length == zero).then_some(k);
            }
        }
        if length > 0.0 && length < f64::MAX {
            axpy(length, &direction, weights);
            axpy(length, &change, gradient);
            vanishing.into_iter().for_each(|k| weights[k] = 0.0);
        }
    }

    /// The direction to the minimiser for the current signs.
    fn direction(&self) -> Vec<f64> {
        let Point { weights, gradient } = &self.point;
        let m = weights.len();
        let of_support = |k: usize, value: f64| if weights[k] == 0.0 { 0.0 } else { value };
        let downhill = |k: usize| of_support(k, -gradient[k] - self.beta.copysign(weights[k]));
        let mut rest: Vec<f64> = (0..m).map(downhill).collect();
        let (mut direction, mut along) = (vec![0.0; m], vec![0.0; m]);
        let (mut before, mut enough) = (f64::INFINITY, 0.0);
        for _ in 0..LASSO.most_iterations {
            let scaled = |k: usize| of_support(k, rest[k] / self.form[k * (m + 1)]);
            let scaled: Vec<f64> = (0..m).map(scaled).collect();
            let length = dot(&rest, &scaled);
            if length <= enough {
                break;
            }
            enough = f64::max(enough, LASSO.accuracy * length);
            let (mut product, mut of_coordinates) = (vec![0.0; m], 0.0);
            for (k, row) in self.form.chunks_exact(m).enumerate() {
                along[k] = scaled[k] + length / before * along[k];
                if along[k] != 0.0 {
                    axpy(along[k], row, &mut product);
                    of_coordinates += along[k] * along[k] * row[k];
                }
            }
            let curvature = dot(&along, &product);
            if curvature <= LASSO.dependent * of_coordinates {
                return along;
            }
            axpy(length / curvature, &along, &mut direction);
            axpy(-length / curvature, &product, &mut rest);
            before = length;
        }
        direction
    }
}

/// The proximal map of the l1 norm, (11) of the paper.
pub(super) fn soft_threshold(value: f64, threshold: f64) -> f64 {
    value - value.max(-threshold).min(threshold)
}
