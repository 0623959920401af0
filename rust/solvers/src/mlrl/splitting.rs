//! The joint problem, and that of a fixed Omega, by operator splitting: the regulariser on one side, independent support
//! vector machines on the other.
//!
//! ```text
//! min over W   L(W) + R(W),     L = hinge loss with the best bias,   R = lambda/2 ||W||_*^2  or  lambda/2 tr(W Omega^-1 W^T)
//! ```
//!
//! Douglas and Rachford's iteration (the alternating direction method of multipliers), with penalty rho. For a fixed Omega,
//! `kappa`, `lambda` divided by its largest eigenvalue, is the part of `R` that is the same for all labels: it is moved to
//! their side, so that labels that are not coupled are solved in one round. For the trace norm `kappa = 0`. A round is
//!
//! * `W = argmin L(W) + kappa/2 ||W||^2 + rho/2 ||W - (V - U)||^2`: the labels are independent here, so these are `q`
//!   support vector machines with offsets, solved by [`crate::mlrl::smo`] from where the last round left them. Their dual
//!   point `Z` is feasible for the whole problem, and bounds it: `W = (rho (V - U) + phi(X)^T Z) / (kappa + rho)`;
//! * `V = argmin R(V) - kappa/2 ||V||^2 + rho/2 ||W + U - V||^2`: for the trace norm, singular values shrink by one
//!   threshold. `V` is the model, or `W` where that is better, and `Omega = (V^T V)^{1/2} / tr` its label covariance. Labels
//!   that share nothing get eigenvalues of `V` that are exactly 0, and an eigenvalue that was 0 can come back. For a fixed
//!   Omega the model is `V` or `phi(X)^T Z Omega / lambda`, the better one;
//! * `U += W - V`.
//!
//! All three are `phi(X)^T A` for some `A`, so only `A` and the scores `K A` are kept; a round costs no kernel product.
//!
//! This replaces the published alternation ([`super::alternating()`]), which stalls above the joint optimum.

use super::drive::drive;
use super::iterates::{Made, State};
use super::regulariser::Regulariser;
use super::{Problem, Solution};
use crate::error::{SolverError, check_size};
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Settings};

/// Solves the joint problem; see the head of this file.
///
/// # Errors
/// When a setting is out of range or the kernel is not finite.
pub fn splitting(
    problem: &Problem<'_>,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    solve(problem, Regulariser::TraceNorm, settings, threads, monitor)
}

/// Solves the problem of a fixed label covariance, `q x q`, symmetric and positive semidefinite: (8) and (10).
///
/// # Errors
/// When a setting is out of range or the covariance has another shape.
pub fn fixed(
    problem: &Problem<'_>,
    covariance: &[f64],
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    let q = problem.labels();
    check_size("covariance", covariance.len(), q * q)?;
    let regulariser = Regulariser::fixed(memory::copied(covariance), q)?;
    solve(problem, regulariser, settings, threads, monitor)
}

fn solve(
    problem: &Problem<'_>,
    regulariser: Regulariser,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    let state = State::new(problem, regulariser, settings.tolerance)?;
    let round = |state: &mut State, monitor: &mut dyn Monitor| {
        let finished = state.round(problem, threads, monitor)?;
        Ok(Made {
            finished,
            stalled: state.patience.is_over(),
            primal: state.best.primal,
            dual: state.best.bound,
        })
    };
    drive(problem, state, settings, threads, monitor, round)
}
