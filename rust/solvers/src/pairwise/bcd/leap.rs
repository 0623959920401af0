//! Leaps: iterations on all blocks at once ([`crate::pairwise::admm`]) between the epochs of problems on which these are slow.

use super::engine::{Engine, weighted_sum};
use super::step::Step;
use crate::linalg::rows::Rows;
use crate::linalg::vector::{axpy, dot, row_sum};
use crate::memory;
use crate::pairwise::admm::{Admm, Beside, ROUND, applies};
use crate::pairwise::loss::{Loss, sum_of_losses};
use crate::pairwise::scores::Scores;
use crate::report::Monitor;

/// Epochs between two leaps: a dual matrix of all blocks at once is off where the kernel is steep, which block steps mend.
const REST: usize = 3;

/// Epochs before the first leap, and those to the tolerated gap, at the current pace, beyond which it is taken: most problems
/// are solved by then. Linear scores need not wait as long, since a leap finds them a model of its own.
const PATIENCE: usize = 100;
const CRAWL: f64 = 1000.0;
const PATIENCE_OF_LINEAR: usize = 50;
const CRAWL_OF_LINEAR: f64 = 50.0;

/// How fast the gap falls.
#[derive(Clone, Debug)]
struct Pace {
    /// Epochs before a problem may count as slow.
    patience: usize,
    /// Epochs to the tolerated gap, at the current pace, beyond which it does.
    crawl: f64,
    /// Smallest gap so far, in units of the tolerated one.
    smallest: f64,
    /// Epochs, and the smallest gap, when there were half as many.
    before: (usize, f64),
    next: usize,
    crawls: bool,
}

impl Pace {
    /// Nothing for the first epochs.
    fn new(patience: usize, crawl: f64) -> Self {
        Self {
            patience,
            crawl,
            smallest: f64::INFINITY,
            before: (0, f64::INFINITY),
            next: patience / 2,
            crawls: false,
        }
    }

    /// Told of the gap after each epoch; whether it has ever been too far from the tolerated one for its pace. That is
    /// asked each time the epochs have doubled.
    fn crawls(&mut self, epochs: usize, gap: f64) -> bool {
        self.smallest = self.smallest.min(gap);
        if epochs >= self.next {
            if epochs >= self.patience {
                let pace = (self.before.1 / self.smallest).ln() / (epochs - self.before.0) as f64;
                self.crawls |= self.smallest.ln() > self.crawl * pace;
            }
            self.before = (epochs, self.smallest);
            self.next = 2 * epochs;
        }
        self.crawls
    }

    /// No pace is too slow any more.
    fn give_up(&mut self) {
        self.next = usize::MAX;
        self.crawls = false;
    }
}

/// The leaps of an engine.
pub(super) struct Leaps {
    pace: Pace,
    admm: Option<Admm>,
    /// Epochs until the next one.
    rest: usize,
}

impl Leaps {
    /// None so far.
    pub fn new(linear: bool) -> Self {
        let (patience, crawl) = if linear {
            (PATIENCE_OF_LINEAR, CRAWL_OF_LINEAR)
        } else {
            (PATIENCE, CRAWL)
        };
        Self {
            pace: Pace::new(patience, crawl),
            admm: None,
            rest: 0,
        }
    }
}

impl<S: Scores, T: Step> Engine<'_, S, T> {
    /// After `epochs` epochs with the given relative gap: iterates on all blocks at once when it is time for that. Returns the
    /// number of iterations, each as long as an epoch, and whether a leap is complete.
    pub fn leap(
        &mut self,
        (epochs, gap): (usize, f64),
        beside: Beside,
        monitor: &mut dyn Monitor,
    ) -> (usize, bool) {
        let gap = gap / self.settings.tolerance;
        let slow = self.settings.acceleration && self.leaps.pace.crawls(epochs, gap);
        // An epoch has to follow.
        let room = self.settings.max_epochs.saturating_sub(epochs + 1);
        let most = ROUND.min(room);
        if !slow || most == 0 || !applies(self.labels) {
            return (0, false);
        }
        if let Some(rest) = self.leaps.rest.checked_sub(1) {
            self.leaps.rest = rest;
            return (0, false);
        }
        if self.leaps.admm.is_none() {
            self.leaps.admm = self.split(beside, monitor);
        }
        let Some(admm) = &mut self.leaps.admm else {
            self.leaps.pace.give_up();
            return (0, false);
        };
        self.leaps.rest = REST;
        let loss = self.chains[0].loss();
        let count = admm.advance(most, self.labels, loss, self.threads, monitor);
        (count, count == most)
    }

    /// The method that moves all blocks at once, from the engine's point; `None` where there is none, or when interrupted.
    fn split(&mut self, beside: Beside, monitor: &mut dyn Monitor) -> Option<Admm> {
        let (n, q, mut buffer) = (self.labels.instances(), self.labels.count(), Vec::new());
        let bias = self.bias();
        let mut at = self.scores.all(self.threads);
        for (row, &factor) in at.chunks_exact_mut(q).zip(&self.factors) {
            axpy(factor, &bias, row);
        }
        let kept = memory::copied(self.scores.state());
        let admm = Admm::new(
            self.labels,
            self.scores,
            (self.dual.rows(0..n, q, &mut buffer), &at),
            (beside, &self.factors),
            self.threads,
            monitor,
        );
        *self.scores.state() = kept;
        admm
    }

    /// Moves to the dual matrix of the leaps so far; `false` (and no change) when there was none, or when interrupted.
    pub fn land(&mut self, beside: Beside, monitor: &mut dyn Monitor) -> bool {
        let Some(admm) = &self.leaps.admm else {
            return false;
        };
        let (dual, dual_terms) = admm.dual(self.labels, self.chains[0].loss());
        let dual = S::Dual::of_dense(dual, self.labels.count());
        if !self.scores.recompute(&dual, self.threads, monitor) {
            return false;
        }
        (self.sum, _) = weighted_sum(&dual, &self.factors, self.labels.count());
        let bias = match beside {
            Beside::Free => admm.bias(&self.scores.all(self.threads)),
            Beside::Direction(weight) => self.sum.iter().map(|g| weight * g).collect(),
        };
        (self.dual, self.dual_terms) = (dual, dual_terms);
        self.place(bias);
        true
    }

    /// Makes a bias that of the scores.
    fn place(&mut self, bias: Vec<f64>) {
        self.offset = bias;
        axpy(-self.sigma, &self.sum, &mut self.offset);
    }

    /// Whether leaps lead to a linear model beside the dual matrix.
    const FREE_WEIGHTS: bool = S::WEIGHTS && <T::Loss as Loss>::FREE_WEIGHTS;

    /// Whether there is such a model.
    pub fn has_model(&self) -> bool {
        Self::FREE_WEIGHTS && self.leaps.admm.is_some()
    }

    /// Gives linear scores the weights and the bias of the model that leaps lead to beside a dual matrix. Returns its primal
    /// objective; `None` (and no change) without leaps, for other scores, or when interrupted.
    pub fn take_model(&mut self, beside: Beside, monitor: &mut dyn Monitor) -> Option<f64> {
        let admm = self.leaps.admm.as_ref().filter(|_| Self::FREE_WEIGHTS)?;
        let (q, model) = (self.labels.count(), admm.model(self.labels, self.threads));
        let rows = S::Dual::of_dense(memory::copied(&model), q);
        if !self.scores.recompute(&rows, self.threads, monitor) {
            return None;
        }
        let scores = self.scores.all(self.threads);
        let mut quadratic = dot(&model, &scores);
        let bias = match beside {
            Beside::Free => admm.bias(&scores),
            Beside::Direction(weight) => {
                let sum = row_sum(&model, q);
                quadratic += weight * dot(&sum, &sum);
                sum.iter().map(|g| weight * g).collect()
            }
        };
        let loss = sum_of_losses(self.chains[0].loss(), self.labels, &scores, &bias);
        self.place(bias);
        Some(0.5 * quadratic + loss)
    }
}
