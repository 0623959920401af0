//! Functions of symmetric `q x q` matrices, row-major: the label covariance and what it is made from.

use crate::error::SolverError;
use crate::linalg::matmul::{View, multiply};
use crate::memory::{self, Purpose};
use nalgebra::{DMatrix, SymmetricEigen};

/// Iterations of the eigenvalue algorithm that each eigenvalue may take.
const MOST_SWEEPS: usize = 1000;

/// `M = P diag(values) P^T`, eigenvalues in descending order.
#[derive(Debug)]
pub(super) struct Eigen {
    pub values: Vec<f64>,
    /// Row-major; column `k` belongs to `values[k]`.
    vectors: Vec<f64>,
}

impl Eigen {
    /// Decomposes the symmetric part of a matrix.
    pub fn new(matrix: &[f64], q: usize) -> Result<Self, SolverError> {
        let symmetric = symmetric_part(matrix, q)?;
        let Some(decomposed) = SymmetricEigen::try_new(symmetric, f64::EPSILON, MOST_SWEEPS * q)
        else {
            return Err(SolverError::Unsupported(
                "the eigenvalues of a q x q matrix did not converge",
            ));
        };
        let found = &decomposed.eigenvalues;
        let mut order: Vec<usize> = (0..q).collect();
        order.sort_by(|&a, &b| found[b].total_cmp(&found[a]));
        Ok(Self {
            values: order.iter().map(|&k| found[k]).collect(),
            vectors: memory::collected(
                (0..q * q).map(|at| decomposed.eigenvectors[(at / q, order[at % q])]),
            ),
        })
    }

    /// `P diag(values) P^T` with other values.
    pub fn compose(&self, values: &[f64]) -> Vec<f64> {
        let q = values.len();
        let mut scaled = memory::copied(&self.vectors);
        for row in scaled.chunks_exact_mut(q) {
            row.iter_mut()
                .zip(values)
                .for_each(|(p, value)| *p *= value);
        }
        let mut composed = memory::matrix(q, q);
        let right = View::rows(&self.vectors, q).transposed();
        multiply((q, q, q), View::rows(&scaled, q), right, &mut composed);
        composed
    }
}

fn symmetric_part(matrix: &[f64], q: usize) -> Result<DMatrix<f64>, SolverError> {
    if matrix.iter().any(|value| !value.is_finite()) {
        return Err(SolverError::Unsupported(
            "the scores are not finite, expected a kernel of moderate numbers",
        ));
    }
    // The library's copies of the matrix, whose allocation would not fail but abort.
    memory::probe(q.saturating_mul(q).saturating_mul(4 * 8), Purpose::Matrix);
    let mean = |j, k| 0.5 * (matrix[j * q + k] + matrix[k * q + j]);
    Ok(DMatrix::from_fn(q, q, mean))
}

/// The eigenvalues of the symmetric part of a matrix, in a fraction of the time that [`Eigen`] takes.
pub(super) fn eigenvalues(matrix: &[f64], q: usize) -> Result<Vec<f64>, SolverError> {
    let symmetric = symmetric_part(matrix, q)?;
    // Squares of large entries would overflow.
    let scale = symmetric.amax();
    if scale == 0.0 {
        return Ok(memory::zeros(q));
    }
    let found = (symmetric / scale).symmetric_eigenvalues();
    Ok(found.iter().map(|value| scale * value).collect())
}

/// `left right^T` for two matrices with rows of `n` numbers.
pub(super) fn gram(left: &[f64], right: &[f64], n: usize) -> Vec<f64> {
    let (p, q) = (left.len() / n, right.len() / n);
    let mut product = memory::matrix(p, q);
    let right = View::rows(right, n).transposed();
    multiply((p, n, q), View::rows(left, n), right, &mut product);
    product
}

/// `mixing rows` for a `q x q` matrix and `q` rows of `n` numbers.
pub(super) fn mix(mixing: &[f64], rows: &[f64], n: usize) -> Vec<f64> {
    let q = rows.len() / n;
    let mut mixed = memory::matrix(q, n);
    multiply(
        (q, q, n),
        View::rows(mixing, q),
        View::rows(rows, n),
        &mut mixed,
    );
    mixed
}

/// `A^{1/2} / tr A^{1/2}` of `A = W^T W`, the best label covariance of given weights (11), and `tr A^{1/2}`, the trace
/// norm of the weights. No weights at all say nothing about the labels: the covariance is then `I/q`.
pub(super) fn covariance_step(eigen: &Eigen) -> (Vec<f64>, f64) {
    let q = eigen.values.len();
    let roots: Vec<f64> = eigen.values.iter().map(|v| v.max(0.0).sqrt()).collect();
    let trace_norm: f64 = roots.iter().sum();
    if trace_norm > 0.0 {
        let shares: Vec<f64> = roots.iter().map(|root| root / trace_norm).collect();
        (eigen.compose(&shares), trace_norm)
    } else {
        (independent(q), 0.0)
    }
}

/// `I/q`
pub(super) fn independent(q: usize) -> Vec<f64> {
    let mut even = memory::matrix(q, q);
    for k in 0..q {
        even[k * (q + 1)] = 1.0 / q as f64;
    }
    even
}
