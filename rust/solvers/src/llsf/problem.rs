//! The input and the output of a loop of LLSF.

use super::quadratic::Quadratic;
use crate::error::{SolverError, refused};
use crate::linalg::features::Features;
use crate::linalg::matmul::{View, multiply_rows};
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Settings, Status, Trace};

/// A problem of LLSF, where to start and when to stop.
#[derive(Debug)]
pub struct Problem<'a> {
    /// The rows, or others with the same `X^T X`: the problem depends on nothing else of them.
    pub features: Features<'a>,
    /// `X^T Y`, `q x d`.
    pub correlation: Vec<f64>,
    /// The squared norms of the columns of `Y`.
    pub squared_norms: Vec<f64>,
    /// `alpha M`, `q x q`; `None` for independent labels.
    pub coupling: Option<&'a [f64]>,
    /// The weight of the l1 norm.
    pub beta: f64,
    /// An upper bound of `<C, H^+ C>` with `C = X^T Y` and `H` the quadratic form. The default is `||Y||^2`, which is one if
    /// the coupling alone is positive semidefinite.
    pub anchor: Option<f64>,
    /// Whether the quadratic form is positive semidefinite.
    pub convex: bool,
    /// Coefficients to start from, `q x d`; 0 unless given.
    pub start: Option<Vec<f64>>,
    /// When to stop.
    pub settings: Settings,
}

/// The end point of a loop.
pub(super) struct End {
    pub weights: Vec<f64>,
    pub status: Status,
    pub epochs: usize,
    pub trace: Trace,
    /// The gradient of the smooth part at the weights, if it was computed afresh.
    pub gradient: Option<Vec<f64>>,
    /// A lower bound of the optimum in addition to that of the certificate.
    pub bound: f64,
}

impl Problem<'_> {
    pub(super) fn check(&self) -> Result<(), SolverError> {
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

    pub(super) fn labels(&self) -> usize {
        self.squared_norms.len()
    }

    pub(super) fn dimension(&self) -> usize {
        self.features.columns()
    }

    pub(super) fn size(&self) -> usize {
        self.labels() * self.dimension()
    }

    pub(super) fn start(&self) -> Vec<f64> {
        match &self.start {
            None => memory::zeros(self.size()),
            Some(start) => memory::copied(start),
        }
    }

    /// The largest KKT residual that is accepted, relative to the largest entry of `X^T Y`.
    pub(super) fn largest_residual(&self) -> f64 {
        let sizes = self.correlation.iter().map(|c| c.abs());
        self.settings.tolerance * sizes.fold(0.0, f64::max)
    }

    /// The gradient of the smooth part at `weights`, computed afresh.
    pub(super) fn gradient(
        &self,
        quadratic: &Quadratic<'_>,
        weights: &[f64],
        threads: &Threads,
    ) -> Vec<f64> {
        let mut gradient = memory::zeros(self.size());
        let at_zero = weights.iter().all(|&w| w == 0.0);
        if !at_zero {
            quadratic.products(weights, &mut gradient, threads);
        }
        for (g, c) in gradient.iter_mut().zip(&self.correlation) {
            *g -= c;
        }
        if let Some(coupling) = self.coupling.filter(|_| !at_zero) {
            let (q, d) = (self.labels(), self.dimension());
            let (left, right) = (View::rows(coupling, q), View::rows(weights, d));
            multiply_rows(threads, (q, q, d), left, right, &mut gradient, true);
        }
        gradient
    }
}
