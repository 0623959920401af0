//! A problem of LLSF as a caller states it, and the loop that solves it.

use super::apg::{self, Variant};
use super::eigenbasis::{Eigenbasis, Eigenpairs};
use super::{Problem, Rows, Solution, admm, descent};
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

/// What is known of `Y`.
#[derive(Debug)]
pub enum Targets<'a> {
    /// 1 where a row has a label, `n x q`, and `q`.
    Indicator(&'a [u8], usize),
    /// The rows of `Y`, its `X^T Y` (`q x d`) and the squared norms of its columns.
    Rows(Rows<'a>, Vec<f64>, Vec<f64>),
    /// `X^T Y` (`q x d`) and the squared norms of the columns of `Y`.
    Sums(Vec<f64>, Vec<f64>),
}

/// A problem of LLSF and how to solve it; see [`Problem::new`] for what `coupling`, `anchor` and `convex` are.
#[derive(Debug)]
pub struct Request<'a> {
    /// The rows, or others with the same `X^T X` where the targets are sums.
    pub features: Features<'a>,
    /// The labels.
    pub targets: Targets<'a>,
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
        let mut rows = None;
        let problem = match self.targets {
            Targets::Indicator(indicator, q) => {
                rows = Some(Rows {
                    indicator,
                    labels: q,
                    scales: None,
                });
                Problem::new(features, indicator, q, coupling, beta, anchor, convex)
            }
            Targets::Rows(of_rows, correlation, squared_norms) => {
                of_rows.check(features.rows())?;
                rows = Some(of_rows);
                let sums = (correlation, squared_norms);
                Problem::of_sums(features, sums, coupling, beta, anchor, convex)
            }
            Targets::Sums(correlation, squared_norms) => {
                let sums = (correlation, squared_norms);
                Problem::of_sums(features, sums, coupling, beta, anchor, convex)
            }
        }?;
        let coupling_basis = self.coupling_basis;
        let basis = self
            .basis
            .map(|pairs| Eigenbasis::new(&problem, pairs, coupling_basis))
            .transpose()?;
        let (start, settings) = (self.start, &self.settings);
        match self.solver {
            Solver::Descent => {
                let rows = rows.ok_or(SolverError::Unsupported(
                    "coordinate descent needs the labels of the rows",
                ))?;
                descent::solve(&problem, rows, start, settings, threads, monitor)
            }
            Solver::Directions => {
                let basis = basis.ok_or(SolverError::Unsupported(
                    "the alternating direction method needs the eigenvalues of X^T X",
                ))?;
                admm::solve(&problem, &basis, start, settings, threads, monitor)
            }
            Solver::Gradient(variant) => {
                let basis = basis.as_ref();
                apg::solve(&problem, variant, basis, start, settings, threads, monitor)
            }
        }
    }
}
