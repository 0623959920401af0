//! Scores with a kernel that is computed in blocks: no `n x n` matrix exists.

use super::{Moved, Scores, copy_rows};
use crate::kernel::gram::{Gram, with_scratch};
use crate::linalg::matmul::{View, multiply};
use crate::memory::{self, Purpose};
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// How kept kernel rows are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// In eight bytes a number, as computed.
    Double,
    /// In four: twice as many rows, each number off by up to 6e-8 of itself. The loop's scores then drift by as much
    /// until they are recomputed, which is done with exact rows. For tolerances well above that.
    Single,
}

impl Precision {
    /// Relative gaps that rounded rows cannot disturb.
    const ROUNDED_TOLERANCE: f64 = 1e-5;

    /// The precision that suffices for a relative gap.
    pub fn for_tolerance(tolerance: f64) -> Self {
        if tolerance >= Self::ROUNDED_TOLERANCE {
            Self::Single
        } else {
            Self::Double
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Double => 8,
            Self::Single => 4,
        }
    }
}

#[derive(Clone, Debug)]
enum Cache {
    Double(Vec<f64>),
    Single(Vec<f32>),
}

impl Cache {
    fn new(precision: Precision) -> Self {
        match precision {
            Precision::Double => Self::Double(Vec::new()),
            Precision::Single => Self::Single(Vec::new()),
        }
    }

    fn precision(&self) -> Precision {
        match self {
            Self::Double(_) => Precision::Double,
            Self::Single(_) => Precision::Single,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Double(values) => values.len(),
            Self::Single(values) => values.len(),
        }
    }

    /// Computes rows of a kernel and keeps them behind the others.
    fn append(&mut self, gram: &Gram<'_>, rows: &[u32], threads: &Threads) {
        let (start, n) = (self.len(), gram.columns());
        let end = start + rows.len() * n;
        let part = |chunk: usize, length: usize| {
            let first = chunk * CACHED_TOGETHER;
            &rows[first..first + length / n]
        };
        match self {
            Self::Double(values) => {
                memory::resize(values, end, 0.0, Purpose::KernelRows);
                threads.for_each_chunk(&mut values[start..], CACHED_TOGETHER * n, |chunk, out| {
                    gram.rows_into(part(chunk, out.len()), out);
                });
            }
            Self::Single(values) => {
                memory::resize(values, end, 0.0, Purpose::KernelRows);
                threads.for_each_chunk(&mut values[start..], CACHED_TOGETHER * n, |chunk, out| {
                    let mut exact = memory::zeros(out.len(), Purpose::KernelRows);
                    gram.rows_into(part(chunk, out.len()), &mut exact);
                    for (rounded, value) in out.iter_mut().zip(exact) {
                        *rounded = value as f32;
                    }
                });
            }
        }
    }

    /// Copies kept numbers from `start` on.
    fn copy(&self, start: usize, out: &mut [f64]) {
        let range = start..start + out.len();
        match self {
            Self::Double(values) => out.copy_from_slice(&values[range]),
            Self::Single(values) => {
                for (value, &rounded) in out.iter_mut().zip(&values[range]) {
                    *value = f64::from(rounded);
                }
            }
        }
    }
}

/// A kernel computed when needed, as many of its rows as fit the cache, and `F = K B`.
#[derive(Clone, Debug)]
pub struct KernelBlocks<'a> {
    gram: Gram<'a>,
    diagonal: Vec<f64>,
    labels: usize,
    scores: Vec<f64>,
    panel: Vec<f64>,
    /// Kept kernel rows, and where the row of each instance is. Sweeps in random order defeat every policy of
    /// eviction, so the first rows that are asked for stay.
    cache: Cache,
    cached: Vec<u32>,
    cache_rows: usize,
}

/// Rows that one chunk of work adds to the cache.
const CACHED_TOGETHER: usize = 32;

/// Marks an instance whose kernel row is not in the cache.
const ABSENT: u32 = u32::MAX;

impl<'a> KernelBlocks<'a> {
    /// Starts at `B = 0`. Up to `cache_bytes` bytes of kernel rows are kept.
    pub fn new(gram: Gram<'a>, labels: usize, cache_bytes: usize, precision: Precision) -> Self {
        let n = gram.rows();
        let cache_rows = (cache_bytes / (precision.bytes() * n.max(1))).min(n);
        Self {
            diagonal: gram.diagonal(),
            labels,
            scores: memory::matrix(n, labels, Purpose::RowsByLabels),
            panel: Vec::new(),
            cache: Cache::new(precision),
            cached: memory::filled(ABSENT, n, Purpose::Rows),
            cache_rows,
            gram,
        }
    }

    /// Computes and keeps the rows of moved instances while there is room.
    fn fill_cache(&mut self, instances: &[u32], threads: &Threads) {
        let n = self.instances();
        let room = self.cache_rows - self.cache.len() / n.max(1);
        let wanted = instances
            .iter()
            .copied()
            .filter(|&i| self.cached[i as usize] == ABSENT)
            .take(room);
        let wanted: Vec<u32> = memory::collected(wanted, Purpose::Rows);
        if wanted.is_empty() {
            return;
        }
        let kept = self.cache.len() / n;
        for (k, &i) in wanted.iter().enumerate() {
            self.cached[i as usize] = (kept + k) as u32;
        }
        self.cache.append(&self.gram, &wanted, threads);
    }

    /// `F += K[:, instances] changes`, with kept rows where there are and `kept_rows` admits them.
    fn add(&mut self, moved: Moved<'_>, kept_rows: bool, threads: &Threads) {
        let (n, q) = (self.instances(), self.labels);
        // Kept rows first, so that the computed ones form one panel.
        let (mut order, fresh): (Vec<usize>, Vec<usize>) = (0..moved.instances.len())
            .partition(|&k| kept_rows && self.cached[moved.instances[k] as usize] != ABSENT);
        let kept = order.len();
        order.extend(fresh);
        let instances: Vec<u32> = order.iter().map(|&k| moved.instances[k]).collect();
        let changes: Vec<f64> = order
            .iter()
            .flat_map(|&k| moved.changes[k * q..(k + 1) * q].iter().copied())
            .collect();
        self.gram.panel(&instances[kept..], &mut self.panel);
        let (gram, cache, cached, panel) = (&self.gram, &self.cache, &self.cached, &self.panel);
        let size = gram.chunk();
        threads.for_each_chunk(&mut self.scores, size * q, |chunk, scores| {
            let (first, length) = (chunk * size, scores.len() / q);
            with_scratch(instances.len() * length, |block| {
                let (copied, computed) = block.split_at_mut(kept * length);
                for (row, &i) in copied.chunks_exact_mut(length).zip(&instances) {
                    let start = cached[i as usize] as usize * n + first;
                    cache.copy(start, row);
                }
                let range = first..first + length;
                gram.block(&instances[kept..], panel, range, computed, length);
                let left = View::rows(block, length).transposed();
                multiply(
                    (length, instances.len(), q),
                    left,
                    View::rows(&changes, q),
                    scores,
                    q,
                    true,
                );
            });
        });
    }
}

impl Scores for KernelBlocks<'_> {
    fn fresh(&self, labels: usize) -> Self {
        let precision = self.cache.precision();
        let bytes = precision.bytes() * self.cache_rows * self.instances();
        Self::new(self.gram.clone(), labels, bytes, precision)
    }

    fn instances(&self) -> usize {
        self.gram.rows()
    }

    fn labels(&self) -> usize {
        self.labels
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn chain_length(&self) -> usize {
        // At most about 2e9 operations a block, so that an interruption is answered promptly.
        let row = (self.gram.features() + self.labels + 8) * self.instances().max(1);
        (1_000_000_000 / row).clamp(1, 128)
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], scratch: &mut Vec<f64>) {
        self.rows(block, scores, scratch);
        self.gram.panel(block, scratch);
        self.gram.square(block, scratch, kernel);
    }

    fn close(&mut self, moved: Moved<'_>, threads: &Threads) {
        self.fill_cache(moved.instances, threads);
        self.add(moved, true, threads);
    }

    fn rows(&self, instances: &[u32], out: &mut [f64], _scratch: &mut Vec<f64>) {
        copy_rows(&self.scores, self.labels, instances, out);
    }

    fn state(&mut self) -> &mut Vec<f64> {
        &mut self.scores
    }

    fn recompute(&mut self, dual: &[f64], threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let (n, q) = (self.instances(), self.labels);
        let current = std::mem::replace(
            &mut self.scores,
            memory::matrix(n, q, Purpose::RowsByLabels),
        );
        let support = (0..n as u32).filter(|&i| {
            dual[i as usize * q..(i as usize + 1) * q]
                .iter()
                .any(|&beta| beta != 0.0)
        });
        let support = memory::collected(support, Purpose::Rows);
        let mut changes = Vec::new();
        for instances in support.chunks(self.chain_length()) {
            if monitor.interrupted() {
                self.scores = current;
                return false;
            }
            changes.clear();
            for &i in instances {
                changes.extend_from_slice(&dual[i as usize * q..(i as usize + 1) * q]);
            }
            let exact = self.cache.precision() == Precision::Double;
            let moved = Moved {
                instances,
                changes: &changes,
            };
            self.add(moved, exact, threads);
        }
        true
    }
}
