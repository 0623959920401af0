//! From the solvers' types to Python objects.

use multimargin_solvers::report::Record;
use numpy::{Element, IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

/// A row-major matrix.
pub fn matrix<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
    rows: usize,
    columns: usize,
) -> PyResult<Py<PyArray2<T>>> {
    values
        .into_pyarray(py)
        .reshape([rows, columns])
        .map(Bound::unbind)
}

/// The columns (epoch, seconds, primal, dual) of a history, shape (4, records).
pub fn history_columns(py: Python<'_>, history: &[Record]) -> PyResult<Py<PyArray2<f64>>> {
    let columns: [fn(&Record) -> f64; 4] =
        [|r| r.epoch as f64, |r| r.seconds, |r| r.primal, |r| r.dual];
    let mut values = Vec::with_capacity(4 * history.len());
    for column in columns {
        values.extend(history.iter().map(column));
    }
    matrix(py, values, 4, history.len())
}
