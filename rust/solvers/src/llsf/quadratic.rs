//! `X^T X` in the form that costs least: stored, or applied through `X`.

use crate::linalg::columns::Columns;
use crate::linalg::features::{Features, Sparse};
use crate::linalg::matmul::{View, multiply};
use crate::linalg::vector::{axpy, dot, transposed};
use crate::memory;
use crate::parallel::threads::Threads;

/// Labels whose coefficients meet one nonzero of a sparse `X` at once: two vector registers.
const LANES: usize = 16;
/// Labels in one dense matrix product: enough for the speed of a large one.
const DENSE_LABELS: usize = 64;
/// A stored `X^T X` takes no more than this (half a gigabyte).
const MAX_STORED: usize = 8192;
/// How much faster a dense matrix product runs than the same number of sparse multiplications, roughly.
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
    /// The form in which a product with many labels costs least.
    pub fn for_products(features: Features<'a>) -> Self {
        let d = features.columns();
        let stored = match features {
            Features::Dense(x) => d <= 2 * x.rows(),
            Features::Sparse(x) => d * d <= 2 * DENSE_ADVANTAGE * x.nonzeros(),
        };
        Self::new(features, stored)
    }

    /// The form in which one coordinate step costs least.
    pub fn for_coordinates(features: Features<'a>) -> Self {
        Self::new(features, features.columns() <= 4 * features.rows())
    }

    fn new(features: Features<'a>, stored: bool) -> Self {
        let stored = stored && features.columns() <= MAX_STORED;
        Self {
            features,
            gram: stored.then(|| gram(features)),
        }
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

/// The same of sparse rows, for [`LANES`] labels at most.
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

/// `X^T X`, `d x d`.
fn gram(features: Features<'_>) -> Vec<f64> {
    let (n, d) = (features.rows(), features.columns());
    let mut gram = memory::matrix(d, d);
    match features {
        Features::Dense(x) => {
            let view = View::rows(x.data(), d);
            multiply((d, n, d), view.transposed(), view, &mut gram);
        }
        Features::Sparse(x) => {
            for i in 0..n {
                let (indices, values) = x.row(i);
                for (&j, &value) in indices.iter().zip(values) {
                    let row = &mut gram[j as usize * d..(j as usize + 1) * d];
                    for (&other, &y) in indices.iter().zip(values) {
                        row[other as usize] += value * y;
                    }
                }
            }
        }
    }
    gram
}
