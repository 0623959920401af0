//! Scores with the whole kernel matrix in memory.

use super::deflated::{Deflation, Direction};
use super::{Moved, Scores, copy_rows};
use crate::error::SolverError;
use crate::kernel::check_square;
use crate::kernel::gram::{stored_product, with_scratch};
use crate::linalg::few_columns::{FEW, add_products};
use crate::linalg::matmul::{View, multiply_add};
use crate::linalg::vector::axpy;
use crate::memory;
use crate::pairwise::bias::Bias;
use crate::parallel::threads::Threads;
use crate::report::Monitor;
use std::borrow::Cow;

/// Rows of `F` that one chunk of work updates.
const CHUNK: usize = 512;

/// A stored kernel matrix and `F = K B`.
#[derive(Clone, Debug)]
pub struct StoredKernel<'a> {
    matrix: Cow<'a, [f64]>,
    diagonal: Vec<f64>,
    given_diagonal: Vec<f64>,
    labels: usize,
    scores: Vec<f64>,
    /// What is no longer in the matrix.
    deflation: Option<Deflation>,
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
            given_diagonal: diagonal.clone(),
            diagonal,
            matrix,
            labels,
            scores: memory::matrix(n, labels),
            deflation: None,
        })
    }

    /// Takes the mean direction out, where that pays for the bias: of a copy, which may take so many bytes, where the
    /// matrix is borrowed.
    #[must_use]
    pub fn deflated(self, bias: Bias, bytes: usize, threads: &Threads) -> Self {
        let n = self.instances();
        let mut mean_row = vec![0.0; n];
        for row in self.matrix.chunks_exact(n.max(1)) {
            axpy(1.0 / n as f64, row, &mut mean_row);
        }
        let Some(deflation) = Deflation::of(&mean_row, &self.diagonal, bias) else {
            return self;
        };
        let mut matrix = match self.matrix {
            Cow::Owned(matrix) => matrix,
            Cow::Borrowed(matrix) if size_of_val(matrix) > bytes => return self,
            Cow::Borrowed(matrix) => memory::copied(matrix),
        };
        deflation.take_from(&mut matrix, threads);
        let mut diagonal = self.diagonal;
        deflation.take_from_diagonal(&mut diagonal);
        diagonal
            .iter_mut()
            .for_each(|kappa| *kappa = kappa.max(0.0));
        Self {
            matrix: Cow::Owned(matrix),
            diagonal,
            deflation: Some(deflation),
            ..self
        }
    }

    fn row(&self, i: u32) -> &[f64] {
        let n = self.instances();
        &self.matrix[i as usize * n..][..n]
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

    fn given_diagonal(&self) -> &[f64] {
        &self.given_diagonal
    }

    fn chain_length(&self) -> usize {
        64
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], scratch: &mut Vec<f64>) {
        self.rows(block, scores, scratch);
        for (k, &i) in block.iter().enumerate() {
            let row = self.row(i);
            let values = &mut kernel[k * block.len()..(k + 1) * block.len()];
            for (value, &j) in values.iter_mut().zip(block).skip(k + 1) {
                *value = row[j as usize];
            }
        }
    }

    fn stored_row(&self, i: u32) -> Option<&[f64]> {
        Some(self.row(i))
    }

    fn close(&mut self, moved: Moved<'_>, threads: &Threads) {
        let (n, q, count) = (self.instances(), self.labels, moved.instances.len());
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

    fn rows(&self, instances: &[u32], out: &mut [f64], _scratch: &mut Vec<f64>) {
        copy_rows(&self.scores, self.labels, instances, out);
    }

    fn state(&mut self) -> &mut Vec<f64> {
        &mut self.scores
    }

    fn recompute(&mut self, dual: &Vec<f64>, threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let (n, q) = (self.instances(), self.labels);
        match stored_product(&self.matrix, n, dual, q, threads, monitor) {
            Some(scores) => {
                self.scores = scores;
                true
            }
            None => false,
        }
    }

    fn direction(&self) -> Option<&Direction> {
        self.deflation.as_ref()?.direction.as_ref()
    }

    fn whole(&self, dual: &Vec<f64>, threads: &Threads) -> Vec<f64> {
        let mut scores = self.all(threads);
        if let Some(deflation) = &self.deflation {
            deflation.add_to(&mut scores, dual, self.labels);
        }
        scores
    }

    fn constant(&self, dual: &Vec<f64>) -> Vec<f64> {
        match &self.deflation {
            Some(deflation) => deflation.constant(dual, self.labels),
            None => vec![0.0; self.labels],
        }
    }
}
