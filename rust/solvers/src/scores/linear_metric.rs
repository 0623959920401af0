//! Scores of a linear model on sparse features under a metric: `F = X W`, `W = M X^T B` for inner products `x^T M x'`.
//!
//! The images `z_i = M x_i` are dense and stored. A block is opened in time proportional to its nonzeros, and closed by
//! one product with its images: half the work of `LinearDense` on features that were multiplied by a root of `M`, which
//! would be dense too.

use super::linear_dense::LinearDense;
use super::{Moved, Scores};
use crate::features::Sparse;
use crate::report::{Monitor, SolverError};
use crate::threads::Threads;
use crate::vector::axpy;
use std::sync::Arc;

/// Rows of `B` that are multiplied between two questions to the monitor.
const SLAB: usize = 256;

/// Rows of the images that one chunk of work computes.
const CHUNK: usize = 512;

/// Columns of the metric that are used together: as many as the second-level cache holds for some thousand features.
const COLUMNS: usize = 128;

/// Sparse features, their images `z_i = M x_i`, and the weights `W`, `d x q` row-major.
#[derive(Clone, Debug)]
pub struct LinearMetric<'a> {
    features: Sparse<'a>,
    images: Arc<[f64]>,
    diagonal: Vec<f64>,
    labels: usize,
    weights: Vec<f64>,
    panel: Vec<f64>,
}

impl<'a> LinearMetric<'a> {
    /// Starts at `B = 0`, with the images under a symmetric positive definite metric `M`, `d x d`.
    ///
    /// # Errors
    /// When the metric has another size.
    pub fn new(
        features: Sparse<'a>,
        metric: &[f64],
        labels: usize,
        threads: &Threads,
    ) -> Result<Self, SolverError> {
        let (n, d) = (features.rows(), features.columns());
        if metric.len() != d * d {
            return Err(SolverError::Argument {
                name: "metric",
                found: format!("{} numbers", metric.len()),
                expected: "one row and one column for each feature",
            });
        }
        let mut images = vec![0.0; n * d];
        threads.for_each_chunk(&mut images, CHUNK * d, |chunk, images| {
            for start in (0..d).step_by(COLUMNS) {
                let columns = start..(start + COLUMNS).min(d);
                for (image, i) in images.chunks_exact_mut(d).zip(chunk * CHUNK..) {
                    let (indices, values) = features.row(i);
                    for (&f, &x) in indices.iter().zip(values) {
                        let row = &metric[f as usize * d..(f as usize + 1) * d];
                        axpy(x, &row[columns.clone()], &mut image[columns.clone()]);
                    }
                }
            }
        });
        Ok(Self {
            diagonal: (0..n)
                .map(|i| features.dot(i, &images[i * d..(i + 1) * d]))
                .collect(),
            features,
            images: images.into(),
            labels,
            weights: vec![0.0; d * labels],
            panel: Vec::new(),
        })
    }

    fn image(&self, i: u32) -> &[f64] {
        let d = self.features.columns();
        &self.images[i as usize * d..(i as usize + 1) * d]
    }

    /// `W`, `d x q` row-major.
    pub fn into_weights(self) -> Vec<f64> {
        self.weights
    }
}

impl Scores for LinearMetric<'_> {
    const WEIGHTS: bool = true;
    const CHAINS: usize = 4;

    fn fresh(&self, labels: usize) -> Self {
        Self {
            labels,
            weights: vec![0.0; self.features.columns() * labels],
            ..self.clone()
        }
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
        32
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], scratch: &mut Vec<f64>) {
        self.rows(block, scores, scratch);
        for (k, (row, &i)) in kernel.chunks_exact_mut(block.len()).zip(block).enumerate() {
            let image = self.image(i);
            for (value, &j) in row.iter_mut().zip(block).skip(k + 1) {
                *value = self.features.dot(j as usize, image);
            }
        }
    }

    fn close(&mut self, moved: Moved<'_>, threads: &Threads) {
        let (d, q) = (self.features.columns(), self.labels);
        let mut panel = std::mem::take(&mut self.panel);
        panel.clear();
        for &i in moved.instances {
            panel.extend_from_slice(self.image(i));
        }
        LinearDense::add(&mut self.weights, &panel, moved.changes, d, q, threads);
        self.panel = panel;
    }

    fn rows(&self, instances: &[u32], out: &mut [f64], _scratch: &mut Vec<f64>) {
        for (scores, &i) in out.chunks_exact_mut(self.labels).zip(instances) {
            self.features.row_product(i as usize, &self.weights, scores);
        }
    }

    fn recompute(&mut self, dual: &[f64], threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let (d, q) = (self.features.columns(), self.labels);
        let mut weights = vec![0.0; d * q];
        let images = self.images.chunks((SLAB * d).max(1));
        for (block, images) in dual.chunks(SLAB * q).zip(images) {
            if monitor.interrupted() {
                return false;
            }
            LinearDense::add(&mut weights, images, block, d, q, threads);
        }
        self.weights = weights;
        true
    }
}
