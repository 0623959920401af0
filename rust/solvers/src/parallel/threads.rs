//! Data-parallel loops whose result does not depend on the number of threads.
//!
//! Work is divided into chunks of a size chosen by the caller; the number of threads only affects which thread computes a
//! chunk. Each solve owns its pool: a global pool would not survive the `fork` of joblib and multiprocessing.

use crate::parallel::team::Team;
use std::sync::Mutex;

/// Maximum number of threads.
const MOST: usize = 1024;

/// Rows per chunk of work if a row is expensive.
pub(crate) const CHUNK: usize = 64;

/// The calling thread, and its helpers.
#[derive(Debug)]
pub struct Threads {
    team: Team,
}

impl Default for Threads {
    /// The calling thread alone.
    fn default() -> Self {
        Self::new(1)
    }
}

impl Threads {
    /// `count` threads, or fewer if the system refuses them; 0 and 1 both mean the calling thread alone.
    pub fn new(count: usize) -> Self {
        Self {
            team: Team::new(count.clamp(1, MOST) - 1),
        }
    }

    /// Number of threads, including the calling one.
    pub fn count(&self) -> usize {
        self.team.len() + 1
    }

    /// Calls `work` for every item; in order if there is only one thread.
    fn for_each<I: Iterator + Send>(&self, items: I, work: impl Fn(I::Item) + Sync) {
        if self.count() == 1 {
            return items.for_each(work);
        }
        let queue = Mutex::new(items);
        let next = || queue.lock().ok().and_then(|mut items| items.next());
        self.team.run(&|| {
            while let Some(item) = next() {
                work(item);
            }
        });
    }

    /// Calls `work(chunk index, chunk)` for every chunk of `data` of length `size` (the last may be shorter).
    pub fn for_each_chunk<T: Send>(
        &self,
        data: &mut [T],
        size: usize,
        work: impl Fn(usize, &mut [T]) + Sync + Send,
    ) {
        let size = size.max(1);
        if data.len() <= size {
            if !data.is_empty() {
                work(0, data);
            }
            return;
        }
        self.for_each(data.chunks_mut(size).enumerate(), |(index, chunk)| {
            work(index, chunk);
        });
    }

    /// Calls `work(index, item)` for every item, and collects the results in order.
    pub fn map<I: ExactSizeIterator + Send, R: Send>(
        &self,
        items: I,
        work: impl Fn(usize, I::Item) -> R + Sync,
    ) -> Vec<R> {
        let mut results: Vec<Option<R>> = (0..items.len()).map(|_| None).collect();
        self.for_each(
            items.zip(&mut results).enumerate(),
            |(index, (item, result))| *result = Some(work(index, item)),
        );
        results.into_iter().flatten().collect()
    }

    /// The same for the chunks of `data` of length `size` (the last may be shorter).
    pub fn map_chunks<T: Send, R: Send>(
        &self,
        data: &mut [T],
        size: usize,
        work: impl Fn(usize, &mut [T]) -> R + Sync,
    ) -> Vec<R> {
        self.map(data.chunks_mut(size.max(1)), work)
    }
}
