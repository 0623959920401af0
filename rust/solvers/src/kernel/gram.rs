//! Kernel functions and blocks of kernel rows.

use crate::error::{SolverError, refused};
use crate::linalg::columns::Columns;
use crate::linalg::features::{Features, SPARSE};
use crate::linalg::manhattan;
use crate::linalg::matmul::{View, multiply, multiply_add, multiply_rows};
use crate::linalg::vector;
use crate::memory::{self, Number, Purpose};
use crate::parallel::threads::Threads;
use crate::report::Monitor;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// Columns of a kernel block that are computed together, so that they stay in the second-level cache.
const DENSE_CHUNK: usize = 256;

/// The same for sparse features, so that the sums of a row stay in the first-level cache.
const SPARSE_CHUNK: usize = 4096;

/// Chunks of a product per thread between two polls of the monitor.
const CHUNKS_A_THREAD: usize = 2;

/// Kernel rows of sparse features that are computed before they are stored.
const SPARSE_ROWS: usize = 4;

/// Kernel rows that are computed together.
const ROWS: usize = 64;

/// The same for a whole matrix: the right rows are packed once for all of them.
const PANEL: usize = 3 * ROWS;

/// A squared distance below this share of the squared norms is computed from the differences of the features, as
/// cancellation in `||x||^2 + ||y||^2 - 2 x.y` has cost that many digits.
const CANCELLED: f64 = 1e-4;

/// Up to this product of `gamma` and the squared norms, cancellation changes no value of "rbf" by more than about 1e-10.
const HARMLESS: f64 = 1e5;

/// Cost of a term of a Manhattan distance, relative to a multiplication in a product of dense matrices.
const DIFFERENCE: usize = 4;

/// A kernel function of two feature vectors, with scikit-learn's meaning of the parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kernel {
    /// `x . y`
    Linear,
    /// `exp(-gamma ||x - y||^2)`
    Rbf {
        /// Width.
        gamma: f64,
    },
    /// `exp(-gamma sum_k |x_k - y_k|)`; sparse rows have each feature once.
    Laplacian {
        /// Width.
        gamma: f64,
    },
    /// `(gamma x . y + coef0)^degree`
    Polynomial {
        /// Factor of the inner product.
        gamma: f64,
        /// Constant term.
        coef0: f64,
        /// Degree.
        degree: u32,
    },
    /// `tanh(gamma x . y + coef0)`
    Sigmoid {
        /// Factor of the inner product.
        gamma: f64,
        /// Constant term.
        coef0: f64,
    },
}

impl Kernel {
    /// Whether it is a function of a distance, 1 where that is 0.
    fn is_of_distances(self) -> bool {
        matches!(self, Self::Rbf { .. } | Self::Laplacian { .. })
    }
}

/// Kernel values between the rows of two feature matrices, computed on demand.
#[derive(Clone, Debug)]
pub struct Gram<'a> {
    kernel: Kernel,
    left: Features<'a>,
    right: Features<'a>,
    /// Squared norms for "rbf", sums of magnitudes for "laplacian" of sparse rows; none where they are not needed.
    left_norms: Vec<f64>,
    right_norms: Vec<f64>,
    /// The largest of the right rows.
    largest_norm: f64,
    /// The right features by columns, when they are sparse.
    right_columns: Option<Arc<Columns>>,
    /// Whether both sides are one matrix, so that the diagonal is `k(x_i, x_i)`.
    same: bool,
}

thread_local! {
    static SCRATCH: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// Number of chunks between two polls of the monitor: about 2e8 operations keep interruptions prompt, and a few chunks keep
/// the threads busy.
pub(crate) fn slab_chunks(operations_a_chunk: usize) -> usize {
    (200_000_000 / operations_a_chunk.max(1)).clamp(4, 64)
}

/// Calls `work` with a buffer of the given length that the thread keeps for the next call.
pub(crate) fn with_scratch<R>(length: usize, work: impl FnOnce(&mut [f64]) -> R) -> R {
    SCRATCH.with_borrow_mut(|scratch| {
        if scratch.len() < length {
            memory::resize(scratch, length, 0.0);
        }
        work(&mut scratch[..length])
    })
}

/// `K D` for a stored `n x n` matrix and a row-major `n x q` matrix `D`; `None` when interrupted.
pub(crate) fn stored_product(
    matrix: &[f64],
    n: usize,
    factor: &[f64],
    q: usize,
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Option<Vec<f64>> {
    let mut result = memory::matrix(n, q);
    let slab = slab_chunks(ROWS * n * q) * ROWS;
    for (index, slab_rows) in result.chunks_mut((slab * q).max(1)).enumerate() {
        if monitor.poll().is_interrupted() {
            return None;
        }
        let left = View::rows(&matrix[index * slab * n..], n);
        let (shape, right) = ((slab_rows.len() / q, n, q), View::rows(factor, q));
        multiply_rows(threads, shape, left, right, slab_rows, false);
    }
    Some(result)
}

/// Copies the upper half of an `n x n` matrix to the lower half, by tiles that stay in the cache. False when interrupted.
fn mirror<T: Copy>(matrix: &mut [T], n: usize, monitor: &mut dyn Monitor) -> bool {
    for top in (0..n).step_by(ROWS) {
        if monitor.poll().is_interrupted() {
            return false;
        }
        for left in (0..=top).step_by(ROWS) {
            for i in top..n.min(top + ROWS) {
                for j in left..i.min(left + ROWS) {
                    matrix[i * n + j] = matrix[j * n + i];
                }
            }
        }
    }
    true
}

impl<'a> Gram<'a> {
    /// Kernel values `k(left_i, right_j)`.
    ///
    /// # Errors
    /// When the two have different numbers of columns or one is dense and the other sparse.
    pub fn new(
        kernel: Kernel,
        left: Features<'a>,
        right: Features<'a>,
    ) -> Result<Self, SolverError> {
        let same_kind = matches!(
            (&left, &right),
            (Features::Dense(_), Features::Dense(_)) | (Features::Sparse(_), Features::Sparse(_))
        );
        if left.columns() != right.columns() || !same_kind {
            return Err(refused(
                "X",
                format!("{} and {} columns", left.columns(), right.columns()),
                "two matrices of one kind with the same number of columns",
            ));
        }
        Ok(Self::between(kernel, left, right, false))
    }

    /// Kernel values among the rows of one matrix.
    pub fn of(kernel: Kernel, features: Features<'a>) -> Self {
        Self::between(kernel, features, features, true)
    }

    fn between(kernel: Kernel, left: Features<'a>, right: Features<'a>, same: bool) -> Self {
        let norms = |features: &Features<'_>| match (kernel, features) {
            (Kernel::Rbf { .. }, _) => features.squared_norms(),
            (Kernel::Laplacian { .. }, Features::Sparse(rows)) => manhattan::sizes(rows),
            _ => Vec::new(),
        };
        let right_norms = norms(&right);
        Self {
            kernel,
            left,
            right,
            left_norms: norms(&left),
            largest_norm: right_norms.iter().copied().fold(0.0, f64::max),
            right_norms,
            right_columns: match &right {
                Features::Dense(_) => None,
                Features::Sparse(matrix) => Some(Arc::new(Columns::of(matrix))),
            },
            same,
        }
    }

    /// Number of left rows.
    pub fn rows(&self) -> usize {
        self.left.rows()
    }

    /// Number of right rows.
    pub fn columns(&self) -> usize {
        self.right.rows()
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.left.columns()
    }

    /// Approximate cost of a kernel value, in multiplications of a dense matrix product.
    pub fn work_per_value(&self) -> usize {
        match (&self.right_columns, self.kernel) {
            (Some(columns), _) => {
                let values = self.rows().max(1) * self.columns().max(1);
                SPARSE * columns.products_of_all() / values
            }
            (None, Kernel::Laplacian { .. }) => DIFFERENCE * self.features(),
            (None, _) => self.features(),
        }
    }

    /// `k(x_i, x_i)` of every left row.
    pub fn diagonal(&self) -> Vec<f64> {
        if self.kernel.is_of_distances() {
            return vec![1.0; self.rows()];
        }
        let mut diagonal = self.left.squared_norms();
        self.apply(&mut diagonal, 0.0, &[]);
        diagonal
    }

    /// Turns inner products of left row `i` with some right rows, or overlaps, into kernel values. The values of equal rows,
    /// and of rows close relative to their norms, do not depend on the order in which these were summed.
    fn values(
        &self,
        i: u32,
        columns: impl Iterator<Item = usize>,
        norms: &[f64],
        products: &mut [f64],
    ) {
        let norm = self.left_norm(i);
        let mut near = Vec::new();
        if let Kernel::Rbf { gamma } | Kernel::Laplacian { gamma } = self.kernel
            && gamma * (norm + self.largest_norm) > HARMLESS
        {
            let pairs = products.iter().zip(norms).zip(columns);
            for (place, ((&product, &other), j)) in pairs.enumerate() {
                let sum = norm + other;
                if sum - 2.0 * product <= CANCELLED * sum {
                    let distance = self.distance(i as usize, j);
                    memory::push(&mut near, (place, (-gamma * distance).exp()));
                }
            }
        }
        self.apply(products, norm, norms);
        for (place, value) in near {
            products[place] = value;
        }
    }

    /// The distance of left row `i` from right row `j`, by their differences.
    fn distance(&self, i: usize, j: usize) -> f64 {
        match self.kernel {
            Kernel::Laplacian { .. } => self.left.manhattan_distance(i, &self.right, j),
            _ => self.left.squared_distance(i, &self.right, j),
        }
    }

    /// Turns inner products, overlaps, or distances where there are no norms, into kernel values.
    fn apply(&self, products: &mut [f64], norm: f64, norms: &[f64]) {
        match self.kernel {
            Kernel::Linear => {}
            Kernel::Laplacian { gamma } if norms.is_empty() => {
                vector::exponentials(products, -gamma);
            }
            Kernel::Rbf { gamma } | Kernel::Laplacian { gamma } => {
                vector::rbf(products, norm, norms, gamma);
            }
            Kernel::Polynomial {
                gamma,
                coef0,
                degree,
            } => vector::polynomial(products, gamma, coef0, degree),
            Kernel::Sigmoid { gamma, coef0 } => vector::sigmoid(products, gamma, coef0),
        }
    }

    fn left_norm(&self, i: u32) -> f64 {
        self.left_norms.get(i as usize).copied().unwrap_or(0.0)
    }

    /// Number of right rows to request from [`Self::block`] at once.
    pub fn chunk(&self) -> usize {
        match self.right_columns {
            None => DENSE_CHUNK,
            Some(_) => SPARSE_CHUNK,
        }
    }

    /// Copies the chosen left rows, one below the other, when they are dense.
    pub fn panel(&self, rows: &[u32], panel: &mut Vec<f64>) {
        if let Features::Dense(left) = &self.left {
            left.gather(rows, panel);
        }
    }

    /// Kernel values of the chosen left rows (with their panel) with the right rows `range`, row-major.
    pub fn block(&self, rows: &[u32], panel: &[f64], range: Range<usize>, out: &mut [f64]) {
        let length = range.len();
        match (&self.left, &self.right, &self.right_columns) {
            (Features::Sparse(left), _, Some(columns)) => {
                for (&i, sums) in rows.iter().zip(out.chunks_mut(length.max(1))) {
                    let row = left.row(i as usize);
                    match self.kernel {
                        Kernel::Laplacian { .. } => {
                            columns.sums(row, range.start, sums, manhattan::overlap);
                        }
                        _ => columns.sums(row, range.start, sums, |x, y| x * y),
                    }
                }
            }
            (_, Features::Dense(right), _) => {
                let d = right.columns();
                let right = &right.data()[range.start * d..range.end * d];
                self.compare((rows.len(), length), panel, right, out);
            }
            // The constructors allow no other combination.
            _ => out.fill(0.0),
        }
        let norms = self.right_norms.get(range.clone()).unwrap_or(&[]);
        for (&i, values) in rows.iter().zip(out.chunks_mut(length.max(1))) {
            self.values(i, range.clone(), norms, values);
        }
    }

    /// Inner products of `n` dense rows with `m` others, row-major, or their Manhattan distances.
    fn compare(&self, (n, m): (usize, usize), left: &[f64], right: &[f64], out: &mut [f64]) {
        let d = self.features();
        if let Kernel::Laplacian { .. } = self.kernel {
            return manhattan::distances(left, right, d, out);
        }
        let (left, right) = (View::rows(left, d), View::rows(right, d).transposed());
        multiply((n, d, m), left, right, out);
    }

    /// Kernel values among the chosen left rows (with their panel), row-major. Only for [`Gram::of`].
    pub fn square(&self, rows: &[u32], panel: &[f64], out: &mut [f64]) {
        let count = rows.len();
        match &self.left {
            Features::Dense(_) => self.compare((count, count), panel, panel, out),
            Features::Sparse(left) => with_scratch(left.columns(), |dense| {
                dense.fill(0.0);
                match self.kernel {
                    Kernel::Laplacian { .. } => left.square(rows, dense, out, manhattan::overlap),
                    _ => left.square(rows, dense, out, |x, y| x * y),
                }
            }),
        }
        let norms = rows.iter().filter_map(|&i| self.left_norms.get(i as usize));
        let norms: Vec<f64> = norms.copied().collect();
        for (k, values) in out.chunks_exact_mut(count.max(1)).enumerate() {
            let columns = rows.iter().map(|&j| j as usize);
            self.values(rows[k], columns, &norms, values);
            if self.kernel.is_of_distances() {
                values[k] = 1.0;
            }
        }
    }

    /// Kernel values between the chosen left rows and all right rows, row-major.
    pub fn rows_into<T: Number>(&self, rows: &[u32], out: &mut [T]) {
        self.rows_within(rows, 0..self.columns(), out);
    }

    /// The values for the right rows `within`; row-major, with an entry for every right row.
    fn rows_within<T: Number>(&self, rows: &[u32], within: Range<usize>, out: &mut [T]) {
        let (m, mut panel) = (self.columns(), Vec::new());
        self.panel(rows, &mut panel);
        // Sparse rows share no preparation.
        let together = match self.right_columns {
            None => rows.len().max(1),
            Some(_) => SPARSE_ROWS,
        };
        for start in within.clone().step_by(self.chunk()) {
            let range = start..(start + self.chunk()).min(within.end);
            for (rows, out) in rows.chunks(together).zip(out.chunks_mut(together * m)) {
                with_scratch(rows.len() * range.len(), |values| {
                    self.block(rows, &panel, range.clone(), values);
                    let values = values.chunks_exact(range.len());
                    for (out, values) in out.chunks_mut(m).zip(values) {
                        for (out, &value) in out[range.clone()].iter_mut().zip(values) {
                            *out = T::nearest(value);
                        }
                    }
                });
            }
        }
    }

    /// Whether the whole matrix fits into this much memory.
    pub fn fits(&self, bytes: usize) -> bool {
        let entries = self.rows().saturating_mul(self.columns());
        entries.saturating_mul(size_of::<f64>()) <= bytes
    }

    /// The whole matrix, row-major `rows x columns`; `None` when interrupted.
    pub fn matrix<T: Number>(
        &self,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<Vec<T>> {
        let mut matrix = memory::zeros_for(
            self.rows().saturating_mul(self.columns()),
            Purpose::KernelMatrix,
        );
        self.matrix_into(&mut matrix, threads, monitor)
            .then_some(matrix)
    }

    /// Writes the whole matrix, row-major `rows x columns`; false when interrupted. The matrix of one side with itself
    /// is symmetric to the last bit.
    pub fn matrix_into<T: Number>(
        &self,
        matrix: &mut [T],
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> bool {
        let (n, m) = (self.rows(), self.columns());
        let slab = slab_chunks(PANEL * m * (self.features() + 8)) * PANEL;
        for (index, slab_rows) in matrix.chunks_mut((slab * m).max(1)).enumerate() {
            if monitor.poll().is_interrupted() {
                return false;
            }
            threads.for_each_chunk(slab_rows, PANEL * m, |chunk, out| {
                let first = index * slab + chunk * PANEL;
                let end = first + out.len() / m;
                let rows: Vec<u32> = (first as u32..end as u32).collect();
                if !self.same {
                    return self.rows_into(&rows, out);
                }
                // The square on the diagonal, by fewer rows at a time so that less is computed below it; for sparse
                // features, which need no packing, all of it.
                let square = if self.right_columns.is_some() { m } else { end };
                for (rows, out) in rows.chunks(ROWS).zip(out.chunks_mut(ROWS * m)) {
                    self.rows_within(rows, rows[0] as usize..square, out);
                }
                self.rows_within(&rows, square..m, out);
            });
        }
        if self.same && !mirror(matrix, n, monitor) {
            return false;
        }
        if self.kernel.is_of_distances() && self.same {
            (0..n).for_each(|i| matrix[i * m + i] = T::nearest(1.0));
        }
        true
    }

    /// `K D` for a row-major `columns x q` matrix `D`, without storing `K`; `None` when interrupted.
    pub fn product(
        &self,
        factor: &[f64],
        q: usize,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<Vec<f64>> {
        if self.same {
            return self.symmetric_product(factor, q, threads, monitor);
        }
        let (n, m) = (self.rows(), self.columns());
        let mut result = memory::matrix(n, q);
        let slab = slab_chunks(ROWS * m * (self.features() + q + 8)) * ROWS;
        for (index, slab_rows) in result.chunks_mut((slab * q).max(1)).enumerate() {
            if monitor.poll().is_interrupted() {
                return None;
            }
            threads.for_each_chunk(slab_rows, ROWS * q, |chunk, out| {
                let first = index * slab + chunk * ROWS;
                let rows: Vec<u32> = (first as u32..(first + out.len() / q) as u32).collect();
                let mut panel = Vec::new();
                self.panel(&rows, &mut panel);
                for start in (0..m).step_by(self.chunk()) {
                    let range = start..(start + self.chunk()).min(m);
                    with_scratch(rows.len() * range.len(), |values| {
                        self.block(&rows, &panel, range.clone(), values);
                        let left = View::rows(values, range.len());
                        let right = View::rows(&factor[range.start * q..range.end * q], q);
                        multiply_add((rows.len(), range.len(), q), left, right, out);
                    });
                }
            });
        }
        Some(result)
    }

    /// The same for the kernel of one matrix with itself, each value of which is computed once.
    fn symmetric_product(
        &self,
        factor: &[f64],
        q: usize,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<Vec<f64>> {
        let n = self.rows();
        let mut result = memory::matrix(n, q);
        let slab = CHUNKS_A_THREAD * threads.count() * ROWS;
        for first in (0..n).step_by(slab) {
            if monitor.poll().is_interrupted() {
                return None;
            }
            let end = n.min(first + slab);
            // Added in order, whichever thread computed them.
            let parts = threads.map((first..end).step_by(ROWS), |_, start| {
                (start, self.upper_product(start, factor, q))
            });
            for (start, part) in parts {
                vector::axpy(1.0, &part, &mut result[start * q..]);
            }
        }
        Some(result)
    }

    /// The contribution to the product of the values between some rows from `start` on and themselves and all later rows; it
    /// concerns the results from `start` on.
    fn upper_product(&self, start: usize, factor: &[f64], q: usize) -> Vec<f64> {
        let n = self.rows();
        let end = n.min(start + ROWS);
        let rows: Vec<u32> = (start as u32..end as u32).collect();
        let (count, mut panel) = (rows.len(), Vec::new());
        self.panel(&rows, &mut panel);
        let mut sums = memory::matrix(n - start, q);
        let (own, below) = sums.split_at_mut(count * q);
        let own_factor = View::rows(&factor[start * q..end * q], q);
        let later = (end..n).step_by(self.chunk());
        let ranges = later.map(|first| first..(first + self.chunk()).min(n));
        for range in std::iter::once(start..end).chain(ranges) {
            let length = range.len();
            with_scratch(count * length, |values| {
                self.block(&rows, &panel, range.clone(), values);
                let values = View::rows(values, length);
                let other_factor = View::rows(&factor[range.start * q..range.end * q], q);
                multiply_add((count, length, q), values, other_factor, own);
                if range.start >= end {
                    let below = &mut below[(range.start - end) * q..(range.end - end) * q];
                    multiply_add((length, count, q), values.transposed(), own_factor, below);
                }
            });
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::features::{Dense, Sparse};

    /// For dense and sparse features: equal to the product with the whole matrix, with the same bits for any number of
    /// threads; and some rows with themselves are a part of it.
    #[test]
    fn products_are_those_of_the_matrix_whoever_computes_them() {
        let mut random = fastrand::Rng::with_seed(2);
        for n in [1, ROWS - 1, ROWS, ROWS + 1, 5 * ROWS + 7] {
            let (d, q) = (3, 4);
            let x: Vec<f64> = (0..n * d).map(|_| random.f64()).collect();
            let factor: Vec<f64> = (0..n * q).map(|_| random.f64() - 0.5).collect();
            let indices: Vec<i32> = (0..n * d).map(|k| (k % d) as i32).collect();
            let starts: Vec<i32> = (0..=n).map(|i| (i * d) as i32).collect();
            let dense = Features::Dense(Dense::new(&x, n, d).unwrap());
            let sparse = Features::Sparse(Sparse::new(&x, &indices, &starts, d).unwrap());
            let (squared, absolute) =
                (Kernel::Rbf { gamma: 0.7 }, Kernel::Laplacian { gamma: 0.7 });
            let all = [
                (dense, squared),
                (sparse, squared),
                (dense, absolute),
                (sparse, absolute),
            ];
            for (features, kernel) in all {
                let gram = Gram::of(kernel, features);
                let [one, three] = [1, 3].map(|count| {
                    let threads = Threads::new(count);
                    gram.product(&factor, q, &threads, &mut ()).unwrap()
                });
                assert_eq!(one, three);
                let threads = Threads::new(1);
                let matrix: Vec<f64> = gram.matrix(&threads, &mut ()).unwrap();
                let expected = stored_product(&matrix, n, &factor, q, &threads, &mut ()).unwrap();
                for (found, expected) in one.iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-13 * n as f64);
                }
                let rows: Vec<u32> = (0..n as u32).step_by(9).collect();
                let (mut panel, mut square) = (Vec::new(), vec![f64::NAN; rows.len().pow(2)]);
                gram.panel(&rows, &mut panel);
                gram.square(&rows, &panel, &mut square);
                let pairs = rows.iter().flat_map(|&i| rows.iter().map(move |&j| (i, j)));
                for (found, (i, j)) in square.into_iter().zip(pairs) {
                    assert!((found - matrix[i as usize * n + j as usize]).abs() < 1e-14);
                }
            }
        }
    }
}
