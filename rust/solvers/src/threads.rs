//! Data-parallel loops whose result does not depend on the number of threads.
//!
//! Work is cut into chunks of a size that the caller fixes; threads only decide who computes which chunk. Each
//! solve owns its pool: a global pool would not survive the `fork` of joblib and multiprocessing.

use rayon::prelude::*;

/// One thread (the caller's own) or a pool.
#[derive(Debug, Default)]
pub struct Threads {
    pool: Option<rayon::ThreadPool>,
}

impl Threads {
    /// `count` threads; 0 and 1 both mean the calling thread alone. Falls back to it when the system refuses threads.
    pub fn new(count: usize) -> Self {
        let pool = if count > 1 {
            rayon::ThreadPoolBuilder::new()
                .num_threads(count)
                .build()
                .ok()
        } else {
            None
        };
        Self { pool }
    }

    /// Calls `work(chunk index, chunk)` for every chunk of `data` of length `size` (the last may be shorter).
    pub fn for_each_chunk<T: Send>(
        &self,
        data: &mut [T],
        size: usize,
        work: impl Fn(usize, &mut [T]) + Sync + Send,
    ) {
        let size = size.max(1);
        match &self.pool {
            Some(pool) if data.len() > size => pool.install(|| {
                data.par_chunks_mut(size)
                    .enumerate()
                    .for_each(|(index, chunk)| work(index, chunk));
            }),
            _ => data
                .chunks_mut(size)
                .enumerate()
                .for_each(|(index, chunk)| work(index, chunk)),
        }
    }

    /// Calls `work` with the pairs of chunks of two arrays that are cut into the same number of chunks, and collects
    /// the results in order.
    pub fn map_chunks<T: Send, R: Send>(
        &self,
        data: &mut [T],
        size: usize,
        work: impl Fn(usize, &mut [T]) -> R + Sync + Send,
    ) -> Vec<R> {
        let size = size.max(1);
        match &self.pool {
            Some(pool) if data.len() > size => pool.install(|| {
                data.par_chunks_mut(size)
                    .enumerate()
                    .map(|(index, chunk)| work(index, chunk))
                    .collect()
            }),
            _ => data
                .chunks_mut(size)
                .enumerate()
                .map(|(index, chunk)| work(index, chunk))
                .collect(),
        }
    }
}
