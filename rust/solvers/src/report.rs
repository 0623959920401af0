//! The settings and the monitor that every loop takes, and the report that it returns, recomputed at the returned point.

use crate::error::{SolverError, refused};
use crate::tuning::Tuning;
use std::time::{Duration, Instant};

/// Why a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The relative duality gap, recomputed at the returned point, is within the tolerance.
    Converged,
    /// The maximum number of epochs was reached.
    MaxIterations,
    /// The monitor asked to stop.
    Interrupted,
    /// The time limit was reached.
    TimeLimit,
    /// No step changes anything in floating point any more, but the gap is above the tolerance.
    Stalled,
    /// The kernel is not positive semidefinite: the point is stationary at best, and the gap bounds nothing.
    IndefiniteKernel,
    /// The problem is not convex and the iterates grow without bound: the loop stopped before they overflow.
    Diverged,
}

impl Status {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::MaxIterations => "max_iterations",
            Self::Interrupted => "interrupted",
            Self::TimeLimit => "time_limit",
            Self::Stalled => "stalled",
            Self::IndefiniteKernel => "indefinite_kernel",
            Self::Diverged => "diverged",
        }
    }
}

/// Stopping rules and the course of the loop.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Relative duality gap at which to stop.
    pub tolerance: f64,
    /// Largest number of epochs (passes over the instances) or iterations.
    pub max_epochs: usize,
    /// Seed of the random permutations.
    pub seed: u64,
    /// Whether to visit the instances in a new random order in each epoch, rather than in the given one.
    pub shuffle: bool,
    /// Number of instances whose updates are applied to the others at once; 0 for the default of the scores.
    pub block_size: usize,
    /// Number of chains of instances that are solved in parallel, independent of the number of threads; 0 to choose it by
    /// the size of the problem.
    pub chains: usize,
    /// The mechanisms that make the loop fast.
    pub tuning: Tuning,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-3,
            max_epochs: 1000,
            seed: 0,
            shuffle: true,
            block_size: 0,
            chains: 0,
            tuning: Tuning::default(),
        }
    }
}

impl Settings {
    /// Checks the ranges.
    ///
    /// # Errors
    /// When the tolerance is not positive or no epoch is allowed.
    pub fn validate(&self) -> Result<(), SolverError> {
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(refused("tolerance", self.tolerance, "a positive number"));
        }
        if self.max_epochs == 0 {
            return Err(refused("max_epochs", 0, "at least 1"));
        }
        Ok(())
    }
}

/// The certificate after one epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Epochs so far.
    pub epoch: usize,
    /// Seconds since the loop began.
    pub seconds: f64,
    /// Primal objective at the current scores.
    pub primal: f64,
    /// Dual objective (with a free bias: of the problem with the bias held, until the last record).
    pub dual: f64,
    /// Instances that the next epoch will visit.
    pub active: usize,
}

/// `(primal - dual) / |primal|`, and 0 when both vanish.
pub fn relative_gap(primal: f64, dual: f64) -> f64 {
    relative(primal - dual, primal)
}

/// `gap / |primal|`, and 0 when both vanish.
pub(crate) fn relative(gap: f64, primal: f64) -> f64 {
    if gap == 0.0 {
        0.0
    } else {
        gap / primal.abs().max(f64::MIN_POSITIVE)
    }
}

/// A negative curvature within this share of the primal objective is rounding, and no negative gap beyond it.
pub(crate) const ROUNDING: f64 = 1e-9;

/// An objective, its bound, and the rounding error of their difference.
#[derive(Clone, Copy, Debug)]
pub struct Objectives {
    /// Primal objective.
    pub primal: f64,
    /// Dual objective.
    pub dual: f64,
    /// A bound on the rounding error of their difference.
    pub rounding: f64,
}

/// A bound on the rounding error of a sum with this many additions, whose terms have this total size.
pub(crate) fn rounding_of(size: f64, additions: usize) -> f64 {
    f64::EPSILON * additions as f64 * size
}

/// A bound on the rounding error of a quadratic form whose terms have this total size: a few units in the last place.
pub(crate) fn rounding_of_form(size: f64) -> f64 {
    16.0 * f64::EPSILON * size
}

impl Objectives {
    /// `(primal - dual) / |primal|`
    pub fn gap(&self) -> f64 {
        relative_gap(self.primal, self.dual)
    }

    /// Whether the bound exceeds the objective by more than rounding, and is therefore invalid.
    pub fn contradict(&self) -> bool {
        self.dual - self.primal > self.rounding.min(ROUNDING * self.primal.abs())
    }

    /// Whether the gap is within a tolerance, and not negative beyond rounding.
    pub(crate) fn certify(&self, tolerance: f64) -> bool {
        self.gap() <= tolerance && !self.contradict()
    }

    /// The verdict of the certificate: `Converged` when the gap, as [`Report::gap`] will return it, is within the tolerance,
    /// `IndefiniteKernel` when the gap or the curvature `quadratic` is negative by more than `floor`, the rounding of
    /// `quadratic`, and `Stalled` when rounding explains what is negative, or the numbers have overflowed. `None` if the
    /// loop has to go on.
    pub fn verdict(
        &self,
        quadratic: f64,
        tolerance: f64,
        floor: impl FnOnce() -> f64,
    ) -> Option<Status> {
        if !self.gap().is_finite() || !quadratic.is_finite() {
            return Some(Status::Stalled);
        }
        let negative = (self.dual - self.primal).max(-quadratic);
        let indefinite = negative > ROUNDING * self.primal.abs();
        if indefinite || self.contradict() {
            return Some(if indefinite && negative > floor() {
                Status::IndefiniteKernel
            } else {
                Status::Stalled
            });
        }
        (self.gap() <= tolerance).then_some(Status::Converged)
    }
}

/// A monitor's answer to a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// Go on.
    Go,
    /// The time limit is reached. The loop ends as after its last epoch, with a complete certificate.
    OutOfTime {
        /// Whether an epoch has been recorded. Most loops always complete the first one.
        recorded: bool,
    },
    /// The loop must stop now.
    Interrupted {
        /// Whether the result is needed at once: after a signal, but not after a callback.
        at_once: bool,
    },
}

impl Poll {
    /// Whether the loop must stop now.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::Interrupted { .. })
    }

    /// Whether the time limit is reached and the loop has completed its first epoch.
    pub fn is_out_of_time(self) -> bool {
        self == Self::OutOfTime { recorded: true }
    }

    /// Whether an epoch has to be broken off.
    pub fn breaks_off(self) -> bool {
        self.is_interrupted() || self.is_out_of_time()
    }

    /// Whether what there is is needed at once.
    pub fn hurries(self) -> bool {
        self == Self::Interrupted { at_once: true }
    }

    /// The status of a loop whose epoch was broken off.
    pub fn status(self) -> Status {
        match self {
            Self::OutOfTime { .. } => Status::TimeLimit,
            Self::Go | Self::Interrupted { .. } => Status::Interrupted,
        }
    }
}

/// Watches a loop: polled often for an interruption, called after each certificate.
pub trait Monitor {
    /// Whether the loop goes on. Called at least every few milliseconds of work; what has stopped a loop stays so.
    fn poll(&mut self) -> Poll;

    /// Called with each certificate.
    fn epoch(&mut self, record: &Record);
}

/// A monitor that never stops a loop.
impl Monitor for () {
    fn poll(&mut self) -> Poll {
        Poll::Go
    }

    fn epoch(&mut self, _record: &Record) {}
}

/// Asks to stop after this many polls.
#[cfg(test)]
pub(crate) struct Stops(pub usize);

#[cfg(test)]
impl Monitor for Stops {
    fn poll(&mut self) -> Poll {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 {
            Poll::Interrupted { at_once: true }
        } else {
            Poll::Go
        }
    }

    fn epoch(&mut self, _record: &Record) {}
}

/// The history of a loop and its clock.
#[derive(Clone, Debug)]
pub struct Trace {
    start: Instant,
    /// One record per certificate.
    pub history: Vec<Record>,
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            history: Vec::new(),
        }
    }
}

impl Trace {
    /// The time since the loop began.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Appends a record and calls the monitor.
    pub fn record(
        &mut self,
        epoch: usize,
        primal: f64,
        dual: f64,
        active: usize,
        monitor: &mut dyn Monitor,
    ) {
        let record = Record {
            epoch,
            seconds: self.start.elapsed().as_secs_f64(),
            primal,
            dual,
            active,
        };
        monitor.epoch(&record);
        self.history.push(record);
    }

    /// Replaces the objectives of the last record by those of the returned point.
    pub fn amend(&mut self, primal: f64, dual: f64) {
        if let Some(last) = self.history.last_mut() {
            (last.primal, last.dual) = (primal, dual);
        }
    }

    /// The report of a loop that ends with these objectives.
    pub fn report(self, status: Status, epochs: usize, found: Objectives) -> Report {
        let Objectives {
            primal,
            dual,
            rounding,
        } = found;
        let mut report = Report {
            status,
            epochs,
            primal,
            dual,
            rounding,
            history: self.history,
        };
        report.drop_false_bound();
        report
    }
}

/// What a loop returns besides its solution.
#[derive(Clone, Debug)]
pub struct Report {
    /// Why the loop ended.
    pub status: Status,
    /// Epochs or iterations made.
    pub epochs: usize,
    /// Primal objective at the returned point.
    pub primal: f64,
    /// Dual objective at the returned point: a lower bound of the optimum, or minus infinity if rounding has made it
    /// invalid.
    pub dual: f64,
    /// A bound on the rounding error of their difference.
    pub rounding: f64,
    /// One record per certificate; the last one is that of the returned point.
    pub history: Vec<Record>,
}

impl Report {
    /// Replaces the primal objective of the returned point.
    pub(crate) fn amend(&mut self, primal: f64) {
        self.primal = primal;
        if let Some(last) = self.history.last_mut() {
            last.primal = primal;
        }
        self.drop_false_bound();
    }

    /// Replaces a bound that rounding has moved above the objective by minus infinity. With an indefinite kernel there is no
    /// bound at all.
    fn drop_false_bound(&mut self) {
        if self.status == Status::IndefiniteKernel || !self.objectives().contradict() {
            return;
        }
        self.dual = f64::NEG_INFINITY;
        if let Some(last) = self.history.last_mut() {
            last.dual = self.dual;
        }
        if self.status == Status::Converged {
            self.status = Status::Stalled;
        }
    }

    /// The objectives at the returned point.
    pub fn objectives(&self) -> Objectives {
        Objectives {
            primal: self.primal,
            dual: self.dual,
            rounding: self.rounding,
        }
    }

    /// The relative duality gap at the returned point.
    pub fn gap(&self) -> f64 {
        relative_gap(self.primal, self.dual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_above_the_objective_is_none() {
        let with = |rounding, status, dual| {
            let mut trace = Trace::default();
            trace.record(1, 2.0, dual, 0, &mut ());
            let found = Objectives {
                primal: 2.0,
                dual,
                rounding,
            };
            trace.report(status, 1, found)
        };
        let ended = |status, dual| with(1e-11, status, dual);
        let spoilt = ended(Status::Converged, 2.1);
        assert_eq!(spoilt.status, Status::Stalled);
        assert_eq!(
            [spoilt.dual, spoilt.history[0].dual],
            [f64::NEG_INFINITY; 2]
        );
        assert_eq!(spoilt.gap(), f64::INFINITY);
        let late = ended(Status::TimeLimit, 2.1);
        assert_eq!(
            (late.status, late.dual),
            (Status::TimeLimit, f64::NEG_INFINITY)
        );
        // Neither a gap beyond the rounding of the terms nor one that is large relative to the objective.
        for (rounding, dual) in [(1e-13, 2.0 + 1e-12), (1.0, 2.0 + 1e-8)] {
            let spoilt = with(rounding, Status::Converged, dual);
            assert_eq!(
                (spoilt.status, spoilt.gap()),
                (Status::Stalled, f64::INFINITY)
            );
        }
        for dual in [1.9, 2.0, 2.0 + 1e-12] {
            let kept = ended(Status::Converged, dual);
            assert_eq!((kept.status, kept.dual), (Status::Converged, dual));
        }
        let indefinite = ended(Status::IndefiniteKernel, 2.1);
        assert_eq!(indefinite.dual, 2.1);
    }
}
