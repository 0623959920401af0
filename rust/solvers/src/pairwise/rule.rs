//! The part of the outer loop that depends on the kind of bias.

use super::admm::Beside;
use super::bcd::{Certificate, Engine, Step};
use super::scores::Scores;
use crate::report::{Monitor, Objectives, relative_gap};

/// A point of the outer loop: its objectives and their gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// The primal objective.
    pub primal: f64,
    /// The dual objective: of the problem itself if `certified`, otherwise of the problem with the bias held.
    pub dual: f64,
    /// The relative gap: an estimate unless `certified`.
    pub gap: f64,
    /// `<B, K B>`, negative for indefinite kernels only.
    pub quadratic: f64,
    /// A lower bound of the optimum, even if nothing follows.
    pub bound: f64,
    /// A bound on the rounding error of their difference.
    pub rounding: f64,
    /// Whether primal and dual objective certify each other.
    pub certified: bool,
    /// Whether the bias stays where it is when no block moves.
    pub settled: bool,
}

impl Point {
    /// A point of the problem itself; `quadratic` is the quadratic term of its objectives, including that of a bias.
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
            settled: true,
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

    /// Whether the gap vanishes in double precision. `rounding` is only a bound, which may be far too large.
    pub fn is_exact(&self) -> bool {
        self.gap <= 32.0 * f64::EPSILON
    }

    /// Whether the gap is within the tolerance, and not negative beyond rounding.
    pub fn is_good(&self, tolerance: f64) -> bool {
        self.gap <= tolerance && !self.objectives().contradict()
    }
}

/// The effort that a certificate is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worth {
    /// Depends on the point's gap.
    ByGap,
    /// More, as nothing has moved.
    Still,
    /// Any effort, as the loop ends here.
    Last,
}

/// A request for a certificate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub worth: Worth,
    /// The tolerated relative gap.
    pub tolerance: f64,
    /// Epochs so far.
    pub epochs: usize,
}

/// The moments at which a bias may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Before the objectives of an epoch are computed, which are those with the new bias.
    Epoch,
    /// Before the next epoch, if the last one has moved some block.
    Moved,
    /// Before the next epoch, if the last one has moved no block.
    Unmoved,
    /// At a dual matrix that was not reached by epochs.
    Leap,
}

/// The part of the outer loop that depends on the kind of bias.
pub(super) trait Rule<S: Scores + ?Sized, T: Step> {
    /// The objectives at the engine's point, from its sums.
    fn point(&self, engine: &Engine<'_, S, T>, sums: &Certificate) -> Point;

    /// If a certificate is worth it, brings the engine to a point with an exact certificate, that of scores recomputed from
    /// B, and updates `point`; otherwise changes neither.
    fn certify(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        point: &mut Point,
        asked: Asked,
        monitor: &mut dyn Monitor,
    ) {
        let due = asked.worth != Worth::ByGap || point.gap <= asked.tolerance;
        if due
            && engine.iterate.recompute(monitor)
            && let Some(sums) = engine.certify(monitor)
        {
            *point = self.point(engine, &sums);
        }
    }

    /// Moves the bias.
    fn update(&mut self, _engine: &mut Engine<'_, S, T>, _moment: Moment) {}

    /// The part of the problem's kernel that is not in the kernel of the scores.
    fn beside(&self, engine: &Engine<'_, S, T>) -> Beside;

    /// A bound of the optimum that is `good` enough, from the engine's point; if there is none, the engine does not change.
    fn bound(
        &mut self,
        _engine: &mut Engine<'_, S, T>,
        point: &Point,
        good: &dyn Fn(f64) -> bool,
        _monitor: &mut dyn Monitor,
    ) -> Option<f64> {
        good(point.dual).then_some(point.dual)
    }

    /// The bias of the model at the engine's point.
    fn bias(&self, engine: &Engine<'_, S, T>) -> Vec<f64>;
}
