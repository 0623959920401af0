//! Scores with the whole kernel matrix in memory.

use super::{Moved, Scores, copy_rows};
use crate::error::{SolverError, refused};
use crate::kernel::gram::{stored_product, with_scratch};
use crate::linalg::few_columns::{FEW, add_products};
use crate::linalg::matmul::{View, multiply_add};
use crate::linalg::vector::axpy;
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// Rows of `F` that one chunk of work updates.
const CHUNK: usize = 512;

/// A stored kernel matrix, owned or borrowed, and `F = K B`.
#[derive(Clone, Debug)]
pub struct StoredKernel<'a> {
    matrix: &'a [f64],
    diagonal: Vec<f64>,
    labels: usize,
    scores: Vec<f64>,
}

impl<'a> StoredKernel<'a> {
    /// Wraps a symmetric `n x n` matrix; the scores start at 0.
    ///
    /// # Errors
    /// When the matrix is not square.
    pub fn new(matrix: &'a [f64], n: usize, labels: usize) -> Result<Self, SolverError> {
        if n.checked_mul(n) != Some(matrix.len()) {
            return Err(refused(
                "X",
                format!("a kernel matrix of {} numbers for {n} rows", matrix.len()),
                "a square matrix",
            ));
        }
        let diagonal = (0..n).map(|i| matrix[i * n + i]).collect::<Vec<_>>();
        Ok(Self {
            matrix,
            diagonal,
            labels,
            scores: memory::matrix(n, labels),
        })
    }
}

impl StoredKernel<'_> {
    /// The mean row of the matrix.
    pub fn mean_row(&self) -> Vec<f64> {
        let n = self.instances();
        let mut total = vec![0.0; n];
        for row in self.matrix.chunks_exact(n.max(1)) {
            axpy(1.0 / n as f64, row, &mut total);
        }
        total
    }
}

impl Scores for StoredKernel<'_> {
    type Dual = Vec<f64>;
    type Number = f64;

    fn instances(&self) -> usize {
        self.diagonal.len()
    }

    fn labels(&self) -> usize {
        self.labels
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn chain_length(&self) -> usize {
        64
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], scratch: &mut Vec<f64>) {
        let n = self.instances();
        self.rows(block, scores, scratch);
        for (k, &i) in block.iter().enumerate() {
            let row = &self.matrix[i as usize * n..(i as usize + 1) * n];
            let values = &mut kernel[k * block.len()..(k + 1) * block.len()];
            for (value, &j) in values.iter_mut().zip(block).skip(k + 1) {
                *value = row[j as usize];
            }
        }
    }

    fn stored_row(&self, i: u32) -> Option<&[f64]> {
        let n = self.instances();
        self.matrix.get(i as usize * n..(i as usize + 1) * n)
    }

    fn close(&mut self, moved: Moved<'_>, threads: &Threads) {
        let (n, q, count) = (self.instances(), self.labels, moved.instances.len());
        let matrix = self.matrix;
        threads.for_each_chunk(&mut self.scores, CHUNK * q, |chunk, scores| {
            let (first, length) = (chunk * CHUNK, scores.len() / q);
            let rows = moved.instances.iter().map(|&i| {
                let start = i as usize * n + first;
                &matrix[start..start + length]
            });
            if q <= FEW {
                add_products(&rows.collect::<Vec<_>>(), moved.changes, scores, q);
                return;
            }
            with_scratch(count * length, |panel| {
                for (copy, row) in panel.chunks_exact_mut(length).zip(rows) {
                    copy.copy_from_slice(row);
                }
                let left = View::rows(panel, length).transposed();
                let right = View::rows(moved.changes, q);
                multiply_add((length, count, q), left, right, scores);
            });
        });
    }

    fn rows(&self, instances: &[u32], out: &mut [f64], _scratch: &mut Vec<f64>) {
        copy_rows(&self.scores, self.labels, instances, out);
    }

    fn state(&mut self) -> &mut Vec<f64> {
        &mut self.scores
    }

    fn recompute(&mut self, dual: &Vec<f64>, threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let (n, q) = (self.instances(), self.labels);
        match stored_product(self.matrix, n, dual, q, threads, monitor) {
            Some(scores) => {
                self.scores = scores;
                true
            }
            None => false,
        }
    }
}
