//! A problem of LLSF as a caller states it, and the loop that solves it.

use super::admm::Eigenpairs;
use super::apg::{self, Variant};
use super::{Problem, Solution, admm, descent};
use crate::error::SolverError;
use crate::linalg::features::Features;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Settings};

/// The loop.
#[derive(Clone, Copy, Debug)]
pub enum Solver {
    /// [`super::descent`]
    Descent,
    /// [`super::admm`], which needs the eigenpairs of `X^T X`.
    Directions,
    /// [`super::apg`]
    Gradient(Variant),
}

/// A problem of LLSF and how to solve it; see [`Problem::new`] for what `coupling`, `anchor` and `convex` are.
#[derive(Debug)]
pub struct Request<'a> {
    /// The rows, or others with the same `X^T X`.
    pub features: Features<'a>,
    /// `X^T Y` (`q x d`) and the squared norms of the columns of `Y`.
    pub sums: (Vec<f64>, Vec<f64>),
    /// `alpha M`, `q x q`.
    pub coupling: Option<&'a [f64]>,
    /// The weight of the l1 norm.
    pub beta: f64,
    /// An upper bound that a problem which is not convex by itself needs.
    pub anchor: Option<f64>,
    /// Whether the quadratic form is positive semidefinite.
    pub convex: bool,
    /// Eigenpairs of `X^T X`.
    pub basis: Option<Eigenpairs<'a>>,
    /// Eigenpairs of the coupling.
    pub coupling_basis: Option<Eigenpairs<'a>>,
    /// The loop.
    pub solver: Solver,
    /// Coefficients to start from, `q x d`.
    pub start: Option<Vec<f64>>,
    /// When to stop.
    pub settings: Settings,
}

impl Request<'_> {
    /// Solves the problem.
    ///
    /// # Errors
    /// When the parts of the request do not fit together.
    pub fn solve(
        self,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Result<Solution, SolverError> {
        let (features, coupling) = (self.features, self.coupling);
        let (beta, anchor, convex) = (self.beta, self.anchor, self.convex);
        let problem = Problem::new(features, self.sums, coupling, beta, anchor, convex)?;
        let (start, settings) = (self.start, &self.settings);
        match self.solver {
            Solver::Descent => descent::solve(&problem, start, settings, threads, monitor),
            Solver::Directions => {
                let pairs = self.basis.ok_or(SolverError::Unsupported(
                    "the alternating direction method needs the eigenvalues of X^T X",
                ))?;
                let basis = (pairs, self.coupling_basis);
                admm::solve(&problem, basis, start, settings, threads, monitor)
            }
            Solver::Gradient(variant) => {
                apg::solve(&problem, variant, start, settings, threads, monitor)
            }
        }
    }
}
