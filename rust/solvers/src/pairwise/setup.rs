//! How to solve a problem, and the checks before a loop begins.

use super::bias::Bias;
use super::scores::Scores;
use crate::error::{SolverError, refused};
use crate::kernel::check_diagonal;
use crate::labels::Labels;
use crate::linalg::rows::Rows;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Settings};
use std::sync::Arc;

/// How to solve a problem.
#[derive(Debug, Default)]
pub struct Setup {
    /// The bias of the model.
    pub bias: Bias,
    /// A dual matrix to start from (rows in the feasible set of the loss), else 0.
    pub start: Option<Vec<f64>>,
    /// Biases to start from when the bias is free, else 0.
    pub start_bias: Option<Vec<f64>>,
    /// When to stop and which heuristics to use.
    pub settings: Settings,
    /// Who does the work.
    pub threads: Arc<Threads>,
}

/// Checks that everything fits, and brings the scores to the starting point; `None` when interrupted before it is there.
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
    if (scores.instances(), scores.labels()) != (n, q) {
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
