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

/// Epochs before the first leap: most problems are solved by then. Linear scores need not wait as long, since a leap finds
/// them a model of its own.
const PATIENCE: usize = 400;
const PATIENCE_OF_LINEAR: usize = 50;

/// A gap of less than so many times the tolerated one is left to block steps, unless there have been leaps.
const CLOSE: f64 = 3.0;

/// The leaps of an engine.
#[derive(Default)]
pub(super) struct Leaps {
    admm: Option<Admm>,
    /// Whether there can be none.
    given_up: bool,
    /// Epochs until the next one.
    rest: usize,
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
        let patience = if S::WEIGHTS {
            PATIENCE_OF_LINEAR
        } else {
            PATIENCE
        };
        let begins = epochs >= patience && gap > CLOSE * self.settings.tolerance;
        let due = begins && self.settings.acceleration && !self.leaps.given_up;
        // An epoch has to follow.
        let room = self.settings.max_epochs.saturating_sub(epochs + 1);
        let most = ROUND.min(room);
        if !(due || self.leaps.admm.is_some()) || most == 0 || !applies(self.labels) {
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
            self.leaps.given_up = true;
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
        let (dual, dual_terms) = admm.dual(self.labels, self.loss());
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
        let loss = sum_of_losses(self.loss(), self.labels, &scores, &bias);
        self.place(bias);
        Some(0.5 * quadratic + loss)
    }
}
