//! Scores of a linear model on sparse features: `F = X W`, `W = X^T B`, in time proportional to the nonzeros.

use super::{Few, Moved, SLAB, Scores, VISITS};
use crate::linalg::features::{Features, SPARSE, Sparse};
use crate::linalg::rows::{Rows, find_nonzeros};
use crate::linalg::vector::axpy;
use crate::memory::{self, Number};
use crate::parallel::threads::Threads;
use crate::report::Monitor;
use std::marker::PhantomData;
use std::ops::Range;

/// Parts of the weights per thread, as some features have more nonzeros than others.
const PARTS: usize = 4;

/// Maximum size of a slab of `B`: small enough for the cache.
const SLAB_NUMBERS: usize = 1 << 16;

/// Labels whose scores are summed together.
const GATHERED: usize = 8;

/// Weights recomputed at a time, so that there is never a second copy of all.
const ANEW: usize = 1 << 24;

/// A scan uses each weight that it copies this many times.
const COPIED: usize = 8;

/// A change with fewer nonzeros than one in this many is added number by number.
const SCATTERED: usize = 8;

/// A row that is added to other rows.
#[derive(Clone, Copy, Debug)]
struct Change<'a> {
    /// Its numbers.
    values: &'a [f64],
    /// Places of its nonzeros, ascending.
    nonzeros: &'a [u32],
}

/// Sparse features and the weights `W = X^T B`, `d x q`, each stored as a `T`.
#[derive(Clone, Debug)]
pub struct LinearSparse<'a, T = f64, D = Vec<f64>> {
    features: Sparse<'a>,
    diagonal: Vec<f64>,
    labels: usize,
    weights: Vec<T>,
    dual: PhantomData<D>,
    /// Places of the nonzero changes of moved instances, one after the other, and the start of each.
    nonzeros: Vec<u32>,
    nonzero_starts: Vec<usize>,
}

impl<'a> LinearSparse<'a> {
    /// Starts at `B = 0`, with all weights dense in memory.
    pub fn new(features: Sparse<'a>, labels: usize) -> Self {
        Self::at_zero(features, labels)
    }
}

impl<'a, T: Number, D: Rows> LinearSparse<'a, T, D> {
    /// Starts at `B = 0`.
    pub fn at_zero(features: Sparse<'a>, labels: usize) -> Self {
        Self {
            diagonal: Features::Sparse(features).squared_norms(),
            labels,
            weights: memory::matrix(features.columns(), labels),
            features,
            dual: PhantomData,
            nonzeros: Vec::new(),
            nonzero_starts: Vec::new(),
        }
    }

    /// `W`, `d x q`.
    pub fn into_weights(self) -> Vec<T> {
        self.weights
    }
}

impl<T: Number, D: Rows> LinearSparse<'_, T, D> {
    /// Finds the nonzeros of changes.
    fn find_nonzeros(&mut self, changes: &[f64]) {
        self.nonzeros.clear();
        self.nonzero_starts.clear();
        self.nonzero_starts.push(0);
        for change in changes.chunks_exact(self.labels) {
            find_nonzeros(change, &mut self.nonzeros);
            self.nonzero_starts.push(self.nonzeros.len());
        }
    }

    /// Adds the rows of `X[instances]^T changes` from `first` on to the given weights.
    fn add<N: Number>(
        &mut self,
        moved: Moved<'_>,
        first: usize,
        weights: &mut [N],
        threads: &Threads,
    ) {
        let q = self.labels;
        self.find_nonzeros(moved.changes);
        let (nonzeros, starts) = (&self.nonzeros, &self.nonzero_starts);
        let parts = match threads.count() {
            1 => 1,
            count => PARTS * count,
        };
        let rows = (weights.len() / q).div_ceil(parts);
        threads.for_each_chunk(weights, rows * q, |part, weights| {
            let first = first + part * rows;
            for (k, &i) in moved.instances.iter().enumerate() {
                let change = Change {
                    values: &moved.changes[k * q..][..q],
                    nonzeros: &nonzeros[starts[k]..starts[k + 1]],
                };
                let (indices, values) = self.features.row(i as usize);
                for (&f, &x) in indices.iter().zip(values) {
                    let row = (f as usize).wrapping_sub(first);
                    // The other rows belong to other chunks.
                    if row < weights.len() / q {
                        add_to_row(&mut weights[row * q..][..q], x, change);
                    }
                }
            }
        });
    }
}

fn add_to_row<N: Number>(row: &mut [N], scale: f64, change: Change<'_>) {
    if change.nonzeros.len() * SCATTERED >= row.len() {
        return axpy(scale, change.values, row);
    }
    for &place in change.nonzeros {
        let place = place as usize;
        row[place] = N::nearest(row[place].into() + scale * change.values[place]);
    }
}

impl<T: Number, D: Rows> Scores for LinearSparse<'_, T, D> {
    type Dual = D;
    type Number = T;

    fn labels(&self) -> usize {
        self.labels
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn work(&self) -> f64 {
        VISITS * (SPARSE * self.features.nonzeros() * self.labels) as f64
    }

    fn chain_length(&self) -> usize {
        (self.labels / 4).clamp(1, 16)
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], scratch: &mut Vec<f64>) {
        self.features
            .row_products(block, &self.weights, scores, self.labels);
        if !kernel.is_empty() {
            memory::resize(scratch, self.features.columns(), 0.0);
            self.features.square(block, scratch, kernel, |x, y| x * y);
        }
    }

    fn close(&mut self, moved: Moved<'_>, threads: &Threads) {
        if let (&[i], Some(nonzeros)) = (moved.instances, moved.nonzeros) {
            let change = Change {
                values: moved.changes,
                nonzeros,
            };
            let (indices, values) = self.features.row(i as usize);
            for (&f, &x) in indices.iter().zip(values) {
                let row = &mut self.weights[f as usize * self.labels..][..self.labels];
                add_to_row(row, x, change);
            }
            return;
        }
        let mut weights = std::mem::take(&mut self.weights);
        self.add(moved, 0, &mut weights, threads);
        self.weights = weights;
    }

    fn few(&self) -> Option<&dyn Few> {
        Some(self)
    }

    fn state(&mut self) -> &mut Vec<T> {
        &mut self.weights
    }

    fn recompute(&mut self, dual: &D, threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let (n, d, q) = (self.diagonal.len(), self.features.columns(), self.labels);
        let (at_once, slab) = ((ANEW / q).max(1), (SLAB_NUMBERS / q).clamp(1, SLAB));
        let mut buffer = Vec::new();
        for row in (0..d).step_by(at_once) {
            let rows = row..d.min(row + at_once);
            let mut sums: Vec<f64> = memory::matrix(rows.len(), q);
            for first in (0..n).step_by(slab) {
                if monitor.poll().is_interrupted() {
                    return false;
                }
                let end = n.min(first + slab);
                let instances: Vec<u32> = (first as u32..end as u32).collect();
                let moved = Moved {
                    instances: &instances,
                    changes: dual.rows(first..end, q, &mut buffer),
                    nonzeros: None,
                };
                self.add(moved, row, &mut sums, threads);
            }
            let weights = &mut self.weights[rows.start * q..rows.end * q];
            for (weight, sum) in weights.iter_mut().zip(sums) {
                *weight = T::nearest(sum);
            }
        }
        true
    }
}

impl<T: Number, D: Rows> Few for LinearSparse<'_, T, D> {
    fn scores(&self, i: usize, labels: &[u32], out: &mut [f64]) {
        let (indices, values) = self.features.row(i);
        let mut at_once = [0; GATHERED];
        for (out, labels) in out.chunks_mut(GATHERED).zip(labels.chunks(GATHERED)) {
            // Sums beyond the last label are ignored.
            at_once[..labels.len()].copy_from_slice(labels);
            let mut sums = [0.0; GATHERED];
            for (&f, &x) in indices.iter().zip(values) {
                let row = &self.weights[f as usize * self.labels..][..self.labels];
                for (sum, &l) in sums.iter_mut().zip(&at_once) {
                    *sum += x * row[l as usize].into();
                }
            }
            out.copy_from_slice(&sums[..out.len()]);
        }
    }

    fn rows_at_once(&self) -> usize {
        let nonzeros = self
            .features
            .nonzeros()
            .div_ceil(self.features.rows().max(1));
        COPIED * self.features.columns() / nonzeros.max(1)
    }

    /// Copies the weights of the labels into one block, so that they stay in the cache.
    fn scan(
        &self,
        labels: Range<usize>,
        instances: &mut dyn Iterator<Item = usize>,
        each: &mut dyn FnMut(usize, &mut [f64]) -> bool,
    ) -> bool {
        let mut panel: Vec<T> = Vec::new();
        memory::reserve(&mut panel, self.features.columns() * labels.len());
        for row in self.weights.chunks_exact(self.labels) {
            panel.extend_from_slice(&row[labels.clone()]);
        }
        let mut scores = vec![0.0; labels.len()];
        for i in instances {
            self.features.row_product(i, &panel, &mut scores);
            if !each(i, &mut scores) {
                return false;
            }
        }
        true
    }
}
