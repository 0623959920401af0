//! The inverse of a positive definite matrix.

use crate::linalg::matmul::{View, multiply, multiply_add};
use crate::linalg::vector::axpy;
use crate::memory;
use nalgebra::DMatrix;

/// Largest matrix that is inverted in one piece.
const SMALL: usize = 64;

/// Inverts a positive definite matrix of `size` rows in place, by halves. False if it is not positive definite, or `stop`
/// returned true.
pub(crate) fn invert(matrix: &mut [f64], size: usize, stop: &mut dyn FnMut() -> bool) -> bool {
    if size <= SMALL {
        let small = DMatrix::from_column_slice(size, size, matrix);
        let Some(decomposition) = small.cholesky() else {
            return false;
        };
        matrix.copy_from_slice(decomposition.inverse().as_slice());
        return true;
    }
    if stop() {
        return false;
    }
    let (first, second) = (size / 2, size - size / 2);
    let part = |rows: usize, columns: usize, at: usize| {
        let rows = (0..rows).flat_map(|i| &matrix[i * size + at..][..columns]);
        memory::collected(rows.copied())
    };
    let mut upper = part(first, first, 0);
    let side = part(first, second, first);
    let mut lower = part(size, second, first).split_off(first * second);
    if !invert(&mut upper, first, stop) {
        return false;
    }
    let mut product = memory::matrix(first, second);
    let [of_upper, of_side] = [View::rows(&upper, first), View::rows(&side, second)];
    multiply((first, first, second), of_upper, of_side, &mut product);
    let mut taken = memory::matrix(second, second);
    let of_product = View::rows(&product, second);
    multiply(
        (second, first, second),
        of_side.transposed(),
        of_product,
        &mut taken,
    );
    axpy(-1.0, &taken, &mut lower);
    if !invert(&mut lower, second, stop) {
        return false;
    }
    if stop() {
        return false;
    }
    let mut corner = memory::matrix(first, second);
    let of_lower = View::rows(&lower, second);
    multiply((first, second, second), of_product, of_lower, &mut corner);
    let of_corner = View::rows(&corner, second);
    multiply_add(
        (first, second, first),
        of_corner,
        of_product.transposed(),
        &mut upper,
    );
    for (i, row) in matrix.chunks_exact_mut(size).enumerate() {
        let (left, right) = row.split_at_mut(first);
        if let Some(below) = i.checked_sub(first) {
            let column = left.iter_mut().zip(corner.chunks_exact(second));
            column.for_each(|(value, corner)| *value = -corner[below]);
            right.copy_from_slice(&lower[below * second..][..second]);
        } else {
            left.copy_from_slice(&upper[i * first..][..first]);
            let row = right.iter_mut().zip(&corner[i * second..]);
            row.for_each(|(value, corner)| *value = -corner);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_are_inverted_by_halves() {
        let mut random = fastrand::Rng::with_seed(1);
        for size in [1, 2, SMALL, SMALL + 1, 2 * SMALL + 3, 200] {
            let root: Vec<f64> = (0..size * size).map(|_| random.f64() - 0.5).collect();
            let view = View::rows(&root, size);
            let mut matrix = vec![0.0; size * size];
            multiply((size, size, size), view.transposed(), view, &mut matrix);
            (0..size).for_each(|k| matrix[k * (size + 1)] += 0.1);
            let mut inverse = matrix.clone();
            assert!(invert(&mut inverse, size, &mut || false));
            let mut product = vec![0.0; size * size];
            let [left, right] = [View::rows(&matrix, size), View::rows(&inverse, size)];
            multiply((size, size, size), left, right, &mut product);
            for (k, value) in product.iter().enumerate() {
                let expected = f64::from(k % (size + 1) == 0);
                assert!((value - expected).abs() < 1e-9, "{size} {k} {value}");
            }
            matrix[size * size - 1] = -1.0;
            assert!(!invert(&mut matrix, size, &mut || false));
        }
    }
}
