//! A root `A` of the kernel, `K = A A^T`, by the pivoted Cholesky decomposition.

use super::Beside;
use crate::labels::Labels;
use crate::linalg::cholesky::PivotedCholesky;
use crate::linalg::matmul::{View, multiply_add};
use crate::linalg::vector::{axpy, dot, mean, transposed};
use crate::memory;
use crate::pairwise::admm::map::scale;
use crate::pairwise::scores::{self, LinearDense, Moved, Scores};
use crate::parallel::threads::{CHUNK, Threads};
use crate::report::Monitor;
use crate::tuning::Leaping;

/// Rows of the root that are multiplied between two polls of the monitor.
const TOGETHER: usize = 256;

/// `A`, with a row for each instance that has pairs.
pub(crate) struct Root {
    /// The instances.
    pub instances: Vec<u32>,
    pub values: Vec<f64>,
    pub rank: usize,
    /// Scales of its rows and those of `F`, `Z` and `U`.
    pub scales: Vec<f64>,
    /// Whether the bias is free.
    pub free: bool,
}

/// Why there is no root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoot {
    /// The kernel is indefinite, or its rank too large.
    Never,
    /// The rank is at least this, which is too expensive.
    Dear(usize),
    Interrupted,
}

/// A lower estimate of the number of columns that explain everything, from the shares explained earlier and now. Pivots gain
/// less and less: the explained share grows at most like a power of their number.
fn foreseen(before: (f64, f64), (rank, explained): (f64, f64)) -> f64 {
    let power = (explained / before.1).ln() / (rank / before.0).ln();
    let power = if power.is_finite() {
        power.min(1.0)
    } else {
        1.0
    };
    rank * explained.recip().powf(power.recip())
}

/// The kernel of the scores between some instances and the `pivots` among them, row-major with a column for each label, of
/// which only the first ones are meaningful. Afterwards `scores` is in the state of `B = 0`.
fn kernel_columns<S: Scores + ?Sized>(
    scores: &mut S,
    instances: &[u32],
    pivots: &[usize],
    threads: &Threads,
) -> Vec<f64> {
    let q = scores.labels();
    let mut units = memory::matrix(pivots.len(), q);
    for (k, unit) in units.chunks_exact_mut(q).enumerate() {
        unit[k] = 1.0;
    }
    let moved: Vec<u32> = pivots.iter().map(|&pivot| instances[pivot]).collect();
    let moved = Moved {
        instances: &moved,
        changes: &units,
        nonzeros: None,
    };
    scores.state().fill(S::Number::default());
    scores.close(moved, threads);
    scores::of(scores, instances, threads)
}

impl Root {
    /// The pivoted Cholesky decomposition of the kernel of the scores and the part `beside` it, with the factors `v`, unless
    /// its estimated rank is not `worth` it. Changes the state of `scores`.
    pub fn new<S: Scores + ?Sized>(
        labels: &Labels,
        scores: &mut S,
        (beside, factors): (Beside, &[f64]),
        worth: impl Fn(usize) -> bool,
        tuning: &Leaping,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Result<Self, NoRoot> {
        let q = scores.labels();
        let weight = match beside {
            Beside::Direction(weight) => weight,
            Beside::Free => 0.0,
        };
        let instances: Vec<u32> = (0..labels.instances() as u32)
            .filter(|&i| labels.has_pairs(i as usize))
            .collect();
        let factor = |i: u32| factors[i as usize];
        let diagonal = scores.diagonal();
        let of = |&i: &u32| diagonal[i as usize] + weight * factor(i).powi(2);
        let count = instances.len();
        let most = tuning.rank.min(tuning.root / count.max(1));
        let mut root = PivotedCholesky::new(instances.iter().map(of).collect());
        let (mut judged, mut before) = (tuning.probed, (0.0, 0.0));
        loop {
            let pivots = root.pivots(q);
            if pivots.is_empty() {
                break;
            }
            if monitor.poll().breaks_off() {
                return Err(NoRoot::Interrupted);
            }
            let rank = root.rank();
            if rank >= judged {
                let explained = root.explained();
                let needed = foreseen(before, (rank as f64, explained)) as usize;
                before = (rank as f64, explained);
                if needed > most && count > most {
                    return Err(NoRoot::Never);
                }
                if !worth(needed.min(count)) {
                    return Err(NoRoot::Dear(needed.min(count)));
                }
                judged = 2 * rank;
            }
            let kernel = kernel_columns(scores, &instances, &pivots, threads);
            let value = |j: usize, k: usize| {
                let own = weight * factor(instances[pivots[k]]);
                kernel[j * q + k] + own * factor(instances[j])
            };
            if !root.add(&pivots, most, value) {
                return Err(NoRoot::Never);
            }
        }
        let rank = root.rank();
        let columns = root.into_columns().ok_or(NoRoot::Never)?;
        let mut root = Self {
            instances,
            values: transposed(&columns, rank, count),
            rank,
            scales: vec![1.0; count],
            free: matches!(beside, Beside::Free),
        };
        // The rows of a centred kernel differ in length because nearly equal rows cancel.
        if scores.is_linear() {
            root.scale();
        }
        if root.free {
            root.centre();
        }
        Ok(root)
    }

    /// Scales all rows to equal length: the scores of long rows would dominate the others. A nearly zero row stays short.
    fn scale(&mut self) {
        let squares = self.values.chunks_exact(self.rank).map(|row| dot(row, row));
        let squares: Vec<f64> = squares.collect();
        let mean = mean(&squares);
        self.scales = squares.iter().map(|&square| scale(square, mean)).collect();
        for (row, scale) in self.values.chunks_exact_mut(self.rank).zip(&self.scales) {
            row.iter_mut().for_each(|value| *value *= scale);
        }
    }

    /// Subtracts the mean row.
    fn centre(&mut self) {
        let mean_row = self.mean_row(&self.values, self.rank);
        for (row, scale) in self.values.chunks_exact_mut(self.rank).zip(&self.scales) {
            axpy(-scale, &mean_row, row);
        }
    }

    /// The row `m` whose multiples by the scales are closest to the rows.
    pub fn mean_row(&self, rows: &[f64], width: usize) -> Vec<f64> {
        let mut mean = vec![0.0; width];
        let total = self.total();
        for (row, scale) in rows.chunks_exact(width).zip(&self.scales) {
            axpy(scale / total, row, &mut mean);
        }
        mean
    }

    /// The sum of the squares of the scales.
    pub fn total(&self) -> f64 {
        dot(&self.scales, &self.scales)
    }

    /// `F` of all rows, from its weights and the bias.
    pub fn fitted(&self, weights: &[f64], bias: &[f64], threads: &Threads) -> Vec<f64> {
        let (q, rank) = (bias.len(), self.rank);
        let mut fitted = memory::matrix(self.instances.len(), q);
        threads.for_each_chunk(&mut fitted, CHUNK * q, |chunk, rows| {
            let first = chunk * CHUNK;
            for (row, &scale) in rows.chunks_exact_mut(q).zip(&self.scales[first..]) {
                axpy(scale, bias, row);
            }
            let left = View::rows(&self.values[first * rank..], rank);
            let right = View::rows(weights, q);
            multiply_add((rows.len() / q, rank, q), left, right, rows);
        });
        fitted
    }

    /// `A^T A`; `None` when interrupted.
    pub fn gram(&self, threads: &Threads, monitor: &mut dyn Monitor) -> Option<Vec<f64>> {
        let mut gram = memory::matrix(self.rank, self.rank);
        for rows in self.values.chunks(TOGETHER * self.rank) {
            if monitor.poll().breaks_off() {
                return None;
            }
            LinearDense::add(&mut gram, rows, rows, self.rank, self.rank, threads);
        }
        Some(gram)
    }

    /// `A^T rows`, for rows of `q` numbers.
    pub fn transposed_product(&self, rows: &[f64], q: usize, threads: &Threads) -> Vec<f64> {
        let mut product = memory::matrix(self.rank, q);
        LinearDense::add(&mut product, &self.values, rows, self.rank, q, threads);
        product
    }
}
