//! Leaps: iterations on all blocks at once ([`super::admm`]) between the epochs of problems on which these are slow. They
//! lead to a dual matrix, which is taken where it is better, and of a linear model to weights that are nearer to the optimum.

use super::admm::{Admm, Beside, Root};
use super::bcd::{Checkpoint, Engine, Step};
use super::loss::{Loss, sum_of_losses};
use super::rule::{Moment, Point, Rule};
use super::scores::{self, Scores};
use crate::linalg::rows::Rows;
use crate::linalg::vector::{axpy, dot, row_sum};
use crate::memory;
use crate::report::{Monitor, Objectives, Settings, relative_gap};
use crate::tuning::Leaping;

/// Who leaps.
#[derive(Default)]
pub(super) struct Accelerator {
    admm: Option<Admm>,
    /// Whether there can be no leap.
    given_up: bool,
    /// Epochs until the next one.
    rest: usize,
}

impl Accelerator {
    /// After `epochs` epochs, when it is time for that, leaps, and stays where that leads to if the dual objective is higher.
    /// Returns how many epochs it was worth, and the point of a linear model that is as good as asked for.
    pub fn leap<S: Scores + ?Sized, T: Step>(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        epochs: usize,
        from: &Point,
        settings: &Settings,
        monitor: &mut dyn Monitor,
    ) -> (usize, Option<Point>) {
        let tuning = &settings.tuning.leaps;
        let patience = if engine.iterate.scores().is_linear() {
            tuning.patience_of_linear
        } else {
            tuning.patience
        };
        let begins = epochs >= patience && from.gap > tuning.close * settings.tolerance;
        let due = begins && tuning.enabled && !self.given_up;
        // An epoch has to follow.
        let most = tuning
            .iterations
            .min(settings.max_epochs.saturating_sub(epochs + 1));
        let labels = engine.iterate.labels();
        if !(due || self.admm.is_some())
            || most == 0
            || labels.instances() * labels.count() > tuning.scores
        {
            return (0, None);
        }
        if let Some(rest) = self.rest.checked_sub(1) {
            self.rest = rest;
            return (0, None);
        }
        if self.admm.is_none() {
            self.admm = split(engine, rule.beside(engine), tuning, monitor);
        }
        let Some(admm) = &mut self.admm else {
            self.given_up = true;
            return (0, None);
        };
        self.rest = tuning.rest;
        let threads = engine.iterate.threads();
        let count = admm.advance(most, labels, engine.loss(), threads, monitor);
        if count < most {
            return (count, None);
        }
        let Some((left, point, found)) = self.land(engine, rule, settings.tolerance, monitor)
        else {
            return (count, None);
        };
        if found.is_some() {
            return (count, found);
        }
        if point.dual > from.dual {
            engine.restart();
            rule.update(engine, Moment::Leap);
        } else {
            engine.iterate.roll_back(&left);
        }
        (count, None)
    }

    /// Where the loop ends at `point`, whose gap is above the tolerance: the point of the linear model that leaps have led to,
    /// if its gap is smaller.
    pub fn better_model<S: Scores + ?Sized, T: Step>(
        &self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        point: &Point,
        monitor: &mut dyn Monitor,
    ) -> Option<Point> {
        let (left, _, found) = self.land(engine, rule, point.gap, monitor)?;
        if found.is_none() {
            engine.iterate.roll_back(&left);
        }
        found
    }

    /// Whether leaps have led to a linear model beside the dual matrix.
    pub fn has_model<S: Scores + ?Sized, T: Step>(&self, engine: &Engine<'_, S, T>) -> bool {
        let linear = engine.iterate.scores().is_linear();
        linear && T::Loss::FREE_WEIGHTS && self.admm.is_some()
    }

    /// Moves to the dual matrix that leaps have led to: the way back, the point there, and that of [`Self::model`]. `None`
    /// (and no change) when there were none, or when interrupted.
    fn land<S: Scores + ?Sized, T: Step>(
        &self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        tolerance: f64,
        monitor: &mut dyn Monitor,
    ) -> Option<(Checkpoint<S>, Point, Option<Point>)> {
        let admm = self.admm.as_ref()?;
        let (beside, left) = (rule.beside(engine), engine.iterate.checkpoint());
        let (labels, threads) = (engine.iterate.labels(), engine.iterate.threads());
        let (dual, dual_terms) = admm.dual(labels, engine.loss(), monitor)?;
        let dual = S::Dual::of_dense(dual, labels.count());
        let bias = |scores: &S, sum: &[f64]| match beside {
            Beside::Free => admm.bias(&scores::all(scores, threads)),
            Beside::Direction(weight) => sum.iter().map(|g| weight * g).collect(),
        };
        if !engine.iterate.replace(dual, dual_terms, bias, monitor) {
            engine.iterate.roll_back(&left);
            return None;
        }
        let sums = engine.certify();
        let point = rule.point(engine, &sums);
        let found = self.model(engine, rule, &point, tolerance, monitor);
        Some((left, point, found))
    }

    /// The point of the linear model that leaps have led to, where its gap to a bound from the engine's point is at most the
    /// tolerated one: the engine has its scores then.
    fn model<S: Scores + ?Sized, T: Step>(
        &self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        at: &Point,
        tolerance: f64,
        monitor: &mut dyn Monitor,
    ) -> Option<Point> {
        if !self.has_model(engine) {
            return None;
        }
        let (beside, kept) = (rule.beside(engine), engine.iterate.checkpoint());
        let primal = self.take_model(engine, beside, monitor);
        engine.iterate.roll_back(&kept);
        let primal = primal?;
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
        let Some(primal) = self.take_model(engine, beside, monitor) else {
            engine.iterate.roll_back(&kept);
            return None;
        };
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

    /// Gives linear scores the weights and the bias of the model that leaps lead to beside a dual matrix. Returns its primal
    /// objective; `None` without leaps, or when interrupted.
    fn take_model<S: Scores + ?Sized, T: Step>(
        &self,
        engine: &mut Engine<'_, S, T>,
        beside: Beside,
        monitor: &mut dyn Monitor,
    ) -> Option<f64> {
        let admm = self.admm.as_ref()?;
        let (labels, threads) = (engine.iterate.labels(), engine.iterate.threads());
        let (q, model) = (labels.count(), admm.model(labels, threads));
        let loss = engine.loss().clone();
        let rows = S::Dual::of_dense(memory::copied(&model), q);
        let of_model = |scores: &S| {
            let scores = scores::all(scores, threads);
            let mut quadratic = dot(&model, &scores);
            let bias = match beside {
                Beside::Free => admm.bias(&scores),
                Beside::Direction(weight) => {
                    let sum = row_sum(&model, q);
                    quadratic += weight * dot(&sum, &sum);
                    sum.iter().map(|g| weight * g).collect()
                }
            };
            let objective = 0.5 * quadratic + sum_of_losses(&loss, labels, &scores, &bias);
            (bias, objective)
        };
        engine.iterate.lend_scores(&rows, of_model, monitor)
    }
}

/// The method that moves all blocks at once, from the engine's point; `None` where there is none, or when interrupted.
fn split<S: Scores + ?Sized, T: Step>(
    engine: &mut Engine<'_, S, T>,
    beside: Beside,
    tuning: &Leaping,
    monitor: &mut dyn Monitor,
) -> Option<Admm> {
    let iterate = &mut engine.iterate;
    let (labels, threads) = (iterate.labels(), iterate.threads());
    let (n, q, mut buffer) = (labels.instances(), labels.count(), Vec::new());
    let bias = iterate.bias();
    let mut at = scores::all(iterate.scores(), threads);
    for (row, &factor) in at.chunks_exact_mut(q).zip(iterate.factors()) {
        axpy(factor, &bias, row);
    }
    iterate.borrow_scores(|scores, dual, factors| {
        let root = Root::new(labels, scores, beside, factors, tuning, threads, monitor)?;
        let dual = dual.rows(0..n, q, &mut buffer);
        Admm::new(root, dual, &at, q, beside, tuning, threads)
    })
}
