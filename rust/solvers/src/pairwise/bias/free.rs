//! The free bias of Elisseeff and Weston, equality constraints `sum_i beta_i = 0` (Xu 2013, eq. (19)), by the augmented
//! Lagrangian.
//!
//! The engine sees the scores `F + sigma g + b` with `g = sum_i beta_i`, which is the kernel `K + sigma` and a constant `b`;
//! after each epoch the multiplier moves to `b + sigma g`, at first from the best bias without features ([`super::start`]).
//! The dual value at such a point bounds the problem with the bias held, not the problem itself, unless `g = 0`. So before
//! stopping, the point is repaired by mixing it with another one whose sum is a multiple of `-g`: a good one near by
//! ([`super::oracle`]), or where that fails a routing of `-g` ([`super::repair`]). The first one comes with the best biases for
//! the scores, which are the next multiplier at some points before.

use super::components::Components;
use super::margins::At;
use super::oracle;
use super::repair::{centred, comes_out_even, repaired};

use crate::labels::Labels;
use crate::linalg::vector::mean;
use crate::pairwise::admm::Beside;
use crate::pairwise::bcd::{Certificate, Engine, Snapshot, Step, hinge_dual_terms};
use crate::pairwise::loss::{Hinge, sum_of_losses};
use crate::pairwise::outer::{Point, Rule};
use crate::pairwise::scores::DenseScores;
use crate::report::{Monitor, relative, relative_gap};

/// Weight of the augmentation, relative to the mean of the kernel's diagonal.
const AUGMENTATION: f64 = 0.3;

/// Further augmentation, relative to the mean weight of a label's pairs: the share of it that a bias moves.
const PER_LABEL: f64 = 3.0;

/// What a repair leaves of the gap at a held bias, for it finds a better bias: measured, 0.6 to 0.8 of it.
const AFTER_REPAIR: f64 = 0.75;

/// What a repair may lose of the tolerated gap without looking for a better one.
const NEGLIGIBLE: f64 = 0.1;

/// Epochs in which the biases wait for blocks that have farther to go.
const EARLY: usize = 10;

/// Better biases are looked for at this gap first, and at so many times less each time.
const FIRST_GAP: f64 = 1e-3;
const FEWER: f64 = 20.0;

/// Growth of the augmentation after an epoch in which nothing moved.
const STILL_FACTOR: f64 = 4.0;

/// Largest growth of the augmentation.
const LARGEST_GROWTH: f64 = 1e12;

/// Steps of the biases below this share of the largest one are rounding.
const SETTLED: f64 = 1e-14;

/// The least augmentation for scores with the diagonal `K_ii`.
pub(super) fn augmentation(labels: &Labels, diagonal: &[f64]) -> f64 {
    // A label's share of g changes by a share of its pairs' weight when its bias changes by 1: the second term is the
    // inverse of that, and lets even a tiny C move the biases.
    let pairs = labels.weight_of_pairs();
    let per_label = if pairs > 0.0 {
        PER_LABEL * labels.count() as f64 / pairs
    } else {
        0.0
    };
    AUGMENTATION * mean(diagonal).max(0.0) + per_label
}

/// By how little the biases of a point that is there may move.
pub(super) fn negligible(bias: &[f64]) -> f64 {
    let largest = bias
        .iter()
        .fold(1.0, |largest: f64, b| largest.max(b.abs()));
    SETTLED * largest
}

/// The rule of a free bias.
pub(super) struct Free<'a> {
    labels: &'a Labels,
    /// `C_ml`, see [`super::repair`].
    capacity: &'a [f64],
    components: &'a Components,
    tolerance: f64,
    /// The least augmentation.
    pub sigma: f64,
    /// The epoch from which on another repair may be tried.
    next_attempt: usize,
    /// The gap at which to look for better biases.
    next_gap: f64,
    /// What was found.
    better_bias: Option<Vec<f64>>,
    /// The best bound of the repairs so far; at first that of `B = 0`.
    bound: f64,
}

impl<'a> Free<'a> {
    /// The rule for scores with the diagonal `K_ii`.
    pub fn new(
        labels: &'a Labels,
        capacity: &'a [f64],
        components: &'a Components,
        diagonal: &[f64],
        tolerance: f64,
    ) -> Self {
        Self {
            labels,
            capacity,
            components,
            tolerance,
            sigma: augmentation(labels, diagonal),
            next_attempt: 0,
            next_gap: FIRST_GAP,
            better_bias: None,
            bound: 0.0,
        }
    }

    /// Moves the engine to the point mixed with a routing of `-g`, and certifies it; `None` (at the old point) when there
    /// is none, or none whose share of the mixture is at most `most`.
    fn mix<S: DenseScores, T: Step>(
        &self,
        engine: &mut Engine<'_, S, T>,
        most: f64,
        monitor: &mut dyn Monitor,
    ) -> Option<Certificate> {
        let sum = self.components.centred(&engine.sum);
        let dual = repaired(
            self.labels,
            self.capacity,
            &engine.dual,
            &sum,
            most,
            monitor,
        )?;
        if !engine.recompute_for(&dual, monitor) {
            return None;
        }
        engine.dual_terms = hinge_dual_terms(self.labels, &dual);
        engine.dual = dual;
        Some(settle(engine))
    }

    /// The best biases at the engine's scores, or the engine's where these are better; `None` when the oracle has no answer.
    /// With `mixed` the engine's dual matrix is mixed with the answer.
    fn ask<S: DenseScores, T: Step>(
        &self,
        engine: &mut Engine<'_, S, T>,
        from: &Point,
        mixed: bool,
        monitor: &mut dyn Monitor,
    ) -> Option<Vec<f64>> {
        if self.labels.have_top() {
            return None;
        }
        let (scores, bias) = (engine.all_scores(), engine.bias());
        let at = At {
            labels: self.labels,
            scores: &scores,
            bias: &bias,
            diagonal: engine.scores.diagonal(),
        };
        let flow = oracle::flow(
            &at,
            &mut engine.dual,
            &engine.sum,
            self.components,
            NEGLIGIBLE * self.tolerance * from.primal.abs(),
            engine.threads,
            monitor,
        )?;
        if mixed && !oracle::mix(&at, &mut engine.dual, &flow, engine.threads, monitor) {
            return None;
        }
        let best = bias.iter().zip(&flow.best).map(|(b, price)| b - price);
        let best = centred(best.collect());
        let better = sum_of_losses(&Hinge, self.labels, &scores, &best) < losses(from);
        Some(if better { best } else { bias })
    }

    /// Moves the engine to its point mixed with the oracle's, with the best biases, and certifies it; `None` when there is none:
    /// the engine is to be restored then.
    fn reroute<S: DenseScores, T: Step>(
        &self,
        engine: &mut Engine<'_, S, T>,
        from: &Point,
        monitor: &mut dyn Monitor,
    ) -> Option<Point> {
        let bias = self.ask(engine, from, true, monitor)?;
        if !(comes_out_even(&engine.dual, self.labels.count()) && engine.recompute(monitor)) {
            return None;
        }
        engine.dual_terms = hinge_dual_terms(self.labels, &engine.dual);
        engine.offset = bias;
        engine.sum.fill(0.0);
        Some(Self::exactly(&engine.certify()))
    }

    /// Moves the engine to the better one of both repairs; whether there is one. With none the engine is where it was.
    fn repair<S: DenseScores, T: Step>(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        kept: &Snapshot<S>,
        from: &Point,
        last: bool,
        monitor: &mut dyn Monitor,
    ) -> Option<Point> {
        let cheap = self.reroute(engine, from, monitor);
        let found = match cheap {
            Some(point) if point.gap <= self.tolerance => return Some(point),
            Some(point) => Some((point, engine.snapshot())),
            None => None,
        };
        engine.restore(kept);
        // To first order the mixture loses its share of the losses.
        let most = if last {
            1.0
        } else {
            self.tolerance * from.primal / losses(from)
        };
        let mixed = self
            .mix(engine, most, monitor)
            .map(|sums| Self::exactly(&sums));
        let better = |point: &Point| {
            found
                .as_ref()
                .is_none_or(|(cheap, _)| point.gap < cheap.gap)
        };
        match mixed {
            Some(point) if better(&point) => Some(point),
            _ => found.map(|(point, kept)| {
                engine.restore(&kept);
                point
            }),
        }
    }

    /// Keeps the bound of a repaired point. One above the objective is rounding, or that of an indefinite kernel.
    fn keep_bound(&mut self, point: &Point) {
        if point.dual <= point.primal {
            self.bound = self.bound.max(point.dual);
        }
    }

    /// The point of a repaired matrix.
    fn exactly(sums: &Certificate) -> Point {
        Point::certified(sums, sums.quadratic)
    }
}

/// The sum of the losses at a point.
fn losses(point: &Point) -> f64 {
    point.primal - 0.5 * point.quadratic
}

/// Makes a matrix with `g = 0` the engine's point: the bias stays.
fn settle<S: DenseScores, T: Step>(engine: &mut Engine<'_, S, T>) -> Certificate {
    engine.offset = engine.bias();
    engine.sum.fill(0.0);
    engine.certify()
}

impl<S: DenseScores, T: Step> Rule<S, T> for Free<'_> {
    fn point(&self, _: &Engine<'_, S, T>, sums: &Certificate) -> Point {
        let primal = 0.5 * sums.quadratic + sums.loss;
        Point {
            primal,
            dual: primal - sums.gap,
            gap: relative(AFTER_REPAIR * sums.gap, primal),
            quadratic: sums.quadratic,
            bound: self.bound,
            certified: false,
        }
    }

    fn due(&self, point: &Point, tolerance: f64) -> bool {
        point.gap <= tolerance.max(self.next_gap)
    }

    fn settled(&self, engine: &Engine<'_, S, T>) -> bool {
        let negligible = negligible(&engine.bias());
        let step = |g: &f64| engine.sigma * g.abs();
        engine.sum.iter().all(|g| step(g) <= negligible)
    }

    fn certify(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        point: &mut Point,
        epochs: usize,
        last: bool,
        monitor: &mut dyn Monitor,
    ) {
        let close = Rule::<S, T>::due(self, point, self.tolerance);
        if !(last || close && epochs >= self.next_attempt) {
            return;
        }
        self.next_attempt = epochs + 1 + epochs / 10;
        self.next_gap = point.gap / FEWER;
        if !last && point.gap > self.tolerance {
            self.better_bias = self.ask(engine, point, false, monitor);
            return;
        }
        let kept = engine.snapshot();
        let found = self.repair(engine, &kept, point, last, monitor);
        if let Some(found) = &found {
            self.keep_bound(found);
        }
        match found {
            Some(found) if last || found.gap <= self.tolerance => *point = found,
            Some(_) => {
                self.better_bias = Some(engine.bias());
                engine.restore(&kept);
            }
            None => engine.restore(&kept),
        }
        point.bound = self.bound;
        if last && found.is_none() {
            *point = Point {
                dual: point.bound,
                gap: relative_gap(point.primal, point.bound),
                certified: true,
                ..*point
            };
        }
    }

    fn follow(&mut self, engine: &mut Engine<'_, S, T>, unmoved: bool) {
        let squares: f64 = engine.sum.iter().map(|g| g * g).sum();
        // In the first epochs, a bias that has little to go waits for the blocks.
        let early = engine.epochs() <= EARLY;
        if let Some(bias) = self.better_bias.take() {
            engine.offset = centred(bias);
        } else if unmoved || !early || engine.gap() <= engine.sigma * squares {
            engine.offset = centred(engine.bias());
        }
        engine.sigma = if unmoved {
            // Nothing moves at these biases: take larger steps until something does.
            (engine.sigma * STILL_FACTOR).min(LARGEST_GROWTH * self.sigma)
        } else {
            self.sigma.max(engine.sigma / STILL_FACTOR)
        };
    }

    fn beside(&self, _: &Engine<'_, S, T>) -> Beside {
        Beside::Free
    }

    fn bound(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        from: &Point,
        good: &dyn Fn(f64) -> bool,
        monitor: &mut dyn Monitor,
    ) -> Option<f64> {
        let kept = engine.snapshot();
        for by_oracle in [true, false] {
            let found = if by_oracle {
                self.reroute(engine, from, monitor)
            } else {
                self.mix(engine, 1.0, monitor)
                    .map(|sums| Self::exactly(&sums))
            };
            if let Some(found) = found {
                self.keep_bound(&found);
                if good(found.dual) {
                    return Some(found.dual);
                }
            }
            engine.restore(&kept);
        }
        None
    }

    fn bias(&self, engine: &Engine<'_, S, T>) -> Vec<f64> {
        centred(engine.bias())
    }
}
