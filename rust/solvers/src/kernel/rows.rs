//! Single rows of a kernel matrix, stored or computed, and products with it: all that SMO needs.

use crate::error::SolverError;
use crate::kernel::check_square;
use crate::kernel::gram::{Gram, stored_product};
use crate::linalg::vector::mean;
use crate::memory::{self, Number, Purpose};
use crate::parallel::threads::Threads;
use crate::report::Monitor;
use std::borrow::Cow;
use std::ops::{Add, Div, Mul, RangeInclusive, Sub};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Kernel values whose products with one another neither overflow nor vanish in single precision.
pub const SINGLE: RangeInclusive<f64> = 1e-15..=1e15;

/// Numbers of a matrix that one chunk of work rounds.
const CHUNK: usize = 1 << 16;

/// Rows from which the mean of a matrix is estimated.
const SAMPLE: usize = 64;

/// A symmetric kernel matrix that is read by the row.
#[derive(Debug)]
pub struct KernelRows<'a> {
    diagonal: Vec<f64>,
    source: Source<'a>,
    /// Memory for cached rows, in bytes: the total, and what is left.
    bytes: usize,
    room: AtomicUsize,
    double: Kept<f64>,
    single: Kept<f32>,
}

#[derive(Debug)]
enum Source<'a> {
    Stored(&'a [f64]),
    Computed(Box<Gram<'a>>),
}

/// The rows requested first, as many as fit.
type Kept<T> = Vec<OnceLock<Vec<T>>>;

/// A precision in which rows are cached.
pub trait Precision:
    Number
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// Row `i`.
    fn row<'k>(rows: &'k KernelRows<'_>, i: usize) -> Cow<'k, [Self]>;
}

impl Precision for f64 {
    fn row<'k>(rows: &'k KernelRows<'_>, i: usize) -> Cow<'k, [Self]> {
        rows.row(i)
    }
}

impl Precision for f32 {
    fn row<'k>(rows: &'k KernelRows<'_>, i: usize) -> Cow<'k, [Self]> {
        rows.kept(&rows.single, i, || {
            let row = match &rows.source {
                Source::Stored(_) => rows.row(i),
                Source::Computed(gram) => Cow::Owned(rows.computed_row(gram, i)),
            };
            let mut rounded = memory::zeros_for(row.len(), Purpose::KernelRows);
            let numbers = rounded.iter_mut().zip(row.iter());
            numbers.for_each(|(rounded, &value)| *rounded = nearest_finite(value));
            rounded
        })
    }
}

/// The nearest finite number in single precision.
fn nearest_finite(value: f64) -> f32 {
    f32::nearest(value).clamp(f32::MIN, f32::MAX)
}

/// Whether each number of a diagonal is 0 or within a range.
pub fn is_within(diagonal: &[f64], range: &RangeInclusive<f64>) -> bool {
    diagonal.iter().all(|k| *k == 0.0 || range.contains(k))
}

/// A matrix in single precision.
pub fn rounded(matrix: &[f64], threads: &Threads) -> Vec<f32> {
    let mut rounded = memory::zeros_for(matrix.len(), Purpose::KernelMatrix);
    threads.for_each_chunk(&mut rounded, CHUNK, |chunk, rounded| {
        let values = &matrix[chunk * CHUNK..][..rounded.len()];
        let pairs = rounded.iter_mut().zip(values);
        pairs.for_each(|(rounded, &value)| *rounded = nearest_finite(value));
    });
    rounded
}

impl<'a> KernelRows<'a> {
    fn of(diagonal: Vec<f64>, source: Source<'a>, bytes: usize) -> Self {
        let n = diagonal.len();
        Self {
            diagonal,
            source,
            bytes,
            room: AtomicUsize::new(bytes),
            double: memory::collected((0..n).map(|_| OnceLock::new())),
            single: memory::collected((0..n).map(|_| OnceLock::new())),
        }
    }

    /// Wraps a stored symmetric `n x n` matrix.
    ///
    /// # Errors
    /// When the matrix is not square.
    pub fn stored(matrix: &'a [f64], n: usize) -> Result<Self, SolverError> {
        check_square(matrix, n)?;
        let diagonal = (0..n).map(|i| matrix[i * n + i]).collect();
        Ok(Self::of(diagonal, Source::Stored(matrix), 0))
    }

    /// The same with memory for caching rows in single precision.
    pub fn with_room(self, bytes: usize) -> Self {
        Self {
            bytes,
            room: AtomicUsize::new(bytes),
            ..self
        }
    }

    /// Computes rows of the kernel matrix of one feature matrix ([`Gram::of`]) on demand, and caches the first ones in about
    /// `cache_bytes`.
    pub fn computed(gram: Gram<'a>, cache_bytes: usize) -> Self {
        Self::of(
            gram.diagonal(),
            Source::Computed(Box::new(gram)),
            cache_bytes,
        )
    }

    /// Whether rows in single precision are faster than those of [`Self::row`]: there is room for them, and their values
    /// neither overflow nor underflow.
    pub fn has_single_precision(&self) -> bool {
        let n = self.instances();
        let all = n.saturating_mul(n).saturating_mul(size_of::<f32>());
        let fit = matches!(self.source, Source::Computed(_)) || all <= self.bytes;
        fit && is_within(&self.diagonal, &SINGLE)
    }

    /// Additional bytes per value of the whole matrix in double precision: 0 if it is stored already.
    pub fn bytes_per_value(&self) -> usize {
        match &self.source {
            Source::Stored(_) => 0,
            Source::Computed(_) => size_of::<f64>(),
        }
    }

    /// The whole matrix; `None` when interrupted.
    pub fn into_matrix(
        self,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<Cow<'a, [f64]>> {
        match self.source {
            Source::Stored(matrix) => Some(Cow::Borrowed(matrix)),
            Source::Computed(gram) => gram.matrix(threads, monitor).map(Cow::Owned),
        }
    }

    /// The whole matrix in single precision; `None` when interrupted.
    pub fn rounded(&self, threads: &Threads, monitor: &mut dyn Monitor) -> Option<Vec<f32>> {
        match &self.source {
            Source::Computed(gram) => gram.matrix(threads, monitor),
            Source::Stored(matrix) => Some(rounded(matrix, threads)),
        }
    }

    /// The mean of the diagonal less the mean of the matrix, relative to the former, estimated from a few rows.
    pub fn share_beside_mean(&self) -> f64 {
        let n = self.instances();
        let rows = (0..n).step_by(n.div_ceil(SAMPLE).max(1));
        let means: Vec<f64> = rows.map(|i| mean(&self.row(i))).collect();
        1.0 - mean(&means) / mean(&self.diagonal)
    }

    /// Approximate cost of computing a value for a product with the matrix, in multiplications.
    pub fn work_per_value(&self) -> usize {
        match &self.source {
            Source::Computed(gram) => gram.work_per_value(),
            Source::Stored(_) => 0,
        }
    }

    /// Number of instances.
    pub fn instances(&self) -> usize {
        self.diagonal.len()
    }

    /// `K_ii` of every instance.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Approximate cost of one pair step in multiplications: two rows, which may have to be computed.
    pub fn work_per_step(&self) -> usize {
        let n = self.instances();
        match &self.source {
            Source::Stored(_) => n,
            Source::Computed(gram) => 2 * n * (gram.features() + 8),
        }
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> Cow<'_, [f64]> {
        let n = self.instances();
        match &self.source {
            Source::Stored(matrix) => Cow::Borrowed(&matrix[i * n..(i + 1) * n]),
            Source::Computed(gram) => self.kept(&self.double, i, || self.computed_row(gram, i)),
        }
    }

    fn computed_row(&self, gram: &Gram<'_>, i: usize) -> Vec<f64> {
        let mut row = memory::zeros_for(self.instances(), Purpose::KernelRows);
        gram.rows_into(&[i as u32], &mut row);
        row[i] = self.diagonal[i];
        row
    }

    /// Row `i`, cached or computed.
    fn kept<'k, T: Number>(
        &self,
        kept: &'k Kept<T>,
        i: usize,
        new: impl FnOnce() -> Vec<T>,
    ) -> Cow<'k, [T]> {
        if let Some(row) = kept[i].get() {
            return Cow::Borrowed(row);
        }
        let row = new();
        let bytes = size_of_val(&row[..]);
        let less = |room: usize| room.checked_sub(bytes);
        if self.room.fetch_update(Relaxed, Relaxed, less).is_err() {
            return Cow::Owned(row);
        }
        let mut row = Some(row);
        let found = kept[i].get_or_init(|| row.take().unwrap_or_default());
        if row.is_some() {
            // Another thread has computed the same row in the meantime, with the same result.
            self.room.fetch_add(bytes, Relaxed);
        }
        Cow::Borrowed(found)
    }

    /// `K D` for a row-major `n x m` matrix `D`; `None` when interrupted.
    pub fn product(
        &self,
        factor: &[f64],
        columns: usize,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<Vec<f64>> {
        let n = self.instances();
        match &self.source {
            Source::Stored(matrix) => stored_product(matrix, n, factor, columns, threads, monitor),
            Source::Computed(gram) => gram.product(factor, columns, threads, monitor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::gram::Kernel;
    use crate::linalg::features::{Dense, Features};

    /// Threads that request the same rows at the same time use the memory of each row once, in either precision.
    #[test]
    fn a_row_takes_its_memory_once() {
        const N: usize = 40;
        let x: Vec<f64> = (0..N * 3).map(|k| (k * k % 7) as f64).collect();
        let features = Features::Dense(Dense::new(&x, N, 3).unwrap());
        let gram = || Gram::of(Kernel::Rbf { gamma: 0.1 }, features);
        for _ in 0..20 {
            let rows = KernelRows::computed(gram(), 12 * N * N);
            let mut asked = [0; 4 * N];
            Threads::new(4).for_each_chunk(&mut asked, 1, |k, _| {
                let (double, single) = (rows.row(k / 4), f32::row(&rows, k / 4));
                let pairs = double.iter().zip(single.iter());
                assert!(
                    pairs
                        .into_iter()
                        .all(|(&value, &rounded)| rounded == value as f32)
                );
            });
            // While two threads have room for the same row, another row may find none.
            (0..N).for_each(|k| drop((rows.row(k), f32::row(&rows, k))));
            assert!(rows.double.iter().all(|row| row.get().is_some()));
            assert!(rows.single.iter().all(|row| row.get().is_some()));
            assert_eq!(rows.room.load(Relaxed), 0);
        }
    }

    #[test]
    fn single_precision_needs_room_and_moderate_numbers() {
        let ends = [
            (1.0, true),
            (0.0, true),
            (1e16, false),
            (1e-16, false),
            (-1.0, false),
        ];
        for (value, expected) in ends {
            let matrix = [1.0, 0.0, 0.0, value];
            for (bytes, fits) in [(16, true), (15, false)] {
                let rows = KernelRows::stored(&matrix, 2).unwrap().with_room(bytes);
                assert_eq!(rows.has_single_precision(), fits && expected);
            }
        }
    }
}
