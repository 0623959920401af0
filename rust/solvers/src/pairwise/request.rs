//! A pairwise problem as a caller states it, and its answer. Which scores represent the geometry, how much memory they
//! take and which loop runs is decided here.

use super::bcd::{Proximal, certifies_slowly};
use super::dcd::{OnePair, PairLoss};
use super::multiplicative::Multiplicative;
use super::scores::{KernelBlocks, LinearDense, LinearMetric, LinearSparse, Scores, StoredKernel};
use super::{Setup, frank_wolfe, solve};
use crate::error::SolverError;
use crate::kernel::gram::{Gram, Kernel};
use crate::labels::Labels;
use crate::linalg::features::{Features, Sparse};
use crate::report::{Monitor, Solution};
use std::sync::Arc;

/// The loops by name.
pub const SOLVERS: &str =
    "'bcd', 'dcd', (hinge only) 'frank-wolfe' or (optimal margin only) 'multiplicative'";

/// The loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Exact steps of one instance: [`super::bcd`].
    Blocks,
    /// One pair at a time: [`super::dcd`].
    Pairs,
    /// Steps of one instance as published for mlODM: [`super::multiplicative`].
    Multiplicative,
    /// As published for Rank-SVM: [`super::frank_wolfe`].
    FrankWolfe,
}

/// What the inner products of the training rows are.
#[derive(Clone, Copy, Debug)]
pub enum Geometry<'a> {
    /// Those of a kernel matrix, `n x n`.
    Matrix(&'a [f64]),
    /// Those of a kernel on features.
    Kernel(Kernel, Features<'a>),
    /// `x^T M x'` with a symmetric positive definite `M`, `d x d`.
    Metric(Sparse<'a>, &'a [f64]),
}

/// A pairwise problem, but for its loss, and how to solve it.
#[derive(Debug)]
pub struct Request<'a> {
    /// The label sets and the weights of the pairs.
    pub labels: Labels,
    /// The inner products.
    pub geometry: Geometry<'a>,
    /// Memory for kernel values.
    pub cache_bytes: usize,
    /// The loop.
    pub solver: Solver,
    /// Bias, start, settings and threads.
    pub setup: Setup,
}

/// What is known at the end.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Dual matrix, bias and certificate.
    pub solution: Solution,
    /// Scores of the training rows without the bias, `n x q`; `None` where the answer is needed at once and they are not
    /// at hand.
    pub scores: Option<Vec<f64>>,
    /// `W`, `d x q`, of linear features.
    pub weights: Option<Vec<f64>>,
}

impl Request<'_> {
    /// Solves the problem with a loss.
    ///
    /// # Errors
    /// When the parts of the request do not fit together.
    pub fn solve<L: PairLoss>(
        self,
        loss: L,
        monitor: &mut dyn Monitor,
    ) -> Result<Answer, SolverError> {
        let (n, q) = (self.labels.instances(), self.labels.count());
        let threads = Arc::clone(&self.setup.threads);
        match self.geometry {
            Geometry::Matrix(matrix) => {
                self.answer(loss, &mut StoredKernel::new(matrix, n, q)?, monitor)
            }
            Geometry::Kernel(Kernel::Linear, Features::Dense(x)) => {
                let mut scores = LinearDense::new(x, q);
                let answer = self.answer(loss, &mut scores, monitor)?;
                Ok(answer.with_weights(scores.into_weights()))
            }
            Geometry::Kernel(Kernel::Linear, Features::Sparse(x)) => {
                let mut scores = LinearSparse::new(x, q);
                let answer = self.answer(loss, &mut scores, monitor)?;
                Ok(answer.with_weights(scores.into_weights()))
            }
            Geometry::Metric(x, metric) => {
                let mut scores = LinearMetric::new(x, metric, q, &threads)?;
                let answer = self.answer(loss, &mut scores, monitor)?;
                Ok(answer.with_weights(scores.into_weights()))
            }
            Geometry::Kernel(kernel, x) => {
                let gram = Gram::of(kernel, x);
                if !gram.fits(self.cache_bytes) {
                    let mut scores = KernelBlocks::new(gram, q, self.cache_bytes);
                    return self.answer(loss, &mut scores, monitor);
                }
                match gram.matrix(&threads, monitor) {
                    Some(matrix) => {
                        self.answer(loss, &mut StoredKernel::new(&matrix, n, q)?, monitor)
                    }
                    None => Ok(Answer::interrupted(&self.labels)),
                }
            }
        }
    }

    fn answer<S: Scores, L: PairLoss>(
        self,
        loss: L,
        scores: &mut S,
        monitor: &mut dyn Monitor,
    ) -> Result<Answer, SolverError> {
        let threads = Arc::clone(&self.setup.threads);
        let (labels, setup) = (&self.labels, self.setup);
        let solution = match self.solver {
            solver if solver != Solver::Blocks && labels.have_top() => {
                Err(SolverError::Unsupported(
                    "only solver 'bcd' compares with the highest irrelevant labels alone",
                ))
            }
            Solver::Blocks => {
                let step = |_: &Labels| Ok(Proximal::new(loss.clone()));
                solve(labels, scores, step, setup, monitor)
            }
            Solver::Pairs => {
                let step = |labels: &Labels| OnePair::new(loss.clone(), labels);
                solve(labels, scores, step, setup, monitor)
            }
            Solver::Multiplicative => {
                let Some(loss) = loss.as_optimal_margin() else {
                    return Err(SolverError::Argument {
                        name: "solver",
                        found: "\"multiplicative\"".into(),
                        expected: SOLVERS,
                    });
                };
                let step = |_: &Labels| Ok(Multiplicative::new(loss));
                solve(labels, scores, step, setup, monitor)
            }
            Solver::FrankWolfe if L::BOX && !L::ZERO_LABEL => {
                frank_wolfe::solve(labels, scores, setup, monitor)
            }
            Solver::FrankWolfe => Err(SolverError::Argument {
                name: "solver",
                found: "\"frank-wolfe\"".into(),
                expected: SOLVERS,
            }),
        }?;
        let slow = S::WEIGHTS && certifies_slowly(labels);
        let at_hand = !(slow && monitor.hurried());
        Ok(Answer {
            solution,
            scores: at_hand.then(|| scores.all(&threads)),
            weights: None,
        })
    }
}

impl Answer {
    fn interrupted(labels: &Labels) -> Self {
        Self {
            solution: Solution::interrupted(labels),
            scores: None,
            weights: None,
        }
    }

    fn with_weights(self, weights: Vec<f64>) -> Self {
        Self {
            weights: Some(weights),
            ..self
        }
    }
}
