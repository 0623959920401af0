//! Functions of symmetric `q x q` matrices, row-major: the label covariance and the matrices it is computed from.

use crate::error::SolverError;
use crate::linalg::cholesky::PivotedCholesky;
use crate::linalg::matmul::{View, multiply, multiply_strided};
use crate::linalg::vector::{axpy, dot};
use crate::memory::{self, Purpose};
use nalgebra::{Cholesky, DMatrix, SymmetricEigen};

/// Maximum number of iterations per eigenvalue.
const MOST_SWEEPS: usize = 1000;

/// For matrices with fewer rows, all eigenvalues are found as quickly as the largest.
pub(super) const FEW: usize = 64;

/// Columns of a low-rank matrix that are added together, and the share of all columns that counts as low rank.
const COLUMNS: usize = 64;
const LOW: usize = 4;

/// Rows of a symmetric product that are computed together.
const BLOCK: usize = 96;

/// Subspace iterations before all eigenvectors are computed anew.
const MOST_ITERATIONS: usize = 4;

/// A vector of length 1 depends on the ones before it if the squared length of its remainder is less than this.
const DEPENDENT: f64 = 1e-12;

/// The Lanczos method ends when `M v` is this close to a multiple of `v`.
const CLOSE: f64 = 1e-6;

/// Random vectors among the starting vectors of subspace iteration.
const RANDOM_VECTORS: usize = 2;

/// The share of a random vector in the vector with which it starts.
const RANDOM: f64 = 0.1;

const NOT_CONVERGED: SolverError =
    SolverError::Unsupported("the eigenvalues of a q x q matrix did not converge");

/// Eigenvalues of a matrix `M = P diag(values) P^T` in descending order, and their eigenvectors: all, or the largest.
#[derive(Debug)]
pub(super) struct Eigen {
    pub values: Vec<f64>,
    /// Row-major with `q` rows; column `k` belongs to `values[k]`.
    vectors: Vec<f64>,
}

impl Eigen {
    /// Decomposes the symmetric part of a matrix.
    pub fn new(matrix: &[f64], q: usize) -> Result<Self, SolverError> {
        let symmetric = symmetric_part(matrix, q)?;
        let Some(decomposed) = SymmetricEigen::try_new(symmetric, f64::EPSILON, MOST_SWEEPS * q)
        else {
            return Err(NOT_CONVERGED);
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

    /// Decomposes a positive semidefinite matrix: if its rank is low, from some of its columns, and without the zero
    /// eigenvalues.
    pub fn of_semidefinite(matrix: &[f64], q: usize) -> Result<Self, SolverError> {
        if q < FEW {
            return Self::new(matrix, q);
        }
        check_finite(matrix)?;
        let mut root = PivotedCholesky::new((0..q).map(|k| matrix[k * (q + 1)]).collect());
        loop {
            let pivots = root.pivots(COLUMNS);
            if pivots.is_empty() {
                break;
            }
            if !root.add(&pivots, q / LOW, |j, k| matrix[j * q + pivots[k]]) {
                return Self::new(matrix, q);
            }
        }
        let m = root.rank();
        let Some(columns) = root.into_columns() else {
            return Self::new(matrix, q);
        };
        // L^T L has the same eigenvalues, and eigenvectors that L maps to those of L L^T.
        let inner = Self::new(&gram(&columns, &columns, q), m)?;
        let lengths: Vec<f64> = inner.values.iter().map(|v| v.sqrt().recip()).collect();
        let (mut vectors, right) = (memory::matrix(q, m), inner.scaled(&lengths));
        let left = View::rows(&columns, q).transposed();
        multiply((q, m, m), left, View::rows(&right, m), &mut vectors);
        let values = inner.values;
        Ok(Self { values, vectors })
    }

    /// `P diag(values) P^T` with other values.
    pub fn compose(&self, values: &[f64]) -> Vec<f64> {
        let (m, q) = (values.len(), self.rows());
        let scaled = self.scaled(values);
        let mut composed = memory::matrix(q, q);
        let right = View::rows(&self.vectors, m).transposed();
        multiply((q, m, q), View::rows(&scaled, m), right, &mut composed);
        composed
    }

    /// `P diag(values) P^T rows` with other values, in descending order, for `q` rows of `n` numbers.
    pub fn mix(&self, values: &[f64], rows: &[f64], n: usize) -> Vec<f64> {
        let (m, q) = (self.values.len(), self.rows());
        let rank = values.iter().take_while(|value| **value > 0.0).count();
        if 2 * rank >= q {
            return mix(&self.compose(values), rows, n);
        }
        let (mut within, mut mixed) = (memory::matrix(rank, n), memory::matrix(q, n));
        let left = View::rows(&self.vectors, m).transposed();
        multiply((rank, q, n), left, View::rows(rows, n), &mut within);
        let scaled = self.scaled(values);
        let right = View::rows(&within, n);
        multiply((q, rank, n), View::rows(&scaled, m), right, &mut mixed);
        mixed
    }

    /// `P diag(values)`
    fn scaled(&self, values: &[f64]) -> Vec<f64> {
        let mut scaled = memory::copied(&self.vectors);
        for row in scaled.chunks_exact_mut(values.len().max(1)) {
            row.iter_mut()
                .zip(values)
                .for_each(|(p, value)| *p *= value);
        }
        scaled
    }

    fn rows(&self) -> usize {
        self.vectors.len() / self.values.len().max(1)
    }

    /// `count` vectors, the first ones of these and a few random ones: a new direction may be orthogonal to all others.
    pub fn with_random(&self, count: usize) -> Self {
        let m = self.values.len();
        let own = m.min(count.saturating_sub(RANDOM_VECTORS));
        let mut random = fastrand::Rng::with_seed(0);
        let number = |at: usize| match at % count {
            k if k < own => self.vectors[at / count * m + k],
            _ => random.f64() - 0.5,
        };
        let mut values = memory::filled(0.0, count);
        values[..own].copy_from_slice(&self.values[..own]);
        Self {
            vectors: memory::collected((0..self.rows() * count).map(number)),
            values,
        }
    }

    /// The eigenvalues of another matrix within the span of these vectors (Rayleigh and Ritz), and the squared norms of
    /// `M p - value p`. `product` is `M P`, and is rotated with the vectors.
    fn within(&self, product: &mut Vec<f64>) -> Result<(Self, Vec<f64>), SolverError> {
        let (m, q) = (self.values.len(), self.rows());
        let mut inner = memory::matrix(m, m);
        let left = View::rows(&self.vectors, m).transposed();
        multiply((m, q, m), left, View::rows(product, m), &mut inner);
        let inner = Self::new(&inner, m)?;
        let rotated = |columns: &[f64]| {
            let mut rotated = memory::matrix(q, m);
            let right = View::rows(&inner.vectors, m);
            multiply((q, m, m), View::rows(columns, m), right, &mut rotated);
            rotated
        };
        let vectors = rotated(&self.vectors);
        *product = rotated(product);
        let mut residuals = vec![0.0; m];
        for (p, image) in vectors.chunks_exact(m).zip(product.chunks_exact(m)) {
            for (k, residual) in residuals.iter_mut().enumerate() {
                *residual += (image[k] - inner.values[k] * p[k]).powi(2);
            }
        }
        let values = inner.values;
        Ok((Self { values, vectors }, residuals))
    }

    /// The largest eigenvalues of a matrix by subspace iteration from these vectors, one for each. `is_enough` judges the
    /// values and the squared norms of `M p - value p`; `None` if it still returns false after a few iterations.
    pub fn follow(
        mut self,
        matrix: &[f64],
        is_enough: impl Fn(&[f64], &[f64]) -> bool,
    ) -> Result<Option<Self>, SolverError> {
        let (m, q) = (self.values.len(), self.rows());
        let times = |vectors: &[f64]| {
            let mut product = memory::matrix(q, m);
            multiply(
                (q, q, m),
                View::rows(matrix, q),
                View::rows(vectors, m),
                &mut product,
            );
            product
        };
        let mut product = times(&self.vectors);
        for _ in 0..MOST_ITERATIONS {
            normalise(&mut product, m);
            // Twice: the first time leaves an error of the rounding times the condition number of the squares.
            for _ in 0..2 {
                let Some(even) = orthonormal(&product, m) else {
                    return Ok(None);
                };
                product = even;
            }
            self.vectors = product;
            product = times(&self.vectors);
            let (found, residuals) = self.within(&mut product)?;
            if is_enough(&found.values, &residuals) {
                return Ok(Some(found));
            }
            self = found;
        }
        Ok(None)
    }
}

/// Divides the columns of a matrix, `m` of them, by their lengths.
fn normalise(columns: &mut [f64], m: usize) {
    let mut squares = vec![0.0; m];
    for row in columns.chunks_exact(m) {
        squares
            .iter_mut()
            .zip(row)
            .for_each(|(sum, v)| *sum += v * v);
    }
    for row in columns.chunks_exact_mut(m) {
        let lengths = row.iter_mut().zip(&squares);
        lengths.for_each(|(v, square)| *v /= square.sqrt().max(f64::MIN_POSITIVE));
    }
}

/// `V L^{-T}` with `V^T V = L L^T`, for a matrix of `m` columns whose lengths are about 1; `None` if they are linearly
/// dependent.
fn orthonormal(columns: &[f64], m: usize) -> Option<Vec<f64>> {
    let q = columns.len() / m;
    let mut squares = memory::matrix(m, m);
    let view = View::rows(columns, m);
    multiply((m, q, m), view.transposed(), view, &mut squares);
    probe_copies(3, m);
    let lower = Cholesky::new(DMatrix::from_vec(m, m, squares))?.unpack();
    if lower.diagonal().min().powi(2) <= DEPENDENT {
        return None;
    }
    let inverse = lower.solve_lower_triangular(&DMatrix::identity(m, m))?;
    let mut even = memory::matrix(q, m);
    // Column by column it is its transpose row by row.
    let right = View::rows(inverse.as_slice(), m);
    multiply((q, m, m), view, right, &mut even);
    Some(even)
}

/// The largest eigenvalue of a symmetric matrix by the Lanczos method, from below, to at least about six digits. `start`
/// approximates its eigenvector, and is replaced by a better approximation.
pub(super) fn largest(matrix: &[f64], start: &mut [f64]) -> Result<f64, SolverError> {
    let q = start.len();
    check_finite(matrix)?;
    // Squares of large entries would overflow.
    let scale = matrix.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    if scale == 0.0 {
        return Ok(0.0);
    }
    // A component in every direction: a former eigenvector may now belong to a smaller eigenvalue.
    let mut random = fastrand::Rng::with_seed(0);
    let size = RANDOM * dot(start, start).sqrt() / (q as f64).sqrt();
    let mixed = start.iter().map(|v| v + size * (random.f64() - 0.5));
    let mut basis: Vec<f64> = memory::collected(mixed);
    let mut length = dot(&basis, &basis).sqrt();
    let (mut diagonal, mut beside): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    loop {
        let k = diagonal.len();
        basis[k * q..].iter_mut().for_each(|v| *v /= length);
        let (before, last) = basis.split_at(k * q);
        let product = |row| dot(row, last) / scale;
        let mut next: Vec<f64> = matrix.chunks_exact(q).map(product).collect();
        diagonal.push(dot(&next, last));
        for _ in 0..2 {
            for v in before.chunks_exact(q).chain([last]) {
                let part = -dot(&next, v);
                axpy(part, v, &mut next);
            }
        }
        length = dot(&next, &next).sqrt();
        let count = k + 1;
        let full = count == q || length <= f64::EPSILON * diagonal[0].abs();
        if full || count.is_multiple_of(10) {
            let tridiagonal = DMatrix::from_fn(count, count, |i, j| match i.abs_diff(j) {
                0 => diagonal[i],
                1 => beside[i.min(j)],
                _ => 0.0,
            });
            let Some(found) = SymmetricEigen::try_new(tridiagonal, f64::EPSILON, MOST_SWEEPS * q)
            else {
                return Err(NOT_CONVERGED);
            };
            let at = found.eigenvalues.imax();
            let (value, vector) = (found.eigenvalues[at], found.eigenvectors.column(at));
            if full || length * vector[k].abs() <= CLOSE * value.abs() {
                start.fill(0.0);
                for (v, share) in basis.chunks_exact(q).zip(vector.iter()) {
                    axpy(*share, v, start);
                }
                return Ok(scale * value);
            }
        }
        beside.push(length);
        memory::append(&mut basis, &next);
    }
}

fn check_finite(matrix: &[f64]) -> Result<(), SolverError> {
    if matrix.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    Err(SolverError::Unsupported(
        "the scores are not finite, expected a kernel of moderate numbers",
    ))
}

/// Tries to allocate as many `q x q` matrices as the library will, whose own failed allocations would abort.
fn probe_copies(count: usize, q: usize) {
    memory::probe(
        q.saturating_mul(q).saturating_mul(count * 8),
        Purpose::Matrix,
    );
}

fn symmetric_part(matrix: &[f64], q: usize) -> Result<DMatrix<f64>, SolverError> {
    check_finite(matrix)?;
    probe_copies(4, q);
    let mean = |j, k| 0.5 * (matrix[j * q + k] + matrix[k * q + j]);
    Ok(DMatrix::from_fn(q, q, mean))
}

/// The eigenvalues of the symmetric part of a matrix, in a fraction of the time of [`Eigen`].
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

/// `left right^T` for two matrices with `q` rows of `n` numbers whose product is symmetric, from its upper half.
pub(super) fn gram(left: &[f64], right: &[f64], n: usize) -> Vec<f64> {
    let q = left.len() / n;
    let mut product = memory::matrix(q, q);
    for top in (0..q).step_by(BLOCK) {
        let rows = BLOCK.min(q - top);
        let (shape, left) = ((rows, n, q - top), View::rows(&left[top * n..], n));
        let right = View::rows(&right[top * n..], n).transposed();
        multiply_strided(shape, left, right, &mut product[top * (q + 1)..], q, false);
        for j in top..top + rows {
            for k in j + 1..q {
                product[k * q + j] = product[j * q + k];
            }
        }
    }
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

/// `A^{1/2} / tr A^{1/2}` of `A = W^T W`, the best label covariance of given weights (11), and `tr A^{1/2}`, the trace norm
/// of the weights. Weights of 0 say nothing about the labels: the covariance is then `I/q`.
pub(super) fn covariance_step(eigen: &Eigen) -> (Vec<f64>, f64) {
    let roots: Vec<f64> = eigen.values.iter().map(|v| v.max(0.0).sqrt()).collect();
    let trace_norm: f64 = roots.iter().sum();
    if trace_norm > 0.0 {
        let shares: Vec<f64> = roots.iter().map(|root| root / trace_norm).collect();
        (eigen.compose(&shares), trace_norm)
    } else {
        (independent(eigen.rows()), 0.0)
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

#[cfg(test)]
mod tests {
    use super::*;

    const Q: usize = 2 * FEW;
    const N: usize = 40;

    /// `q` rows of `n` numbers, the first directions of which are longer than the others.
    fn rows(seed: u64) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(seed);
        let long = |at: usize| {
            if at % N < 5 {
                9.0 - (at % N) as f64
            } else {
                1.0
            }
        };
        let number = |at| long(at) * (random.f64() - 0.5);
        (0..Q * N).map(number).collect()
    }

    fn close(a: &[f64], b: &[f64], tolerance: f64) {
        let size = b.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        assert_eq!(a.len(), b.len());
        let apart = a
            .iter()
            .zip(b)
            .all(|(a, b)| (a - b).abs() <= tolerance * size);
        assert!(apart);
    }

    #[test]
    fn half_of_a_symmetric_product_is_all_of_it() {
        let x = rows(1);
        let mut expected = memory::matrix(Q, Q);
        let right = View::rows(&x, N).transposed();
        multiply((Q, N, Q), View::rows(&x, N), right, &mut expected);
        close(&gram(&x, &x, N), &expected, 1e-14);
    }

    #[test]
    fn the_largest_eigenvalue_is_found_from_any_start() {
        let matrix = gram(&rows(2), &rows(2), N);
        let all = Eigen::new(&matrix, Q).unwrap();
        let column = |k: usize| all.vectors.iter().skip(k).step_by(Q).copied().collect();
        let starts: [Vec<f64>; 4] = [vec![1.0; Q], column(0), column(1), column(Q - 1)];
        for mut start in starts {
            for _ in 0..2 {
                let found = largest(&matrix, &mut start).unwrap();
                assert!((found - all.values[0]).abs() <= 1e-9 * all.values[0]);
            }
            let along: f64 = start
                .iter()
                .zip(column(0))
                .map(|(a, b): (_, f64)| a * b)
                .sum();
            assert!((along.abs() - 1.0).abs() < 1e-3);
        }
        assert_eq!(largest(&vec![0.0; Q * Q], &mut vec![1.0; Q]), Ok(0.0));
        assert!(largest(&vec![f64::NAN; Q * Q], &mut vec![1.0; Q]).is_err());
        let minus: Vec<f64> = matrix.iter().map(|v| -v).collect();
        let found = largest(&minus, &mut vec![1.0; Q]).unwrap();
        assert!(found.abs() <= 1e-6 * all.values[0]);
    }

    /// From its columns or as a whole, and with full rank.
    #[test]
    fn a_matrix_of_low_rank_is_decomposed_by_its_columns() {
        for rank in [1, 7, Q / LOW, Q] {
            let x: Vec<f64> = rows(5)
                .chunks(N)
                .flat_map(|row| &row[..rank.min(N)])
                .copied()
                .collect();
            let matrix = gram(&x, &x, rank.min(N));
            let (found, expected) = (Eigen::of_semidefinite(&matrix, Q), Eigen::new(&matrix, Q));
            let (found, expected) = (found.unwrap(), expected.unwrap());
            assert_eq!(found.values.len() < Q, rank <= Q / LOW);
            let count = rank.min(N);
            close(&found.values[..count], &expected.values[..count], 1e-13);
            close(&found.compose(&found.values), &matrix, 1e-13);
            close(
                &covariance_step(&found).0,
                &covariance_step(&expected).0,
                1e-6,
            );
        }
        let none = Eigen::of_semidefinite(&vec![0.0; Q * Q], Q).unwrap();
        assert_eq!(covariance_step(&none), (independent(Q), 0.0));
        assert!(Eigen::of_semidefinite(&vec![f64::NAN; Q * Q], Q).is_err());
    }

    #[test]
    fn vectors_of_one_matrix_lead_to_those_of_the_next() {
        let (x, mut moved) = (rows(3), rows(3));
        let change = rows(4);
        moved
            .iter_mut()
            .zip(&change)
            .for_each(|(x, c)| *x += 0.02 * c);
        let next = gram(&moved, &moved, N);
        let expected = Eigen::new(&next, Q).unwrap();
        let accurate = |_: &[f64], residuals: &[f64]| residuals[..5].iter().sum::<f64>() < 1e-3;
        let first = Eigen::new(&gram(&x, &x, N), Q).unwrap();
        let first = first.with_random(12);
        let found = first.follow(&next, accurate).unwrap().unwrap();
        close(&found.values[..5], &expected.values[..5], 1e-6);
        let factors = [[1.0; 5].as_slice(), &[0.0; 7]].concat();
        let all = [[1.0; 5].as_slice(), &[0.0; Q - 5]].concat();
        let mixed = mix(&expected.compose(&all), &moved, N);
        close(&found.mix(&factors, &moved, N), &mixed, 1e-3);
        close(&expected.mix(&all, &moved, N), &mixed, 1e-12);
        // The vectors of another matrix are of no use.
        let other = Eigen::new(&gram(&change, &change, N), Q)
            .unwrap()
            .with_random(12);
        assert!(other.follow(&next, |_, _| false).unwrap().is_none());
    }
}
