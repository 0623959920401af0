//! Sparse features by columns, for the inner products of their rows with others.

use crate::linalg::features::Sparse;
use crate::memory;
use std::ops::Range;

/// A sparse matrix by columns: which rows have a feature, ascending, and its values there.
#[derive(Clone, Debug)]
pub struct Columns {
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Columns {
    /// Sorts the nonzeros of a matrix by column.
    pub fn of(matrix: &Sparse<'_>) -> Self {
        // Shifted by one place while the matrix is filled: an entry is where the next nonzero of its column goes.
        let mut starts = memory::filled(0, matrix.columns() + 2);
        for i in 0..matrix.rows() {
            for &f in matrix.row(i).0 {
                starts[f as usize + 2] += 1;
            }
        }
        for f in 2..starts.len() {
            starts[f] += starts[f - 1];
        }
        let mut rows = memory::filled(0, matrix.nonzeros());
        let mut values = memory::zeros(matrix.nonzeros());
        for i in 0..matrix.rows() {
            let (indices, row_values) = matrix.row(i);
            for (&f, &value) in indices.iter().zip(row_values) {
                let next = &mut starts[f as usize + 1];
                rows[*next] = i as u32;
                values[*next] = value;
                *next += 1;
            }
        }
        Self {
            starts,
            rows,
            values,
        }
    }

    fn part(&self, f: usize) -> Range<usize> {
        self.starts[f]..self.starts[f + 1]
    }

    /// The nonzeros of a column, with their rows.
    pub fn column(&self, f: usize) -> impl Iterator<Item = (usize, f64)> {
        let rows = self.rows[self.part(f)].iter().map(|&row| row as usize);
        rows.zip(self.values[self.part(f)].iter().copied())
    }

    /// Multiplications in all inner products among the rows.
    pub fn products_of_all(&self) -> usize {
        let sizes = (1..self.starts.len()).map(|f| self.part(f - 1).len());
        sizes.map(|size| size * size).sum()
    }

    /// Sums of a term, such as a product, over the features that a sparse row has in common with the rows of this matrix from
    /// `first` on, one for each entry of `out`.
    pub fn sums(
        &self,
        (indices, values): (&[i32], &[f64]),
        first: usize,
        out: &mut [f64],
        term: impl Fn(f64, f64) -> f64,
    ) {
        out.fill(0.0);
        for (&f, &scale) in indices.iter().zip(values) {
            let part = self.part(f as usize);
            let (rows, entries) = (&self.rows[part.clone()], &self.values[part]);
            let skipped = rows.partition_point(|&row| (row as usize) < first);
            for (&row, &entry) in rows[skipped..].iter().zip(&entries[skipped..]) {
                let Some(sum) = out.get_mut(row as usize - first) else {
                    break;
                };
                *sum += term(scale, entry);
            }
        }
    }
}
