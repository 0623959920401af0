//! The free bias of Elisseeff and Weston, equality constraints `sum_i beta_i = 0` (Xu 2013, eq. (19)), by the augmented
//! Lagrangian.
//!
//! The engine sees the scores `F + sigma g + b` with `g = sum_i beta_i`, which is the kernel `K + sigma` and a constant `b`;
//! after each epoch the multiplier moves to `b + sigma g`. The dual value at such a point bounds the problem with the
//! bias held, not the problem itself, unless `g = 0`. So before stopping, the point is repaired ([`super::repair`]).

use super::repair::{centred, repaired};

use crate::labels::Labels;
use crate::memory::{self, Purpose};
use crate::pairwise::bcd::{Certificate, Engine, Step, hinge_dual_terms};
use crate::pairwise::outer::{Point, Rule};
use crate::pairwise::scores::Scores;
use crate::report::{Monitor, relative, relative_gap};

/// Weight of the augmentation, relative to the mean of the kernel's diagonal.
const AUGMENTATION: f64 = 0.3;

/// Growth of the augmentation after an epoch in which nothing moved.
const STILL_FACTOR: f64 = 4.0;

/// Largest growth of the augmentation.
const LARGEST_GROWTH: f64 = 1e12;

/// Steps of the biases below this share of the largest one are rounding.
const SETTLED: f64 = 1e-14;

/// The rule of a free bias.
pub(super) struct Free<'a> {
    labels: &'a Labels,
    /// `C_ml`, see [`super::repair`].
    capacity: &'a [f64],
    tolerance: f64,
    /// The least augmentation.
    pub sigma: f64,
    next_attempt: usize,
}

impl<'a> Free<'a> {
    /// The rule for scores with the diagonal `K_ii`.
    pub fn new(labels: &'a Labels, capacity: &'a [f64], diagonal: &[f64], tolerance: f64) -> Self {
        let mean = diagonal.iter().sum::<f64>() / diagonal.len().max(1) as f64;
        // Biases are of order 1, and g is at most the weight of all pairs: the second term lets even a tiny C move them.
        let weight: f64 = (0..labels.instances())
            .map(|i| labels.weight(i) * labels.pairs(i) as f64)
            .sum();
        Self {
            labels,
            capacity,
            tolerance,
            sigma: AUGMENTATION * mean.max(0.0) + 1.0 / weight,
            next_attempt: 0,
        }
    }

    /// Moves the engine to the repaired point and returns the certificate there; `None` (at the old point) when there is
    /// no repair.
    fn repair<S: Scores, T: Step>(
        &self,
        engine: &mut Engine<'_, S, T>,
        monitor: &mut dyn Monitor,
    ) -> Option<Certificate> {
        let dual = repaired(
            self.labels,
            self.capacity,
            &engine.dual,
            &engine.sum,
            monitor,
        )?;
        if !engine.recompute_for(&dual, monitor) {
            return None;
        }
        engine.dual_terms = hinge_dual_terms(self.labels, &dual);
        engine.dual = dual;
        // g = 0 from here on, and the bias stays.
        engine.offset = engine.bias();
        engine.sum.fill(0.0);
        Some(engine.certify())
    }
}

impl Rule for Free<'_> {
    fn point<S: Scores, T: Step>(&self, engine: &Engine<'_, S, T>, sums: &Certificate) -> Point {
        let primal = 0.5 * sums.quadratic + sums.loss;
        let bias = engine.bias();
        let shifted: f64 = bias.iter().zip(&engine.sum).map(|(b, g)| b * g).sum();
        Point {
            primal,
            dual: primal - sums.gap,
            gap: relative(sums.gap + shifted.abs(), primal),
            quadratic: sums.quadratic,
            // Without a repair the only lower bound is that of B = 0.
            bound: 0.0,
            certified: false,
        }
    }

    fn settled<S: Scores, T: Step>(&self, engine: &Engine<'_, S, T>) -> bool {
        let bias = engine.bias();
        let largest = bias
            .iter()
            .fold(1.0, |largest: f64, b| largest.max(b.abs()));
        let step = |g: &f64| engine.sigma * g.abs();
        engine.sum.iter().all(|g| step(g) <= SETTLED * largest)
    }

    fn certify<S: Scores, T: Step>(
        &mut self,
        engine: &mut Engine<'_, S, T>,
        point: &mut Point,
        epochs: usize,
        last: bool,
        monitor: &mut dyn Monitor,
    ) {
        let close = point.gap <= self.tolerance;
        if !(last || close && epochs >= self.next_attempt) {
            return;
        }
        let kept = (
            memory::copied(&engine.dual, Purpose::RowsByLabels),
            memory::copied(&engine.dual_terms, Purpose::Rows),
            engine.sum.clone(),
            engine.offset.clone(),
        );
        let sums = self.repair(engine, monitor);
        let (primal, dual, quadratic) = match sums {
            Some(sums) => (
                0.5 * sums.quadratic + sums.loss,
                sums.dual_terms - 0.5 * sums.quadratic,
                sums.quadratic,
            ),
            None => (point.primal, point.bound, point.quadratic),
        };
        let gap = relative_gap(primal, dual);
        if last || sums.is_some() && gap <= self.tolerance {
            *point = Point {
                primal,
                dual,
                gap,
                quadratic,
                bound: dual,
                certified: true,
            };
            return;
        }
        (engine.dual, engine.dual_terms, engine.sum, engine.offset) = kept;
        engine.recompute(monitor);
        self.next_attempt = epochs + 1 + epochs / 5;
    }

    fn follow<S: Scores, T: Step>(&self, engine: &mut Engine<'_, S, T>, unmoved: bool) {
        engine.offset = centred(engine.bias());
        engine.sigma = if unmoved {
            // Nothing moves at these biases: take larger steps until something does.
            (engine.sigma * STILL_FACTOR).min(LARGEST_GROWTH * self.sigma)
        } else {
            self.sigma.max(engine.sigma / STILL_FACTOR)
        };
    }

    fn bias<S: Scores, T: Step>(&self, engine: &Engine<'_, S, T>) -> Vec<f64> {
        centred(engine.bias())
    }
}
