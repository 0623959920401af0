//! What a kind of bias does in the outer loop.

use super::admm::Beside;
use super::bcd::{Certificate, Engine, Step};
use super::scores::Scores;
use crate::report::{Monitor, Objectives, relative_gap};

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
    /// Whether the bias stays where it is when no block moves.
    pub settled: bool,
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

    /// Whether double precision shows next to nothing of the gap. `rounding` is a bound, and may be far above what there is.
    pub fn is_exact(&self) -> bool {
        self.gap <= 32.0 * f64::EPSILON
    }

    /// Whether the gap is within the tolerance, and none that rounding has made negative.
    pub fn is_good(&self, tolerance: f64) -> bool {
        self.gap <= tolerance && !self.objectives().contradict()
    }
}

/// How much a certificate is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worth {
    /// As much as the point's gap is small.
    ByGap,
    /// More: nothing has moved.
    Still,
    /// All: the loop ends here.
    Last,
}

/// What a certificate is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub worth: Worth,
    /// The gap that is good enough.
    pub tolerance: f64,
    /// Epochs so far.
    pub epochs: usize,
}

/// When a bias may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Before the objectives of an epoch are computed: they are those of this bias.
    Epoch,
    /// Before the next epoch, when the one before has moved some block.
    Moved,
    /// Before the next epoch, when the one before has moved no block.
    Unmoved,
    /// At a dual matrix that the epochs have not led to.
    Leap,
}

/// What a bias does in the outer loop.
pub(super) trait Rule<S: Scores + ?Sized, T: Step> {
    /// The objectives at the engine's point, by its sums.
    fn point(&self, engine: &Engine<'_, S, T>, sums: &Certificate) -> Point;

    /// Where a certificate is worth it: brings the engine to a point whose certificate is exact and
    /// counts, that of scores computed anew from B, and updates `point`; or leaves both as they are.
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

    /// What the kernel of the problem has beside that of the scores.
    fn beside(&self, engine: &Engine<'_, S, T>) -> Beside;

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

    /// The bias of the model at the engine's point.
    fn bias(&self, engine: &Engine<'_, S, T>) -> Vec<f64>;
}
