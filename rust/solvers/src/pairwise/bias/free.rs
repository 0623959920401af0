//! The free bias of Elisseeff and Weston, equality constraints `sum_i beta_i = 0` (Xu 2013, eq. (19)), by the augmented
//! Lagrangian.
//!
//! The engine sees the scores `F + sigma g + b` with `g = sum_i beta_i`, which is the kernel `K + sigma` and a constant `b`;
//! after each epoch the multiplier moves to `b + sigma g`, at first from the best bias without features ([`super::start`]).
//! The dual value at such a point bounds the problem with the bias held, not the problem itself, unless `g = 0`. So before
//! stopping, the point is repaired: at least cost ([`super::residual`]), or where that fails by mixing it with a routing of
//! `-g` ([`super::repair`]). The prices of the cheap repair give better biases; where it does not end the loop yet, they are
//! the next multiplier.

use super::components::Components;
use super::repair::{centred, repaired};
use super::residual;
use super::transport::At;

use crate::labels::Labels;
use crate::linalg::vector::{axpy, mean};
use crate::pairwise::admm::Beside;
use crate::pairwise::bcd::{Certificate, Engine, Snapshot, Step, hinge_dual_terms};
use crate::pairwise::outer::{Point, Rule};
use crate::pairwise::scores::DenseScores;
use crate::report::{Monitor, relative, relative_gap};

/// Weight of the augmentation, relative to the mean of the kernel's diagonal.
const AUGMENTATION: f64 = 0.3;

/// Further augmentation, relative to the mean weight of a label's pairs: the share of it that a bias moves.
const PER_LABEL: f64 = 3.0;

/// What a repair leaves of the gap at a held bias, for it finds a better bias: measured, 0.6 to 0.8 of it.
const AFTER_REPAIR: f64 = 0.75;

/// Epochs in which the biases wait for blocks that have farther to go.
const EARLY: usize = 10;

/// The first repair is tried at this gap at the latest, and the next ones at so many times less.
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
    /// The gap at which a repair is worth while, though it cannot end the loop: it finds better biases.
    next_gap: f64,
    /// The bias of a repair that did not end the loop.
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
    /// is none.
    fn mix<S: DenseScores, T: Step>(
        &self,
        engine: &mut Engine<'_, S, T>,
        monitor: &mut dyn Monitor,
    ) -> Option<Certificate> {
        let dual = repaired(
            self.labels,
            self.capacity,
            &engine.dual,
            &self.components.centred(&engine.sum),
            monitor,
        )?;
        if !engine.recompute_for(&dual, monitor) {
            return None;
        }
        engine.dual_terms = hinge_dual_terms(self.labels, &dual);
        engine.dual = dual;
        Some(settle(engine))
    }

    /// Moves the engine to the cheapest repair with the bias that its prices make better, and certifies it; `None` when
    /// there is no repair: the engine is to be restored then.
    fn reroute<S: DenseScores, T: Step>(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        kept: &Snapshot<S>,
        monitor: &mut dyn Monitor,
    ) -> Option<Point> {
        if !self.labels.are_plain() {
            // Its boxes are those of pairs that count the same.
            return None;
        }
        let (scores, bias) = (engine.all_scores(), engine.bias());
        let at = At {
            labels: self.labels,
            dual: &kept.dual,
            scores: &scores,
            bias: &bias,
            mixtures: false,
        };
        let sum = self.components.centred(&engine.sum);
        let mut plan = residual::plan(&at, &sum, engine.threads, monitor)?;
        let q = self.labels.count();
        let complete = plan.moves(&at, engine.threads, monitor, |i, change| {
            let row = &mut engine.dual[i * q..(i + 1) * q];
            axpy(1.0, change, row);
            engine.dual_terms[i] = self.labels.sum_of_pairs(i, row);
        });
        drop(scores);
        if !(complete && engine.recompute(monitor)) {
            return None;
        }
        engine.sum.fill(0.0);
        let prices = bias
            .iter()
            .zip(&plan.flow.prices)
            .map(|(b, price)| b - price);
        engine.offset = centred(prices.collect());
        Some(Self::exactly(&engine.certify()))
    }

    /// Moves the engine to the better one of both repairs; whether there is one. With none the engine is where it was.
    fn repair<S: DenseScores, T: Step>(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        kept: &Snapshot<S>,
        last: bool,
        monitor: &mut dyn Monitor,
    ) -> Option<Point> {
        let cheap = self.reroute(engine, kept, monitor);
        let found = match cheap {
            Some(point) if point.gap <= self.tolerance || !last => return Some(point),
            Some(point) => Some((point, engine.snapshot())),
            None => None,
        };
        engine.restore(kept);
        let mixed = self.mix(engine, monitor).map(|sums| Self::exactly(&sums));
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
        let kept = engine.snapshot();
        let found = self.repair(engine, &kept, last, monitor);
        self.next_attempt = epochs + 1 + epochs / 10;
        self.next_gap = point.gap / FEWER;
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
        _: &Point,
        good: &dyn Fn(f64) -> bool,
        monitor: &mut dyn Monitor,
    ) -> Option<f64> {
        let kept = engine.snapshot();
        for by_prices in [true, false] {
            let found = if by_prices {
                self.reroute(engine, &kept, monitor)
            } else {
                self.mix(engine, monitor).map(|sums| Self::exactly(&sums))
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
