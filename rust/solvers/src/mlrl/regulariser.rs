//! The coupling of the labels: the regularisers of a learned and of a fixed label covariance.

use super::Problem;
use super::symmetric::{Eigen, FEW, eigenvalues, gram, largest, mix};
use super::tuning::SPLITTING;
use crate::error::SolverError;
use crate::linalg::vector::dot;
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// `phi(X)^T A` as `A` and the scores `K A`, both by label.
#[derive(Debug)]
pub(super) struct Weights {
    pub expansion: Vec<f64>,
    pub scores: Vec<f64>,
}

impl Weights {
    pub fn zero(length: usize) -> Self {
        Self {
            expansion: memory::zeros(length),
            scores: memory::zeros(length),
        }
    }

    /// A copy.
    pub fn copied(&self) -> Self {
        Self {
            expansion: memory::copied(&self.expansion),
            scores: memory::copied(&self.scores),
        }
    }

    /// Applies a function of numbers to expansions and scores alike.
    pub fn combine<const M: usize>(parts: [&Self; M], f: impl Fn([f64; M]) -> f64) -> Self {
        let mut result = Self::zero(parts[0].scores.len());
        result.update(parts, |_, parts| f(parts));
        result
    }

    /// The same in place, from the current numbers and others.
    pub fn update<const M: usize>(&mut self, parts: [&Self; M], f: impl Fn(f64, [f64; M]) -> f64) {
        let each = |own: &mut [f64], parts: [&[f64]; M]| {
            let parts = parts.map(|part| &part[..own.len()]);
            for (at, own) in own.iter_mut().enumerate() {
                *own = f(*own, parts.map(|part| part[at]));
            }
        };
        each(&mut self.expansion, parts.map(|part| &part.expansion[..]));
        each(&mut self.scores, parts.map(|part| &part.scores[..]));
    }

    /// Copies the numbers of another.
    pub fn copy(&mut self, other: &Self) {
        self.expansion.copy_from_slice(&other.expansion);
        self.scores.copy_from_slice(&other.scores);
    }

    /// Applies a function to expansions and scores, both rows by label.
    pub fn mixed(&self, mix: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        Self {
            expansion: mix(&self.expansion),
            scores: mix(&self.scores),
        }
    }

    /// Recomputes the scores; false when interrupted.
    pub fn renew<const M: usize>(
        weights: [&mut Self; M],
        problem: &Problem<'_>,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> bool {
        let n = problem.instances();
        let width = M * problem.labels();
        let mut factor = memory::matrix(n, width);
        let columns = weights.iter().flat_map(|own| own.expansion.chunks_exact(n));
        for (at, column) in columns.enumerate() {
            let places = factor[at..].iter_mut().step_by(width);
            places.zip(column).for_each(|(place, &z)| *place = z);
        }
        let products = problem.kernel.product(&factor, width, threads, monitor);
        let Some(products) = products else {
            return false;
        };
        let columns = weights
            .into_iter()
            .flat_map(|own| own.scores.chunks_exact_mut(n));
        for (at, column) in columns.enumerate() {
            let products = products[at..].iter().step_by(width);
            column.iter_mut().zip(products).for_each(|(f, &g)| *f = g);
        }
        true
    }

    pub fn gram(&self, n: usize) -> Vec<f64> {
        gram(&self.expansion, &self.scores, n)
    }

    pub fn norm(&self) -> f64 {
        dot(&self.expansion, &self.scores).max(0.0).sqrt()
    }
}

/// `R`, without the factor lambda/2.
#[derive(Debug)]
pub(super) enum Regulariser {
    /// `||W||_*^2`: Omega is learned.
    TraceNorm,
    /// `tr(W Omega^-1 W^T)`
    Fixed {
        /// Omega.
        covariance: Vec<f64>,
        /// Its eigenvalues and eigenvectors.
        eigen: Eigen,
    },
}

impl Regulariser {
    /// Takes a symmetric positive semidefinite `q x q` matrix.
    pub fn fixed(covariance: Vec<f64>, q: usize) -> Result<Self, SolverError> {
        let eigen = Eigen::new(&covariance, q)?;
        Ok(Self::Fixed { covariance, eigen })
    }

    /// Over-relaxation, and the accuracy of the labels' problems.
    pub fn pace(&self) -> (f64, f64) {
        match self {
            Self::TraceNorm => (SPLITTING.relaxation, SPLITTING.accuracy),
            Self::Fixed { .. } => (SPLITTING.fixed_relaxation, SPLITTING.fixed_accuracy),
        }
    }

    /// `kappa`
    pub fn shared(&self, problem: &Problem<'_>) -> f64 {
        match self {
            Self::Fixed { eigen, .. } if eigen.values[0] > 0.0 => problem.lambda / eigen.values[0],
            _ => 0.0,
        }
    }

    /// Whether Omega is learned.
    pub fn is_learned(&self) -> bool {
        matches!(self, Self::TraceNorm)
    }

    /// The penalty of the first round: for the trace norm, the curvature of the regulariser for an Omega with equal
    /// eigenvalues, as many as the effective number of labels.
    pub fn first_penalty(&self, problem: &Problem<'_>) -> f64 {
        let Self::Fixed { eigen, .. } = self else {
            return problem.lambda * problem.effective_labels();
        };
        let (kappa, q) = (self.shared(problem), problem.labels() as f64);
        let trace: f64 = eigen.values.iter().sum();
        if trace > 0.0 {
            (SPLITTING.first_penalty * (problem.lambda * q / trace - kappa))
                .max(SPLITTING.least_penalty * kappa)
        } else {
            problem.lambda
        }
    }

    /// The quadratic form of the dual at `phi(X)^T Z`, times lambda. With the eigenvector of an earlier call it takes less
    /// time, and is accurate to about six digits.
    pub fn quadratic(
        &self,
        pushed: &Weights,
        problem: &Problem<'_>,
        earlier: Option<&mut [f64]>,
    ) -> Result<f64, SolverError> {
        let matrix = pushed.gram(problem.instances());
        match (self, earlier) {
            (Self::Fixed { covariance, .. }, _) => Ok(dot(&matrix, covariance)),
            (Self::TraceNorm, Some(vector)) if vector.len() >= FEW => largest(&matrix, vector),
            (Self::TraceNorm, _) => {
                let values = eigenvalues(&matrix, problem.labels())?;
                Ok(values.into_iter().fold(f64::NEG_INFINITY, f64::max))
            }
        }
    }

    /// The weights of a model: those of a fixed Omega are `phi(X)^T Z Omega / lambda`.
    pub fn weights(&self, problem: &Problem<'_>, model: &Weights) -> Weights {
        match self {
            Self::TraceNorm => model.copied(),
            Self::Fixed { covariance, .. } => {
                let scaled = covariance.iter().map(|o| o / problem.lambda);
                let scaled = memory::collected(scaled);
                model.mixed(|rows| mix(&scaled, rows, problem.instances()))
            }
        }
    }

    /// `V = argmin of  lambda/2 R(V) - kappa/2 ||V||^2 + rho/2 ||T - V||^2`, and its trace norm where Omega is learned.
    /// `basis` holds the largest eigenvalues of `T^T T` in the last round, and receives those of this one; the subspace of
    /// `V` has the relative accuracy `accuracy`.
    pub fn shrink(
        &self,
        sum: &Weights,
        problem: &Problem<'_>,
        rho: f64,
        basis: &mut Option<Eigen>,
        accuracy: f64,
    ) -> Result<(Weights, f64), SolverError> {
        let (n, q, ratio) = (problem.instances(), problem.labels(), problem.lambda / rho);
        match self {
            Self::TraceNorm => {
                let matrix = sum.gram(n);
                let is_enough = |values: &[f64], residuals: &[f64]| {
                    let (results, _) = shrunk(values, ratio);
                    let used = results.iter().zip(values).zip(residuals);
                    let used = used.filter(|((result, _), _)| **result > 0.0);
                    let error: f64 = used
                        .map(|((result, value), residual)| residual * (result / value).powi(2))
                        .sum();
                    let size: f64 = results.iter().map(|result| result * result).sum();
                    results.last() == Some(&0.0) && error <= accuracy * accuracy * size
                };
                let near = basis.take().map(|basis| basis.follow(&matrix, is_enough));
                let eigen = match near.transpose()?.flatten() {
                    Some(near) => near,
                    None => Eigen::new(&matrix, q)?,
                };
                let (results, singular) = shrunk(&eigen.values, ratio);
                let factors = results.iter().zip(&singular);
                let factors =
                    factors.map(|(result, s)| if *result > 0.0 { result / s } else { 0.0 });
                let factors: Vec<f64> = factors.collect();
                let v = sum.mixed(|rows| eigen.mix(&factors, rows, n));
                let rank = factors.iter().filter(|factor| **factor > 0.0).count();
                let kept = rank + (rank / 4).max(SPLITTING.beside);
                *basis = (q >= FEW && 2 * kept < q).then(|| eigen.with_random(kept));
                Ok((v, results.iter().sum()))
            }
            Self::Fixed { eigen, .. } => {
                let own = 1.0 - self.shared(problem) / rho;
                let shares = eigen.values.iter().map(|o| o.max(0.0));
                let factors: Vec<f64> = shares.map(|o| o / (o * own + ratio)).collect();
                Ok((sum.mixed(|rows| eigen.mix(&factors, rows, n)), 0.0))
            }
        }
    }
}

/// The step for the trace norm, from the descending eigenvalues of `T^T T`: the singular values become `max(0, s - theta)`
/// with `theta = ratio sum of the results`, which is `ratio / (1 + r ratio)` times the sum of the `r` largest ones, for the
/// number `r` that stays positive. Returns the results, and the original singular values.
fn shrunk(values: &[f64], ratio: f64) -> (Vec<f64>, Vec<f64>) {
    let singular: Vec<f64> = values.iter().map(|v| v.max(0.0).sqrt()).collect();
    let (mut sum, mut theta) = (0.0, 0.0);
    for (k, s) in singular.iter().enumerate() {
        if *s <= theta {
            break;
        }
        sum += s;
        theta = ratio * sum / (1.0 + (k + 1) as f64 * ratio);
    }
    let results = singular.iter().map(|s| (s - theta).max(0.0)).collect();
    (results, singular)
}
