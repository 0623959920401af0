//! The outer loop of the pairwise family: an epoch of the engine, a certificate, a record; stop, and with which status? Else
//! move the bias, and accelerate what is slow. What depends on the kind of bias is a [`Rule`].

use super::admm::Beside;
use super::bcd::{Certificate, Engine, Epoch, Snapshot, Step, certifies_slowly};
use super::prompt::Prompt;
use super::scores::Scores;
use crate::report::{Monitor, Objectives, Report, Settings, Solution, Status, Trace, relative_gap};
use std::time::Duration;

/// A point of the outer loop: its objectives and their gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// The primal objective.
    pub primal: f64,
    /// The dual objective: of the problem itself where `certified`, else of the problem with the bias held.
    pub dual: f64,
    /// The relative gap: an estimate unless `certified`.
    pub gap: f64,
    /// `<B, K B>`, negative for indefinite kernels only.
    pub quadratic: f64,
    /// A lower bound of the optimum, whatever comes next.
    pub bound: f64,
    /// How far rounding may have moved the objectives past each other.
    pub rounding: f64,
    /// Whether primal and dual objective certify each other.
    pub certified: bool,
}

impl Point {
    /// A point of the problem itself, with the `quadratic` of its objectives, that of a bias included.
    pub fn certified(sums: &Certificate, quadratic: f64) -> Self {
        let primal = 0.5 * quadratic + sums.loss;
        let dual = sums.dual_terms - 0.5 * quadratic;
        Self {
            primal,
            dual,
            gap: relative_gap(primal, dual),
            quadratic: sums.quadratic,
            bound: dual,
            rounding: sums.rounding,
            certified: true,
        }
    }

    /// The objectives.
    pub fn objectives(&self) -> Objectives {
        Objectives {
            primal: self.primal,
            dual: self.dual,
            rounding: self.rounding,
        }
    }

    /// Whether the gap is within the tolerance, and none that rounding has made negative.
    pub fn is_good(&self, tolerance: f64) -> bool {
        self.gap <= tolerance && !self.objectives().contradict()
    }
}

/// What a bias does in the outer loop.
pub(super) trait Rule<S: Scores, T: Step> {
    /// Gives the engine, after an epoch, the bias whose objectives count.
    fn place(&mut self, _engine: &mut Engine<'_, S, T>) {}

    /// The objectives at the engine's point.
    fn point(&self, engine: &Engine<'_, S, T>, sums: &Certificate) -> Point;

    /// Whether an epoch in which no block moved leaves the bias where it is, too.
    fn settled(&self, _engine: &Engine<'_, S, T>) -> bool {
        true
    }

    /// Whether an epoch far from the optimum may go without a certificate: its objectives are needed for nothing else.
    fn may_estimate(&self) -> bool {
        false
    }

    /// Whether a point is worth a certificate.
    fn due(&self, point: &Point, tolerance: f64) -> bool {
        point.gap <= tolerance
    }

    /// Where the loop may end, after `epochs` epochs: brings the engine to a point whose certificate is exact and counts,
    /// and updates `point`; or leaves both as they are. `last` when the loop ends here in any case. The certificate that
    /// counts is that of scores computed anew from B.
    fn certify(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        point: &mut Point,
        _epochs: usize,
        _last: bool,
        monitor: &mut dyn Monitor,
    ) {
        if engine.recompute(monitor) {
            let sums = engine.certify();
            *point = self.point(engine, &sums);
        }
    }

    /// Brings the engine to a point with a certificate after an interruption: after a signal, within about `epoch`.
    fn secure(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        point: &mut Point,
        epochs: usize,
        epoch: Duration,
        hurried: bool,
    ) {
        if point.certified {
            return;
        }
        if hurried {
            let mut none = ();
            let mut prompt = Prompt::at_once(&mut none, epoch);
            self.certify(engine, point, epochs, true, &mut prompt);
        } else {
            self.certify(engine, point, epochs, true, &mut ());
        }
    }

    /// Moves the engine's bias after an epoch; `unmoved` when no instance moved in it.
    fn follow(&mut self, _engine: &mut Engine<'_, S, T>, _unmoved: bool) {}

    /// What the kernel of the problem has beside that of the scores.
    fn beside(&self, engine: &Engine<'_, S, T>) -> Beside {
        Beside::Direction(engine.sigma)
    }

    /// A bound of the optimum that is `good` enough, from the engine's point; with none the engine stays as it is.
    fn bound(
        &mut self,
        _engine: &mut Engine<'_, S, T>,
        point: &Point,
        good: &dyn Fn(f64) -> bool,
        _monitor: &mut dyn Monitor,
    ) -> Option<f64> {
        good(point.dual).then_some(point.dual)
    }

    /// Told that the engine is at a dual matrix that the epochs have not led to.
    fn arrive(&mut self, _engine: &mut Engine<'_, S, T>) {}

    /// The bias of the model at the engine's point.
    fn bias(&self, engine: &Engine<'_, S, T>) -> Vec<f64>;
}

/// How the loop ended: all of a [`Solution`] but the dual matrix, which the engine holds.
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
pub(super) fn run<S: Scores, T: Step>(
    engine: &mut Engine<'_, S, T>,
    rule: &mut impl Rule<S, T>,
    settings: &Settings,
    monitor: &mut dyn Monitor,
) -> Ended {
    let tolerance = settings.tolerance;
    let mut trace = Trace::default();
    engine.may_estimate = rule.may_estimate();
    let (mut epochs, mut bound) = (0, 0.0);
    let known = |primal, dual, rounding| Objectives {
        primal,
        dual,
        rounding,
    };
    let (status, found) = loop {
        let went = engine.epoch(monitor);
        epochs += 1;
        if went == Epoch::Interrupted && certifies_slowly(engine.labels) {
            // The bound of the epoch before holds; what this point costs stays unknown.
            break (Status::Interrupted, known(f64::INFINITY, bound, 0.0));
        }
        let another = went == Epoch::Moved && epochs < settings.max_epochs;
        if another && engine.is_far(tolerance * bound) && !monitor.breaks_off() {
            engine.choose_active(tolerance * bound);
            continue;
        }
        rule.place(engine);
        let sums = engine.certify();
        let mut point = rule.point(engine, &sums);
        if let Some(at_zero) = engine.diverged(point.dual) {
            engine.move_to_zero(monitor);
            trace.record(epochs, at_zero, 0.0, engine.active(), monitor);
            break (Status::IndefiniteKernel, known(at_zero, 0.0, 0.0));
        }
        let mut judge = Judge {
            went,
            last: if went == Epoch::Unmoved && rule.settled(engine) {
                Some(Status::Stalled)
            } else {
                (epochs == settings.max_epochs).then_some(Status::MaxIterations)
            },
            tolerance,
            epochs,
            epoch: trace.elapsed() / u32::try_from(epochs).unwrap_or(u32::MAX),
            monitor,
        };
        judge.certify(engine, rule, &mut point);
        bound = point.bound;
        engine.choose_active(tolerance * point.primal.abs());
        let active = engine.active();
        trace.record(epochs, point.primal, point.dual, active, judge.monitor);
        if let Some(status) = judge.stop(engine, rule, &mut point) {
            let status = judge.better_model(engine, rule, &mut point, status);
            if status == Status::Stalled && !point.primal.is_finite() {
                // Numbers have overflowed, and no step leads back from there.
                engine.move_to_zero(&mut ());
                (point.primal, point.dual) = (engine.objective_at_zero(), 0.0);
            }
            trace.amend(point.primal, point.dual);
            break (status, point.objectives());
        }
        rule.follow(engine, went == Epoch::Unmoved);
        if went.is_still() || engine.active() == 0 {
            // The skipped instances may have to move, or the biases.
            engine.wake_all();
        } else {
            let (count, found) = leap(engine, rule, tolerance, (epochs, &point), monitor);
            epochs += count;
            if let Some(point) = found {
                trace.record(epochs, point.primal, point.dual, active, monitor);
                break (Status::Converged, point.objectives());
            }
        }
    };
    let mut report = trace.report(status, epochs, found);
    // What computes them anew meets the rounding of the scores as well.
    report.rounding += engine.rounding_of_scores();
    Ended {
        bias: rule.bias(engine),
        report,
    }
}

/// Leaps where coordinate ascent is slow, and stays where that leads to if the dual objective is higher. Returns how many epochs
/// it was worth, and the point of a linear model that is as good as asked for.
fn leap<S: Scores, T: Step>(
    engine: &mut Engine<'_, S, T>,
    rule: &mut impl Rule<S, T>,
    tolerance: f64,
    (epochs, from): (usize, &Point),
    monitor: &mut dyn Monitor,
) -> (usize, Option<Point>) {
    let beside = rule.beside(engine);
    let (count, complete) = engine.leap((epochs, from.gap), beside, monitor);
    if !complete {
        return (count, None);
    }
    let Some((left, point, found)) = land(engine, rule, tolerance, monitor) else {
        return (count, None);
    };
    if found.is_some() {
        return (count, found);
    }
    if point.dual > from.dual {
        engine.restart();
        rule.arrive(engine);
    } else {
        engine.restore(&left);
    }
    (count, None)
}

/// Moves to where leaps have led to: the way back, the point there, and that of [`model`]. `None` (and no change) when there
/// were none, or when interrupted.
fn land<S: Scores, T: Step>(
    engine: &mut Engine<'_, S, T>,
    rule: &mut impl Rule<S, T>,
    tolerance: f64,
    monitor: &mut dyn Monitor,
) -> Option<(Snapshot<S>, Point, Option<Point>)> {
    let (beside, left) = (rule.beside(engine), engine.snapshot());
    if !engine.land(beside, monitor) {
        return None;
    }
    let sums = engine.certify();
    let point = rule.point(engine, &sums);
    let found = model(engine, rule, &point, tolerance, monitor);
    Some((left, point, found))
}

/// The point of the linear model that leaps have led to, where its gap to a bound from the engine's point is at most the
/// tolerated one: the engine has its scores then.
fn model<S: Scores, T: Step>(
    engine: &mut Engine<'_, S, T>,
    rule: &mut impl Rule<S, T>,
    at: &Point,
    tolerance: f64,
    monitor: &mut dyn Monitor,
) -> Option<Point> {
    if !engine.has_model() {
        return None;
    }
    let (beside, kept) = (rule.beside(engine), engine.snapshot());
    let primal = engine.take_model(beside, monitor)?;
    engine.restore(&kept);
    // The model has other scores than the matrix that bounds it.
    let rounding = at.rounding + engine.rounding_of_model(primal);
    let with = |dual| Objectives {
        primal,
        dual,
        rounding,
    };
    let good = |bound: f64| with(bound).certify(tolerance);
    if !good(at.dual) {
        return None;
    }
    let bound = rule.bound(engine, at, &good, monitor)?;
    let primal = engine.take_model(beside, monitor)?;
    Some(Point {
        primal,
        dual: bound,
        gap: relative_gap(primal, bound),
        bound,
        rounding,
        certified: true,
        ..*at
    })
}

/// Judges the point after an epoch.
struct Judge<'a> {
    went: Epoch,
    /// The status with which the loop ends here in any case: an epoch that leaves everything where it is would do so again.
    last: Option<Status>,
    tolerance: f64,
    /// Epochs so far, and how long one takes.
    epochs: usize,
    epoch: Duration,
    monitor: &'a mut dyn Monitor,
}

impl Judge<'_> {
    /// Certifies the problem itself where the loop may end, or the point is worth it.
    fn certify<S: Scores, T: Step>(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        point: &mut Point,
    ) {
        let (epochs, last) = (self.epochs, self.last.is_some());
        if self.went == Epoch::Interrupted {
            rule.secure(engine, point, epochs, self.epoch, self.monitor.hurried());
        } else if self.went.is_still() || last || rule.due(point, self.tolerance) {
            let prompt = &mut Prompt::when_late(self.monitor, self.epoch);
            rule.certify(engine, point, epochs, last, prompt);
        }
    }

    /// Whether to stop, and with which status; the point is then certified.
    fn stop<S: Scores, T: Step>(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        point: &mut Point,
    ) -> Option<Status> {
        if self.went == Epoch::Interrupted {
            return Some(Status::Interrupted);
        }
        let found = ending(point, self.last, self.tolerance, || engine.rounding());
        if found.is_some() {
            return found;
        }
        if self.monitor.interrupted() {
            let hurried = self.monitor.hurried();
            if hurried && certifies_slowly(engine.labels) {
                point.dual = point.bound;
            } else {
                rule.secure(engine, point, self.epochs, self.epoch, hurried);
            }
            return Some(Status::Interrupted);
        }
        if !self.monitor.out_of_time() {
            return None;
        }
        let prompt = &mut Prompt::when_late(self.monitor, self.epoch);
        rule.certify(engine, point, self.epochs, true, prompt);
        let late = Some(Status::TimeLimit);
        ending(point, late, self.tolerance, || engine.rounding()).or(late)
    }

    /// Where the loop ends above the tolerance, takes the linear model that leaps have led to if its gap is smaller.
    fn better_model<S: Scores, T: Step>(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        point: &mut Point,
        status: Status,
    ) -> Status {
        let good = matches!(status, Status::Converged | Status::IndefiniteKernel);
        if good || !engine.has_model() || self.monitor.hurried() {
            return status;
        }
        let mut none = ();
        let prompt = &mut if status == Status::Interrupted {
            Prompt::at_once(&mut none, self.epoch)
        } else {
            Prompt::when_late(self.monitor, self.epoch)
        };
        match land(engine, rule, point.gap, prompt) {
            Some((_, _, Some(found))) => *point = found,
            Some((left, ..)) => engine.restore(&left),
            None => {}
        }
        if point.is_good(self.tolerance) {
            return Status::Converged;
        }
        status
    }
}

/// The status with which the loop ends at a point; `None` when it goes on. It ends in any case where there is a `last`
/// status to end with; besides where numbers have overflowed, and at a point that is as good as asked for: of an
/// indefinite kernel that is a stationary point, while a gap within the tolerance that is rounding may still close.
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
