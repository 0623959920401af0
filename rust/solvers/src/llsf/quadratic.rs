//! `X^T X` in the cheapest form: stored, or applied through `X`.

use crate::linalg::columns::Columns;
use crate::linalg::features::{Features, Sparse};
use crate::linalg::matmul::{View, multiply, multiply_strided};
use crate::linalg::vector::{axpy, dot, transposed};
use crate::memory;
use crate::parallel::threads::Threads;
use crate::report::Monitor;

/// Labels whose coefficients are multiplied by a nonzero of a sparse `X` at once: two vector registers.
const LANES: usize = 16;
/// Labels in one dense matrix product: enough to reach the speed of a large one.
const DENSE_LABELS: usize = 64;
/// Largest size of a stored `X^T X` (half a gigabyte).
const MAX_STORED: usize = 8192;
/// Rows of a dense `X` that are multiplied at a time, and rows of `X^T X` that a thread computes from them.
const SLAB: usize = 512;
const ROWS: usize = 128;
/// Rows of `X^T X` that a thread computes from all of a sparse `X`.
const SPARSE_ROWS: usize = 4;
/// Approximate speed of a dense matrix product relative to the same number of sparse multiplications.
const DENSE_ADVANTAGE: usize = 4;

/// The columns of `X`.
#[derive(Debug)]
pub(super) enum FeatureColumns {
    /// One column after another.
    Dense(Vec<f64>),
    /// The nonzeros of each.
    Sparse(Columns),
}

impl FeatureColumns {
    /// Transposes the storage of `X`.
    pub fn of(features: Features<'_>) -> Self {
        match features {
            Features::Dense(x) => Self::Dense(transposed(x.data(), x.rows(), x.columns())),
            Features::Sparse(x) => Self::Sparse(Columns::of(&x)),
        }
    }

    /// `x_j . v`.
    pub fn dot(&self, j: usize, v: &[f64]) -> f64 {
        match self {
            Self::Dense(columns) => dot(&columns[j * v.len()..(j + 1) * v.len()], v),
            Self::Sparse(columns) => columns.column(j).map(|(i, x)| x * v[i]).sum(),
        }
    }

    /// `v += a x_j`.
    pub fn axpy(&self, a: f64, j: usize, v: &mut [f64]) {
        match self {
            Self::Dense(columns) => axpy(a, &columns[j * v.len()..(j + 1) * v.len()], v),
            Self::Sparse(columns) => columns.column(j).for_each(|(i, x)| v[i] += a * x),
        }
    }
}

/// The quadratic form of the squared error.
#[derive(Debug)]
pub(super) struct Quadratic<'a> {
    features: Features<'a>,
    /// `X^T X` (`d x d`), where it is stored; else it is applied as `X^T (X w)`.
    pub gram: Option<Vec<f64>>,
}

impl<'a> Quadratic<'a> {
    /// `X^T (X w)`, which needs no preparation.
    pub fn applied(features: Features<'a>) -> Self {
        Self {
            features,
            gram: None,
        }
    }

    /// The cheapest form for products with many labels; `None` when interrupted.
    pub fn for_products(
        features: Features<'a>,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<Self> {
        let d = features.columns();
        let stored = match features {
            Features::Dense(x) => d <= 2 * x.rows(),
            Features::Sparse(x) => d * d <= 2 * DENSE_ADVANTAGE * x.nonzeros(),
        };
        Self::new(features, stored, threads, monitor)
    }

    /// The cheapest form for coordinate steps; `None` when interrupted.
    pub fn for_coordinates(
        features: Features<'a>,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<Self> {
        let stored = features.columns() <= 4 * features.rows();
        Self::new(features, stored, threads, monitor)
    }

    fn new(
        features: Features<'a>,
        stored: bool,
        threads: &Threads,
        monitor: &mut dyn Monitor,
    ) -> Option<Self> {
        let mut form = Self::applied(features);
        if stored && features.columns() <= MAX_STORED {
            form.gram = Some(gram(features, threads, monitor)?);
        }
        Some(form)
    }

    /// `out_k = X^T X w_k` for all labels; both `q x d` row-major.
    pub fn products(&self, weights: &[f64], out: &mut [f64], threads: &Threads) {
        let (n, d) = (self.features.rows(), self.features.columns());
        if d == 0 {
            return;
        }
        let block = match (&self.gram, self.features) {
            (None, Features::Sparse(_)) => LANES,
            _ => DENSE_LABELS,
        };
        threads.for_each_chunk(out, block * d, |index, out| {
            let m = out.len() / d;
            let weights = &weights[index * block * d..][..m * d];
            match (&self.gram, self.features) {
                (Some(gram), _) => {
                    multiply((m, d, d), View::rows(weights, d), View::rows(gram, d), out)
                }
                (None, Features::Dense(x)) => dense_products((n, d), x.data(), weights, out),
                (None, Features::Sparse(x)) => sparse_products(x, d, weights, out),
            }
        });
    }
}

/// `X^T (X w_k)` for some labels.
fn dense_products((n, d): (usize, usize), x: &[f64], weights: &[f64], out: &mut [f64]) {
    let m = out.len() / d;
    let x = View::rows(x, d);
    let mut scores = memory::matrix(m, n);
    let weights = View::rows(weights, d);
    multiply((m, d, n), weights, x.transposed(), &mut scores);
    multiply((m, n, d), View::rows(&scores, n), x, out);
}

/// The same for sparse rows, for at most [`LANES`] labels.
fn sparse_products(x: Sparse<'_>, d: usize, weights: &[f64], out: &mut [f64]) {
    let mut panel = memory::filled([0.0; LANES], d);
    let mut target = memory::filled([0.0; LANES], d);
    for (k, row) in weights.chunks_exact(d).enumerate() {
        for (lanes, &w) in panel.iter_mut().zip(row) {
            lanes[k] = w;
        }
    }
    for i in 0..x.rows() {
        let (indices, values) = x.row(i);
        let mut sums = [0.0; LANES];
        for (&j, &value) in indices.iter().zip(values) {
            let lanes = &panel[j as usize];
            for k in 0..LANES {
                sums[k] += value * lanes[k];
            }
        }
        for (&j, &value) in indices.iter().zip(values) {
            let lanes = &mut target[j as usize];
            for k in 0..LANES {
                lanes[k] += value * sums[k];
            }
        }
    }
    for (k, row) in out.chunks_exact_mut(d).enumerate() {
        for (value, lanes) in row.iter_mut().zip(&target) {
            *value = lanes[k];
        }
    }
}

/// `X^T X`, `d x d`; `None` when interrupted.
fn gram(features: Features<'_>, threads: &Threads, monitor: &mut dyn Monitor) -> Option<Vec<f64>> {
    let d = features.columns();
    let mut gram = memory::matrix(d, d);
    match features {
        Features::Dense(x) => {
            for slab in x.data().chunks((SLAB * d).max(1)) {
                add_squares(slab, d, &mut gram, threads, monitor)?;
            }
            for i in 0..d {
                if i.is_multiple_of(ROWS) && monitor.poll().breaks_off() {
                    return None;
                }
                let (above, below) = gram.split_at_mut(i * d);
                let columns = above.iter().skip(i).step_by(d);
                below
                    .iter_mut()
                    .zip(columns)
                    .for_each(|(k, &other)| *k = other);
            }
        }
        Features::Sparse(x) => {
            let columns = Columns::of(&x);
            let together = SPARSE_ROWS * threads.count();
            for (group, rows) in gram.chunks_mut((together * d).max(1)).enumerate() {
                if monitor.poll().breaks_off() {
                    return None;
                }
                threads.for_each_chunk(rows, d, |row, sums| {
                    for (i, value) in columns.column(group * together + row) {
                        let (indices, values) = x.row(i);
                        for (&other, &y) in indices.iter().zip(values) {
                            sums[other as usize] += value * y;
                        }
                    }
                });
            }
        }
    }
    Some(gram)
}

/// Adds the products of the columns of some rows of `X` right of the diagonal, and some left of it.
fn add_squares(
    slab: &[f64],
    d: usize,
    gram: &mut [f64],
    threads: &Threads,
    monitor: &mut dyn Monitor,
) -> Option<()> {
    let together = ROWS * threads.count();
    for (group, rows) in gram.chunks_mut(together * d).enumerate() {
        if monitor.poll().breaks_off() {
            return None;
        }
        threads.for_each_chunk(rows, ROWS * d, |chunk, rows| {
            let first = group * together + chunk * ROWS;
            let view = View::rows(&slab[first..], d);
            let shape = (rows.len() / d, slab.len() / d, d - first);
            multiply_strided(shape, view.transposed(), view, &mut rows[first..], d, true);
        });
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::features::Dense;

    /// Each entry is the inner product of two columns, and the bits are the same with any number of threads.
    #[test]
    fn the_stored_form_is_that_of_the_columns() {
        let (n, d) = (SLAB + 70, 2 * ROWS + 30);
        let mut random = fastrand::Rng::with_seed(1);
        let entry = |_| {
            if random.f64() < 0.2 {
                random.f64() - 0.5
            } else {
                0.0
            }
        };
        let x: Vec<f64> = (0..n * d).map(entry).collect();
        let (mut values, mut indices, mut starts) = (Vec::new(), Vec::new(), vec![0]);
        for row in x.chunks_exact(d) {
            let nonzeros = (0..).zip(row).filter(|(_, x)| **x != 0.0);
            nonzeros.for_each(|(j, x)| {
                indices.push(j);
                values.push(*x);
            });
            starts.push(values.len() as i32);
        }
        let dense = Features::Dense(Dense::new(&x, n, d).unwrap());
        let sparse = Features::Sparse(Sparse::new(&values, &indices, &starts, d).unwrap());
        for features in [dense, sparse] {
            let of = |count| gram(features, &Threads::new(count), &mut ()).unwrap();
            let found = of(1);
            assert_eq!(found, of(3));
            for (at, value) in found.iter().enumerate() {
                let columns = x.chunks_exact(d).map(|row| row[at / d] * row[at % d]);
                assert!((value - columns.sum::<f64>()).abs() < 1e-12);
            }
        }
    }
}
