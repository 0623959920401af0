//! The pivoted Cholesky decomposition of a positive semidefinite matrix whose columns are requested in blocks.

use crate::linalg::matmul::{View, multiply};
use crate::linalg::vector::axpy;
use crate::memory;

/// The decomposition is complete when nothing of the diagonal exceeds this share of its largest entry.
const LEFT: f64 = 1e-13;

/// `M = L L^T`, up to the columns of `M` that have been added.
#[derive(Clone, Debug)]
pub struct PivotedCholesky {
    /// The columns of `L`, one after the other.
    columns: Vec<f64>,
    /// The diagonal of `M - L L^T`.
    rest: Vec<f64>,
    /// The largest entry of the diagonal of `M`, and the sum of all.
    largest: f64,
    total: f64,
}

impl PivotedCholesky {
    /// The decomposition of a matrix with this diagonal before any column is added.
    pub fn new(diagonal: Vec<f64>) -> Self {
        Self {
            columns: Vec::new(),
            largest: diagonal.iter().copied().fold(0.0, f64::max),
            total: diagonal.iter().sum(),
            rest: diagonal,
        }
    }

    /// Number of columns of `L`.
    pub fn rank(&self) -> usize {
        self.columns.len() / self.rest.len().max(1)
    }

    /// Up to `most` columns of `M` with the largest residuals; none when the decomposition is complete.
    pub fn pivots(&self, most: usize) -> Vec<usize> {
        let rest = &self.rest;
        let left = (0..rest.len()).filter(|&k| self.is_left(k));
        let mut pivots: Vec<usize> = left.collect();
        pivots.sort_unstable_by(|&j, &k| rest[k].total_cmp(&rest[j]).then(j.cmp(&k)));
        pivots.truncate(most);
        pivots
    }

    fn is_left(&self, k: usize) -> bool {
        self.rest[k] > LEFT * self.largest
    }

    /// The share of the diagonal's sum that the columns explain.
    pub fn explained(&self) -> f64 {
        1.0 - self.rest.iter().sum::<f64>() / self.total
    }

    /// Adds columns of `M` that do not depend on the previous ones; `entry(j, k)` is row `j` of the `k`-th one. False if
    /// there would be more than `most`, or numbers have overflowed.
    pub fn add(
        &mut self,
        pivots: &[usize],
        most: usize,
        entry: impl Fn(usize, usize) -> f64,
    ) -> bool {
        let (count, width, rank) = (self.rest.len(), pivots.len(), self.rank());
        let mut panel = memory::matrix(count, width);
        let at_pivots = pivots
            .iter()
            .map(|&pivot| (0..rank).map(move |j| j * count + pivot));
        let known: Vec<f64> = at_pivots.flatten().map(|at| -self.columns[at]).collect();
        let found = View::rows(&self.columns, count).transposed();
        let known = View::rows(&known, rank).transposed();
        multiply((count, rank, width), found, known, &mut panel);
        for (k, &pivot) in pivots.iter().enumerate() {
            if !self.is_left(pivot) {
                continue;
            }
            if self.rank() == most {
                return false;
            }
            let value = |j| entry(j, k) + panel[j * width + k];
            let mut column: Vec<f64> = memory::collected((0..count).map(value));
            for other in self.columns[rank * count..].chunks_exact(count) {
                axpy(-other[pivot], other, &mut column);
            }
            let scale = column[pivot].sqrt().recip();
            if !scale.is_finite() {
                return false;
            }
            for (entry, rest) in column.iter_mut().zip(&mut self.rest) {
                *entry *= scale;
                *rest -= *entry * *entry;
            }
            self.rest[pivot] = 0.0;
            memory::extend(&mut self.columns, column);
        }
        true
    }

    /// The columns of `L`, one after the other; `None` if there are none, or if `M` is indefinite beyond rounding.
    pub fn into_columns(self) -> Option<Vec<f64>> {
        let least = -LEFT.sqrt() * self.largest;
        let definite = self.rest.iter().all(|&rest| rest >= least);
        (definite && !self.columns.is_empty()).then_some(self.columns)
    }
}
