//! Scores of a linear model on sparse features under a metric: `F = X W`, `W = M X^T B` for inner products `x^T M x'`.
//!
//! The images `z_i = M x_i` are dense and stored. A block is opened in time proportional to its nonzeros, and closed by one
//! product with its images: half the work of `LinearDense` on features multiplied by a root of `M`, which would be dense as
//! well. Certificates are computed from `M` itself.

use super::linear_dense::LinearDense;
use super::linear_sparse::LinearSparse;
use super::{Moved, SLAB, Scores, VISITS};
use crate::error::{SolverError, refused};
use crate::linalg::features::{SPARSE, Sparse};
use crate::memory;
use crate::parallel::threads::{CHUNK, Threads};
use crate::report::Monitor;

/// Sparse features, their images `z_i = M x_i`, and the weights `W`, `d x q` row-major.
#[derive(Clone, Debug)]
pub struct LinearMetric<'a> {
    features: Sparse<'a>,
    metric: &'a [f64],
    images: Vec<f64>,
    diagonal: Vec<f64>,
    labels: usize,
    weights: Vec<f64>,
    panel: Vec<f64>,
}

impl<'a> LinearMetric<'a> {
    /// Starts at `B = 0`, with the images under a symmetric positive definite metric `M`, `d x d`.
    ///
    /// # Errors
    /// When the metric is not `d x d`.
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
            for (image, i) in images.chunks_exact_mut(d).zip(chunk * CHUNK..) {
                features.row_product(i, metric, image);
            }
        });
        Ok(Self {
            diagonal: (0..n)
                .map(|i| features.dot(i, &images[i * d..(i + 1) * d]))
                .collect(),
            features,
            metric,
            images,
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
        32
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], _: &mut Vec<f64>) {
        self.features
            .row_products(block, &self.weights, scores, self.labels);
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
            memory::append(&mut panel, self.image(i));
        }
        LinearDense::add(&mut self.weights, &panel, moved.changes, d, q, threads);
        self.panel = panel;
    }

    fn state(&mut self) -> &mut Vec<f64> {
        &mut self.weights
    }

    fn recompute(&mut self, dual: &Vec<f64>, threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let (d, q) = (self.features.columns(), self.labels);
        // M (X^T B) takes d multiplications per weight, (M X^T) B would take n.
        let mut plain = LinearSparse::new(self.features, q);
        if !plain.recompute(dual, threads, monitor) {
            return false;
        }
        let sums = plain.into_weights();
        let mut weights = memory::matrix(d, q);
        for (metric, sums) in self.metric.chunks(SLAB * d).zip(sums.chunks(SLAB * q)) {
            if monitor.poll().is_interrupted() {
                return false;
            }
            LinearDense::add(&mut weights, metric, sums, d, q, threads);
        }
        self.weights = weights;
        true
    }
}
