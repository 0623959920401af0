//! Leaps: iterations on all blocks at once ([`super::admm`]) between epochs, on problems where epochs are slow. They lead to
//! a dual matrix, which is taken if it is better, and for linear models also to weights that are closer to the optimum.

use super::admm::{Admm, Beside, NoRoot, Root};
use super::bcd::{Checkpoint, Engine, Iterate, Step};
use super::loss::{Loss, sum_of_losses};
use super::rule::{Moment, Point, Rule};
use super::scores::{self, Scores};
use crate::linalg::rows::Rows;
use crate::linalg::vector::{axpy, dot, row_sum};
use crate::memory;
use crate::report::{Monitor, Objectives, Settings, relative_gap};
use crate::tuning::Leaping;

/// Cost of solving a block in an epoch, per score, in multiplications of a dense matrix product,
const SOLUTION: f64 = 1500.0;

/// and in an iteration.
const PROXIMAL: f64 = 600.0;

/// The state of the leaps.
pub(super) struct Accelerator {
    admm: Option<Admm>,
    /// Whether leaps have been given up.
    given_up: bool,
    /// Epochs until the next leap.
    rest: usize,
    /// The gap after each epoch.
    gaps: Vec<f64>,
    /// A lower bound of the kernel's rank, as far as it is known.
    rank: usize,
    /// Consecutive leaps without progress over previous leaps.
    failures: usize,
    /// Consecutive leaps that led to no better point than the epochs.
    rejected: usize,
    /// The highest dual objective reached by leaps.
    landed: f64,
    /// The epoch in which early leaps were given up.
    failed: Option<usize>,
}

/// The estimates by which leaps are judged.
struct Prospect<'a> {
    /// Epochs that would follow without leaps, and multiplications that a root may cost.
    epochs: f64,
    budget: f64,
    /// Rows with pairs, labels, and multiplications of an epoch.
    rows: f64,
    labels: f64,
    epoch: f64,
    tuning: &'a Leaping,
}

impl Prospect<'_> {
    /// Whether leaps with a root of `rank` columns cost less than the epochs.
    fn is_worth(&self, rank: usize) -> bool {
        let Self { rows, labels, .. } = *self;
        let (rank, count) = (rank as f64, self.tuning.expected as f64);
        let inverses = count / self.tuning.iterations as f64;
        let root = rank * (self.epoch / labels / 3.0 + 2.0 * rows * rank) + inverses * rank.powi(3);
        let iteration = labels * (2.0 * rows * rank + rank * rank + PROXIMAL * rows);
        let rests = inverses * self.tuning.rest as f64;
        root <= self.budget
            && root + count * iteration + rests * self.epoch < self.epochs * self.epoch
    }
}

impl Default for Accelerator {
    fn default() -> Self {
        Self {
            admm: None,
            given_up: false,
            rest: 0,
            gaps: Vec::new(),
            rank: 0,
            failures: 0,
            rejected: 0,
            landed: f64::NEG_INFINITY,
            failed: None,
        }
    }
}

impl Accelerator {
    /// Leaps after `epochs` epochs, if a leap is due, and keeps the result if the dual objective is higher. Returns the
    /// number of iterations, which count as epochs, and the point of a linear model if it reaches the tolerance.
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
        self.gaps.resize(epochs, f64::INFINITY);
        self.gaps[epochs - 1] = from.gap;
        // An epoch must follow.
        let most = tuning
            .iterations
            .min(settings.max_epochs.saturating_sub(epochs + 1));
        let labels = engine.iterate.labels();
        let small = labels.instances() * labels.count() <= tuning.scores;
        if !tuning.enabled || self.given_up || most == 0 || !small || from.is_exact() {
            return (0, None);
        }
        if let Some(rest) = self.rest.checked_sub(1) {
            self.rest = rest;
            return (0, None);
        }
        let (linear, few) = {
            let scores = engine.iterate.scores();
            (scores.is_linear(), scores.has_dense_columns())
        };
        if self.admm.is_none() {
            let early = epochs < self.begins(linear, few, tuning);
            if early || from.gap <= tuning.close * settings.tolerance {
                return (0, None);
            }
            let tuning = Leaping {
                early: if self.is_early(few) { tuning.early } else { 0 },
                ..tuning.clone()
            };
            let prospect = self.prospect(engine, settings.tolerance, &tuning);
            if !prospect.is_worth(self.rank) {
                return (0, None);
            }
            match split(engine, rule.beside(engine), &prospect, monitor) {
                Ok(admm) => {
                    engine.let_repeat(!self.is_early(few));
                    let extrapolation = &settings.tuning.extrapolation;
                    self.admm = admm.map(|admm| admm.extrapolated::<T::Loss>(extrapolation));
                }
                Err(NoRoot::Dear(rank)) => {
                    self.rank = rank;
                    return (0, None);
                }
                Err(NoRoot::Interrupted | NoRoot::Never) => {}
            }
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
        let Some((left, point, found)) = self.land(engine, rule, from, settings.tolerance, monitor)
        else {
            return (count, None);
        };
        if found.is_some() {
            return (count, found);
        }
        let better = point.dual > from.dual;
        if better {
            engine.restart();
            rule.update(engine, Moment::Leap);
        } else {
            engine.roll_back(&left);
        }
        self.rejected = if better { 0 } else { self.rejected + 1 };
        if better || point.dual > self.landed {
            (self.failures, self.landed) = (0, point.dual);
        } else {
            self.failures += 1;
        }
        let failed = self.failures == tuning.failures || self.rejected == tuning.rejected;
        if failed && self.is_early(few) {
            engine.let_repeat(true);
            (self.admm, self.failed) = (None, Some(epochs));
        }
        (count, None)
    }

    /// Whether leaps are early, before the epochs have settled: on few columns, unless early leaps have failed. On text,
    /// epochs are cheap, and a leap taken before they have settled is expensive.
    fn is_early(&self, few: bool) -> bool {
        few && self.failed.is_none()
    }

    /// The epoch after which leaps may begin.
    fn begins(&self, linear: bool, few: bool, tuning: &Leaping) -> usize {
        match self.failed {
            Some(epochs) => epochs + tuning.patience_anew,
            None if few => tuning.patience_of_columns,
            None if linear => tuning.patience_of_linear,
            None => tuning.patience,
        }
    }

    /// Estimates the remaining epochs from those made so far.
    fn prospect<'a, S: Scores + ?Sized, T: Step>(
        &self,
        engine: &Engine<'_, S, T>,
        tolerance: f64,
        tuning: &'a Leaping,
    ) -> Prospect<'a> {
        let (labels, scores) = (engine.iterate.labels(), engine.iterate.scores());
        let with_pairs = (0..labels.instances()).filter(|&i| labels.has_pairs(i));
        let (rows, q) = (with_pairs.count() as f64, labels.count() as f64);
        let active = engine.active() as f64 / rows;
        let share_of_rows = rows / labels.instances() as f64;
        let epoch = scores.work() * share_of_rows * active.max(1.0 / 3.0);
        // On text, solving a chain's instances again is cheap compared with the rest of an epoch.
        let dense = scores.has_dense_columns();
        let solved = if dense {
            engine.solved()
        } else {
            engine.active()
        };
        let epoch = epoch + SOLUTION * q * solved as f64;
        // The number of remaining epochs is a guess: if it is wrong, a root costs no more than the epochs made so far.
        let made = self.gaps.len() as f64;
        Prospect {
            epochs: epochs_left(&self.gaps, tolerance),
            budget: if dense { f64::INFINITY } else { made * epoch },
            rows,
            labels: q,
            epoch,
            tuning,
        }
    }

    /// For a loop that ends at `point` with a gap above the tolerance: the point of the linear model found by leaps, if its
    /// gap is smaller.
    pub fn better_model<S: Scores + ?Sized, T: Step>(
        &self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        point: &Point,
        monitor: &mut dyn Monitor,
    ) -> Option<Point> {
        let (left, _, found) = self.land(engine, rule, point, point.gap, monitor)?;
        if found.is_none() {
            engine.roll_back(&left);
        }
        found
    }

    /// Whether leaps have found a linear model in addition to the dual matrix.
    pub fn has_model<S: Scores + ?Sized, T: Step>(&self, engine: &Engine<'_, S, T>) -> bool {
        let linear = engine.iterate.scores().is_linear();
        linear && T::Loss::FREE_WEIGHTS && self.admm.is_some()
    }

    /// Moves to the dual matrix found by leaps. Returns the checkpoint from before, the new point, and that of
    /// [`Self::model`]. `None` (and no change) if there were no leaps, or when interrupted.
    fn land<S: Scores + ?Sized, T: Step>(
        &self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        from: &Point,
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
        let moved = engine.iterate.replace(dual, dual_terms, bias, monitor);
        let sums = moved.then(|| engine.certify(monitor)).flatten();
        let Some(sums) = sums else {
            engine.roll_back(&left);
            return None;
        };
        let point = rule.point(engine, &sums);
        let found = self.model(engine, rule, &point, (from, &left), tolerance, monitor);
        Some((left, point, found))
    }

    /// The point of the linear model found by leaps, if its gap to a bound from the engine's point, or from the previous
    /// one, is within the tolerance: the engine then has its scores, and the dual matrix of the bound.
    fn model<S: Scores + ?Sized, T: Step>(
        &self,
        engine: &mut Engine<'_, S, T>,
        rule: &mut impl Rule<S, T>,
        at: &Point,
        (from, left): (&Point, &Checkpoint<S>),
        tolerance: f64,
        monitor: &mut dyn Monitor,
    ) -> Option<Point> {
        if !self.has_model(engine) {
            return None;
        }
        let (beside, kept) = (rule.beside(engine), engine.iterate.checkpoint());
        let primal = self.take_model(engine, beside, monitor);
        engine.roll_back(&kept);
        let primal = primal?;
        // The scores of the model are not those of the dual matrix that bounds it.
        let rounding = at.rounding + engine.rounding_of_model(primal);
        let with = |dual| Objectives {
            primal,
            dual,
            rounding,
        };
        let good = |bound: f64| with(bound).certify(tolerance);
        let bounds = if good(at.dual) {
            Some(*at)
        } else if good(from.dual) {
            engine.roll_back(left);
            let anew = engine.iterate.recompute(monitor);
            let sums = anew.then(|| engine.certify(monitor)).flatten();
            sums.map(|sums| rule.point(engine, &sums))
        } else {
            return None;
        };
        let bounds = bounds.filter(|point| good(point.dual));
        let Some(bound) = bounds.and_then(|point| rule.bound(engine, &point, &good, monitor))
        else {
            engine.roll_back(&kept);
            return None;
        };
        let Some(primal) = self.take_model(engine, beside, monitor) else {
            engine.roll_back(&kept);
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

    /// Gives linear scores the weights and the bias of the model found by leaps. Returns its primal objective; `None`
    /// without leaps, or when interrupted.
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

/// Epochs until the gap is within the tolerance, extrapolated from the second half of the epochs so far.
fn epochs_left(gaps: &[f64], tolerance: f64) -> f64 {
    let (last, half) = (gaps.len() - 1, gaps.len() / 2);
    let rate = (gaps[half] / gaps[last]).ln() / (last - half) as f64;
    let left = (gaps[last] / tolerance).ln() / rate;
    // If the gap grows, or is not finite yet, there is far to go.
    if left >= 0.0 { left } else { f64::INFINITY }
}

/// The scores of all instances, with the bias.
fn scores_with_bias<S: Scores + ?Sized>(iterate: &Iterate<'_, S>) -> Vec<f64> {
    let (q, bias) = (iterate.labels().count(), iterate.bias());
    let mut at = scores::all(iterate.scores(), iterate.threads());
    for (row, &factor) in at.chunks_exact_mut(q).zip(iterate.factors()) {
        axpy(factor, &bias, row);
    }
    at
}

/// The method that moves all blocks at once, started at the engine's point; `None` if there is no inverse.
fn split<S: Scores + ?Sized, T: Step>(
    engine: &mut Engine<'_, S, T>,
    beside: Beside,
    prospect: &Prospect<'_>,
    monitor: &mut dyn Monitor,
) -> Result<Option<Admm>, NoRoot> {
    let (iterate, tuning) = (&mut engine.iterate, prospect.tuning);
    let (labels, threads) = (iterate.labels(), iterate.threads());
    let (n, q, mut buffer) = (labels.instances(), labels.count(), Vec::new());
    let at = scores_with_bias(iterate);
    iterate.borrow_scores(|scores, dual, factors| {
        let worth = |rank: usize| prospect.is_worth(rank);
        let root = Root::new(
            labels,
            scores,
            (beside, factors),
            worth,
            tuning,
            threads,
            monitor,
        )?;
        let dual = dual.rows(0..n, q, &mut buffer);
        Ok(Admm::new(root, dual, &at, q, tuning, threads, monitor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_are_foreseen_by_the_second_half_of_those_before() {
        let gaps: Vec<f64> = (0..9).map(|k| 0.5_f64.powi(k)).collect();
        assert!((epochs_left(&gaps, gaps[8] / 32.0) - 5.0).abs() < 1e-9);
        assert_eq!(epochs_left(&gaps, gaps[8]), 0.0);
        for gaps in [
            vec![1.0],
            vec![1.0, 1.0],
            vec![1.0, 2.0],
            vec![f64::INFINITY, f64::NAN],
        ] {
            assert_eq!(epochs_left(&gaps, 1e-3), f64::INFINITY, "{gaps:?}");
        }
    }

    /// More epochs justify a larger root, cheap epochs a smaller one.
    #[test]
    fn leaps_cost_what_their_root_does() {
        let tuning = Leaping::default();
        let largest = |epochs: f64, epoch: f64| {
            let prospect = Prospect {
                epochs,
                budget: f64::INFINITY,
                rows: 1000.0,
                labels: 6.0,
                epoch,
                tuning: &tuning,
            };
            (1..1000).rev().find(|&rank| prospect.is_worth(rank))
        };
        assert_eq!(largest(10.0, 1e7), None);
        let [few, many] = [300.0, 3000.0].map(|epochs| largest(epochs, 1e7));
        assert!(few.is_some() && few < many, "{few:?} {many:?}");
        assert!(largest(300.0, 3e6) < few);
        assert_eq!(largest(f64::INFINITY, 1e7), Some(999));
        let prospect = Prospect {
            epochs: f64::INFINITY,
            budget: 1e9,
            rows: 1000.0,
            labels: 6.0,
            epoch: 1e7,
            tuning: &tuning,
        };
        assert!(prospect.is_worth(100) && !prospect.is_worth(999));
    }
}
