//! A problem of MLRL as a caller states it. Whether the kernel matrix is stored and which loop runs is decided here.

use super::{Problem, Solution, alternating, fixed, splitting};
use crate::error::{SolverError, refused};
use crate::kernel::gram::{Gram, Kernel};
use crate::kernel::rows::KernelRows;
use crate::labels::UNKNOWN;
use crate::linalg::features::Features;
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Settings};

/// The loop for the joint problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solver {
    /// [`super::splitting()`]
    Splitting,
    /// [`super::alternating()`], as published, with a ridge between 0 and 1.
    Alternating(f64),
}

/// A problem of MLRL and how to solve it.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// 1 if a row has a label, [`UNKNOWN`] if that is not known, `n x q`.
    pub indicator: &'a [u8],
    /// The weight of a row's hinges; `1/n` unless given.
    pub row_shares: Option<&'a [f64]>,
    /// Number of labels `q`.
    pub labels: usize,
    /// The rows, or the kernel matrix where there is no `kernel`.
    pub features: Features<'a>,
    /// The kernel of the rows.
    pub kernel: Option<Kernel>,
    /// Memory for kernel values.
    pub cache_bytes: usize,
    /// The regularisation parameter.
    pub lambda: f64,
    /// Omega if it is not learned, `q x q`.
    pub fixed_covariance: Option<&'a [f64]>,
    /// The loop if Omega is learned.
    pub solver: Solver,
    /// When to stop.
    pub settings: Settings,
}

impl Request<'_> {
    /// Solves the problem; `None` when interrupted before the kernel matrix is complete.
    ///
    /// # Errors
    /// When the parts of the request do not match, or the kernel is not finite.
    pub fn solve(
        &self,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Result<Option<Solution>, SolverError> {
        let n = self.indicator.len() / self.labels.max(1);
        let matrix;
        let rows = match (self.kernel, self.features) {
            (Some(kernel), x) => {
                let gram = Gram::of(kernel, x);
                if gram.fits(self.cache_bytes) {
                    let Some(values) = gram.matrix(threads, monitor) else {
                        return Ok(None);
                    };
                    matrix = values;
                    let left = self.cache_bytes - size_of_val(&matrix[..]);
                    KernelRows::stored(&matrix, n)?.with_room(left)
                } else {
                    KernelRows::computed(gram, self.cache_bytes)
                }
            }
            (None, Features::Dense(values)) => {
                KernelRows::stored(values.data(), n)?.with_room(self.cache_bytes)
            }
            (None, Features::Sparse(_)) => {
                return Err(refused("X", "a sparse precomputed kernel", "a dense one"));
            }
        };
        let signs = signs(self.indicator, self.labels);
        let bounds = bounds(self.indicator, self.labels, self.row_shares)?;
        let problem = Problem::new(&rows, &signs, &bounds, self.lambda)?;
        let settings = &self.settings;
        match (self.fixed_covariance, self.solver) {
            (Some(covariance), _) => fixed(&problem, covariance, settings, threads, monitor),
            (None, Solver::Splitting) => splitting(&problem, settings, threads, monitor),
            (None, Solver::Alternating(ridge)) => {
                alternating(&problem, ridge, settings, threads, monitor)
            }
        }
        .map(Some)
    }
}

/// 1 and -1 for the labels, by label; -1 where they are unknown.
fn signs(indicator: &[u8], q: usize) -> Vec<f64> {
    let n = indicator.len() / q.max(1);
    let sign = |at: usize| match indicator[at % n * q + at / n] {
        0 | UNKNOWN => -1.0,
        _ => 1.0,
    };
    memory::collected((0..n * q).map(sign))
}

/// The share of its row for each label, by label, and 0 for the unknown ones; `1/n` unless `shares` are given.
fn bounds(indicator: &[u8], q: usize, shares: Option<&[f64]>) -> Result<Vec<f64>, SolverError> {
    let n = indicator.len() / q.max(1);
    if let Some(shares) = shares.filter(|shares| shares.len() != n) {
        return Err(refused(
            "row weights",
            format!("{} numbers", shares.len()),
            "one for each row",
        ));
    }
    let bound = |at: usize| match (indicator[at % n * q + at / n], shares) {
        (UNKNOWN, _) => 0.0,
        (_, Some(shares)) => shares[at % n],
        (_, None) => 1.0 / n as f64,
    };
    Ok(memory::collected((0..n * q).map(bound)))
}
