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
//! are 0; [`admm`] is fast where `X` is small enough for its eigenvalues; [`apg`] is the accelerated proximal gradient of the paper, with adaptive restart
//! or as published. All certify the point they return in [`certificate`].

pub mod admm;
pub mod apg;
pub mod certificate;
pub mod descent;
mod lasso;
mod line_search;
pub mod quadratic;
pub mod request;
mod soft_threshold;

use crate::error::{SolverError, refused};
use crate::linalg::features::Features;
use crate::linalg::matmul::{View, multiply_rows};
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Report, Settings, Status, Trace, verdict};
use certificate::Certificate;
use quadratic::Quadratic;

/// The data of one problem.
#[derive(Debug)]
pub struct Problem<'a> {
    features: Features<'a>,
    labels: usize,
    coupling: Option<&'a [f64]>,
    beta: f64,
    anchor: Option<f64>,
    convex: bool,
    correlation: Vec<f64>,
    squared_norms: Vec<f64>,
}

impl<'a> Problem<'a> {
    /// Describes a problem by `X^T Y` (`q x d`) and the squared norms of the columns of `Y`, on which alone it depends: any
    /// `features` with the `X^T X` of the rows will do. `coupling` is `alpha M`, or `None` for independent labels. `convex`
    /// says whether the quadratic form is positive semidefinite; when `coupling` alone is not, `anchor` must be an upper
    /// bound of `<C, H^+ C>` with `C = X^T Y` and `H` the quadratic form, else it is `||Y||^2`.
    ///
    /// # Errors
    /// When shapes do not fit, a number is not finite or `beta` is not positive.
    pub fn new(
        features: Features<'a>,
        (correlation, squared_norms): (Vec<f64>, Vec<f64>),
        coupling: Option<&'a [f64]>,
        beta: f64,
        anchor: Option<f64>,
        convex: bool,
    ) -> Result<Self, SolverError> {
        let labels = squared_norms.len();
        let finite = correlation
            .iter()
            .chain(&squared_norms)
            .all(|x| x.is_finite());
        if labels == 0 || correlation.len() != labels * features.columns() || !finite {
            return Err(refused(
                "sums",
                format!("{} numbers for {labels} labels", correlation.len()),
                "finite numbers, one for each feature and label",
            ));
        }
        if coupling.is_some_and(|matrix| matrix.len() != labels * labels) {
            return Err(refused(
                "coupling",
                format!("a matrix that does not fit {labels} labels"),
                "a matrix of shape (q, q)",
            ));
        }
        if !(beta > 0.0 && beta.is_finite()) {
            return Err(refused("beta", beta, "a positive number"));
        }
        Ok(Self {
            features,
            labels,
            coupling,
            beta,
            anchor,
            convex,
            correlation,
            squared_norms,
        })
    }

    fn dimension(&self) -> usize {
        self.features.columns()
    }

    fn size(&self) -> usize {
        self.labels * self.dimension()
    }

    /// The largest entry of `X^T Y`, the unit of the KKT residual.
    fn scale(&self) -> f64 {
        self.correlation
            .iter()
            .fold(0.0, |largest, c| f64::max(largest, c.abs()))
    }

    fn start(&self, start: Option<Vec<f64>>) -> Result<Vec<f64>, SolverError> {
        match start {
            None => Ok(memory::zeros(self.size())),
            Some(start) if start.len() == self.size() && start.iter().all(|w| w.is_finite()) => {
                Ok(start)
            }
            Some(_) => Err(refused(
                "start",
                "a matrix of another shape, or with numbers that are not finite",
                "finite coefficients of shape (q, d)",
            )),
        }
    }

    /// `X^T (X W - Y)` at `weights`, computed afresh.
    fn error(&self, quadratic: &Quadratic, weights: &[f64], threads: &Threads) -> Vec<f64> {
        let mut error = memory::zeros(self.size());
        if weights.iter().any(|&w| w != 0.0) {
            quadratic.products(self.features, weights, &mut error, threads);
        }
        for (e, c) in error.iter_mut().zip(&self.correlation) {
            *e -= c;
        }
        error
    }

    /// The gradient of the smooth part at `weights`, computed afresh.
    fn gradient(&self, quadratic: &Quadratic, weights: &[f64], threads: &Threads) -> Vec<f64> {
        let mut gradient = self.error(quadratic, weights, threads);
        if let Some(coupling) = self.coupling {
            let (q, d) = (self.labels, self.dimension());
            let (left, right) = (View::rows(coupling, q), View::rows(weights, d));
            multiply_rows(threads, (q, q, d), left, right, &mut gradient, true);
        }
        gradient
    }

    /// Whether gap and KKT residual are within the tolerance.
    fn certified(&self, certificate: &Certificate, settings: &Settings) -> bool {
        // A form that was made convex has no negative curvature but by rounding.
        let (quadratic, rounding) = (0.0, || f64::INFINITY);
        let Certificate { primal, dual, .. } = *certificate;
        let found = verdict(primal, dual, quadratic, settings.tolerance, rounding);
        self.convex
            && found == Some(Status::Converged)
            && certificate.kkt_residual <= settings.tolerance * self.scale()
    }

    /// Certifies the point that a loop returns, computed afresh; `bound` is a further lower bound, from the loop.
    #[expect(
        clippy::too_many_arguments,
        reason = "everything that a finished loop has found"
    )]
    fn solution(
        &self,
        quadratic: &Quadratic,
        weights: Vec<f64>,
        bound: f64,
        status: Status,
        epochs: usize,
        trace: Trace,
        settings: &Settings,
        threads: &Threads,
    ) -> Solution {
        let gradient = self.gradient(quadratic, &weights, threads);
        let mut certificate = self.certificate(&weights, &gradient);
        certificate.dual = certificate.dual.max(bound);
        // Rounding in the updates may have hidden what is left of the gap, or that nothing is left.
        let status = match (status, self.certified(&certificate, settings)) {
            (Status::Converged, false) => Status::Stalled,
            (Status::Stalled, true) => Status::Converged,
            (status, _) => status,
        };
        Solution {
            weights,
            kkt_residual: certificate.kkt_residual,
            report: trace.report(status, epochs, certificate.primal, certificate.dual),
        }
    }

    fn certificate(&self, weights: &[f64], gradient: &[f64]) -> Certificate {
        certificate::certify(self, weights, gradient)
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
