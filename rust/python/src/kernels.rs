//! Kernel matrices and their products.

use crate::answers;
use crate::arguments::{FeatureArrays, check_finite, kernel, row_major, value_error};
use crate::boundary::guarded;
use crate::monitor::PythonMonitor;
use multimargin_solvers::kernel::gram::Gram;
use multimargin_solvers::linalg::features::Features;
use multimargin_solvers::memory;
use multimargin_solvers::parallel::threads::Threads;
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

fn gram<'a>(
    left: &'a FeatureArrays<'_>,
    right: Option<&'a FeatureArrays<'_>>,
    name: &str,
    gamma: f64,
    degree: u32,
    coef0: f64,
) -> PyResult<Gram<'a>> {
    let kernel = kernel(name, gamma, degree, coef0)?;
    let left = left.features()?;
    match right {
        None => Ok(Gram::of(kernel, left)),
        Some(right) => Gram::new(kernel, left, right.features()?).map_err(value_error),
    }
}

/// The kernel matrix between the rows of two feature matrices (of one with itself when `right` is None).
#[pyfunction]
#[pyo3(signature = (left, right, *, name, gamma, degree, coef0, threads))]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments of a private Python function"
)]
pub fn kernel_matrix<'py>(
    py: Python<'py>,
    left: FeatureArrays<'py>,
    right: Option<FeatureArrays<'py>>,
    name: &str,
    gamma: f64,
    degree: u32,
    coef0: f64,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    guarded(py, || {
        let gram = gram(&left, right.as_ref(), name, gamma, degree, coef0)?;
        let shape = [gram.rows(), gram.columns()];
        let mut monitor = PythonMonitor::new(None);
        // NumPy requests large pages from the system, which saves most of the cost of new memory, and no zeros have to be
        // written before the values.
        let matrix = py
            .import("numpy")?
            .call_method1("empty", (shape,))?
            .cast_into::<PyArray2<f64>>()?;
        let mut values = matrix.readwrite();
        let values = values.as_slice_mut()?;
        let threads = Threads::new(threads);
        let complete = py.detach(|| gram.matrix_into(values, &threads, &mut monitor));
        monitor.all_or_nothing(complete.then_some(()))?;
        Ok(matrix)
    })
}

/// `K(left, right) factor`, without storing the kernel matrix.
#[pyfunction]
#[pyo3(signature = (left, right, factor, *, name, gamma, degree, coef0, threads))]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments of a private Python function"
)]
pub fn kernel_product<'py>(
    py: Python<'py>,
    left: FeatureArrays<'py>,
    right: FeatureArrays<'py>,
    factor: PyReadonlyArray2<'py, f64>,
    name: &str,
    gamma: f64,
    degree: u32,
    coef0: f64,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    guarded(py, || {
        let gram = gram(&left, Some(&right), name, gamma, degree, coef0)?;
        let (rows, columns) = (factor.shape()[0], factor.shape()[1]);
        if rows != gram.columns() || columns == 0 {
            return Err(PyValueError::new_err(format!(
                "factor has shape ({rows}, {columns}), expected {} rows and at least one column",
                gram.columns()
            )));
        }
        let values = row_major("factor", &factor)?;
        check_finite("factor", values)?;
        let shape = [gram.rows(), columns];
        let mut monitor = PythonMonitor::new(None);
        let product =
            py.detach(|| gram.product(values, columns, &Threads::new(threads), &mut monitor));
        let product = monitor.all_or_nothing(product)?;
        product.into_pyarray(py).reshape(shape)
    })
}

/// `X factor` of sparse features and a matrix in single precision, summed in double precision.
#[pyfunction]
pub fn sparse_product<'py>(
    py: Python<'py>,
    features: FeatureArrays<'py>,
    factor: PyReadonlyArray2<'py, f32>,
    threads: usize,
) -> PyResult<Py<PyArray2<f64>>> {
    guarded(py, || {
        let (rows, columns) = (factor.shape()[0], factor.shape()[1]);
        let x = match features.features()? {
            Features::Sparse(x) if x.columns() == rows => x,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "features are dense or not of {rows} columns, expected a CSR matrix for a factor of {rows} rows"
                )));
            }
        };
        let values = row_major("factor", &factor)?;
        let mut product = memory::matrix(x.rows(), columns);
        py.detach(|| {
            let row = |i: usize, out: &mut [f64]| x.row_product(i, values, out);
            Threads::new(threads).for_each_chunk(&mut product, columns.max(1), row);
        });
        answers::matrix(py, product, x.rows(), columns)
    })
}
