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
//! Deviation: the published problem need not be convex, and then has no minimum. The caller shifts the diagonal of `R` or
//! asks for the published loop, which stops before its numbers overflow.
//!
//! [`descent`] (coordinate descent over working sets) is for labels that are not coupled, and fast if most coefficients are
//! 0; [`admm`] is fast if `X` is small enough for an eigenvalue decomposition; [`apg`] is the accelerated proximal gradient
//! of the paper, with adaptive restart or as published. The point that is returned is certified by [`certificate`].

pub mod admm;
mod apg;
pub mod certificate;
mod descent;
mod lasso;
mod problem;
mod quadratic;
mod tuning;

use crate::error::SolverError;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Report, Status, Trace};
use admm::Eigenpairs;
use problem::End;
pub use problem::Problem;
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
        /// An upper bound of the largest eigenvalue of the quadratic form, such as `L_f` of (15).
        lipschitz: f64,
        /// Whether the momentum restarts when it points uphill; not in the loop as printed.
        restarts: bool,
    },
}

impl Problem<'_> {
    /// Solves the problem, and certifies the point that the loop returns, computed afresh.
    ///
    /// # Errors
    /// When shapes do not match, a number is out of range, or the loop does not support the problem.
    pub fn solve(
        &self,
        solver: Solver<'_>,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Result<Solution, SolverError> {
        self.check()?;
        let stored = match solver {
            Solver::Descent => Quadratic::for_coordinates(self.features, threads, monitor),
            _ => Quadratic::for_products(self.features, threads, monitor),
        };
        let interrupted = stored.is_none();
        let quadratic = stored.unwrap_or_else(|| Quadratic::applied(self.features));
        let end = match solver {
            _ if interrupted => End {
                weights: self.start(),
                status: monitor.poll().status(),
                epochs: 0,
                trace: Trace::default(),
                gradient: None,
                bound: f64::NEG_INFINITY,
            },
            Solver::Descent => descent::run(self, &quadratic, threads, monitor)?,
            Solver::Directions(features, coupling) => {
                admm::run(self, &quadratic, features, coupling, threads, monitor)?
            }
            Solver::Gradient {
                lipschitz,
                restarts,
            } => apg::run(self, &quadratic, lipschitz, restarts, threads, monitor),
        };
        let afresh = || self.gradient(&quadratic, &end.weights, threads);
        let gradient = end.gradient.unwrap_or_else(afresh);
        let mut certificate = certificate::certify(self, &end.weights, &gradient);
        certificate.dual = certificate.dual.max(end.bound);
        // Rounding in the updates may have hidden that the gap is still open, or that it is closed.
        let status = match (end.status, self.certified(&certificate)) {
            (Status::Converged, false) => Status::Stalled,
            (Status::Stalled, true) => Status::Converged,
            (status, _) => status,
        };
        Ok(Solution {
            weights: end.weights,
            kkt_residual: certificate.kkt_residual,
            report: end
                .trace
                .report(status, end.epochs, certificate.objectives()),
        })
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
