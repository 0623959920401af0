//! Functions of symmetric `q x q` matrices, row-major: the label covariance and what it is made from.

use crate::error::SolverError;
use crate::linalg::matmul::{View, multiply};
use crate::memory::{self, Purpose};
use nalgebra::{DMatrix, SymmetricEigen};

/// Iterations of the eigenvalue algorithm that each eigenvalue may take.
const MOST_SWEEPS: usize = 1000;

/// `M = P diag(values) P^T`, eigenvalues in descending order.
#[derive(Clone, Debug)]
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

/// The largest eigenvalue of the symmetric part of a matrix, in a fraction of the time that [`Eigen`] takes.
pub(super) fn largest_eigenvalue(matrix: &[f64], q: usize) -> Result<f64, SolverError> {
    let symmetric = symmetric_part(matrix, q)?;
    // Squares of large entries would overflow.
    let scale = symmetric.amax();
    if scale == 0.0 {
        return Ok(0.0);
    }
    Ok(scale * (symmetric / scale).symmetric_eigenvalues().max())
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
    (0..q * q)
        .map(|at| {
            if at / q == at % q {
                1.0 / q as f64
            } else {
                0.0
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_descend_and_compose_the_matrix() {
        let mut random = fastrand::Rng::with_seed(5);
        for q in [1, 2, 3, 7, 20] {
            let half: Vec<f64> = (0..q * q).map(|_| random.f64() - 0.5).collect();
            let matrix = gram(&half, &half, q);
            let eigen = Eigen::new(&matrix, q).unwrap();
            assert!(eigen.values.windows(2).all(|pair| pair[0] >= pair[1]));
            let largest = largest_eigenvalue(&matrix, q).unwrap();
            assert!((largest / eigen.values[0] - 1.0).abs() < 1e-13);
            for (a, b) in eigen.compose(&eigen.values).iter().zip(&matrix) {
                assert!((a - b).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_square_of_the_covariance_is_proportional_to_the_gram_matrix() {
        let matrix = [2.0, 0.5, 0.5, 1.0];
        let (omega, trace_norm) = covariance_step(&Eigen::new(&matrix, 2).unwrap());
        assert!((omega[0] + omega[3] - 1.0).abs() < 1e-14);
        let square = gram(&omega, &omega, 2);
        for (a, b) in square.iter().zip(&matrix) {
            assert!((a * trace_norm * trace_norm - b).abs() < 1e-13);
        }
        assert_eq!(
            covariance_step(&Eigen::new(&[0.0; 4], 2).unwrap()).0,
            independent(2)
        );
    }

    #[test]
    fn a_matrix_that_is_not_finite_is_refused() {
        assert!(Eigen::new(&[f64::NAN; 4], 2).is_err());
        assert!(largest_eigenvalue(&[f64::NAN; 4], 2).is_err());
    }

    #[test]
    fn the_largest_eigenvalue_of_special_matrices() {
        for (matrix, expected) in [
            (vec![-3.0], -3.0),
            (vec![0.0; 9], 0.0),
            (vec![-1.0, 0.0, 0.0, -2.0], -1.0),
            (vec![0.0, 1.0, 1.0, 0.0], 1.0),
            (vec![1.0; 25], 5.0),
            (vec![1e300; 4], 2e300),
        ] {
            let q = matrix.len().isqrt();
            let largest = largest_eigenvalue(&matrix, q).unwrap();
            assert!(
                (largest - expected).abs() <= 1e-14 * expected.abs(),
                "{expected}"
            );
        }
    }
}
