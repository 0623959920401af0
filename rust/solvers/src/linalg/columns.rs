//! Sparse features by columns, for the inner products of their rows with others.

use crate::linalg::features::Sparse;
use crate::memory;
use std::ops::Range;

/// Fewest rows of a group.
const GROUP: usize = 2048;

/// A sparse matrix by columns: which rows have a feature, and its values there. The rows of a column are ascending and
/// cut into groups of equal size, whose starts are known.
#[derive(Clone, Debug)]
pub struct Columns {
    /// Rows of a group.
    group: usize,
    /// Number of groups.
    groups: usize,
    /// Where group `g` of column `f` starts: entry `f * groups + g`. It ends where the next one starts.
    starts: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
    /// Where each nonzero of the matrix, counted by rows, is here.
    positions: Vec<u32>,
}

impl Columns {
    /// Sorts the nonzeros of a matrix by column: 16 bytes a nonzero, and at most as many starts as there are nonzeros
    /// and columns.
    pub fn of(matrix: &Sparse<'_>) -> Self {
        let (n, d) = (matrix.rows(), matrix.columns());
        let most = matrix.nonzeros() / d.max(1) + 1;
        let group = GROUP.max(n.div_ceil(most).next_multiple_of(GROUP));
        let groups = n.div_ceil(group).max(1);
        let mut starts = memory::filled(0, d * groups + 1);
        for i in 0..n {
            for &f in matrix.row(i).0 {
                starts[f as usize * groups + i / group + 1] += 1;
            }
        }
        for k in 0..d * groups {
            starts[k + 1] += starts[k];
        }
        let mut next: Vec<u32> = memory::collected(starts.iter().copied().step_by(groups));
        let mut rows = memory::filled(0, matrix.nonzeros());
        let mut values = memory::zeros(matrix.nonzeros());
        let mut positions = memory::room(matrix.nonzeros());
        for i in 0..n {
            let (indices, row_values) = matrix.row(i);
            for (&f, &value) in indices.iter().zip(row_values) {
                let position = &mut next[f as usize];
                rows[*position as usize] = i as u32;
                values[*position as usize] = value;
                positions.push(*position);
                *position += 1;
            }
        }
        Self {
            group,
            groups,
            starts,
            rows,
            values,
            positions,
        }
    }

    /// The nonzeros of a column, with their rows.
    pub fn column(&self, f: usize) -> impl Iterator<Item = (usize, f64)> {
        let part =
            self.starts[f * self.groups] as usize..self.starts[(f + 1) * self.groups] as usize;
        let rows = self.rows[part.clone()].iter().map(|&row| row as usize);
        rows.zip(self.values[part].iter().copied())
    }

    /// Rows of a group.
    pub fn group(&self) -> usize {
        self.group
    }

    /// Adds `scale` times a part of a column to `target[row - first]`.
    #[inline(always)]
    fn add(&self, part: Range<u32>, scale: f64, first: usize, target: &mut [f64]) {
        let part = part.start as usize..part.end as usize;
        for (&row, &value) in self.rows[part.clone()].iter().zip(&self.values[part]) {
            target[row as usize - first] += scale * value;
        }
    }

    /// Inner products of a sparse row with the rows `range` of this matrix. The range starts with a group, and ends
    /// with one or with the last row.
    pub fn products(&self, row: (&[i32], &[f64]), range: Range<usize>, out: &mut [f64]) {
        out.fill(0.0);
        self.add_products(row, &range, range.start, out);
    }

    /// The same, written to `all[range]` where `all` has an entry for each row of this matrix.
    pub fn products_among(&self, row: (&[i32], &[f64]), range: Range<usize>, all: &mut [f64]) {
        all[range.clone()].fill(0.0);
        // A constant, which spares the loop a subtraction.
        self.add_products(row, &range, 0, all);
    }

    #[inline(always)]
    fn add_products(
        &self,
        (indices, values): (&[i32], &[f64]),
        range: &Range<usize>,
        first: usize,
        target: &mut [f64],
    ) {
        let (start, end) = (range.start / self.group, range.end.div_ceil(self.group));
        for (&f, &value) in indices.iter().zip(values) {
            let starts = &self.starts[f as usize * self.groups..];
            self.add(starts[start]..starts[end], value, first, target);
        }
    }

    /// Inner products of row `i` of this matrix, as it was given by rows, with those of its rows from `i` to `end`,
    /// with which a group ends or the last row, written to `all[i..end]` where `all` has an entry for each row.
    pub fn products_from(&self, matrix: &Sparse<'_>, i: usize, end: usize, all: &mut [f64]) {
        all[i..end].fill(0.0);
        let end = end.div_ceil(self.group);
        let (indices, values) = matrix.row(i);
        let positions = &self.positions[matrix.entries(i)];
        for ((&f, &value), &position) in indices.iter().zip(values).zip(positions) {
            let end = self.starts[f as usize * self.groups + end];
            self.add(position..end, value, 0, all);
        }
    }
}
