//! Rounds, records and the certificate at the end.

use super::certificate::rounding;
use super::iterates::{Made, State};
use super::{Problem, Solution};
use crate::error::SolverError;
use crate::parallel::threads::Threads;
use crate::report::{Monitor, Objectives, Settings, Status, Trace};

/// Runs rounds until the gap is within the tolerance, as confirmed by a recomputed certificate.
pub(super) fn drive(
    problem: &Problem<'_>,
    mut state: State,
    settings: &Settings,
    threads: &Threads,
    monitor: &mut dyn Monitor,
    mut round: impl FnMut(&mut State, &mut dyn Monitor) -> Result<Made, SolverError>,
) -> Result<Solution, SolverError> {
    settings.validate()?;
    let (mut trace, mut rounds) = (Trace::default(), 0);
    let (status, point) = loop {
        rounds += 1;
        let made = round(&mut state, monitor)?;
        trace.record(rounds, made.primal, made.dual, problem.instances(), monitor);
        if !made.finished {
            break (monitor.poll().status(), None);
        }
        // The rounding error is that of the recomputed point.
        let rough = Objectives {
            primal: made.primal,
            dual: made.dual,
            rounding: f64::INFINITY,
        };
        let found = rough.verdict(0.0, settings.tolerance, || 0.0);
        let used_up = (rounds == settings.max_epochs).then_some(Status::MaxIterations);
        let stalled = made.stalled.then_some(Status::Stalled);
        let last = stalled.filter(|_| !state.single).or(used_up);
        let last = last.or_else(|| monitor.poll().is_out_of_time().then_some(Status::TimeLimit));
        if found.is_some() || stalled.is_some() || last.is_some() {
            if !state.best.recompute(problem, threads, monitor) {
                break (Status::Interrupted, None);
            }
            let point = state.point(problem)?;
            let floor = || rounding(problem, &point.dual, 1.0 / problem.lambda);
            let found = point
                .found
                .verdict(point.quadratic, settings.tolerance, floor);
            if let Some(status) = found.or(last) {
                break (status, Some(point));
            }
            state.best.correct(&point);
            if !state.leave_single_precision(problem, threads, monitor) {
                break (Status::Interrupted, None);
            }
        }
        // A round with nothing to do has not polled.
        if monitor.poll().is_interrupted() {
            break (Status::Interrupted, None);
        }
    };
    let point = match point {
        Some(point) => point,
        None => {
            // The loop was interrupted, but its certificate must be complete.
            state.best.recompute(problem, threads, &mut ());
            state.point(problem)?
        }
    };
    let found = point.found;
    trace.amend(found.primal, found.dual);
    Ok(Solution {
        expansion: point.weights.expansion,
        scores: point.weights.scores,
        bias: point.bias,
        dual: point.dual,
        covariance: point.covariance,
        report: trace.report(status, rounds, found),
    })
}
