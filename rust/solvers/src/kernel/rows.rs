//! Single rows of a kernel matrix, stored or computed, and products with it: what SMO asks a kernel for.

use crate::error::{SolverError, refused};
use crate::kernel::gram::{Gram, stored_product};
use crate::memory::{self, Purpose};
use crate::parallel::threads::Threads;
use crate::report::Monitor;
use lru::LruCache;
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// A symmetric kernel matrix of which rows are asked for.
#[derive(Debug)]
pub struct KernelRows<'a> {
    diagonal: Vec<f64>,
    source: Source<'a>,
}

#[derive(Debug)]
enum Source<'a> {
    Stored(&'a [f64]),
    Computed(Box<Gram<'a>>, Mutex<Cache>),
}

/// The rows used last, as many as fit.
type Cache = LruCache<usize, Arc<[f64]>>;

/// A kernel row, borrowed or shared with the cache.
#[derive(Clone, Debug)]
pub enum Row<'a> {
    /// A row of a stored matrix.
    Borrowed(&'a [f64]),
    /// A computed row.
    Shared(Arc<[f64]>),
}

impl Deref for Row<'_> {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Row::Borrowed(row) => row,
            Row::Shared(row) => row,
        }
    }
}

impl<'a> KernelRows<'a> {
    /// Wraps a stored symmetric `n x n` matrix.
    ///
    /// # Errors
    /// When the matrix is not square.
    pub fn stored(matrix: &'a [f64], n: usize) -> Result<Self, SolverError> {
        if n.checked_mul(n) != Some(matrix.len()) {
            return Err(refused(
                "X",
                format!("a kernel matrix of {} numbers for {n} rows", matrix.len()),
                "a square matrix",
            ));
        }
        Ok(Self {
            diagonal: (0..n).map(|i| matrix[i * n + i]).collect(),
            source: Source::Stored(matrix),
        })
    }

    /// Computes rows of the kernel matrix of one feature matrix ([`Gram::of`]) when asked for, and keeps those used
    /// last in about `cache_bytes`.
    pub fn computed(gram: Gram<'a>, cache_bytes: usize) -> Self {
        let n = gram.rows();
        // Below two rows a pair step would compute both of its rows again and again.
        let rows = (cache_bytes / (8 * n).max(1)).min(n).max(2);
        let cache = Cache::new(NonZeroUsize::new(rows).unwrap_or(NonZeroUsize::MIN));
        Self {
            diagonal: gram.diagonal(),
            source: Source::Computed(Box::new(gram), Mutex::new(cache)),
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
    pub fn row(&self, i: usize) -> Row<'_> {
        let n = self.instances();
        match &self.source {
            Source::Stored(matrix) => Row::Borrowed(&matrix[i * n..(i + 1) * n]),
            Source::Computed(gram, cache) => {
                let lock = || cache.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(row) = lock().get(&i) {
                    return Row::Shared(Arc::clone(row));
                }
                // Computed without the lock: another thread may compute the same row, with the same result.
                let mut row = memory::zeros_for(n, Purpose::KernelRows);
                gram.rows_into(&[i as u32], &mut row);
                row[i] = self.diagonal[i];
                memory::probe(8 * n, Purpose::KernelRows);
                let row: Arc<[f64]> = row.into();
                lock().put(i, Arc::clone(&row));
                Row::Shared(row)
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
