//! The outer loop of the pairwise family: an epoch of the engine, a certificate, a record, and the decision whether to stop
//! and with which status; otherwise the bias is moved, and slow problems are accelerated. A [`Rule`] contains what depends
//! on the kind of bias.

use super::accelerator::Accelerator;
use super::bcd::{Engine, Epoch, Step, certifies_slowly};
use super::prompt::Prompt;
use super::rule::{Asked, Moment, Point, Rule, Worth};
use super::scores::Scores;
use super::setup::Solution;
use crate::report::{Monitor, Objectives, Poll, Report, Settings, Status, Trace, relative_gap};
use std::time::Duration;

/// After this many consecutive epochs with a gap of almost 0, only rounding moves.
const IDLE: usize = 100;

/// With fewer epochs, a bound for which scores are computed anew takes too large a share of the time of a large problem.
const EARLY: usize = 4;

/// The outcome of the loop: a [`Solution`] without the dual matrix, which the engine holds.
pub(super) struct Ended {
    pub bias: Vec<f64>,
    pub report: Report,
}

impl Ended {
    /// With the dual matrix.
    pub fn solution<R>(self, dual: R) -> Solution<R> {
        Solution {
            dual,
            bias: self.bias,
            report: self.report,
        }
    }
}

/// The loop.
pub(super) fn run<S: Scores + ?Sized, T: Step>(
    engine: &mut Engine<'_, S, T>,
    rule: &mut impl Rule<S, T>,
    settings: &Settings,
    monitor: &mut dyn Monitor,
) -> Ended {
    let tolerance = settings.tolerance;
    let (mut trace, mut accelerator) = (Trace::default(), Accelerator::default());
    let (mut epochs, mut bound, mut idle) = (0, 0.0, 0);
    let known = |primal, dual, rounding| Objectives {
        primal,
        dual,
        rounding,
    };
    let (status, found) = loop {
        let went = engine.epoch(monitor);
        epochs += 1;
        if went == Epoch::Interrupted && certifies_slowly(engine.iterate.labels()) {
            // The bound of the previous epoch holds; the objective of this point stays unknown.
            break (Status::Interrupted, known(f64::INFINITY, bound, 0.0));
        }
        rule.update(engine, Moment::Epoch);
        let Some(sums) = engine.certify(monitor) else {
            break (Status::Interrupted, known(f64::INFINITY, bound, 0.0));
        };
        let mut point = rule.point(engine, &sums);
        if let Some(at_zero) = engine.diverged(point.dual) {
            engine.iterate.move_to_zero(monitor);
            trace.record(epochs, at_zero, 0.0, engine.active(), monitor);
            break (Status::IndefiniteKernel, known(at_zero, 0.0, 0.0));
        }
        idle = if point.is_exact() { idle + 1 } else { 0 };
        let last = if went == Epoch::Unmoved && point.settled {
            Some(Status::Stalled)
        } else {
            (epochs == settings.max_epochs).then_some(Status::MaxIterations)
        };
        let mut judge = Judge {
            went,
            last: (idle >= IDLE).then_some(Status::Stalled).or(last),
            tolerance,
            epochs,
            epoch: trace.elapsed() / u32::try_from(epochs).unwrap_or(u32::MAX),
            monitor,
        };
        judge.certify(engine, rule, &mut point);
        bound = point.bound;
        if idle >= IDLE && !(point.certified && point.is_exact()) {
            (idle, judge.last) = (0, last);
        }
        engine.choose_active(tolerance * point.primal.abs());
        let active = engine.active();
        trace.record(epochs, point.primal, point.dual, active, judge.monitor);
        if let Some(status) = judge.stop(engine, rule, &mut point) {
            let status = judge.better_model(engine, rule, &accelerator, &mut point, status);
            if status == Status::Stalled && !point.primal.is_finite() {
                // Numbers have overflowed, and no step leads back.
                engine.iterate.move_to_zero(&mut ());
                (point.primal, point.dual) = (engine.objective_at_zero(), 0.0);
            }
            trace.amend(point.primal, point.dual);
            break (status, point.objectives());
        }
        let moment = if went == Epoch::Unmoved {
            Moment::Unmoved
        } else {
            Moment::Moved
        };
        rule.update(engine, moment);
        if went.is_still() || engine.active() == 0 {
            // Skipped instances may have to move, or the biases.
            engine.wake_all();
        } else {
            let (count, found) = accelerator.leap(engine, rule, epochs, &point, settings, monitor);
            epochs += count;
            if let Some(point) = found {
                trace.record(epochs, point.primal, point.dual, active, monitor);
                break (Status::Converged, point.objectives());
            }
        }
    };
    let mut report = trace.report(status, epochs, found);
    // Recomputed objectives also contain the rounding of the scores.
    report.rounding += engine.rounding_of_scores();
    Ended {
        bias: rule.bias(engine),
        report,
    }
}

/// Judges the point after an epoch.
struct Judge<'a> {
    went: Epoch,
    /// The status if the loop has to end here: an epoch that moves nothing would move nothing the next time.
    last: Option<Status>,
    tolerance: f64,
    /// Epochs so far, and the time of one.
    epochs: usize,
    epoch: Duration,
    monitor: &'a mut dyn Monitor,
}

impl Judge<'_> {
    fn asked(&self, worth: Worth) -> Asked {
        Asked {
            worth,
            tolerance: self.tolerance,
            epochs: self.epochs,
        }
    }

    /// Certifies the problem itself if the loop may end, or the point is worth it.
    fn certify<S: Scores + ?Sized, T: Step>(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        point: &mut Point,
    ) {
        if self.went == Epoch::Interrupted {
            return self.secure(engine, rule, point);
        }
        let worth = match self.last {
            Some(_) => Worth::Last,
            None if self.went.is_still() => Worth::Still,
            None => Worth::ByGap,
        };
        let asked = self.asked(worth);
        let prompt = &mut Prompt::when_late(self.monitor, self.epoch);
        rule.certify(engine, point, asked, prompt);
    }

    /// Certifies the point after an interruption; after a signal, within the time of about an epoch.
    fn secure<S: Scores + ?Sized, T: Step>(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        point: &mut Point,
    ) {
        if point.certified {
            return;
        }
        let asked = self.asked(Worth::Last);
        if self.monitor.poll().hurries() {
            let mut none = ();
            let mut prompt = Prompt::at_once(&mut none, self.epoch);
            rule.certify(engine, point, asked, &mut prompt);
        } else {
            rule.certify(engine, point, asked, &mut ());
        }
    }

    /// Whether to stop, and with which status; the point is then certified.
    fn stop<S: Scores + ?Sized, T: Step>(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        point: &mut Point,
    ) -> Option<Status> {
        if self.went == Epoch::Interrupted {
            return Some(Status::Interrupted);
        }
        let found = ending(point, self.last, self.tolerance, || {
            engine.iterate.rounding()
        });
        if found.is_some() {
            return found;
        }
        match self.monitor.poll() {
            Poll::Interrupted { at_once } => {
                if at_once && certifies_slowly(engine.iterate.labels()) {
                    point.dual = point.bound;
                } else {
                    self.secure(engine, rule, point);
                }
                return Some(Status::Interrupted);
            }
            Poll::OutOfTime { recorded: true } => {}
            Poll::OutOfTime { .. } | Poll::Go => return None,
        }
        // Scores computed anew would take only rounding from a certified point.
        if !point.certified {
            if self.epochs < EARLY && certifies_slowly(engine.iterate.labels()) {
                (point.dual, point.certified) = (point.bound, true);
                point.gap = relative_gap(point.primal, point.dual);
            } else {
                let asked = self.asked(Worth::Last);
                let prompt = &mut Prompt::when_late(self.monitor, self.epoch);
                rule.certify(engine, point, asked, prompt);
            }
        }
        let late = Some(Status::TimeLimit);
        ending(point, late, self.tolerance, || engine.iterate.rounding()).or(late)
    }

    /// If the loop ends above the tolerance, takes the linear model found by leaps if its gap is smaller.
    fn better_model<S: Scores + ?Sized, T: Step>(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        accelerator: &Accelerator,
        point: &mut Point,
        status: Status,
    ) -> Status {
        let good = matches!(status, Status::Converged | Status::IndefiniteKernel);
        if good || !accelerator.has_model(engine) || self.monitor.poll().hurries() {
            return status;
        }
        let mut none = ();
        let prompt = &mut if status == Status::Interrupted {
            Prompt::at_once(&mut none, self.epoch)
        } else {
            Prompt::when_late(self.monitor, self.epoch)
        };
        if let Some(found) = accelerator.better_model(engine, rule, point, prompt) {
            *point = found;
        }
        if point.is_good(self.tolerance) {
            return Status::Converged;
        }
        status
    }
}

/// The status with which the loop ends at a point; `None` if it goes on. It ends if there is a `last` status, if numbers
/// have overflowed, and at a point within the tolerance: for an indefinite kernel that is a stationary point, while a gap
/// within the tolerance that is due to rounding may still close.
fn ending(
    point: &Point,
    last: Option<Status>,
    tolerance: f64,
    rounding: impl FnOnce() -> f64,
) -> Option<Status> {
    let good = point.certified && point.gap <= tolerance;
    let finite = point.primal.is_finite();
    if finite && !good && last.is_none() {
        return None;
    }
    let found = point
        .objectives()
        .verdict(point.quadratic, tolerance, rounding);
    if finite && last.is_none() && found == Some(Status::Stalled) {
        return None;
    }
    found.or(last).or(Some(Status::MaxIterations))
}
