//! The support: `alpha / c` of the pairs, a table for each instance that has some.

use super::lanes::{LANES, Lanes};
use crate::labels::Labels;
use crate::memory::{self, Purpose};

/// `alpha / c` in units of the common factor. An instance's table has a row for each of its relevant labels, with a
/// column for every label; at relevant and unknown labels, where there is no pair, and beyond the last label it is infinite.
pub(super) struct Support<'a> {
    labels: &'a Labels,
    tables: Vec<Vec<Lanes>>,
}

impl<'a> Support<'a> {
    pub(super) fn new(labels: &'a Labels) -> Self {
        Self {
            labels,
            tables: memory::filled(Vec::new(), labels.instances(), Purpose::Rows),
        }
    }

    /// An instance's table, row after row; none when the instance is not in the support.
    pub(super) fn table(&self, i: usize) -> &[Lanes] {
        &self.tables[i]
    }

    /// `alpha / c` of a pair.
    pub(super) fn get(&self, i: usize, m: u32, n: u32) -> f64 {
        let table = self.tables[i].as_flattened();
        table.get(self.place(i, m, n)).copied().unwrap_or(0.0)
    }

    /// `alpha / c` of a pair, to change it.
    pub(super) fn get_mut(&mut self, i: usize, m: u32, n: u32) -> &mut f64 {
        if self.tables[i].is_empty() {
            self.tables[i] = self.empty_table(i);
        }
        let place = self.place(i, m, n);
        &mut self.tables[i].as_flattened_mut()[place]
    }

    /// Calls `visit(i, m, n, alpha / c)` for every pair of the support.
    pub(super) fn for_each(&self, mut visit: impl FnMut(usize, u32, u32, f64)) {
        for i in 0..self.tables.len() {
            self.for_each_of(i, |m, n, own| visit(i, m, n, own));
        }
    }

    /// Calls `visit(m, n, alpha / c)` for every pair of an instance in the support.
    pub(super) fn for_each_of(&self, i: usize, mut visit: impl FnMut(u32, u32, f64)) {
        let width = self.labels.count().next_multiple_of(LANES);
        let rows = self.tables[i].as_flattened().chunks_exact(width);
        for (&m, row) in self.labels.relevant(i).iter().zip(rows) {
            for (n, &own) in (0..).zip(row) {
                if own > 0.0 && own < f64::INFINITY {
                    visit(m, n, own);
                }
            }
        }
    }

    pub(super) fn multiply(&mut self, factor: f64) {
        for own in self.tables.iter_mut().flatten().flatten() {
            *own *= factor;
        }
    }

    pub(super) fn clear(&mut self) {
        self.tables.iter_mut().for_each(Vec::clear);
    }

    fn place(&self, i: usize, m: u32, n: u32) -> usize {
        let width = self.labels.count().next_multiple_of(LANES);
        let row = self.labels.relevant(i).partition_point(|&k| k < m);
        row * width + n as usize
    }

    fn empty_table(&self, i: usize) -> Vec<Lanes> {
        let q = self.labels.count();
        let mut row = vec![[0.0; LANES]; q.div_ceil(LANES)];
        let columns = row.as_flattened_mut();
        columns[q..].fill(f64::INFINITY);
        for &m in self.labels.relevant(i).iter().chain(self.labels.unknown(i)) {
            columns[m as usize] = f64::INFINITY;
        }
        let rows = self.labels.relevant(i).len();
        let mut table = memory::room(row.len() * rows, Purpose::LabelPairs);
        for _ in 0..rows {
            table.extend_from_slice(&row);
        }
        table
    }
}
