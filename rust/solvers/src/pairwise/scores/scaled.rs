//! Scores of a kernel multiplied by a constant.

use super::{DenseScores, Moved, Scores};
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// The scores `factor K B` of a kernel `factor K`.
///
/// The state may start at scores that do not come from a `B` of these instances, such as those of a given model on top of
/// which the instances are fitted.
pub struct Scaled<'a> {
    inner: &'a mut DenseScores<'a>,
    factor: f64,
    diagonal: Vec<f64>,
    changes: Vec<f64>,
}

impl<'a> Scaled<'a> {
    /// Multiplies the kernel of `inner`, which is at `B = 0`, by a factor.
    pub fn new(inner: &'a mut DenseScores<'a>, factor: f64) -> Self {
        Self {
            diagonal: inner.diagonal().iter().map(|k| factor * k).collect(),
            inner,
            factor,
            changes: Vec::new(),
        }
    }
}

impl Scores for Scaled<'_> {
    type Dual = Vec<f64>;
    type Number = f64;

    fn labels(&self) -> usize {
        self.inner.labels()
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn is_linear(&self) -> bool {
        self.inner.is_linear()
    }

    fn has_dense_columns(&self) -> bool {
        self.inner.has_dense_columns()
    }

    fn chain_length(&self) -> usize {
        self.inner.chain_length()
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], scratch: &mut Vec<f64>) {
        self.inner.open(block, scores, kernel, scratch);
        kernel.iter_mut().for_each(|value| *value *= self.factor);
    }

    fn close(&mut self, moved: Moved<'_>, threads: &Threads) {
        self.changes.clear();
        let changes = moved.changes.iter().map(|change| self.factor * change);
        memory::extend(&mut self.changes, changes);
        let moved = Moved {
            instances: moved.instances,
            changes: &self.changes,
            ..moved
        };
        self.inner.close(moved, threads);
    }

    fn state(&mut self) -> &mut Vec<f64> {
        self.inner.state()
    }

    fn recompute(&mut self, dual: &Vec<f64>, threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let complete = self.inner.recompute(dual, threads, monitor);
        if complete {
            let factor = self.factor;
            let state = self.inner.state();
            state.iter_mut().for_each(|value| *value *= factor);
        }
        complete
    }
}
