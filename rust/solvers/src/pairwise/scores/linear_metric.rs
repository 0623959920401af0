//! Scores of a linear model on sparse features under a metric: `F = X W`, `W = M X^T B` for inner products `x^T M x'`.
//!
//! The images `z_i = M x_i` are dense and stored. A block is opened in time proportional to its nonzeros, and closed by
//! one product with its images: half the work of `LinearDense` on features that were multiplied by a root of `M`, which
//! would be dense too. What is
//! certified is computed from `M` itself.

use super::linear_dense::{LinearDense, chunk_rows};
use super::linear_sparse::LinearSparse;
use super::{Moved, Scores};
use crate::error::{SolverError, refused};
use crate::linalg::features::Sparse;
use crate::linalg::matmul::{View, multiply};
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::Monitor;
use multiversion::multiversion;
use std::sync::Arc;

/// Rows of the metric that are multiplied between two questions to the monitor.
const SLAB: usize = 256;

/// Rows of the images that one chunk of work computes.
const CHUNK: usize = 1024;

/// Columns of the metric that are used together: their sums fit in registers, and the second-level cache holds them
/// for some thousand features.
const COLUMNS: usize = 32;

/// Rows of the weights that are changed at once.
const ROWS: usize = 64;

/// Adds `x_f` times row `f` of a panel of the metric, for the nonzeros of an instance.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn combine(indices: &[i32], values: &[f64], panel: &[[f64; COLUMNS]], sums: &mut [f64; COLUMNS]) {
    let mut local = [0.0; COLUMNS];
    for (&f, &x) in indices.iter().zip(values) {
        for (sum, entry) in local.iter_mut().zip(&panel[f as usize]) {
            *sum += x * entry;
        }
    }
    *sums = local;
}

/// The images `M x_i` of consecutive instances from the first one on, row-major.
fn write_images(features: &Sparse<'_>, metric: &[f64], first: usize, images: &mut [f64]) {
    let d = features.columns();
    let mut panel = memory::filled([0.0; COLUMNS], d);
    let mut sums = [0.0; COLUMNS];
    for start in (0..d).step_by(COLUMNS) {
        let width = COLUMNS.min(d - start);
        for (packed, row) in panel.iter_mut().zip(metric.chunks_exact(d)) {
            packed[..width].copy_from_slice(&row[start..start + width]);
        }
        for (image, i) in images.chunks_exact_mut(d).zip(first..) {
            let (indices, values) = features.row(i);
            combine(indices, values, &panel, &mut sums);
            image[start..start + width].copy_from_slice(&sums[..width]);
        }
    }
}

/// Inner product of an instance and the image of another one.
fn product(features: &Sparse<'_>, i: usize, image: &[f64]) -> f64 {
    let (indices, values) = features.row(i);
    indices
        .iter()
        .zip(values)
        .map(|(&f, &x)| x * image[f as usize])
        .sum()
}

/// Sparse features, their images `z_i = M x_i`, and the weights `W`, `d x q` row-major.
#[derive(Clone, Debug)]
pub struct LinearMetric<'a> {
    features: Sparse<'a>,
    metric: &'a [f64],
    images: Arc<Vec<f64>>,
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
        metric: &'a [f64],
        labels: usize,
        threads: &Threads,
    ) -> Result<Self, SolverError> {
        let (n, d) = (features.rows(), features.columns());
        if metric.len() != d * d {
            return Err(refused(
                "metric",
                format!("{} numbers", metric.len()),
                "one row and one column for each feature",
            ));
        }
        let mut images = memory::matrix(n, d);
        threads.for_each_chunk(&mut images, CHUNK * d, |chunk, images| {
            write_images(&features, metric, chunk * CHUNK, images);
        });
        Ok(Self {
            diagonal: (0..n)
                .map(|i| product(&features, i, &images[i * d..(i + 1) * d]))
                .collect(),
            features,
            metric,
            images: Arc::new(images),
            labels,
            weights: memory::matrix(d, labels),
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
    type Dual = Vec<f64>;
    type Number = f64;

    const WEIGHTS: bool = true;
    const CHAINS: usize = 4;

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
                *value = product(&self.features, j as usize, image);
            }
        }
    }

    fn close(&mut self, moved: Moved<'_>, threads: &Threads) {
        let (d, q, count) = (self.features.columns(), self.labels, moved.instances.len());
        let mut panel = std::mem::take(&mut self.panel);
        panel.clear();
        for &i in moved.instances {
            panel.extend_from_slice(self.image(i));
        }
        let size = chunk_rows(d, count * q, ROWS);
        threads.for_each_chunk(&mut self.weights, size * q, |chunk, weights| {
            // In pieces that stay in the cache until they are added.
            let mut sums = vec![0.0; ROWS * q];
            for (piece, weights) in weights.chunks_mut(ROWS * q).enumerate() {
                let sums = &mut sums[..weights.len()];
                multiply(
                    (weights.len() / q, count, q),
                    View::rows(&panel[chunk * size + piece * ROWS..], d).transposed(),
                    View::rows(moved.changes, q),
                    sums,
                );
                for (weight, &sum) in weights.iter_mut().zip(sums.iter()) {
                    *weight += sum;
                }
            }
        });
        self.panel = panel;
    }

    fn rows(&self, instances: &[u32], out: &mut [f64], _scratch: &mut Vec<f64>) {
        self.features
            .row_products(instances, &self.weights, out, self.labels);
    }

    fn state(&mut self) -> &mut Vec<f64> {
        &mut self.weights
    }

    fn recompute(&mut self, dual: &Vec<f64>, threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let (d, q) = (self.features.columns(), self.labels);
        // M (X^T B) takes d multiplications for each weight, (M X^T) B would take n.
        let mut plain = LinearSparse::new(self.features, q);
        if !plain.recompute(dual, threads, monitor) {
            return false;
        }
        let sums = plain.into_weights();
        let mut weights = memory::matrix(d, q);
        for (metric, sums) in self.metric.chunks(SLAB * d).zip(sums.chunks(SLAB * q)) {
            if monitor.interrupted() {
                return false;
            }
            LinearDense::add(&mut weights, metric, sums, d, q, threads);
        }
        self.weights = weights;
        true
    }
}
