//! Kernel matrices: whole, in blocks, and by rows, some of which are cached.

pub mod gram;
pub mod rows;

use crate::error::{SolverError, refused};

/// Checks that a stored kernel matrix is `n x n`.
pub(crate) fn check_square(matrix: &[f64], n: usize) -> Result<(), SolverError> {
    if n.checked_mul(n) == Some(matrix.len()) {
        return Ok(());
    }
    Err(refused(
        "X",
        format!("a kernel matrix of {} numbers for {n} rows", matrix.len()),
        "a square matrix",
    ))
}

/// Checks that no value on the diagonal of a kernel has overflowed.
pub(crate) fn check_diagonal(diagonal: &[f64]) -> Result<(), SolverError> {
    match diagonal.iter().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(value) => Err(refused(
            "X",
            format!("a matrix with a kernel value of {value}"),
            "finite kernel values: scale the features",
        )),
    }
}
