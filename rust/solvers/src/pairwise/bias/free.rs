//! The free bias of Elisseeff and Weston, equality constraints `sum_i beta_i = 0` (Xu 2013, eq. (19)), by the augmented
//! Lagrangian.
//!
//! The engine sees the scores `F + sigma g + b` with `g = sum_i beta_i`, that is, the kernel `K + sigma` and a constant `b`.
//! After each epoch the multiplier moves to `b + sigma g`; it starts at the best bias without features. The dual value at
//! such a point bounds the problem with the bias held, not the problem itself, unless `g = 0`. So before stopping, the point
//! is repaired by mixing it with another one whose sum is a multiple of `-g`: a good one near by ([`super::oracle`]), or if
//! that fails a routing of `-g` ([`super::repair`]). The former comes with the best biases for the scores, which also serve
//! as the next multiplier at some earlier points.

use super::components::Components;
use super::oracle::{self, Flow, best_without_features};
use super::repair::{capacities, centred, comes_out_even, repaired};
use crate::error::{SolverError, refused};
use crate::labels::Labels;
use crate::linalg::vector::{axpy, mean};
use crate::memory;
use crate::pairwise::admm::Beside;
use crate::pairwise::bcd::{Certificate, Checkpoint, Engine, Iterate, Step, hinge_dual_terms};
use crate::pairwise::loss::{Loss, sum_of_losses};
use crate::pairwise::outer;
use crate::pairwise::rule::{Asked, Moment, Point, Rule, Worth};
use crate::pairwise::scores::{self, Deflation, DenseScores, rounding};
use crate::pairwise::setup::{Setup, Solution, prepare};
use crate::pairwise::tuning::{AUGMENTATION, REPAIR};
use crate::report::{Monitor, Status, relative, relative_gap};
use crate::tuning::Oracle;
use std::borrow::Cow;

/// The smallest augmentation for scores with the diagonal `K_ii`.
pub(super) fn augmentation(labels: &Labels, diagonal: &[f64]) -> f64 {
    // If a label's bias changes by 1, its entry of g changes by a share of the weight of its pairs: the second term is the
    // inverse of that, and lets the biases move even for a tiny C.
    let pairs = labels.weight_of_pairs();
    let per_label = if pairs > 0.0 {
        AUGMENTATION.per_label * labels.count() as f64 / pairs
    } else {
        0.0
    };
    AUGMENTATION.of_diagonal * mean(diagonal).max(0.0) + per_label
}

/// Largest change of the biases that counts as none.
pub(super) fn negligible(bias: &[f64]) -> f64 {
    let largest = bias
        .iter()
        .fold(1.0, |largest: f64, b| largest.max(b.abs()));
    AUGMENTATION.settled * largest
}

/// Solves a pairwise hinge problem with a free bias.
///
/// # Errors
/// When the loss is not the hinge, or settings, labels and scores do not match.
pub(crate) fn solve<T: Step>(
    labels: &Labels,
    scores: &mut DenseScores<'_>,
    deflation: Option<&Deflation>,
    step: T,
    setup: Setup,
    monitor: &mut dyn Monitor,
) -> Result<Solution, SolverError> {
    if !<T::Loss as Loss>::BOX {
        return Err(SolverError::Unsupported(
            "a free bias is available for the hinge loss only",
        ));
    }
    let Setup {
        start,
        start_bias,
        settings,
        threads,
        ..
    } = setup;
    let q = labels.count();
    let bias = start_bias.unwrap_or_else(|| vec![0.0; q]);
    if bias.len() != q {
        return Err(refused(
            "start_bias",
            format!("{} numbers", bias.len()),
            "one number for each label",
        ));
    }
    let Some(mut capacity) = capacities(labels, monitor) else {
        return Ok(Solution::interrupted(labels));
    };
    let components = Components::new(&capacity, q);
    let mut within = Cow::Borrowed(labels);
    if components.several() {
        within = Cow::Owned(labels.within(&components.of));
        // Recomputed for the components: how much each pair can have at once depends on the number of pairs.
        drop(std::mem::take(&mut capacity));
        let Some(found) = capacities(&within, monitor) else {
            return Ok(Solution::interrupted(labels));
        };
        capacity = found;
    }
    let Some(dual) = prepare(&within, scores, start, &settings, &threads, monitor)? else {
        return Ok(Solution::interrupted(labels));
    };
    let diagonal = scores.diagonal();
    let cold = dual.iter().chain(&bias).all(|&value| value == 0.0);
    let reach = mean(diagonal) * within.weight_of_pairs();
    let bias = if cold && reach <= AUGMENTATION.reach * q as f64 {
        best_without_features(&capacity, monitor)
    } else {
        centred(bias)
    };
    let sigma = augmentation(&within, diagonal);
    let mut rule = Free {
        labels: &within,
        capacity,
        components: &components,
        tolerance: settings.tolerance,
        tuning: &settings.tuning.oracle,
        sigma,
        next_attempt: 0,
        next_gap: settings.tuning.oracle.first_gap,
        better_bias: None,
        bound: 0.0,
    };
    let loss = step.loss().clone();
    let mut iterate = Iterate::new(&within, scores, deflation, dual, sigma, &threads);
    iterate.set_bias(bias, sigma);
    let mut engine = Engine::new(iterate, step, &settings);
    let ended = outer::run(&mut engine, &mut rule, &settings, monitor);
    let mut solution = ended.solution(engine.iterate.into_dual());
    if components.several() {
        // Pairs inside the components have the same loss as before, and those across have none, up to rounding.
        let image = scores::all(scores, &threads);
        let (report, bias) = (&mut solution.report, &mut solution.bias);
        let before = sum_of_losses(&loss, &within, &image, bias);
        components.lift(&image, bias);
        let after = sum_of_losses(&loss, labels, &image, bias);
        let quadratic = 2.0 * (report.primal - before);
        report.amend(0.5 * quadratic + after);
        if report.status == Status::Converged {
            let (found, tolerance) = (report.objectives(), settings.tolerance);
            let rounding = || rounding(scores, deflation, &solution.dual);
            let found = found.verdict(quadratic, tolerance, rounding);
            report.status = found.unwrap_or(Status::Stalled);
        }
    }
    Ok(solution)
}

/// The rule of a free bias.
struct Free<'a> {
    labels: &'a Labels,
    /// `C_ml`, see [`super::repair`].
    capacity: Vec<f64>,
    components: &'a Components,
    tolerance: f64,
    tuning: &'a Oracle,
    /// The smallest augmentation.
    sigma: f64,
    /// The epoch from which another repair may be tried.
    next_attempt: usize,
    /// The gap at which to look for better biases.
    next_gap: f64,
    /// The biases found.
    better_bias: Option<Vec<f64>>,
    /// The best bound of the repairs so far; at first that of `B = 0`.
    bound: f64,
}

impl Free<'_> {
    /// The oracle's answer at the engine's scores `F + b`, and these scores; `None` if it has no answer.
    fn ask<T: Step>(
        &self,
        engine: &Engine<'_, DenseScores<'_>, T>,
        from: &Point,
        monitor: &mut dyn Monitor,
    ) -> Option<(Flow, Vec<f64>)> {
        let (iterate, labels) = (&engine.iterate, self.labels);
        if labels.have_top() || !self.tuning.enabled {
            return None;
        }
        let threads = iterate.threads();
        let (mut scores, bias) = (scores::all(iterate.scores(), threads), iterate.bias());
        let rows = scores.chunks_exact_mut(bias.len());
        rows.for_each(|row| axpy(1.0, &bias, row));
        let (dual, diagonal) = (iterate.dual(), iterate.scores().diagonal());
        let flow = oracle::flow(
            &self.components.centred(iterate.sum()),
            labels.weight_of_pairs(),
            self.tolerance * from.primal.abs(),
            &mut |bands, monitor| {
                let mut found =
                    oracle::summary(labels, &scores, dual, diagonal, bands, threads, monitor)?;
                found.sum = self.components.centred(&found.sum);
                Some(found)
            },
            monitor,
        )?;
        Some((flow, scores))
    }

    /// The best biases at the engine's scores, or the engine's own if they are better.
    fn best_bias<T: Step>(
        &self,
        engine: &Engine<'_, DenseScores<'_>, T>,
        (flow, scores): &(Flow, Vec<f64>),
        from: &Point,
    ) -> Vec<f64> {
        let bias = engine.iterate.bias();
        let lower: Vec<f64> = flow.best.iter().map(|price| -price).collect();
        if sum_of_losses(engine.loss(), self.labels, scores, &lower) < losses(from) {
            centred(
                bias.iter()
                    .zip(&lower)
                    .map(|(b, lower)| b + lower)
                    .collect(),
            )
        } else {
            bias
        }
    }

    /// The engine's dual matrix mixed with the oracle's, with the best biases; `None` if there is none.
    fn rerouted<T: Step>(
        &self,
        engine: &Engine<'_, DenseScores<'_>, T>,
        from: &Point,
        monitor: &mut dyn Monitor,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let answer = self.ask(engine, from, monitor)?;
        let bias = self.best_bias(engine, &answer, from);
        let ((flow, scores), iterate) = (&answer, &engine.iterate);
        let mut dual = memory::copied(iterate.dual());
        oracle::mix(self.labels, scores, &mut dual, flow, iterate.threads());
        Some((dual, bias))
    }

    /// The engine's dual matrix mixed with a routing of `-g`, with its bias; `None` if there is none, or, unless this is the
    /// `last` point, if the mixture loses more than the tolerance.
    fn mixed<T: Step>(
        &self,
        engine: &Engine<'_, DenseScores<'_>, T>,
        from: &Point,
        last: bool,
        monitor: &mut dyn Monitor,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        // To first order the mixture loses its share of the losses.
        let most = if last {
            1.0
        } else {
            self.tolerance * from.primal / losses(from)
        };
        let iterate = &engine.iterate;
        let sum = self.components.centred(iterate.sum());
        let (labels, capacity) = (self.labels, &self.capacity);
        let dual = repaired(labels, capacity, iterate.dual(), &sum, most, monitor)?;
        Some((dual, iterate.bias()))
    }

    /// Moves the engine to the first of the two repairs that is `good`, otherwise to the better one. `None` if there is
    /// none: the engine is then back at the `kept` point.
    fn repair<'s, T: Step>(
        &mut self,
        engine: &mut Engine<'_, DenseScores<'s>, T>,
        from: &Point,
        kept: &Checkpoint<DenseScores<'s>>,
        last: bool,
        good: &dyn Fn(&Point) -> bool,
        monitor: &mut dyn Monitor,
    ) -> Option<Point> {
        let mut best = None;
        for by_oracle in [true, false] {
            let there = if by_oracle {
                self.rerouted(engine, from, monitor)
            } else {
                self.mixed(engine, from, last, monitor)
            };
            let even = |(dual, _): &(Vec<f64>, _)| comes_out_even(dual, self.labels.count());
            let there = there.filter(even);
            let there =
                there.map(|(dual, bias)| (hinge_dual_terms(self.labels, &dual), dual, bias));
            if let Some((terms, dual, bias)) = there
                && engine.iterate.replace_even(dual, terms, bias, monitor)
                && let Some(sums) = engine.certify(monitor)
            {
                let found = Point::certified(&sums, sums.quadratic);
                // A bound above the objective comes from rounding or an indefinite kernel.
                if found.dual <= found.primal {
                    self.bound = self.bound.max(found.dual);
                }
                if good(&found) {
                    return Some(found);
                }
                let rank = |point: &Point| (point.objectives().contradict(), point.gap);
                let better = |(other, _): &(Point, _)| rank(&found) < rank(other);
                if best.as_ref().is_none_or(better) {
                    best = Some((found, engine.iterate.checkpoint()));
                }
            }
            engine.roll_back(kept);
        }
        let (found, point) = best?;
        engine.roll_back(&point);
        Some(found)
    }
}

/// The sum of the losses at a point.
fn losses(point: &Point) -> f64 {
    point.primal - 0.5 * point.quadratic
}

impl<'s, T: Step> Rule<DenseScores<'s>, T> for Free<'_> {
    fn point(&self, engine: &Engine<'_, DenseScores<'s>, T>, sums: &Certificate) -> Point {
        let (negligible, sigma) = (negligible(&engine.iterate.bias()), engine.iterate.sigma());
        let primal = 0.5 * sums.quadratic + sums.loss;
        Point {
            primal,
            dual: primal - sums.gap,
            gap: relative(REPAIR.leaves * sums.gap, primal),
            quadratic: sums.quadratic,
            bound: self.bound,
            rounding: sums.rounding,
            certified: false,
            settled: engine
                .iterate
                .sum()
                .iter()
                .all(|g| sigma * g.abs() <= negligible),
        }
    }

    fn certify(
        &mut self,
        engine: &mut Engine<'_, DenseScores<'s>, T>,
        point: &mut Point,
        asked: Asked,
        monitor: &mut dyn Monitor,
    ) {
        let Asked {
            worth,
            tolerance,
            epochs,
        } = asked;
        let close = point.gap <= tolerance.max(self.next_gap);
        let last = worth == Worth::Last;
        if !(last || close && epochs >= self.next_attempt) {
            return;
        }
        self.next_attempt = epochs + 1 + epochs / 10;
        self.next_gap = point.gap / self.tuning.fewer;
        if !last && point.gap > tolerance {
            let answer = self.ask(engine, point, monitor);
            self.better_bias = answer.map(|answer| self.best_bias(engine, &answer, point));
            return;
        }
        let kept = engine.iterate.checkpoint();
        let good = |found: &Point| found.is_good(tolerance);
        match self.repair(engine, point, &kept, last, &good, monitor) {
            Some(found) if last || good(&found) => *point = found,
            Some(_) => {
                self.better_bias = Some(engine.iterate.bias());
                engine.roll_back(&kept);
            }
            None if last => {
                (point.dual, point.certified) = (self.bound, true);
                point.gap = relative_gap(point.primal, point.dual);
            }
            None => {}
        }
        point.bound = self.bound;
    }

    fn update(&mut self, engine: &mut Engine<'_, DenseScores<'s>, T>, moment: Moment) {
        let unmoved = match moment {
            Moment::Epoch | Moment::Leap => return,
            Moment::Moved => false,
            Moment::Unmoved => true,
        };
        // In the first epochs, a bias that is close to its goal waits for the blocks.
        let early = engine.epochs() <= AUGMENTATION.early;
        let iterate = &mut engine.iterate;
        let (sigma, squares) = (
            iterate.sigma(),
            iterate.sum().iter().map(|g| g * g).sum::<f64>(),
        );
        let offset = if let Some(bias) = self.better_bias.take() {
            centred(bias)
        } else if unmoved || !early || iterate.gap() <= sigma * squares {
            centred(iterate.bias())
        } else {
            iterate.offset().to_vec()
        };
        let sigma = if unmoved {
            // Nothing moves at these biases: increase the augmentation until something does.
            (sigma * AUGMENTATION.still_factor).min(AUGMENTATION.largest_growth * self.sigma)
        } else {
            self.sigma.max(sigma / AUGMENTATION.still_factor)
        };
        iterate.set_bias(offset, sigma);
    }

    fn beside(&self, _: &Engine<'_, DenseScores<'s>, T>) -> Beside {
        Beside::Free
    }

    fn bound(
        &mut self,
        engine: &mut Engine<'_, DenseScores<'s>, T>,
        from: &Point,
        good: &dyn Fn(f64) -> bool,
        monitor: &mut dyn Monitor,
    ) -> Option<f64> {
        let kept = engine.iterate.checkpoint();
        let found = self.repair(
            engine,
            from,
            &kept,
            true,
            &|found| good(found.dual),
            monitor,
        );
        let found = found.filter(|found| good(found.dual));
        if found.is_none() {
            engine.roll_back(&kept);
        }
        found.map(|found| found.dual)
    }

    fn bias(&self, engine: &Engine<'_, DenseScores<'s>, T>) -> Vec<f64> {
        centred(engine.iterate.bias())
    }
}
