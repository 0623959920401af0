//! The best points of the rounds so far, and their objectives.

use super::Problem;
use super::certificate::{best_multiple, loss_and_bias, rounding};
use super::regulariser::{Regulariser, Weights};
use super::symmetric::{Eigen, covariance_step};
use crate::error::SolverError;
use crate::linalg::vector::dot;
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Objectives, rounding_of};

/// The best model and the best bound so far.
pub(super) struct Best {
    pub primal: f64,
    /// `V`; for a fixed Omega, the matrix that [`Regulariser::weights`] turns into the model.
    pub model: Weights,
    pub bound: f64,
    /// `phi(X)^T Z`
    pub dual: Weights,
    /// If points are judged as points of the joint problem, whatever the regulariser: the best bound for it, and its
    /// `phi(X)^T Z`.
    pub joint: Option<(f64, Weights)>,
}

impl Best {
    /// No points yet, for matrices of `length` numbers.
    pub fn nothing(length: usize) -> Self {
        Self {
            primal: f64::INFINITY,
            model: Weights::zero(length),
            bound: f64::NEG_INFINITY,
            dual: Weights::zero(length),
            joint: None,
        }
    }

    pub fn note_model(&mut self, primal: f64, model: &Weights) {
        if primal < self.primal {
            self.primal = primal;
            self.model.copy(model);
        }
    }

    pub fn note_bound(&mut self, bound: f64, dual: &Weights) {
        if bound > self.bound {
            self.bound = bound;
            self.dual.copy(dual);
        }
    }

    /// Recomputes the scores of the best points; false when interrupted.
    pub fn recompute(
        &mut self,
        problem: &Problem<'_>,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> bool {
        let dual = match &mut self.joint {
            Some((_, dual)) => dual,
            None => &mut self.dual,
        };
        let weights = [&mut self.model, dual];
        Weights::renew(weights, problem, threads, monitor)
    }

    /// Replaces the objectives that the rounds found for the best points.
    pub fn correct(&mut self, point: &Point) {
        if self.joint.is_none() {
            (self.primal, self.bound) = (point.found.primal, point.found.dual);
        }
    }

    /// The best points with recomputed objectives.
    pub fn point(
        &self,
        problem: &Problem<'_>,
        regulariser: &Regulariser,
    ) -> Result<Point, SolverError> {
        let (n, q) = (problem.instances(), problem.labels());
        let weights = regulariser.weights(problem, &self.model);
        let (judged, dual) = match &self.joint {
            Some((_, dual)) => (&Regulariser::TraceNorm, dual),
            None => (regulariser, &self.dual),
        };
        let (penalty, covariance) = match judged {
            Regulariser::TraceNorm => {
                let (covariance, trace_norm) =
                    covariance_step(&Eigen::of_semidefinite(&weights.gram(n), q)?);
                (problem.lambda * trace_norm * trace_norm, covariance)
            }
            Regulariser::Fixed { covariance, .. } => (
                dot(&self.model.expansion, &weights.scores),
                memory::copied(covariance),
            ),
        };
        let (loss, bias) = loss_and_bias(problem, &weights.scores);
        let quadratic = judged.quadratic(dual, problem, None)?;
        let (bound, t) = best_multiple(problem, &dual.expansion, quadratic);
        let of_forms = rounding(problem, &dual.expansion, 1.0 / problem.lambda)
            + rounding(problem, &weights.expansion, problem.lambda);
        let size = loss + penalty + bound.abs();
        Ok(Point {
            found: Objectives {
                primal: loss + 0.5 * penalty,
                dual: bound,
                rounding: of_forms + rounding_of(size, n + q),
            },
            quadratic: dot(&dual.expansion, &dual.scores) / problem.lambda,
            weights,
            bias,
            covariance,
            dual: memory::collected(dual.expansion.iter().map(|z| t * z)),
        })
    }
}

/// A model, a dual point and their objectives.
pub(super) struct Point {
    pub found: Objectives,
    /// The quadratic form of the dual, negative for indefinite kernels only.
    pub quadratic: f64,
    pub weights: Weights,
    pub bias: Vec<f64>,
    pub covariance: Vec<f64>,
    pub dual: Vec<f64>,
}
