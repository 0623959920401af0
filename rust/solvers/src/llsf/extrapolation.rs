//! Anderson's extrapolation of a sequence of iterates.

use crate::vector::{axpy, dot};

/// How much the differences' Gram matrix is regularised, relative to its trace.
const REGULARISATION: f64 = 1e-10;

/// The affine combination of the iterates after the first whose differences cancel best; `None` when rounding leaves
/// nothing to extrapolate.
pub fn extrapolate(iterates: &[Vec<f64>]) -> Option<Vec<f64>> {
    let differences: Vec<Vec<f64>> = iterates
        .windows(2)
        .map(|pair| pair[1].iter().zip(&pair[0]).map(|(a, b)| a - b).collect())
        .collect();
    let count = differences.len();
    let mut gram: Vec<Vec<f64>> = differences
        .iter()
        .map(|a| differences.iter().map(|b| dot(a, b)).collect())
        .collect();
    let trace: f64 = (0..count).map(|i| gram[i][i]).sum();
    if !(trace > 0.0 && trace.is_finite()) {
        return None;
    }
    for (i, row) in gram.iter_mut().enumerate() {
        row[i] += REGULARISATION * trace;
    }
    let mut combination = solve(gram, vec![1.0; count])?;
    let sum: f64 = combination.iter().sum();
    if !(sum.is_finite() && sum != 0.0) {
        return None;
    }
    combination.iter_mut().for_each(|c| *c /= sum);
    let mut point = vec![0.0; iterates.first()?.len()];
    for (iterate, &weight) in iterates[1..].iter().zip(&combination) {
        axpy(weight, iterate, &mut point);
    }
    point.iter().all(|w| w.is_finite()).then_some(point)
}

/// Gaussian elimination for a symmetric positive definite matrix.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for k in 0..n {
        if !(matrix[k][k] > 0.0) {
            return None;
        }
        let pivot_row = matrix[k].clone();
        for i in k + 1..n {
            let factor = matrix[i][k] / pivot_row[k];
            axpy(-factor, &pivot_row[k..], &mut matrix[i][k..]);
            right[i] -= factor * right[k];
        }
    }
    for k in (0..n).rev() {
        let tail = dot(&matrix[k][k + 1..], &right[k + 1..]);
        right[k] = (right[k] - tail) / matrix[k][k];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_fixed_point_of_a_linear_iteration() {
        // w <- A w + b with A symmetric, eigenvalues 0.9 and 0.5, and fixed point (1, 2).
        let step = |w: &[f64]| {
            let (x, y) = (w[0] - 1.0, w[1] - 2.0);
            vec![1.0 + 0.7 * x + 0.2 * y, 2.0 + 0.2 * x + 0.7 * y]
        };
        let mut iterates = vec![vec![5.0, -3.0]];
        for _ in 0..3 {
            let next = step(&iterates[iterates.len() - 1]);
            iterates.push(next);
        }
        let point = extrapolate(&iterates);
        let error = point.map(|p| (p[0] - 1.0).abs() + (p[1] - 2.0).abs());
        assert!(error.is_some_and(|e| e < 1e-6), "{error:?}");
    }

    #[test]
    fn has_nothing_to_say_at_a_standstill() {
        assert_eq!(extrapolate(&[vec![1.0], vec![1.0], vec![1.0]]), None);
    }
}
