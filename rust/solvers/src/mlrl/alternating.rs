//! The published alternation: (10) for a fixed label covariance and `Omega = (W^T W)^{1/2} / tr`, (11), in turn.
//!
//! ```text
//! (10)   max over Z   sum alpha - 1/(2 lambda) tr(Z^T K Z Omega),    columns of Z sum to 0,    0 <= alpha <= 1/n
//! ```
//!
//! It stalls above the joint optimum: an eigenvalue of Omega near 0 suppresses the very directions that could make it grow.
//! Hence [`super::splitting()`], whose rounds solve (10) here.

use super::drive::drive;
use super::iterates::State;
use super::regulariser::Regulariser;
use super::symmetric::independent;
use super::tuning::ALTERNATION;
use super::{Problem, Solution};
use crate::error::{SolverError, refused};
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Settings};

/// The published alternation, started at Omega = I/q. Each sub-problem is solved with `(1 - ridge) Omega + ridge I/q`:
/// at a ridge of 0 an eigenvalue that has become 0 stays 0.
///
/// # Errors
/// When a setting is out of range or the kernel is not finite.
pub fn alternating(
    problem: &Problem<'_>,
    ridge: f64,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    if !(0.0..=1.0).contains(&ridge) {
        return Err(refused("ridge", ridge, "a number between 0 and 1"));
    }
    let q = problem.labels();
    let even = independent(q);
    let state = State::new(problem, Regulariser::fixed(memory::copied(&even), q)?, 0.0)?;
    let state = state.judged_jointly(ALTERNATION.rounds_within);
    let (mut omega, mut before): (Option<Vec<f64>>, f64) = (None, f64::INFINITY);
    drive(
        problem,
        state,
        settings,
        threads,
        monitor,
        |state, monitor| {
            if let Some(omega) = omega.take() {
                let mixed = omega.iter().zip(&even);
                let mixed = mixed.map(|(o, i)| (1.0 - ridge) * o + ridge * i);
                state.begin(problem, Regulariser::fixed(memory::collected(mixed), q)?)?;
            }
            let tolerance = ALTERNATION.share * settings.tolerance;
            let (mut made, covariance) = state.solve(problem, tolerance, threads, monitor)?;
            // If Omega is nearly singular, rounding leaves (10) above its tolerance: that alone does not end the loop.
            let nothing = made.primal >= before * (1.0 - ALTERNATION.nothing);
            made.stalled &= nothing || state.used_up();
            before = made.primal;
            omega = Some(covariance);
            Ok(made)
        },
    )
}
