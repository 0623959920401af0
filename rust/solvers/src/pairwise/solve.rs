//! Block coordinate ascent on a pairwise problem, with any kind of bias.

use super::bcd::{Engine, Iterate, Step};
use super::bias::{self, Fixed, Multiplier};
use super::loss::check_pairs;
use super::outer;
use super::rule::{Moment, Rule};
use super::scores::{Deflation, DenseScores, Scores};
use super::setup::{Bias, Setup, Solution, prepare};
use crate::error::SolverError;
use crate::labels::Labels;
use crate::report::Monitor;

/// Solves a pairwise problem by block coordinate ascent with the block step `step`.
///
/// A kernel so indefinite that the problem has no minimum gives the status `IndefiniteKernel` and `B = 0`.
///
/// # Errors
/// When settings, labels and scores do not match, or the bias is free and the loss is not the hinge.
pub fn solve<T: Step>(
    labels: &Labels,
    scores: &mut DenseScores<'_>,
    step: T,
    setup: Setup,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    solve_deflated(labels, scores, None, step, setup, monitor)
}

/// [`solve`] for scores whose kernel may have been deflated.
///
/// # Errors
/// As above.
pub(super) fn solve_deflated<T: Step>(
    labels: &Labels,
    scores: &mut DenseScores<'_>,
    deflation: Option<&Deflation>,
    step: T,
    setup: Setup,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    if setup.bias == Bias::Free {
        check_pairs::<T::Loss>(labels)?;
        return bias::solve_free(labels, scores, deflation, step, setup, monitor);
    }
    solve_fixed(labels, scores, deflation, step, setup, monitor)
}

/// [`solve_deflated`] without a bias or with a penalized one, for any storage.
///
/// # Errors
/// When settings, labels and scores do not match.
pub(super) fn solve_fixed<S: Scores + ?Sized, T: Step>(
    labels: &Labels,
    scores: &mut S,
    deflation: Option<&Deflation>,
    step: T,
    setup: Setup,
    monitor: &mut dyn Monitor,
) -> Result<Solution<S::Dual>, SolverError> {
    check_pairs::<T::Loss>(labels)?;
    let Setup {
        bias,
        start,
        settings,
        threads,
        ..
    } = setup;
    let Some(start) = prepare(labels, scores, start, &settings, &threads, monitor)? else {
        return Ok(Solution::interrupted(labels));
    };
    let sigma = if bias == Bias::Penalized { 1.0 } else { 0.0 };
    let direction = deflation.and_then(|deflation| deflation.direction.as_ref());
    let of_direction = direction
        .map(|left_out| Multiplier::new(labels, scores.diagonal(), left_out.weight, sigma));
    let iterate = Iterate::new(labels, scores, deflation, start, sigma, &threads);
    let mut engine = Engine::new(iterate, step, &settings);
    let ended = match of_direction {
        Some(mut rule) => {
            rule.update(&mut engine, Moment::Leap);
            outer::run(&mut engine, &mut rule, &settings, monitor)
        }
        None => {
            engine = engine.with_shortlists();
            outer::run(&mut engine, &mut Fixed, &settings, monitor)
        }
    };
    Ok(ended.solution(engine.iterate.into_dual()))
}
