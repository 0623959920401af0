//! The scores of a chain's instances while they are being solved.

use crate::memory;
use multiversion::multiversion;

/// Number of instances whose scores are updated by a loop of fixed length.
const WIDTH: usize = 64;

/// Scores of a few instances, kept current by rank-one updates. They are stored label by label: vector operations over the
/// instances are longer than over a few labels, and skip the labels that do not change.
#[derive(Debug, Default)]
pub(super) struct LocalScores {
    instances: usize,
    values: Vec<f64>,
}

impl LocalScores {
    /// Copies scores that are row-major by instance.
    pub fn set(&mut self, rows: &[f64], labels: usize) {
        self.instances = rows.len() / labels;
        memory::resize(&mut self.values, rows.len(), 0.0);
        for (k, row) in rows.chunks_exact(labels).enumerate() {
            for (label, &score) in row.iter().enumerate() {
                self.values[label * self.instances + k] = score;
            }
        }
    }

    /// Writes the scores of some labels of the `k`-th instance.
    pub fn read(&self, k: usize, labels: &[u32], scores: &mut [f64]) {
        for (score, &label) in scores.iter_mut().zip(labels) {
            *score = self.values[label as usize * self.instances + k];
        }
    }

    /// Adds `kernel_k change` to the scores of the labels of each instance `k`.
    pub fn spread(&mut self, kernel: &[f64], labels: &[u32], change: &[f64]) {
        spread(&mut self.values, kernel, labels, change);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx2+fma", "x86_64+avx2+fma"))]
fn spread(values: &mut [f64], kernel: &[f64], labels: &[u32], change: &[f64]) {
    for (&label, &delta) in labels.iter().zip(change) {
        if delta != 0.0 {
            let values = &mut values[label as usize * kernel.len()..][..kernel.len()];
            let (blocks, rest) = values.as_chunks_mut::<WIDTH>();
            let (of_blocks, of_rest) = kernel.as_chunks::<WIDTH>();
            for (values, kernel) in blocks.iter_mut().zip(of_blocks) {
                for (value, kernel) in values.iter_mut().zip(kernel) {
                    *value += delta * kernel;
                }
            }
            for (value, kernel) in rest.iter_mut().zip(of_rest) {
                *value += delta * kernel;
            }
        }
    }
}
