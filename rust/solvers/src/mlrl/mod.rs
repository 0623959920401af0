//! MLRL: support vector machines of all labels with a label covariance that is learned with them (Zhang & Yeung 2013).
//!
//! ```text
//! (6)   min over W, b, Omega   1/n sum_ij max(0, 1 - y_ij f_j(x_i)) + lambda/2 tr(W Omega^-1 W^T),   tr Omega = 1
//! ```
//!
//! with `Z = alpha . Y` (signed, `n x q`), whose columns sum to 0 and whose entries lie between 0 and `y_ij / n`. Where
//! instances have weights, or labels are unknown, `c_ij` takes the place of `1/n`: the share of the instance, or 0.
//! Then
//!
//! * for a fixed Omega the dual (10) is `sum alpha - 1/(2 lambda) tr(Z^T K Z Omega)`: [`fixed`], and [`alternating()`] with
//!   the published step of Omega;
//! * Omega eliminated, (6) is `hinge + lambda/2 ||W||_*^2` (the trace norm, squared) with the dual
//!   `sum alpha - 1/(2 lambda) lambda_max(Z^T K Z)`. Any `W` and any feasible `Z` certify each other: [`splitting()`].
//!
//! Here every matrix with one column a label is stored by label: `q` rows of `n` numbers.

mod alternating;
mod best;
mod certificate;
mod columns;
mod drive;
mod iterates;
mod patience;
mod regulariser;
pub mod request;
pub mod smo;
mod splitting;
mod symmetric;
mod tuning;

pub use alternating::alternating;
pub use splitting::{fixed, splitting};

use crate::error::{SolverError, check_size, refused};
use crate::kernel::rows::KernelRows;
use crate::linalg::vector::{axpy, dot};
use crate::report::Report;
use tuning::STEPS;

/// The least cost of a pair step, in multiplications.
const WORK_OF_A_STEP: usize = 100;

/// The labels, the kernel and lambda.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    kernel: &'a KernelRows<'a>,
    /// `y_ij` by label, 1 or -1.
    signs: &'a [f64],
    /// `c_ij` by label, the weight of its hinge; 0 where `y_ij` is unknown.
    bounds: &'a [f64],
    /// Whether all `c_ij` are `1/n`.
    uniform: bool,
    lambda: f64,
}

impl<'a> Problem<'a> {
    /// Checks the arguments; `signs` and `bounds` are `q` rows of `n` numbers.
    ///
    /// # Errors
    /// When the shapes do not match, lambda is not positive, a sign is neither 1 nor -1, a bound is negative or not finite,
    /// or a label has one sign only.
    pub fn new(
        kernel: &'a KernelRows<'a>,
        signs: &'a [f64],
        bounds: &'a [f64],
        lambda: f64,
    ) -> Result<Self, SolverError> {
        let n = kernel.instances();
        if n == 0 || signs.is_empty() || !signs.len().is_multiple_of(n) {
            return Err(refused(
                "Y",
                format!("{} signs for {n} instances", signs.len()),
                "one for each instance and label, and at least one of each",
            ));
        }
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(refused("lambda", lambda, "a positive number"));
        }
        if let Some(sign) = signs.iter().find(|&&sign| sign != 1.0 && sign != -1.0) {
            return Err(refused(
                "Y",
                format!("a matrix with the sign {sign}"),
                "the signs 1 and -1",
            ));
        }
        if bounds.len() != signs.len() || bounds.iter().any(|c| !(*c >= 0.0 && c.is_finite())) {
            return Err(refused(
                "row weights",
                "weights that are negative, not finite or too few",
                "a finite one of at least 0 for each instance",
            ));
        }
        let of_label = signs.chunks_exact(n).zip(bounds.chunks_exact(n));
        if of_label
            .map(|(signs, bounds)| signs.iter().zip(bounds).filter(|(_, c)| **c > 0.0))
            .any(|known| {
                let positive = known.clone().filter(|(sign, _)| **sign > 0.0).count();
                positive == 0 || positive == known.count()
            })
        {
            return Err(refused(
                "Y",
                "a matrix with a label of one class",
                "instances of both classes for every label",
            ));
        }
        Ok(Self {
            kernel,
            signs,
            bounds,
            uniform: bounds.iter().all(|&c| c == 1.0 / n as f64),
            lambda,
        })
    }

    fn instances(&self) -> usize {
        self.kernel.instances()
    }

    fn labels(&self) -> usize {
        self.signs.len() / self.instances()
    }

    fn sign(&self, label: usize) -> &'a [f64] {
        let n = self.instances();
        &self.signs[label * n..(label + 1) * n]
    }

    /// `c_ij` of a label.
    fn bound(&self, label: usize) -> &'a [f64] {
        let n = self.instances();
        &self.bounds[label * n..(label + 1) * n]
    }

    /// The effective number of labels `(sum s)^2 / sum s^2`, where the size `s` of a label is the weight of its smaller class.
    fn effective_labels(&self) -> f64 {
        let sizes = (0..self.labels()).map(|label| {
            let of_class = |wanted: f64| {
                let rows = self.sign(label).iter().zip(self.bound(label));
                let rows = rows.filter(|(sign, _)| **sign == wanted);
                rows.map(|(_, c)| c).sum::<f64>()
            };
            of_class(1.0).min(of_class(-1.0))
        });
        let mut sizes: Vec<f64> = sizes.collect();
        // Squares of small weights would underflow.
        let largest = sizes.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        sizes.iter_mut().for_each(|size| *size /= largest);
        sizes.iter().sum::<f64>().powi(2) / dot(&sizes, &sizes)
    }

    /// Makes pair steps in a problem with one label from a feasible column, within the limits. Returns the gradient at the
    /// end, and the number of steps.
    ///
    /// # Errors
    /// When the column has another length.
    pub fn steps_of_a_label(
        &self,
        dual: &mut [f64],
        limits: smo::Limits,
    ) -> Result<(Vec<f64>, usize), SolverError> {
        check_size("dual", dual.len(), self.instances())?;
        let scale = 1.0 / self.lambda;
        let problem = smo::LabelProblem {
            kernel: self.kernel,
            signs: self.sign(0),
            bounds: self.bound(0),
            scale,
        };
        let mut gradient: Vec<f64> = self.sign(0).iter().map(|y| -y).collect();
        for (j, z) in dual.iter().enumerate() {
            axpy(scale * z, &self.kernel.row(j), &mut gradient);
        }
        let (steps, _) = smo::solve_label::<f64>(&problem, dual, &mut gradient, limits);
        Ok((gradient, steps))
    }

    /// Pair steps of one label between two polls of the monitor: about 20 ms of work.
    fn patience(&self) -> usize {
        (20_000_000 / self.kernel.work_per_step().max(WORK_OF_A_STEP)).max(10)
    }

    /// Largest number of pair steps of one label in one round.
    fn most_steps(&self) -> usize {
        STEPS
            .per_instance
            .saturating_mul(self.instances())
            .saturating_add(STEPS.of_label)
            .min(STEPS.most)
    }
}

/// A model, a dual point that bounds it, and the certificate recomputed at both.
#[derive(Clone, Debug)]
pub struct Solution {
    /// `A` with `W = phi(X)^T A`, by label.
    pub expansion: Vec<f64>,
    /// `b`, one a label.
    pub bias: Vec<f64>,
    /// `Z`, by label: the dual point of the lower bound.
    pub dual: Vec<f64>,
    /// Omega, `q x q`.
    pub covariance: Vec<f64>,
    /// `K A`, the training scores without bias, by label.
    pub scores: Vec<f64>,
    /// The certificate; an epoch is an outer round.
    pub report: Report,
}

#[cfg(test)]
mod tests;
