//! Scores of a linear model on dense features: `F = X W`, `W = X^T B`.

use super::{Moved, SLAB, Scores, VISITS};
use crate::linalg::features::{Dense, Features};
use crate::linalg::matmul::{View, multiply, multiply_add};
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// Multiplications below which threads cost more than they save.
const PARALLEL_WORK: usize = 400_000;

/// Rows per chunk of work for a product of `rows` rows with `work` multiplications each.
pub(super) fn chunk_rows(rows: usize, work: usize, chunk: usize) -> usize {
    if rows.saturating_mul(work) < PARALLEL_WORK {
        rows.max(1)
    } else {
        chunk
    }
}

/// Dense features and the weights `W = X^T B`, `d x q` row-major.
#[derive(Clone, Debug)]
pub struct LinearDense<'a> {
    features: Dense<'a>,
    diagonal: Vec<f64>,
    labels: usize,
    weights: Vec<f64>,
    panel: Vec<f64>,
}

impl<'a> LinearDense<'a> {
    /// Starts at `B = 0`.
    pub fn new(features: Dense<'a>, labels: usize) -> Self {
        Self {
            diagonal: Features::Dense(features).squared_norms(),
            features,
            labels,
            weights: memory::matrix(features.columns(), labels),
            panel: Vec::new(),
        }
    }

    /// `W`, `d x q` row-major.
    pub fn into_weights(self) -> Vec<f64> {
        self.weights
    }

    /// `weights += panel^T changes`, for the `d` wide rows of the panel.
    pub(in crate::pairwise) fn add(
        weights: &mut [f64],
        panel: &[f64],
        changes: &[f64],
        d: usize,
        q: usize,
        threads: &Threads,
    ) {
        let count = changes.len() / q;
        let size = chunk_rows(d, count * q, 64);
        threads.for_each_chunk(weights, size * q, |chunk, weights| {
            let left = View::rows(&panel[chunk * size..], d).transposed();
            multiply_add(
                (weights.len() / q, count, q),
                left,
                View::rows(changes, q),
                weights,
            );
        });
    }
}

impl Scores for LinearDense<'_> {
    type Dual = Vec<f64>;
    type Number = f64;

    fn labels(&self) -> usize {
        self.labels
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn has_dense_columns(&self) -> bool {
        true
    }

    fn work(&self) -> f64 {
        VISITS * (self.features.data().len() * self.labels) as f64
    }

    fn chain_length(&self) -> usize {
        // The kernel within a block of b instances costs b d per instance, and saves vector products of cost 4 d q.
        self.labels.clamp(8, 64)
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], scratch: &mut Vec<f64>) {
        let (d, count) = (self.features.columns(), block.len());
        self.features.gather(block, scratch);
        let (view, weights) = (
            View::rows(scratch, d),
            View::rows(&self.weights, self.labels),
        );
        multiply((count, d, self.labels), view, weights, scores);
        if !kernel.is_empty() {
            multiply((count, d, count), view, view.transposed(), kernel);
        }
    }

    fn close(&mut self, moved: Moved<'_>, threads: &Threads) {
        let (d, q) = (self.features.columns(), self.labels);
        self.features.gather(moved.instances, &mut self.panel);
        Self::add(&mut self.weights, &self.panel, moved.changes, d, q, threads);
    }

    fn state(&mut self) -> &mut Vec<f64> {
        &mut self.weights
    }

    fn recompute(&mut self, dual: &Vec<f64>, threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let (d, q) = (self.features.columns(), self.labels);
        let mut weights = memory::matrix(d, q);
        for (index, block) in dual.chunks(SLAB * q).enumerate() {
            if monitor.poll().is_interrupted() {
                return false;
            }
            let panel = &self.features.data()[index * SLAB * d..][..block.len() / q * d];
            Self::add(&mut weights, panel, block, d, q, threads);
        }
        self.weights = weights;
        true
    }
}
