//! From the solvers' types to Python objects.

use multimargin_solvers::report::{Record, Report};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

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

/// The outcome of a loop under the field names of `multimargin.estimators.pairwise.problem.Report`; the caller adds the
/// solution.
pub fn reported<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let records = || report.history.iter();
    let column = |of: fn(&Record) -> f64| PyArray1::from_iter(py, records().map(of));
    let history = PyDict::new(py);
    let epochs = records().map(|record| record.epoch as i64);
    history.set_item("epoch", PyArray1::from_iter(py, epochs))?;
    history.set_item("seconds", column(|record| record.seconds))?;
    history.set_item("primal", column(|record| record.primal))?;
    history.set_item("dual", column(|record| record.dual))?;
    let answer = PyDict::new(py);
    answer.set_item("status", report.status.name())?;
    answer.set_item("n_iter", report.epochs)?;
    answer.set_item("primal", report.primal)?;
    answer.set_item("dual_objective", report.dual)?;
    answer.set_item("rounding", report.rounding)?;
    answer.set_item("gap", report.gap())?;
    answer.set_item("history", history)?;
    Ok(answer)
}
