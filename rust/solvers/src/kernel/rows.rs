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
            rows: (0..n).map(|_| OnceLock::new()).collect(),
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
                    // Another thread may have computed the same row, with the same result.
                    Ok(_) => Cow::Borrowed(kept.rows[i].get_or_init(|| row)),
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
