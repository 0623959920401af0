//! The support: `alpha / c` of the pairs, a table for each instance that has some.

use crate::labels::Labels;
use crate::memory::{self, Purpose};

/// `alpha / c` in units of the common factor. An instance's table has a row for each of its relevant labels, with a
/// column for every label.
pub(super) struct Support<'a> {
    labels: &'a Labels,
    tables: Vec<Vec<f64>>,
}

impl<'a> Support<'a> {
    pub(super) fn new(labels: &'a Labels) -> Self {
        Self {
            labels,
            tables: vec![Vec::new(); labels.instances()],
        }
    }

    /// An instance's table, row after row; empty when the instance is not in the support.
    pub(super) fn table(&self, i: usize) -> &[f64] {
        &self.tables[i]
    }

    /// `alpha / c` of a pair, to change it.
    pub(super) fn get_mut(&mut self, i: usize, m: u32, n: u32) -> &mut f64 {
        let (q, relevant) = (self.labels.count(), self.labels.relevant(i));
        let table = &mut self.tables[i];
        if table.is_empty() {
            *table = memory::zeros_for(q * relevant.len(), Purpose::LabelPairs);
        }
        &mut table[relevant.partition_point(|&k| k < m) * q + n as usize]
    }

    /// Calls `visit(i, m, n, alpha / c)` for every pair of the support.
    pub(super) fn for_each(&self, mut visit: impl FnMut(usize, u32, u32, f64)) {
        for i in 0..self.tables.len() {
            self.for_each_of(i, |m, n, own| visit(i, m, n, own));
        }
    }

    /// Calls `visit(m, n, alpha / c)` for every pair of an instance in the support.
    pub(super) fn for_each_of(&self, i: usize, mut visit: impl FnMut(u32, u32, f64)) {
        let rows = self.tables[i].chunks_exact(self.labels.count());
        for (&m, row) in self.labels.relevant(i).iter().zip(rows) {
            for (n, &own) in (0..).zip(row) {
                if own > 0.0 {
                    visit(m, n, own);
                }
            }
        }
    }

    pub(super) fn multiply(&mut self, factor: f64) {
        for own in self.tables.iter_mut().flatten() {
            *own *= factor;
        }
    }

    pub(super) fn clear(&mut self) {
        self.tables.iter_mut().for_each(Vec::clear);
    }
}
