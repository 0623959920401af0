//! The scores of a chain's instances while it solves them.

use crate::linalg::vector::axpy;

/// Up to so many labels the scores lie label by label: a vector operation over the instances does more at a time than
/// one over a few labels.
const FEW_LABELS: usize = 32;

/// Scores of a few instances, which rank-one updates keep current.
#[derive(Debug, Default)]
pub(super) struct LocalScores {
    labels: usize,
    instances: usize,
    /// Row-major by instance, or by label where the labels are few.
    values: Vec<f64>,
    /// Row-major by instance.
    opened: Vec<f64>,
}

impl LocalScores {
    /// Room for the scores, row-major by instance; [`Self::set`] follows.
    pub fn rows(&mut self, instances: usize, labels: usize) -> &mut [f64] {
        (self.instances, self.labels) = (instances, labels);
        self.opened.resize(instances * labels, 0.0);
        &mut self.opened
    }

    /// Takes the scores that were written to [`Self::rows`].
    pub fn set(&mut self) {
        self.values.resize(self.opened.len(), 0.0);
        if self.by_label() {
            for (k, row) in self.opened.chunks_exact(self.labels).enumerate() {
                for (label, &score) in row.iter().enumerate() {
                    self.values[label * self.instances + k] = score;
                }
            }
        } else {
            std::mem::swap(&mut self.values, &mut self.opened);
        }
    }

    fn by_label(&self) -> bool {
        self.labels <= FEW_LABELS
    }

    /// Writes the scores of the `k`-th instance.
    pub fn read(&self, k: usize, scores: &mut [f64]) {
        if self.by_label() {
            for (score, values) in scores
                .iter_mut()
                .zip(self.values.chunks_exact(self.instances))
            {
                *score = values[k];
            }
        } else {
            scores.copy_from_slice(&self.values[k * self.labels..(k + 1) * self.labels]);
        }
    }

    /// Adds `kernel_j change` to the scores of the instances `first + j`.
    pub fn spread(&mut self, kernel: &[f64], change: &[f64], first: usize) {
        if self.by_label() {
            for (values, &delta) in self.values.chunks_exact_mut(self.instances).zip(change) {
                if delta != 0.0 {
                    axpy(delta, kernel, &mut values[first..first + kernel.len()]);
                }
            }
        } else {
            let rows = self.values.chunks_exact_mut(self.labels).skip(first);
            for (scores, &value) in rows.zip(kernel) {
                if value != 0.0 {
                    axpy(value, change, scores);
                }
            }
        }
    }
}
