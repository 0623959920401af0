//! Scores of a linear model on sparse features: `F = X W`, `W = X^T B`, in time proportional to the nonzeros.

use super::{Moved, Scores};
use crate::features::Sparse;
use crate::report::Monitor;
use crate::threads::Threads;
use crate::vector::axpy;
use std::ops::Range;

/// Sparse features and the weights `W = X^T B`, `d x q` row-major.
#[derive(Clone, Debug)]
pub struct LinearSparse<'a> {
    features: Sparse<'a>,
    diagonal: Vec<f64>,
    labels: usize,
    weights: Vec<f64>,
    /// One feature vector, all zero between uses.
    dense: Vec<f64>,
    /// Nonzero entries of one instance's change.
    nonzeros: Vec<(u32, f64)>,
}

impl<'a> LinearSparse<'a> {
    /// Starts at `B = 0`.
    pub fn new(features: Sparse<'a>, labels: usize) -> Self {
        let diagonal = (0..features.rows())
            .map(|i| features.row(i).1.iter().map(|x| x * x).sum())
            .collect();
        let d = features.columns();
        Self {
            features,
            diagonal,
            labels,
            weights: vec![0.0; d * labels],
            dense: vec![0.0; d],
            nonzeros: Vec::new(),
        }
    }

    /// `W`, `d x q` row-major.
    pub fn into_weights(self) -> Vec<f64> {
        self.weights
    }

    /// `weights += x_i change^T`, over the nonzeros of the change when there are few.
    fn add(
        features: &Sparse<'_>,
        weights: &mut [f64],
        nonzeros: &mut Vec<(u32, f64)>,
        i: usize,
        change: &[f64],
    ) {
        let q = change.len();
        nonzeros.clear();
        nonzeros.extend(
            change
                .iter()
                .enumerate()
                .filter(|(_, value)| **value != 0.0)
                .map(|(k, &value)| (k as u32, value)),
        );
        let (indices, values) = features.row(i);
        for (&f, &x) in indices.iter().zip(values) {
            let row = &mut weights[f as usize * q..(f as usize + 1) * q];
            if nonzeros.len() * 4 < q {
                for &(k, value) in nonzeros.iter() {
                    row[k as usize] += x * value;
                }
            } else {
                axpy(x, change, row);
            }
        }
    }
}

impl Scores for LinearSparse<'_> {
    const WEIGHTS: bool = true;

    fn fresh(&self, labels: usize) -> Self {
        Self::new(self.features, labels)
    }

    fn instances(&self) -> usize {
        self.features.rows()
    }

    fn labels(&self) -> usize {
        self.labels
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn block_size(&self) -> usize {
        (self.labels / 4).clamp(1, 32)
    }

    fn open(&mut self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], threads: &Threads) {
        let q = self.labels;
        let this = &*self;
        threads.for_each_chunk(scores, 4 * q, |chunk, scores| {
            for (k, scores) in scores.chunks_exact_mut(q).enumerate() {
                let i = block[chunk * 4 + k] as usize;
                this.features.row_product(i, &this.weights, scores);
            }
        });
        self.features.square(block, &mut self.dense, kernel);
    }

    fn close(&mut self, moved: Moved<'_>, _threads: &Threads) {
        for (&i, change) in moved
            .instances
            .iter()
            .zip(moved.changes.chunks_exact(self.labels))
        {
            Self::add(
                &self.features,
                &mut self.weights,
                &mut self.nonzeros,
                i as usize,
                change,
            );
        }
    }

    fn rows(&self, range: Range<usize>, out: &mut [f64]) {
        for (i, scores) in range.zip(out.chunks_exact_mut(self.labels)) {
            self.features.row_product(i, &self.weights, scores);
        }
    }

    fn recompute(&mut self, dual: &[f64], _threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let mut weights = vec![0.0; self.weights.len()];
        for (i, change) in dual.chunks_exact(self.labels).enumerate() {
            if i % 256 == 0 && monitor.interrupted() {
                return false;
            }
            Self::add(&self.features, &mut weights, &mut self.nonzeros, i, change);
        }
        self.weights = weights;
        true
    }
}
