//! Scores with the whole kernel matrix in memory.

use super::deflated::Deflation;
use super::{Moved, Scores, copy_rows};
use crate::error::SolverError;
use crate::kernel::check_square;
use crate::kernel::gram::{stored_product, with_scratch};
use crate::linalg::few_columns::{FEW, add_products};
use crate::linalg::matmul::{View, multiply_add};
use crate::linalg::vector::axpy;
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::Monitor;
use crate::tuning::Deflating;
use std::borrow::Cow;

/// Rows of `F` that one chunk of work updates.
const CHUNK: usize = 512;

/// A stored kernel matrix and `F = K B`.
#[derive(Clone, Debug)]
pub struct StoredKernel<'a> {
    matrix: Cow<'a, [f64]>,
    diagonal: Vec<f64>,
    labels: usize,
    scores: Vec<f64>,
}

impl<'a> StoredKernel<'a> {
    /// Wraps a symmetric `n x n` matrix; the scores start at 0.
    ///
    /// # Errors
    /// When the matrix is not square.
    pub fn new(
        matrix: impl Into<Cow<'a, [f64]>>,
        n: usize,
        labels: usize,
    ) -> Result<Self, SolverError> {
        let matrix = matrix.into();
        check_square(&matrix, n)?;
        let diagonal: Vec<f64> = matrix.iter().copied().step_by(n + 1).collect();
        Ok(Self {
            diagonal,
            matrix,
            labels,
            scores: memory::matrix(n, labels),
        })
    }

    /// Takes the mean direction out of the kernel with this constant beside it, where that pays, or centres it where there is
    /// no constant: a copy of it, which may take so many bytes, where the
    /// matrix is borrowed.
    pub(in crate::pairwise) fn deflate(
        &mut self,
        constant: Option<f64>,
        tuning: &Deflating,
        bytes: usize,
        threads: &Threads,
    ) -> Option<Deflation> {
        let n = self.diagonal.len();
        let mut mean_row = vec![0.0; n];
        for row in self.matrix.chunks_exact(n.max(1)) {
            axpy(1.0 / n as f64, row, &mut mean_row);
        }
        let deflation = Deflation::of(&mean_row, &self.diagonal, constant, tuning)?;
        if let Cow::Borrowed(matrix) = self.matrix {
            if size_of_val(matrix) > bytes {
                return None;
            }
            self.matrix = Cow::Owned(memory::copied(matrix));
        }
        if let Cow::Owned(matrix) = &mut self.matrix {
            deflation.take_from(matrix, threads);
        }
        deflation.take_from_diagonal(&mut self.diagonal);
        self.diagonal
            .iter_mut()
            .for_each(|kappa| *kappa = kappa.max(0.0));
        Some(deflation)
    }

    fn row(&self, i: u32) -> &[f64] {
        let n = self.diagonal.len();
        &self.matrix[i as usize * n..][..n]
    }
}

impl Scores for StoredKernel<'_> {
    type Dual = Vec<f64>;
    type Number = f64;

    fn labels(&self) -> usize {
        self.labels
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn chain_length(&self) -> usize {
        64
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], _: &mut Vec<f64>) {
        copy_rows(&self.scores, self.labels, block, scores);
        let rows = kernel.chunks_exact_mut(block.len()).zip(block);
        for (k, (values, &i)) in rows.enumerate() {
            let row = self.row(i);
            for (value, &j) in values.iter_mut().zip(block).skip(k + 1) {
                *value = row[j as usize];
            }
        }
    }

    fn stored_row(&self, i: u32) -> Option<&[f64]> {
        Some(self.row(i))
    }

    fn close(&mut self, moved: Moved<'_>, threads: &Threads) {
        let (n, q, count) = (self.diagonal.len(), self.labels, moved.instances.len());
        let matrix = &self.matrix;
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

    fn state(&mut self) -> &mut Vec<f64> {
        &mut self.scores
    }

    fn recompute(&mut self, dual: &Vec<f64>, threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let (n, q) = (self.diagonal.len(), self.labels);
        match stored_product(&self.matrix, n, dual, q, threads, monitor) {
            Some(scores) => {
                self.scores = scores;
                true
            }
            None => false,
        }
    }
}
