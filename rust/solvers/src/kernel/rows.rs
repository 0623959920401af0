//! Single rows of a kernel matrix, stored or computed, and products with it: what SMO asks a kernel for.

use crate::error::SolverError;
use crate::kernel::check_square;
use crate::kernel::gram::{Gram, stored_product};
use crate::memory::{self, Purpose};
use crate::parallel::threads::Threads;
use crate::report::Monitor;
use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A symmetric kernel matrix of which rows are asked for.
#[derive(Debug)]
pub struct KernelRows<'a> {
    diagonal: Vec<f64>,
    source: Source<'a>,
}

#[derive(Debug)]
enum Source<'a> {
    Stored(&'a [f64]),
    Computed(Box<Gram<'a>>, Kept),
}

/// The rows that were asked for first, as many as there is room for.
#[derive(Debug)]
struct Kept {
    rows: Vec<OnceLock<Vec<f64>>>,
    room: AtomicUsize,
}

impl<'a> KernelRows<'a> {
    /// Wraps a stored symmetric `n x n` matrix.
    ///
    /// # Errors
    /// When the matrix is not square.
    pub fn stored(matrix: &'a [f64], n: usize) -> Result<Self, SolverError> {
        check_square(matrix, n)?;
        Ok(Self {
            diagonal: (0..n).map(|i| matrix[i * n + i]).collect(),
            source: Source::Stored(matrix),
        })
    }

    /// Computes rows of the kernel matrix of one feature matrix ([`Gram::of`]) when asked for, and keeps those asked for
    /// first in about `cache_bytes`.
    pub fn computed(gram: Gram<'a>, cache_bytes: usize) -> Self {
        let n = gram.rows();
        let kept = Kept {
            rows: memory::collected((0..n).map(|_| OnceLock::new())),
            room: AtomicUsize::new(cache_bytes / (8 * n).max(1)),
        };
        Self {
            diagonal: gram.diagonal(),
            source: Source::Computed(Box::new(gram), kept),
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

    /// About how many multiplications one pair step costs: two rows that may have to be computed.
    pub fn work_per_step(&self) -> usize {
        let n = self.instances();
        match &self.source {
            Source::Stored(_) => n,
            Source::Computed(gram, _) => 2 * n * (gram.features() + 8),
        }
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> Cow<'_, [f64]> {
        let n = self.instances();
        match &self.source {
            Source::Stored(matrix) => Cow::Borrowed(&matrix[i * n..(i + 1) * n]),
            Source::Computed(gram, kept) => {
                if let Some(row) = kept.rows[i].get() {
                    return Cow::Borrowed(row);
                }
                let mut row = memory::zeros_for(n, Purpose::KernelRows);
                gram.rows_into(&[i as u32], &mut row);
                row[i] = self.diagonal[i];
                let less = |room: usize| room.checked_sub(1);
                match kept.room.fetch_update(Relaxed, Relaxed, less) {
                    Ok(_) => {
                        let mut row = Some(row);
                        let found = kept.rows[i].get_or_init(|| row.take().unwrap_or_default());
                        if row.is_some() {
                            // Another thread has computed the same row, with the same result.
                            kept.room.fetch_add(1, Relaxed);
                        }
                        Cow::Borrowed(found)
                    }
                    Err(_) => Cow::Owned(row),
                }
            }
        }
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
            Source::Computed(gram, _) => gram.product(factor, columns, threads, monitor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::gram::Kernel;
    use crate::linalg::features::{Dense, Features};

    /// Threads that ask for the same rows at the same time take one place of the cache for each row.
    #[test]
    fn a_row_takes_one_place() {
        const N: usize = 40;
        let x: Vec<f64> = (0..N * 3).map(|k| (k * k % 7) as f64).collect();
        for _ in 0..20 {
            let features = Features::Dense(Dense::new(&x, N, 3).unwrap());
            let gram = Gram::of(Kernel::Rbf { gamma: 0.1 }, features);
            let rows = KernelRows::computed(gram, 8 * N * N);
            let mut asked = [0; 4 * N];
            Threads::new(4).for_each_chunk(&mut asked, 1, |k, _| {
                rows.row(k / 4);
            });
            let Source::Computed(_, kept) = &rows.source else {
                panic!("no rows are computed");
            };
            assert!(kept.rows.iter().all(|row| row.get().is_some()));
            assert_eq!(kept.room.load(Relaxed), 0);
        }
    }
}
