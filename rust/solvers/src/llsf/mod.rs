//! LLSF, label-specific features (Huang et al. 2015):
//!
//! ```text
//! min  1/2 ||X W - Y||_F^2 + alpha/2 tr(M W^T W) + beta ||W||_1        (3), (7), (8); M = R + shift I
//! ```
//!
//! with the gradient `X^T X W - X^T Y + alpha W M` (12). `R` is one minus the cosine of label columns.
//!
//! | paper | here |
//! |---|---|
//! | `W` (`d x q`) | `weights`, label after label (`q x d` row-major): a label's coefficients are contiguous |
//! | `alpha R` | `coupling` (`q x q`), the shift included |
//! | `X^T Y` | `correlation`, label after label |
//! | `L_f` (15) | `lipschitz` |
//!
//! Where we deviate: the published problem need not be convex, and then has no minimum. The caller shifts the diagonal
//! of `R` (see the Python module) or asks for the published loop, which stops before its numbers overflow.
//!
//! [`descent`] (coordinate descent over working sets) is for labels that are not coupled, and fast where most coefficients
//! are 0; [`admm`] is fast where `X` is small enough for its eigenvalues; [`apg`] is the accelerated proximal gradient of the
//! paper, with adaptive restart or as published. The point that is returned is certified by [`certificate`].

pub mod admm;
mod apg;
pub mod certificate;
mod descent;
mod lasso;
mod quadratic;

use crate::error::{SolverError, refused};
use crate::linalg::features::Features;
use crate::linalg::matmul::{View, multiply_rows};
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Report, Settings, Status, Trace, verdict};
use admm::Eigenpairs;
use certificate::Certificate;
use quadratic::Quadratic;

/// The loop.
#[derive(Clone, Copy, Debug)]
pub enum Solver<'a> {
    /// [`descent`], for labels that are not coupled.
    Descent,
    /// [`admm`], with the eigenpairs of `X^T X` and of the coupling.
    Directions(Eigenpairs<'a>, Option<Eigenpairs<'a>>),
    /// [`apg`]
    Gradient {
        /// An upper bound of the largest eigenvalue of the quadratic form, as `L_f` of (15) is one.
        lipschitz: f64,
        /// Whether the momentum restarts when it points uphill; not in the loop as printed.
        restarts: bool,
    },
}

/// A problem of LLSF, where to start and when to stop.
#[derive(Debug)]
pub struct Problem<'a> {
    /// The rows, or others with the same `X^T X`, on which alone the problem depends.
    pub features: Features<'a>,
    /// `X^T Y`, `q x d`.
    pub correlation: Vec<f64>,
    /// The squared norms of the columns of `Y`.
    pub squared_norms: Vec<f64>,
    /// `alpha M`, `q x q`; `None` for independent labels.
    pub coupling: Option<&'a [f64]>,
    /// The weight of the l1 norm.
    pub beta: f64,
    /// An upper bound of `<C, H^+ C>` with `C = X^T Y` and `H` the quadratic form; `||Y||^2` is one where the coupling alone
    /// is positive semidefinite, and taken unless another is given.
    pub anchor: Option<f64>,
    /// Whether the quadratic form is positive semidefinite.
    pub convex: bool,
    /// Coefficients to start from, `q x d`; 0 unless given.
    pub start: Option<Vec<f64>>,
    /// When to stop.
    pub settings: Settings,
}

/// Where a loop has ended.
struct End {
    weights: Vec<f64>,
    status: Status,
    epochs: usize,
    trace: Trace,
    /// A lower bound of the optimum beside that of the certificate.
    bound: f64,
}

impl Problem<'_> {
    /// Solves the problem, and certifies the point that the loop returns, computed afresh.
    ///
    /// # Errors
    /// When shapes do not fit, a number is out of range, or the loop is not made for the problem.
    pub fn solve(
        &self,
        solver: Solver<'_>,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Result<Solution, SolverError> {
        self.check()?;
        let quadratic = match solver {
            Solver::Descent => Quadratic::for_coordinates(self.features),
            _ => Quadratic::for_products(self.features),
        };
        let end = match solver {
            Solver::Descent => descent::run(self, &quadratic, threads, monitor)?,
            Solver::Directions(features, coupling) => {
                admm::run(self, &quadratic, features, coupling, threads, monitor)?
            }
            Solver::Gradient {
                lipschitz,
                restarts,
            } => apg::run(self, &quadratic, lipschitz, restarts, threads, monitor),
        };
        let gradient = self.gradient(&quadratic, &end.weights, threads);
        let mut certificate = certificate::certify(self, &end.weights, &gradient);
        certificate.dual = certificate.dual.max(end.bound);
        // Rounding in the updates may have hidden what is left of the gap, or that nothing is left.
        let status = match (end.status, self.certified(&certificate)) {
            (Status::Converged, false) => Status::Stalled,
            (Status::Stalled, true) => Status::Converged,
            (status, _) => status,
        };
        let Certificate { primal, dual, .. } = certificate;
        Ok(Solution {
            weights: end.weights,
            kkt_residual: certificate.kkt_residual,
            report: end.trace.report(status, end.epochs, primal, dual),
        })
    }

    fn check(&self) -> Result<(), SolverError> {
        self.settings.validate()?;
        let q = self.labels();
        let mut sums = self.correlation.iter().chain(&self.squared_norms);
        if q == 0 || self.correlation.len() != self.size() || !sums.all(|x| x.is_finite()) {
            return Err(refused(
                "sums",
                format!("{} numbers for {q} labels", self.correlation.len()),
                "finite numbers, one for each feature and label",
            ));
        }
        if self.coupling.is_some_and(|matrix| matrix.len() != q * q) {
            return Err(refused(
                "coupling",
                format!("a matrix that does not fit {q} labels"),
                "a matrix of shape (q, q)",
            ));
        }
        if !(self.beta > 0.0 && self.beta.is_finite()) {
            return Err(refused("beta", self.beta, "a positive number"));
        }
        let fits =
            |start: &Vec<f64>| start.len() == self.size() && start.iter().all(|w| w.is_finite());
        if !self.start.as_ref().is_none_or(fits) {
            return Err(refused(
                "start",
                "a matrix of another shape, or with numbers that are not finite",
                "finite coefficients of shape (q, d)",
            ));
        }
        Ok(())
    }

    fn labels(&self) -> usize {
        self.squared_norms.len()
    }

    fn dimension(&self) -> usize {
        self.features.columns()
    }

    fn size(&self) -> usize {
        self.labels() * self.dimension()
    }

    fn start(&self) -> Vec<f64> {
        match &self.start {
            None => memory::zeros(self.size()),
            Some(start) => memory::copied(start),
        }
    }

    /// The largest KKT residual that is accepted: it is measured by the largest entry of `X^T Y`.
    fn largest_residual(&self) -> f64 {
        let sizes = self.correlation.iter().map(|c| c.abs());
        self.settings.tolerance * sizes.fold(0.0, f64::max)
    }

    /// The gradient of the smooth part at `weights`, computed afresh.
    fn gradient(&self, quadratic: &Quadratic<'_>, weights: &[f64], threads: &Threads) -> Vec<f64> {
        let mut gradient = memory::zeros(self.size());
        if weights.iter().any(|&w| w != 0.0) {
            quadratic.products(weights, &mut gradient, threads);
        }
        for (g, c) in gradient.iter_mut().zip(&self.correlation) {
            *g -= c;
        }
        if let Some(coupling) = self.coupling {
            let (q, d) = (self.labels(), self.dimension());
            let (left, right) = (View::rows(coupling, q), View::rows(weights, d));
            multiply_rows(threads, (q, q, d), left, right, &mut gradient, true);
        }
        gradient
    }

    /// Whether gap and KKT residual are within the tolerance.
    fn certified(&self, certificate: &Certificate) -> bool {
        // A form that was made convex has no negative curvature but by rounding.
        let (quadratic, rounding) = (0.0, || f64::INFINITY);
        let Certificate { primal, dual, .. } = *certificate;
        let found = verdict(primal, dual, quadratic, self.settings.tolerance, rounding);
        self.convex
            && found == Some(Status::Converged)
            && certificate.kkt_residual <= self.largest_residual()
    }
}

/// The coefficients and their certificate.
#[derive(Clone, Debug)]
pub struct Solution {
    /// Coefficients, label after label (`q x d`).
    pub weights: Vec<f64>,
    /// Largest distance of the negative gradient from `beta` times the subdifferential of the l1 norm.
    pub kkt_residual: f64,
    /// The certificate.
    pub report: Report,
}
