//! Training scores `F = K B` under changes of a few rows of the dual matrix `B` at a time.
//!
//! The engine visits instances in blocks. It opens a block (the current scores of its instances, and the kernel among them),
//! solves the instances in turn while keeping only the block's own scores current, and closes the block, which updates all
//! other scores with one matrix product.

mod deflated;
mod kernel_blocks;
mod linear_dense;
mod linear_metric;
mod linear_sparse;
mod scaled;
mod stored_kernel;

pub(crate) use deflated::Deflation;
pub use kernel_blocks::KernelBlocks;
pub use linear_dense::LinearDense;
pub use linear_metric::LinearMetric;
pub use linear_sparse::LinearSparse;
pub use scaled::Scaled;
pub use stored_kernel::StoredKernel;

use crate::linalg::rows::Rows;
use crate::linalg::vector::dot;
use crate::memory::{self, Number};
use crate::parallel::threads::{CHUNK, Threads};
use crate::report::{Monitor, rounding_of_form};
use std::ops::Range;

/// Rows that are multiplied between two polls of the monitor.
const SLAB: usize = 256;

/// How often an epoch with its certificate reads the features of a row.
const VISITS: f64 = 3.0;

/// The change of one instance's row of `B` within a block.
#[derive(Clone, Copy, Debug)]
pub struct Moved<'a> {
    /// Instances of the block that moved.
    pub instances: &'a [u32],
    /// Their changes, one row of `q` numbers each.
    pub changes: &'a [f64],
    /// Places of the nonzeros of a single instance's change, ascending, if known.
    pub nonzeros: Option<&'a [u32]>,
}

/// Kernel values in memory.
#[derive(Clone, Copy, Debug)]
pub enum KernelValues<'a> {
    /// In double precision.
    Double(&'a [f64]),
    /// In single precision.
    Single(&'a [f32]),
}

impl KernelValues<'_> {
    /// `count` of them from `first` on.
    fn part(self, first: usize, count: usize) -> Self {
        match self {
            Self::Double(values) => Self::Double(&values[first..][..count]),
            Self::Single(values) => Self::Single(&values[first..][..count]),
        }
    }
}

/// Scores of some labels, without the bias, at less cost than those of all.
pub trait Few: Sync {
    /// Writes the scores of some labels of instance `i`.
    fn scores(&self, i: usize, labels: &[u32], out: &mut [f64]);

    /// Minimum number of rows for which the preparation of a scan pays.
    fn rows_at_once(&self) -> usize;

    /// Calls `each` with every instance of a range and its scores for consecutive labels, until it returns false. Returns
    /// whether it never did.
    fn scan(
        &self,
        labels: Range<usize>,
        instances: &mut dyn Iterator<Item = usize>,
        each: &mut dyn FnMut(usize, &mut [f64]) -> bool,
    ) -> bool;
}

/// Training scores of one geometry: a kernel or linear features.
pub trait Scores: Sync {
    /// How the dual matrix is stored.
    type Dual: Rows;

    /// Number type of the state.
    type Number: Number;

    /// Number of labels `q`.
    fn labels(&self) -> usize;

    /// `K_ii` of every one of the `n` instances.
    fn diagonal(&self) -> &[f64];

    /// Whether the state is the weights of a linear model. They are part of the answer even after an interruption, and block
    /// solutions take a large part of the time; for other scores the update of all scores does.
    fn is_linear(&self) -> bool {
        false
    }

    /// Whether the model is linear with dense features, whose few columns leave all rows few directions to move in.
    fn has_dense_columns(&self) -> bool {
        false
    }

    /// Approximate cost of visiting all instances, without their solutions, in multiplications of a dense matrix product.
    fn work(&self) -> f64 {
        // However few labels there are, the matrix is read from memory.
        (self.diagonal().len() as f64).powi(2) * self.labels().max(16) as f64
    }

    /// Number of instances to solve in turn before the other scores are updated.
    fn chain_length(&self) -> usize;

    /// Opens a block of one instance or more: writes their current scores (`b x q`) and, unless `kernel` is empty, the
    /// kernel among them (`b x b`, right of the diagonal at least: later instances depend on earlier ones). `scratch` is a
    /// buffer for the use of `open` only.
    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], scratch: &mut Vec<f64>);

    /// A row of the kernel, if it is in memory.
    fn stored_row(&self, _i: u32) -> Option<KernelValues<'_>> {
        None
    }

    /// Closes a block: `F += K[:, instances] changes`.
    fn close(&mut self, moved: Moved<'_>, threads: &Threads);

    /// Access to the scores of some labels, if that is cheaper than those of all.
    fn few(&self) -> Option<&dyn Few> {
        None
    }

    /// The state: the scores themselves, or the weights of a linear model.
    fn state(&mut self) -> &mut Vec<Self::Number>;

    /// Replaces the state by that of `K B`, computed from scratch; `false` when interrupted, which leaves an invalid state.
    fn recompute(
        &mut self,
        dual: &Self::Dual,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> bool;
}

/// [`Scores`] of dense storage.
pub type DenseScores<'a> = dyn Scores<Dual = Vec<f64>, Number = f64> + 'a;

/// The scores of all instances, row-major.
pub(crate) fn all<S: Scores + ?Sized>(scores: &S, threads: &Threads) -> Vec<f64> {
    of(scores, &instances(0..scores.diagonal().len()), threads)
}

/// Consecutive instances.
pub(crate) fn instances(range: Range<usize>) -> Vec<u32> {
    memory::collected(range.start as u32..range.end as u32)
}

/// The scores of some instances, row-major.
pub(crate) fn of<S: Scores + ?Sized>(scores: &S, of: &[u32], threads: &Threads) -> Vec<f64> {
    let q = scores.labels();
    let mut rows = memory::matrix(of.len(), q);
    threads.for_each_chunk(&mut rows, CHUNK * q, |chunk, out| {
        let some = &of[chunk * CHUNK..][..out.len() / q];
        scores.open(some, out, &mut [], &mut Vec::new());
    });
    rows
}

/// `sum_i ||beta_i|| sqrt(K_ii)` at `B`, for the kernel before deflation: its square bounds the terms of `<B, K B>`.
pub(super) fn size<S: Scores + ?Sized>(
    scores: &S,
    deflation: Option<&Deflation>,
    dual: &S::Dual,
) -> f64 {
    let (q, mut buffer) = (scores.labels(), Vec::new());
    let term = |(i, kappa): (usize, &f64)| {
        let row = dual.row(i, q, &mut buffer);
        (dot(row, row) * kappa.abs()).sqrt()
    };
    let diagonal = deflation.map_or(scores.diagonal(), |deflation| &deflation.diagonal);
    diagonal.iter().enumerate().map(term).sum()
}

/// A bound on the rounding error of `<B, K B>`: a few units in the last place of its terms. Infinite for linear scores,
/// whose curvature is negative only through rounding.
pub(super) fn rounding<S: Scores + ?Sized>(
    scores: &S,
    deflation: Option<&Deflation>,
    dual: &S::Dual,
) -> f64 {
    if scores.is_linear() {
        return f64::INFINITY;
    }
    rounding_of_form(size(scores, deflation, dual).powi(2))
}

/// Copies selected rows of stored scores.
fn copy_rows(scores: &[f64], q: usize, instances: &[u32], out: &mut [f64]) {
    for (row, &i) in out.chunks_exact_mut(q).zip(instances) {
        row.copy_from_slice(&scores[i as usize * q..(i as usize + 1) * q]);
    }
}
