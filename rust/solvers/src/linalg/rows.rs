//! Matrices that are read and written by the row: dense ones (`Vec<f64>`, row-major), and [`CompactRows`], which stores only
//! the nonzeros of rows with few of them. The storage changes no bit of a result.

use crate::linalg::vector::axpy;
use crate::memory;
use std::ops::Range;

/// A row with nonzeros in more than one in this many places is stored dense.
const DENSE: usize = 2;

/// Appends the places at which a row is not 0.
pub fn find_nonzeros(row: &[f64], nonzeros: &mut Vec<u32>) {
    let found = row.iter().zip(0..).filter(|(value, _)| **value != 0.0);
    nonzeros.extend(found.map(|(_, place)| place));
}

/// A matrix whose row `width` is known to the caller.
pub trait Rows: Send + Sync + Sized {
    /// A matrix of zeros.
    fn zeros(rows: usize, width: usize) -> Self;

    /// Stores a dense row-major matrix.
    fn of_dense(values: Vec<f64>, width: usize) -> Self;

    /// Another matrix of the same numbers.
    fn copied(&self) -> Self;

    /// The numbers of some consecutive rows, row-major; expanded into `buffer` if they are not stored that way.
    fn rows<'a>(&'a self, rows: Range<usize>, width: usize, buffer: &'a mut Vec<f64>) -> &'a [f64];

    /// The numbers of row `i`; expanded into `buffer` if they are not stored that way.
    fn row<'a>(&'a self, i: usize, width: usize, buffer: &'a mut Vec<f64>) -> &'a [f64] {
        self.rows(i..i + 1, width, buffer)
    }

    /// Lets `work` change row `i`.
    fn change(
        &mut self,
        i: usize,
        width: usize,
        buffer: &mut Vec<f64>,
        work: impl FnOnce(&mut [f64]),
    );

    /// Replaces `places` and `values` by the places at which row `i` is not 0, ascending, and its numbers there.
    fn nonzeros(&self, i: usize, width: usize, places: &mut Vec<u32>, values: &mut Vec<f64>);

    /// Replaces row `i` by one with the given numbers at the given ascending places, and 0 elsewhere.
    fn replace(&mut self, i: usize, width: usize, places: &[u32], values: &[f64]);
}

impl Rows for Vec<f64> {
    fn zeros(rows: usize, width: usize) -> Self {
        memory::matrix(rows, width)
    }

    fn of_dense(values: Vec<f64>, _width: usize) -> Self {
        values
    }

    fn copied(&self) -> Self {
        memory::copied(self)
    }

    fn rows<'a>(&'a self, rows: Range<usize>, width: usize, _: &'a mut Vec<f64>) -> &'a [f64] {
        &self[rows.start * width..rows.end * width]
    }

    fn change(&mut self, i: usize, width: usize, _: &mut Vec<f64>, work: impl FnOnce(&mut [f64])) {
        work(&mut self[i * width..(i + 1) * width]);
    }

    fn nonzeros(&self, i: usize, width: usize, places: &mut Vec<u32>, values: &mut Vec<f64>) {
        let row = &self[i * width..][..width];
        places.clear();
        find_nonzeros(row, places);
        values.clear();
        values.extend(places.iter().map(|&place| row[place as usize]));
    }

    fn replace(&mut self, i: usize, width: usize, places: &[u32], values: &[f64]) {
        let row = &mut self[i * width..][..width];
        row.fill(0.0);
        for (&place, &value) in places.iter().zip(values) {
            row[place as usize] = value;
        }
    }
}

/// The sum of all rows times their factors, and whether all rows are 0.
pub(crate) fn weighted_sum<R: Rows>(matrix: &R, factors: &[f64], width: usize) -> (Vec<f64>, bool) {
    let (mut sum, mut zero, mut buffer) = (vec![0.0; width], true, Vec::new());
    for (i, &factor) in factors.iter().enumerate() {
        let row = matrix.row(i, width, &mut buffer);
        zero &= row.iter().all(|&value| value == 0.0);
        axpy(factor, row, &mut sum);
    }
    (sum, zero)
}

/// A matrix each of whose rows is stored dense or by its nonzeros.
#[derive(Clone, Debug, Default)]
pub struct CompactRows {
    rows: Vec<CompactRow>,
}

/// A row of [`CompactRows`].
#[derive(Clone, Debug)]
pub enum CompactRow {
    /// The nonzeros, by ascending place.
    Few(Vec<u32>, Vec<f64>),
    /// All numbers.
    All(Vec<f64>),
}

impl Default for CompactRow {
    fn default() -> Self {
        Self::Few(Vec::new(), Vec::new())
    }
}

impl CompactRow {
    fn of(row: &[f64]) -> Self {
        let count = row.iter().filter(|&&value| value != 0.0).count();
        if count * DENSE > row.len() {
            return Self::All(memory::copied(row));
        }
        let mut places = memory::room(count);
        find_nonzeros(row, &mut places);
        let values = places.iter().map(|&place| row[place as usize]);
        let values = memory::collected(values);
        Self::Few(places, values)
    }

    fn copied(&self) -> Self {
        match self {
            Self::Few(places, values) => Self::Few(memory::copied(places), memory::copied(values)),
            Self::All(values) => Self::All(memory::copied(values)),
        }
    }

    /// Writes all numbers.
    fn write(&self, out: &mut [f64]) {
        match self {
            Self::Few(places, values) => {
                out.fill(0.0);
                for (&place, &value) in places.iter().zip(values) {
                    out[place as usize] = value;
                }
            }
            Self::All(values) => out.copy_from_slice(values),
        }
    }
}

impl CompactRows {
    /// The matrix in compressed sparse rows: the start of each row, then the places and values of the nonzeros, which are
    /// moved out of this matrix row by row.
    pub fn into_csr(self) -> (Vec<i64>, Vec<i32>, Vec<f64>) {
        let nonzero = |values: &[f64]| values.iter().filter(|&&value| value != 0.0).count();
        let count = |row: &CompactRow| match row {
            CompactRow::Few(_, values) | CompactRow::All(values) => nonzero(values),
        };
        let total: usize = self.rows.iter().map(count).sum();
        let mut starts = memory::room(self.rows.len() + 1);
        let mut places = memory::room(total);
        let mut values = memory::room(total);
        starts.push(0);
        for row in self.rows {
            let mut push = |place: u32, value: f64| {
                if value != 0.0 {
                    places.push(place as i32);
                    values.push(value);
                }
            };
            match row {
                CompactRow::Few(at, row) => {
                    at.into_iter().zip(row).for_each(|(k, x)| push(k, x));
                }
                CompactRow::All(row) => (0..).zip(row).for_each(|(k, x)| push(k, x)),
            }
            starts.push(values.len() as i64);
        }
        (starts, places, values)
    }
}

impl Rows for CompactRows {
    fn zeros(rows: usize, _width: usize) -> Self {
        Self {
            rows: memory::filled(CompactRow::default(), rows),
        }
    }

    fn of_dense(values: Vec<f64>, width: usize) -> Self {
        let rows = values.chunks_exact(width).map(CompactRow::of);
        Self {
            rows: memory::collected(rows),
        }
    }

    fn copied(&self) -> Self {
        let rows = self.rows.iter().map(|row| row.copied());
        Self {
            rows: memory::collected(rows),
        }
    }

    fn rows<'a>(&'a self, rows: Range<usize>, width: usize, buffer: &'a mut Vec<f64>) -> &'a [f64] {
        let rows = &self.rows[rows];
        if let [CompactRow::All(values)] = rows {
            return values;
        }
        memory::resize(buffer, rows.len() * width, 0.0);
        for (row, out) in rows.iter().zip(buffer.chunks_exact_mut(width)) {
            row.write(out);
        }
        &buffer[..rows.len() * width]
    }

    fn change(
        &mut self,
        i: usize,
        width: usize,
        buffer: &mut Vec<f64>,
        work: impl FnOnce(&mut [f64]),
    ) {
        memory::resize(buffer, width, 0.0);
        self.rows[i].write(buffer);
        work(buffer);
        self.rows[i] = CompactRow::of(buffer);
    }

    fn nonzeros(&self, i: usize, width: usize, places: &mut Vec<u32>, values: &mut Vec<f64>) {
        match &self.rows[i] {
            CompactRow::All(row) => row.nonzeros(0, width, places, values),
            CompactRow::Few(at, row) => {
                let nonzero = at.iter().zip(row).filter(|(_, value)| **value != 0.0);
                places.clear();
                values.clear();
                for (&place, &value) in nonzero {
                    places.push(place);
                    values.push(value);
                }
            }
        }
    }

    fn replace(&mut self, i: usize, width: usize, places: &[u32], values: &[f64]) {
        self.rows[i] = if places.len() * DENSE > width {
            let mut row = memory::zeros(width);
            row.replace(0, width, places, values);
            CompactRow::All(row)
        } else {
            CompactRow::Few(memory::copied(places), memory::copied(values))
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::vector::axpy;

    /// Rows of every density, changed at random, have the same bits in either storage and by either way of reading.
    #[test]
    fn storage_changes_no_bit() {
        const ROWS: usize = 7;
        for width in [1, 63, 64, 200] {
            let mut random = fastrand::Rng::with_seed(width as u64);
            let (mut dense, mut compact) = (
                Vec::zeros(ROWS, width),
                <CompactRows as Rows>::zeros(ROWS, width),
            );
            for turn in 0..60 {
                let row = random.usize(0..ROWS);
                let share = random.f64() * turn as f64 / 60.0;
                let values: Vec<f64> = (0..width)
                    .map(|_| f64::from(random.f64() < share) * (random.f64() - 0.5))
                    .collect();
                let mut buffers = (Vec::new(), Vec::new());
                if turn % 2 == 0 {
                    let work = |row: &mut [f64]| axpy(0.3, &values, row);
                    dense.change(row, width, &mut buffers.0, work);
                    compact.change(row, width, &mut buffers.1, work);
                } else {
                    let mut nonzeros = Vec::new();
                    find_nonzeros(&values, &mut nonzeros);
                    let kept: Vec<f64> = nonzeros.iter().map(|&l| values[l as usize]).collect();
                    dense.replace(row, width, &nonzeros, &kept);
                    compact.replace(row, width, &nonzeros, &kept);
                    compact = compact.copied();
                }
                let all = dense.rows(0..ROWS, width, &mut buffers.0);
                assert_eq!(all, compact.rows(0..ROWS, width, &mut buffers.1));
                let [mut places, mut others] = [const { (Vec::new(), Vec::new()) }; 2];
                dense.nonzeros(row, width, &mut places.0, &mut places.1);
                compact.nonzeros(row, width, &mut others.0, &mut others.1);
                assert_eq!(places, others);
            }
        }
    }
}
