//! Scores of a linear model on sparse features: `F = X W`, `W = X^T B`, in time proportional to the nonzeros.

use super::{Moved, Scores};
use crate::linalg::features::Sparse;
use crate::linalg::vector::axpy;
use crate::memory::{self, Purpose};
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// Rows of the weights that one chunk of work changes.
const ROWS: usize = 32;

/// Rows of `B` that are multiplied between two questions to the monitor.
const SLAB: usize = 256;

/// Sparse features and the weights `W = X^T B`, `d x q` row-major.
#[derive(Clone, Debug)]
pub struct LinearSparse<'a> {
    features: Sparse<'a>,
    diagonal: Vec<f64>,
    labels: usize,
    weights: Vec<f64>,
    /// The entries of instances that moved, by chunks of the weights, and where those of each chunk start.
    entries: Vec<Entry>,
    starts: Vec<usize>,
}

impl<'a> LinearSparse<'a> {
    /// Starts at `B = 0`.
    pub fn new(features: Sparse<'a>, labels: usize) -> Self {
        let norms = (0..features.rows()).map(|i| features.row(i).1.iter().map(|x| x * x).sum());
        let diagonal = memory::collected(norms, Purpose::Rows);
        let d = features.columns();
        Self {
            features,
            diagonal,
            labels,
            weights: memory::matrix(d, labels, Purpose::FeaturesByLabels),
            entries: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// `W`, `d x q` row-major.
    pub fn into_weights(self) -> Vec<f64> {
        self.weights
    }
}

/// One instance's entry of a feature.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// The feature's row within its chunk of the weights.
    row: u32,
    /// The place of the instance among those that moved.
    moved: u32,
    value: f64,
}

impl LinearSparse<'_> {
    /// Sorts the entries of some instances by chunks of the weights, so that each chunk comes from memory once; within
    /// a chunk the order of the instances stays.
    fn sort_entries(&mut self, instances: &[u32]) {
        let chunks = self.features.columns().div_ceil(ROWS);
        let starts = &mut self.starts;
        starts.clear();
        starts.resize(chunks + 2, 0);
        for &i in instances {
            for &f in self.features.row(i as usize).0 {
                starts[f as usize / ROWS + 2] += 1;
            }
        }
        for chunk in 2..starts.len() {
            starts[chunk] += starts[chunk - 1];
        }
        self.entries.clear();
        memory::resize(
            &mut self.entries,
            starts[chunks + 1],
            Entry::default(),
            Purpose::Features,
        );
        for (&i, moved) in instances.iter().zip(0..) {
            let (indices, values) = self.features.row(i as usize);
            for (&f, &value) in indices.iter().zip(values) {
                // Counts from where the chunk starts to where it ends, which is where the next one starts.
                let next = &mut starts[f as usize / ROWS + 1];
                self.entries[*next] = Entry {
                    row: (f as usize % ROWS) as u32,
                    moved,
                    value,
                };
                *next += 1;
            }
        }
    }
}

impl Scores for LinearSparse<'_> {
    const WEIGHTS: bool = true;
    const CHAINS: usize = 4;

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

    fn chain_length(&self) -> usize {
        (self.labels / 4).clamp(1, 16)
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], scratch: &mut Vec<f64>) {
        self.rows(block, scores, scratch);
        memory::resize(scratch, self.features.columns(), 0.0, Purpose::Features);
        self.features.square(block, scratch, kernel);
    }

    fn close(&mut self, moved: Moved<'_>, threads: &Threads) {
        let q = self.labels;
        self.sort_entries(moved.instances);
        let (entries, starts) = (&self.entries, &self.starts);
        threads.for_each_chunk(&mut self.weights, ROWS * q, |chunk, weights| {
            for entry in &entries[starts[chunk]..starts[chunk + 1]] {
                let row = &mut weights[entry.row as usize * q..][..q];
                let change = &moved.changes[entry.moved as usize * q..][..q];
                axpy(entry.value, change, row);
            }
        });
    }

    fn rows(&self, instances: &[u32], out: &mut [f64], _scratch: &mut Vec<f64>) {
        self.features
            .row_products(instances, &self.weights, out, self.labels);
    }

    fn state(&mut self) -> &mut Vec<f64> {
        &mut self.weights
    }

    fn recompute(&mut self, dual: &[f64], threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let q = self.labels;
        let zeros = memory::zeros(self.weights.len(), Purpose::FeaturesByLabels);
        let current = std::mem::replace(&mut self.weights, zeros);
        for (index, changes) in dual.chunks(SLAB * q).enumerate() {
            if monitor.interrupted() {
                self.weights = current;
                return false;
            }
            let first = (index * SLAB) as u32;
            let instances: Vec<u32> = (first..first + (changes.len() / q) as u32).collect();
            let moved = Moved {
                instances: &instances,
                changes,
            };
            self.close(moved, threads);
        }
        true
    }
}
