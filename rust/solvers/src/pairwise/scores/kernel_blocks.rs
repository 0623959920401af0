//! Scores with a kernel that is computed in blocks: no `n x n` matrix exists.

use super::{KernelValues, Moved, Scores, copy_rows};
use crate::kernel::gram::{Gram, with_scratch};
use crate::linalg::matmul::{View, multiply_add};
use crate::memory::{self, Purpose};
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// A kernel computed on demand, as many of its rows as fit into the cache, and `F = K B`.
#[derive(Clone, Debug)]
pub struct KernelBlocks<'a> {
    gram: Gram<'a>,
    diagonal: Vec<f64>,
    labels: usize,
    scores: Vec<f64>,
    panel: Vec<f64>,
    /// Cached kernel rows, and the place of each instance's row. Sweeps in random order defeat every eviction policy, so the
    /// rows requested first stay.
    cache: Vec<f64>,
    cached: Vec<u32>,
    /// Number of cached rows, and its maximum.
    kept: usize,
    cache_rows: usize,
}

/// Rows that one chunk of work adds to the cache.
const CACHED_TOGETHER: usize = 32;

/// Marks an instance whose kernel row is not in the cache.
const ABSENT: u32 = u32::MAX;

impl<'a> KernelBlocks<'a> {
    /// Starts at `B = 0`. Up to `cache_bytes` bytes of kernel rows are cached.
    pub fn new(gram: Gram<'a>, labels: usize, cache_bytes: usize) -> Self {
        let n = gram.rows();
        let cache_rows = (cache_bytes / (size_of::<f64>() * n.max(1))).min(n);
        Self {
            diagonal: gram.diagonal(),
            labels,
            scores: memory::matrix(n, labels),
            panel: Vec::new(),
            cache: Vec::new(),
            cached: vec![ABSENT; n],
            kept: 0,
            cache_rows,
            gram,
        }
    }

    /// Computes and caches the rows of moved instances while there is room.
    fn fill_cache(&mut self, instances: &[u32], threads: &Threads) {
        let n = self.diagonal.len();
        let wanted = instances
            .iter()
            .copied()
            .filter(|&i| self.cached[i as usize] == ABSENT)
            .take(self.cache_rows - self.kept);
        let wanted: Vec<u32> = wanted.collect();
        if wanted.is_empty() {
            return;
        }
        if self.cache.is_empty() {
            // Pages that are not written take no memory, and each thread maps those that it writes.
            self.cache = memory::zeros_for(self.cache_rows.saturating_mul(n), Purpose::KernelRows);
        }
        for (row, &i) in (self.kept as u32..).zip(&wanted) {
            self.cached[i as usize] = row;
        }
        let start = self.kept * n;
        self.kept += wanted.len();
        let gram = &self.gram;
        threads.for_each_chunk(
            &mut self.cache[start..self.kept * n],
            CACHED_TOGETHER * n,
            |chunk, out| {
                let first = chunk * CACHED_TOGETHER;
                gram.rows_into(&wanted[first..first + out.len() / n], out);
            },
        );
    }

    /// `F += K[:, instances] changes`, with cached rows if available.
    fn add(&mut self, moved: Moved<'_>, threads: &Threads) {
        let (n, q) = (self.diagonal.len(), self.labels);
        // Cached rows first, so that the computed ones form one panel.
        let (mut order, fresh): (Vec<usize>, Vec<usize>) = (0..moved.instances.len())
            .partition(|&k| self.cached[moved.instances[k] as usize] != ABSENT);
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
                    row.copy_from_slice(&cache[start..start + length]);
                }
                let range = first..first + length;
                gram.block(&instances[kept..], panel, range, computed);
                let left = View::rows(block, length).transposed();
                multiply_add(
                    (length, instances.len(), q),
                    left,
                    View::rows(&changes, q),
                    scores,
                );
            });
        });
    }
}

impl Scores for KernelBlocks<'_> {
    type Dual = Vec<f64>;
    type Number = f64;

    fn labels(&self) -> usize {
        self.labels
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn work(&self) -> f64 {
        (self.diagonal.len() as f64).powi(2) * (self.gram.features() + self.labels + 16) as f64
    }

    fn chain_length(&self) -> usize {
        // At most about 2e9 operations per block, so that interruptions are answered promptly.
        let row = (self.gram.features() + self.labels + 8) * self.diagonal.len().max(1);
        (1_000_000_000 / row).clamp(1, 128)
    }

    fn open(&self, block: &[u32], scores: &mut [f64], kernel: &mut [f64], scratch: &mut Vec<f64>) {
        copy_rows(&self.scores, self.labels, block, scores);
        if !kernel.is_empty() {
            self.gram.panel(block, scratch);
            self.gram.square(block, scratch, kernel);
        }
    }

    fn stored_row(&self, i: u32) -> Option<KernelValues<'_>> {
        let (n, row) = (self.diagonal.len(), self.cached[i as usize]);
        (row != ABSENT).then(|| KernelValues::Double(&self.cache[row as usize * n..][..n]))
    }

    fn close(&mut self, moved: Moved<'_>, threads: &Threads) {
        self.fill_cache(moved.instances, threads);
        self.add(moved, threads);
    }

    fn state(&mut self) -> &mut Vec<f64> {
        &mut self.scores
    }

    fn recompute(&mut self, dual: &Vec<f64>, threads: &Threads, monitor: &mut dyn Monitor) -> bool {
        let (n, q) = (self.diagonal.len(), self.labels);
        let current = std::mem::replace(&mut self.scores, memory::matrix(n, q));
        let support = (0..n as u32).filter(|&i| {
            dual[i as usize * q..(i as usize + 1) * q]
                .iter()
                .any(|&beta| beta != 0.0)
        });
        let support = support.collect::<Vec<_>>();
        let mut changes = Vec::new();
        for instances in support.chunks(self.chain_length()) {
            if monitor.poll().is_interrupted() {
                self.scores = current;
                return false;
            }
            changes.clear();
            for &i in instances {
                memory::append(&mut changes, &dual[i as usize * q..(i as usize + 1) * q]);
            }
            let moved = Moved {
                instances,
                changes: &changes,
                nonzeros: None,
            };
            self.add(moved, threads);
        }
        true
    }
}
