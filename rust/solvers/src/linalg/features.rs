//! Feature matrices, borrowed from the caller: dense row-major or compressed sparse rows.

use crate::error::{SolverError, refused};
use crate::linalg::vector::{axpy, combine_rows, dot};
use crate::memory;
use crate::memory::Number;

/// Cost of a multiplication in a sparse row, relative to one in a product of dense matrices.
pub(crate) const SPARSE: usize = 6;

/// A dense row-major matrix.
#[derive(Clone, Copy, Debug)]
pub struct Dense<'a> {
    data: &'a [f64],
    rows: usize,
    columns: usize,
}

impl<'a> Dense<'a> {
    /// Wraps `rows x columns` numbers.
    ///
    /// # Errors
    /// When the slice has another length.
    pub fn new(data: &'a [f64], rows: usize, columns: usize) -> Result<Self, SolverError> {
        if rows.checked_mul(columns) != Some(data.len()) {
            return Err(refused(
                "X",
                format!("{} numbers for {rows} x {columns}", data.len()),
                "a contiguous row-major matrix",
            ));
        }
        Ok(Self {
            data,
            rows,
            columns,
        })
    }

    /// All numbers, row-major.
    pub fn data(&self) -> &'a [f64] {
        self.data
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Copies the chosen rows, one below the other.
    pub fn gather(&self, rows: &[u32], panel: &mut Vec<f64>) {
        panel.clear();
        memory::reserve(panel, rows.len() * self.columns);
        for &i in rows {
            panel.extend_from_slice(self.row(i as usize));
        }
    }
}

/// A matrix in compressed sparse rows.
#[derive(Clone, Copy, Debug)]
pub struct Sparse<'a, T = f64> {
    data: &'a [T],
    indices: &'a [i32],
    starts: &'a [i32],
    columns: usize,
}

impl<'a, T> Sparse<'a, T> {
    /// Wraps the three arrays of a CSR matrix with the given number of columns.
    ///
    /// # Errors
    /// When the arrays do not describe such a matrix.
    pub fn new(
        data: &'a [T],
        indices: &'a [i32],
        starts: &'a [i32],
        columns: usize,
    ) -> Result<Self, SolverError> {
        let ordered = starts.first() == Some(&0)
            && starts.windows(2).all(|pair| pair[0] <= pair[1])
            && starts.last().is_some_and(|&end| end as usize == data.len());
        let inside = indices.iter().all(|&f| f >= 0 && (f as usize) < columns);
        // With more columns than an index can hold, array sizes would overflow before anything is allocated.
        let countable = i32::try_from(columns).is_ok();
        if !ordered || !inside || !countable || data.len() != indices.len() {
            return Err(refused(
                "a CSR matrix",
                format!("inconsistent arrays for {columns} columns"),
                "increasing indptr and indices within at most 2^31 - 1 columns",
            ));
        }
        Ok(Self {
            data,
            indices,
            starts,
            columns,
        })
    }

    /// Indices and values of row `i`.
    pub fn row(&self, i: usize) -> (&'a [i32], &'a [T]) {
        let range = self.starts[i] as usize..self.starts[i + 1] as usize;
        (&self.indices[range.clone()], &self.data[range])
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of nonzeros.
    pub fn nonzeros(&self) -> usize {
        self.data.len()
    }
}

impl Sparse<'_> {
    /// Adds `scale` times row `i` to a dense vector.
    pub fn scatter(&self, i: usize, scale: f64, target: &mut [f64]) {
        let (indices, values) = self.row(i);
        for (&f, &x) in indices.iter().zip(values) {
            target[f as usize] += scale * x;
        }
    }

    /// Row `i` times a row-major matrix with as many columns as `out` has entries.
    pub fn row_product<T: Number>(&self, i: usize, matrix: &[T], out: &mut [f64]) {
        let (indices, values) = self.row(i);
        combine_rows(indices, values, matrix, out);
    }

    /// The chosen rows times a row-major matrix of the given width.
    pub fn row_products<T: Number>(
        &self,
        rows: &[u32],
        matrix: &[T],
        out: &mut [f64],
        width: usize,
    ) {
        for (out, &i) in out.chunks_exact_mut(width).zip(rows) {
            self.row_product(i as usize, matrix, out);
        }
    }

    /// Inner product of row `i` with a dense vector.
    pub fn dot(&self, i: usize, vector: &[f64]) -> f64 {
        self.sum(i, vector, |x, y| x * y)
    }

    /// The sum of a term over the features of row `i`, and their values in a dense vector.
    fn sum(&self, i: usize, vector: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
        let (indices, values) = self.row(i);
        indices
            .iter()
            .zip(values)
            .map(|(&f, &x)| term(x, vector[f as usize]))
            .sum()
    }

    /// Sums of a term, such as a product, that is 0 where one factor is, among the chosen rows, row-major. `dense` is a feature
    /// vector of zeros, and is left as such.
    pub fn square(
        &self,
        rows: &[u32],
        dense: &mut [f64],
        out: &mut [f64],
        term: impl Fn(f64, f64) -> f64,
    ) {
        let count = rows.len();
        for (k, &i) in rows.iter().enumerate() {
            self.scatter(i as usize, 1.0, dense);
            for (l, &j) in rows.iter().enumerate().skip(k) {
                let value = self.sum(j as usize, dense, &term);
                out[k * count + l] = value;
                out[l * count + k] = value;
            }
            for &f in self.row(i as usize).0 {
                dense[f as usize] = 0.0;
            }
        }
    }
}

/// Dense or sparse features.
#[derive(Clone, Copy, Debug)]
pub enum Features<'a> {
    /// Dense row-major features.
    Dense(Dense<'a>),
    /// Features in compressed sparse rows.
    Sparse(Sparse<'a>),
}

impl Features<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(x) => x.rows(),
            Self::Sparse(x) => x.rows(),
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense(x) => x.columns(),
            Self::Sparse(x) => x.columns(),
        }
    }

    /// Adds `scale` times row `i` to a dense vector.
    fn add_row(&self, i: usize, scale: f64, target: &mut [f64]) {
        match self {
            Self::Dense(x) => axpy(scale, x.row(i), target),
            Self::Sparse(x) => x.scatter(i, scale, target),
        }
    }

    /// `||x_i - y_j||^2` for row `j` of other features, from the differences.
    pub fn squared_distance(&self, i: usize, other: &Self, j: usize) -> f64 {
        let difference = self.difference(i, other, j);
        dot(&difference, &difference)
    }

    /// `sum_k |x_ik - y_jk|` for row `j` of other features.
    pub fn manhattan_distance(&self, i: usize, other: &Self, j: usize) -> f64 {
        self.difference(i, other, j).iter().map(|x| x.abs()).sum()
    }

    fn difference(&self, i: usize, other: &Self, j: usize) -> Vec<f64> {
        let mut difference = memory::zeros(self.columns());
        self.add_row(i, 1.0, &mut difference);
        other.add_row(j, -1.0, &mut difference);
        difference
    }

    /// `||x_i||^2` of every row.
    pub fn squared_norms(&self) -> Vec<f64> {
        let norms = (0..self.rows()).map(|i| match self {
            Self::Dense(x) => dot(x.row(i), x.row(i)),
            Self::Sparse(x) => x.row(i).1.iter().map(|v| v * v).sum(),
        });
        norms.collect()
    }
}
