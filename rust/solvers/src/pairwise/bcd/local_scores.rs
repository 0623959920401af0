//! The scores of a chain's instances while it solves them.

use crate::linalg::vector::axpy;

/// Scores of a few instances, which rank-one updates keep current. They lie label by label: a vector operation over the
/// instances does more at a time than one over a few labels, and skips the labels that stay as they are.
#[derive(Debug, Default)]
pub(super) struct LocalScores {
    instances: usize,
    values: Vec<f64>,
}

impl LocalScores {
    /// Takes scores that are row-major by instance.
    pub fn set(&mut self, rows: &[f64], labels: usize) {
        self.instances = rows.len() / labels;
        self.values.resize(rows.len(), 0.0);
        for (k, row) in rows.chunks_exact(labels).enumerate() {
            for (label, &score) in row.iter().enumerate() {
                self.values[label * self.instances + k] = score;
            }
        }
    }

    /// Writes the scores of the `k`-th instance.
    pub fn read(&self, k: usize, scores: &mut [f64]) {
        let by_label = self.values.chunks_exact(self.instances);
        for (score, values) in scores.iter_mut().zip(by_label) {
            *score = values[k];
        }
    }

    /// Adds `kernel_j change` to the scores of the instances `first + j`.
    pub fn spread(&mut self, kernel: &[f64], change: &[f64], first: usize) {
        let by_label = self.values.chunks_exact_mut(self.instances);
        for (values, &delta) in by_label.zip(change) {
            if delta != 0.0 {
                axpy(delta, kernel, &mut values[first..first + kernel.len()]);
            }
        }
    }
}
