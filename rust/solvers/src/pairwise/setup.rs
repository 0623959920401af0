//! How to solve a problem, the checks before a loop begins, and its solution.

use super::scores::Scores;
use crate::error::{SolverError, refused};
use crate::kernel::check_diagonal;
use crate::labels::Labels;
use crate::linalg::rows::Rows;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Report, Settings, Status};
use std::sync::Arc;

/// The bias of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bias {
    /// Equality constraints `H alpha = 0`.
    Free,
    /// The kernel `K + 1`.
    Penalized,
    /// No bias.
    #[default]
    None,
}

/// How to solve a problem.
#[derive(Debug, Default)]
pub struct Setup {
    /// The bias of the model.
    pub bias: Bias,
    /// A dual matrix to start from (rows in the feasible set of the loss); 0 if not given.
    pub start: Option<Vec<f64>>,
    /// Biases to start from with a free bias; 0 if not given.
    pub start_bias: Option<Vec<f64>>,
    /// Stopping rules and heuristics.
    pub settings: Settings,
    /// The threads.
    pub threads: Arc<Threads>,
}

/// Checks the arguments, and brings the scores to the starting point; `None` when interrupted before that.
pub(super) fn prepare<S: Scores + ?Sized>(
    labels: &Labels,
    scores: &mut S,
    start: Option<Vec<f64>>,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Option<S::Dual>, SolverError> {
    settings.validate()?;
    let (n, q) = (labels.instances(), labels.count());
    if (scores.diagonal().len(), scores.labels()) != (n, q) {
        return Err(refused("Y", format!("{n} x {q}"), "as many rows as X"));
    }
    check_diagonal(scores.diagonal())?;
    match start {
        None => Ok(Some(S::Dual::zeros(n, q))),
        Some(mut start) if start.len() == n * q => {
            for (i, row) in start.chunks_exact_mut(q).enumerate() {
                if !(labels.has_pairs(i) && labels.known_only(i, row)) {
                    row.fill(0.0);
                }
            }
            let start = S::Dual::of_dense(start, q);
            Ok(scores.recompute(&start, threads, monitor).then_some(start))
        }
        Some(start) => Err(refused(
            "start",
            format!("{} numbers", start.len()),
            "one row of q numbers for each instance",
        )),
    }
}

/// The solution of a pairwise problem and its report.
#[derive(Clone, Debug)]
pub struct Solution<R = Vec<f64>> {
    /// The dual matrix `B`, `n x q`.
    pub dual: R,
    /// The bias `b`, one a label.
    pub bias: Vec<f64>,
    /// The certificate.
    pub report: Report,
}

impl<R: Rows> Solution<R> {
    /// The solution of a loop that was interrupted before its first epoch: an uncertified `B = 0`.
    pub fn interrupted(labels: &Labels) -> Self {
        let (n, q) = (labels.instances(), labels.count());
        Self {
            dual: R::zeros(n, q),
            bias: vec![0.0; q],
            report: Report {
                status: Status::Interrupted,
                epochs: 0,
                primal: f64::INFINITY,
                dual: 0.0,
                rounding: 0.0,
                history: Vec::new(),
            },
        }
    }
}
