//! Coordinate descent: label by label where the labels are independent, else feature by feature.

use super::request::Rows;
use super::{Problem, Solution, label_descent, row_descent};
use crate::error::SolverError;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Settings};

/// Solves a convex problem from `start` (`q x d`, default 0). `rows` are those of the problem.
///
/// # Errors
/// When an argument is out of range, or the problem is not convex.
pub fn solve(
    problem: &Problem<'_>,
    rows: Rows<'_>,
    start: Option<Vec<f64>>,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    settings.validate()?;
    if !problem.convex {
        return Err(SolverError::Unsupported(
            "coordinate descent needs a convex problem: shift the coupling, or use the published loop",
        ));
    }
    match problem.coupling {
        None => label_descent::solve(problem, rows, start, settings, threads, monitor),
        Some(coupling) => {
            row_descent::solve(problem, coupling, rows, start, settings, threads, monitor)
        }
    }
}
