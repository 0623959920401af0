//! Matrices that are read and written by the row: dense ones (`Vec<f64>`, row-major), and those of [`CompactRows`], which
//! keep the nonzeros alone of rows where these are few. Sums over them add the same numbers in the same order, so that
//! storage changes no bit of a result.

use super::vector::{add_rows, axpy, combine_rows};
use crate::memory;
use std::ops::Range;

/// A row's change that touches fewer than one in so many of its numbers is added one by one.
const SCATTERED: usize = 8;

/// A row with nonzeros in more than one of so many places is kept dense.
const DENSE: usize = 2;

/// A row that many are added to is kept dense from one in so many places on, once new places have moved its nonzeros so many
/// times its width: what is read as often is read from its places, not searched.
const OFTEN_DENSE: usize = 8;
const OFTEN: usize = 4;

/// A row that is added to others.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// Its numbers.
    pub values: &'a [f64],
    /// Where it is not 0, ascending.
    pub nonzeros: &'a [u32],
}

/// Appends where a row is not 0.
pub fn find_nonzeros(row: &[f64], nonzeros: &mut Vec<u32>) {
    let found = row.iter().zip(0..).filter(|(value, _)| **value != 0.0);
    nonzeros.extend(found.map(|(_, place)| place));
}

/// A matrix whose rows have a `width` that the caller keeps.
pub trait Rows: Send + Sync + Sized {
    /// What a chunk of rows is made of.
    type Entry: Send;

    /// A matrix of zeros.
    fn zeros(rows: usize, width: usize) -> Self;

    /// Stores a dense row-major matrix.
    fn of_dense(values: Vec<f64>, width: usize) -> Self;

    /// Another matrix of the same numbers.
    fn copied(&self) -> Self;

    /// The numbers of some consecutive rows, row-major; in `buffer` where they are not stored like that.
    fn rows<'a>(&'a self, rows: Range<usize>, width: usize, buffer: &'a mut Vec<f64>) -> &'a [f64];

    /// The numbers of row `i`; in `buffer` where they are not stored like that.
    fn row<'a>(&'a self, i: usize, width: usize, buffer: &'a mut Vec<f64>) -> &'a [f64] {
        self.rows(i..i + 1, width, buffer)
    }

    /// Replaces row `i` by what `work` makes of it.
    fn change(
        &mut self,
        i: usize,
        width: usize,
        buffer: &mut Vec<f64>,
        work: impl FnOnce(&mut [f64]),
    );

    /// Replaces `places` and `values` by where row `i` is not 0, ascending, and its numbers there.
    fn nonzeros(&self, i: usize, width: usize, places: &mut Vec<u32>, values: &mut Vec<f64>);

    /// Replaces row `i` by one with the given numbers at the given ascending places, and 0 elsewhere.
    fn replace(&mut self, i: usize, width: usize, places: &[u32], values: &[f64]);

    /// Replaces `panel` by some consecutive columns, row-major.
    fn columns(&self, columns: Range<usize>, width: usize, panel: &mut Vec<f64>);

    /// `out = sum_k values[k] W[rows[k]]`, in this order.
    fn combine(&self, rows: &[i32], values: &[f64], out: &mut [f64]);

    /// `out[k] += scale W[row][places[k]]`
    fn pick(&self, row: usize, width: usize, places: &[u32], scale: f64, out: &mut [f64]);

    /// Sets some rows to 0. Returns what they were.
    fn take(&mut self, rows: Range<usize>, width: usize) -> Self;

    /// Puts rows back that were taken.
    fn put(&mut self, first: usize, width: usize, rows: Self);

    /// All entries, and how many make up a row.
    fn entries(&mut self, width: usize) -> (&mut [Self::Entry], usize);

    /// Adds `scale change` to the `row`-th row of some consecutive ones.
    fn add(chunk: &mut [Self::Entry], row: usize, scale: f64, change: Change<'_>);
}

impl Rows for Vec<f64> {
    type Entry = f64;

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

    fn columns(&self, columns: Range<usize>, width: usize, panel: &mut Vec<f64>) {
        panel.clear();
        memory::reserve(panel, self.len() / width * columns.len());
        for row in self.chunks_exact(width) {
            panel.extend_from_slice(&row[columns.clone()]);
        }
    }

    fn combine(&self, rows: &[i32], values: &[f64], out: &mut [f64]) {
        combine_rows(rows, values, self, out);
    }

    fn pick(&self, row: usize, width: usize, places: &[u32], scale: f64, out: &mut [f64]) {
        pick_of_dense(&self[row * width..][..width], places, scale, out);
    }

    fn take(&mut self, rows: Range<usize>, width: usize) -> Self {
        let rows = &mut self[rows.start * width..rows.end * width];
        let taken = memory::copied(rows);
        rows.fill(0.0);
        taken
    }

    fn put(&mut self, first: usize, width: usize, rows: Self) {
        self[first * width..][..rows.len()].copy_from_slice(&rows);
    }

    fn entries(&mut self, width: usize) -> (&mut [f64], usize) {
        (self, width)
    }

    fn add(chunk: &mut [f64], row: usize, scale: f64, change: Change<'_>) {
        let width = change.values.len();
        add_to_dense(&mut chunk[row * width..(row + 1) * width], scale, change);
    }
}

fn pick_of_dense(row: &[f64], places: &[u32], scale: f64, out: &mut [f64]) {
    for (out, &place) in out.iter_mut().zip(places) {
        *out += scale * row[place as usize];
    }
}

fn add_to_dense(row: &mut [f64], scale: f64, change: Change<'_>) {
    if change.nonzeros.len() * SCATTERED < row.len() {
        for &place in change.nonzeros {
            row[place as usize] += scale * change.values[place as usize];
        }
    } else {
        axpy(scale, change.values, row);
    }
}

/// A matrix each of whose rows is dense or kept by its nonzeros.
#[derive(Clone, Debug, Default)]
pub struct CompactRows {
    rows: Vec<CompactRow>,
}

/// A row of [`CompactRows`].
#[derive(Clone, Debug)]
pub enum CompactRow {
    /// The nonzeros, by ascending place; and how many of them new places have moved.
    Few(Vec<u32>, Vec<f64>, usize),
    /// All numbers.
    All(Vec<f64>),
}

impl Default for CompactRow {
    fn default() -> Self {
        Self::Few(Vec::new(), Vec::new(), 0)
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
        Self::Few(places, values, 0)
    }

    fn copied(&self) -> Self {
        match self {
            Self::Few(places, values, moved) => {
                Self::Few(memory::copied(places), memory::copied(values), *moved)
            }
            Self::All(values) => Self::All(memory::copied(values)),
        }
    }

    /// Writes all numbers.
    fn write(&self, out: &mut [f64]) {
        match self {
            Self::Few(places, values, _) => {
                out.fill(0.0);
                for (&place, &value) in places.iter().zip(values) {
                    out[place as usize] = value;
                }
            }
            Self::All(values) => out.copy_from_slice(values),
        }
    }

    fn add(&mut self, scale: f64, change: Change<'_>) {
        let (places, values, moved) = match self {
            Self::All(values) => return add_to_dense(values, scale, change),
            Self::Few(places, values, moved) => (places, values, *moved),
        };
        let term = |place: u32| scale * change.values[place as usize];
        let mut new = Vec::new();
        for &place in change.nonzeros {
            match places.binary_search(&place) {
                Ok(at) => values[at] += term(place),
                Err(_) => memory::push(&mut new, place),
            }
        }
        if new.is_empty() {
            return;
        }
        let (width, joint) = (change.values.len(), places.len() + new.len());
        let moved = moved + joint;
        let often = joint * OFTEN_DENSE > width && moved > OFTEN * width;
        if often || joint * DENSE > width {
            let mut all = memory::zeros(width);
            self.write(&mut all);
            new.iter()
                .for_each(|&place| all[place as usize] = term(place));
            *self = Self::All(all);
            return;
        }
        let mut joined = memory::room(joint);
        let mut sums = memory::room(joint);
        let mut old = places.iter().zip(values.iter()).peekable();
        for place in new {
            while let Some((&before, &value)) = old.next_if(|(before, _)| **before < place) {
                joined.push(before);
                sums.push(value);
            }
            joined.push(place);
            sums.push(term(place));
        }
        for (&before, &value) in old {
            joined.push(before);
            sums.push(value);
        }
        *self = Self::Few(joined, sums, moved);
    }
}

impl CompactRows {
    /// The matrix in compressed sparse rows: where each row starts, then places and values of the nonzeros, which leave
    /// this matrix row by row.
    pub fn into_csr(self) -> (Vec<i64>, Vec<i32>, Vec<f64>) {
        let nonzero = |values: &[f64]| values.iter().filter(|&&value| value != 0.0).count();
        let count = |row: &CompactRow| match row {
            CompactRow::Few(_, values, _) | CompactRow::All(values) => nonzero(values),
        };
        let total: usize = self.rows.iter().map(count).sum();
        let mut starts = Vec::with_capacity(self.rows.len() + 1);
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
                CompactRow::Few(at, row, _) => {
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
    type Entry = CompactRow;

    fn zeros(rows: usize, _width: usize) -> Self {
        Self {
            rows: memory::filled(CompactRow::default(), rows),
        }
    }

    fn of_dense(values: Vec<f64>, width: usize) -> Self {
        let rows = values.chunks_exact(width).map(CompactRow::of);
        Self {
            rows: rows.collect(),
        }
    }

    fn copied(&self) -> Self {
        let rows = self.rows.iter().map(|row| row.copied());
        Self {
            rows: rows.collect(),
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
            CompactRow::Few(at, row, _) => {
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
            CompactRow::Few(memory::copied(places), memory::copied(values), 0)
        };
    }

    fn columns(&self, columns: Range<usize>, _width: usize, panel: &mut Vec<f64>) {
        panel.clear();
        memory::resize(panel, self.rows.len() * columns.len(), 0.0);
        let (start, end) = (columns.start as u32, columns.end as u32);
        for (row, out) in self.rows.iter().zip(panel.chunks_exact_mut(columns.len())) {
            match row {
                CompactRow::All(values) => out.copy_from_slice(&values[columns.clone()]),
                CompactRow::Few(places, values, _) => {
                    let first = places.partition_point(|&place| place < start);
                    let within = places[first..].iter().zip(&values[first..]);
                    for (&place, &value) in within.take_while(|(place, _)| **place < end) {
                        out[(place - start) as usize] = value;
                    }
                }
            }
        }
    }

    fn combine(&self, rows: &[i32], values: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        // Dense rows that follow each other are added together.
        let mut together: Vec<(&[f64], f64)> = Vec::with_capacity(rows.len());
        for (&f, &x) in rows.iter().zip(values) {
            match &self.rows[f as usize] {
                CompactRow::All(row) => together.push((row, x)),
                CompactRow::Few(places, row, _) => {
                    add_rows(&together, out);
                    together.clear();
                    for (&place, &w) in places.iter().zip(row) {
                        out[place as usize] += x * w;
                    }
                }
            }
        }
        add_rows(&together, out);
    }

    fn pick(&self, row: usize, _width: usize, places: &[u32], scale: f64, out: &mut [f64]) {
        match &self.rows[row] {
            CompactRow::All(values) => pick_of_dense(values, places, scale, out),
            CompactRow::Few(at, values, _) => {
                for (out, place) in out.iter_mut().zip(places) {
                    if let Ok(found) = at.binary_search(place) {
                        *out += scale * values[found];
                    }
                }
            }
        }
    }

    fn take(&mut self, rows: Range<usize>, _width: usize) -> Self {
        let taken = self.rows[rows].iter_mut().map(std::mem::take);
        Self {
            rows: memory::collected(taken),
        }
    }

    fn put(&mut self, first: usize, _width: usize, rows: Self) {
        for (row, taken) in self.rows[first..].iter_mut().zip(rows.rows) {
            *row = taken;
        }
    }

    fn entries(&mut self, _width: usize) -> (&mut [CompactRow], usize) {
        (&mut self.rows, 1)
    }

    fn add(chunk: &mut [CompactRow], row: usize, scale: f64, change: Change<'_>) {
        chunk[row].add(scale, change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of every density, changed at random, have the same bits in either storage, however they are read.
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
                let mut nonzeros = Vec::new();
                find_nonzeros(&values, &mut nonzeros);
                let change = Change {
                    values: &values,
                    nonzeros: &nonzeros,
                };
                Vec::add(dense.entries(width).0, row, 0.3, change);
                CompactRows::add(compact.entries(width).0, row, 0.3, change);
                if turn % 7 == 6 {
                    let kept = nonzeros
                        .iter()
                        .map(|&l| values[l as usize])
                        .collect::<Vec<_>>();
                    dense.replace(row, width, &nonzeros, &kept);
                    compact.replace(row, width, &nonzeros, &kept);
                    compact = compact.copied();
                }
                let mut buffers = (Vec::new(), Vec::new());
                let all = dense.rows(0..ROWS, width, &mut buffers.0);
                assert_eq!(all, compact.rows(0..ROWS, width, &mut buffers.1));
                let places: Vec<u32> = (0..width as u32).rev().collect();
                let (mut picked, mut also) = (vec![0.1; width], vec![0.1; width]);
                dense.pick(row, width, &places, 0.7, &mut picked);
                compact.pick(row, width, &places, 0.7, &mut also);
                assert_eq!(picked, also);
                let start = random.usize(0..width);
                let columns = start..width.min(start + 32);
                dense.columns(columns.clone(), width, &mut picked);
                compact.columns(columns, width, &mut also);
                assert_eq!(picked, also);
            }
        }
    }
}
