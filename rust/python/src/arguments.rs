//! From Python objects to the solvers' types.

use multimargin_solvers::error::SolverError;
use multimargin_solvers::kernel::gram::Kernel;
use multimargin_solvers::labels::Labels;
use multimargin_solvers::linalg::features::{Dense, Features, Sparse};
use multimargin_solvers::pairwise::scores::{DenseScores, LinearDense, LinearSparse};
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A solver's error as a `ValueError`.
pub fn value_error(error: SolverError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The elements of a C-contiguous matrix, row by row. (`as_slice` alone would also accept Fortran order.)
pub fn row_major<'a, T: Element>(
    name: &str,
    array: &'a PyReadonlyArray2<'_, T>,
) -> PyResult<&'a [T]> {
    if array.is_c_contiguous() {
        Ok(array.as_slice()?)
    } else {
        Err(PyValueError::new_err(format!(
            "{name} is not C-contiguous, expected a C-contiguous array"
        )))
    }
}

/// A matrix: a C-contiguous array, or the tuple `(data, indices, indptr, n_columns)` of a CSR matrix.
#[derive(FromPyObject)]
pub enum MatrixArrays<'py, T: Element> {
    #[pyo3(transparent)]
    Dense(PyReadonlyArray2<'py, T>),
    Sparse(
        PyReadonlyArray1<'py, T>,
        PyReadonlyArray1<'py, i32>,
        PyReadonlyArray1<'py, i32>,
        usize,
    ),
}

/// A feature matrix, in float64.
pub type FeatureArrays<'py> = MatrixArrays<'py, f64>;

/// Marks of labels, in uint8.
pub type IndicatorArrays<'py> = MatrixArrays<'py, u8>;

impl IndicatorArrays<'_> {
    /// The labels; each pair of an instance has the weight `c` divided by its number of pairs.
    pub fn labels(&self, c: f64) -> PyResult<Labels> {
        let labels = match self {
            Self::Dense(array) => Labels::new(row_major("Y", array)?, array.shape()[1], c),
            Self::Sparse(marks, labels, starts, q) => {
                let (marks, labels) = (marks.as_slice()?, labels.as_slice()?);
                Sparse::new(marks, labels, starts.as_slice()?, *q)
                    .and_then(|marks| Labels::sparse(marks, c))
            }
        };
        labels.map_err(value_error)
    }
}

/// Squares of larger numbers overflow when summed over millions of features.
const LARGEST: f64 = 1e150;

/// Checks that all numbers are finite and small enough that sums of their products are finite, too.
pub fn check_finite(name: &str, values: &[f64]) -> PyResult<()> {
    let wrong = |value: &&f64| value.is_nan() | (value.abs() > LARGEST);
    // Chunk by chunk, in loops that vectorise.
    let doubtful = |chunk: &&[f64]| chunk.iter().fold(false, |any, value| any | wrong(&value));
    match values.chunks(1024).filter(doubtful).flatten().find(wrong) {
        None => Ok(()),
        Some(found) => Err(PyValueError::new_err(format!(
            "{name} has the entry {found}, expected numbers of at most {LARGEST:e} in magnitude"
        ))),
    }
}

/// An optional matrix, checked to be finite and of the given shape.
pub fn optional_matrix<'a>(
    name: &str,
    array: Option<&'a PyReadonlyArray2<'_, f64>>,
    shape: [usize; 2],
) -> PyResult<Option<&'a [f64]>> {
    array
        .map(|array| shaped_matrix(name, array, shape))
        .transpose()
}

/// The values of a matrix of the given shape.
pub fn shaped_matrix<'a>(
    name: &str,
    array: &'a PyReadonlyArray2<'_, f64>,
    shape: [usize; 2],
) -> PyResult<&'a [f64]> {
    if array.shape() != shape {
        return Err(PyValueError::new_err(format!(
            "{name} has shape {:?}, expected {shape:?}",
            array.shape()
        )));
    }
    let values = row_major(name, array)?;
    check_finite(name, values)?;
    Ok(values)
}

impl FeatureArrays<'_> {
    /// The features, borrowed.
    pub fn features(&self) -> PyResult<Features<'_>> {
        let features = match self {
            Self::Dense(array) => {
                let shape = array.shape();
                let values = row_major("X", array)?;
                check_finite("X", values)?;
                Dense::new(values, shape[0], shape[1]).map(Features::Dense)
            }
            Self::Sparse(data, indices, indptr, columns) => {
                check_finite("X", data.as_slice()?)?;
                Sparse::new(
                    data.as_slice()?,
                    indices.as_slice()?,
                    indptr.as_slice()?,
                    *columns,
                )
                .map(Features::Sparse)
            }
        };
        let features = features.map_err(value_error)?;
        if features.columns() == 0 {
            return Err(PyValueError::new_err(
                "X has no columns, expected at least one",
            ));
        }
        Ok(features)
    }

    /// The features, borrowed, checked to have `n` rows as `Y` has.
    pub fn features_of_rows(&self, n: usize) -> PyResult<Features<'_>> {
        let features = self.features()?;
        if features.rows() == n {
            Ok(features)
        } else {
            Err(PyValueError::new_err(format!(
                "Y has {n} rows, expected {} as in X",
                features.rows()
            )))
        }
    }
}

/// The scores of a linear model with the given number of labels.
pub fn linear_scores(features: Features<'_>, labels: usize) -> Box<DenseScores<'_>> {
    match features {
        Features::Dense(x) => Box::new(LinearDense::new(x, labels)),
        Features::Sparse(x) => Box::new(LinearSparse::new(x, labels)),
    }
}

/// A kernel by its name in scikit-learn.
pub fn kernel(name: &str, gamma: f64, degree: u32, coef0: f64) -> PyResult<Kernel> {
    if !gamma.is_finite() || !coef0.is_finite() {
        return Err(PyValueError::new_err(format!(
            "gamma is {gamma} and coef0 is {coef0}, expected finite numbers"
        )));
    }
    match name {
        "linear" => Ok(Kernel::Linear),
        "rbf" => Ok(Kernel::Rbf { gamma }),
        "laplacian" => Ok(Kernel::Laplacian { gamma }),
        "poly" => Ok(Kernel::Polynomial {
            gamma,
            coef0,
            degree,
        }),
        "sigmoid" => Ok(Kernel::Sigmoid { gamma, coef0 }),
        _ => Err(PyValueError::new_err(format!(
            "kernel is {name:?}, expected 'linear', 'rbf', 'laplacian', 'poly' or 'sigmoid'"
        ))),
    }
}
