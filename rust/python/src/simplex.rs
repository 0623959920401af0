//! Rank-CVM by the Frank-Wolfe method: one entry, `solve_simplex`.

use crate::answers::{history_columns, matrix};
use crate::arguments::{FeatureArrays, kernel, row_major, value_error};
use crate::boundary::guarded;
use crate::keywords::keywords;
use crate::monitor::PythonMonitor;
use multimargin_solvers::kernel::gram::Gram;
use multimargin_solvers::kernel::rows::KernelRows;
use multimargin_solvers::labels::Labels;
use multimargin_solvers::linalg::features::Features;
use multimargin_solvers::rank_cvm::{self, StopRule};
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The answer of the Frank-Wolfe method.
#[pyclass(frozen, get_all, module = "multimargin._rust")]
pub struct SimplexSolution {
    /// Dual matrix B, shape (n, q).
    dual: Py<PyArray2<f64>>,
    /// Bias b, shape (q,).
    bias: Py<PyArray1<f64>>,
    /// Scores of the training rows without the bias, shape (n, q).
    scores: Py<PyArray2<f64>>,
    /// The margin.
    rho: f64,
    /// Why the loop ended.
    status: &'static str,
    /// Iterations made.
    epochs: usize,
    /// Objective W.
    primal: f64,
    /// Lower bound of the optimum.
    dual_objective: f64,
    /// Relative duality gap.
    gap: f64,
    /// Columns (iteration, seconds, primal, dual), shape (4, records).
    history: Py<PyArray2<f64>>,
}

keywords! {
/// A problem of Rank-CVM and how to solve it, but for labels and features. See `multimargin.estimators` for the meaning.
struct SimplexRequest<'py> {
    c: f64,
    kernel_name: String,
    gamma: f64,
    degree: u32,
    coef0: f64,
    absolute: bool,
    tolerance: f64,
    max_epochs: usize,
    cache_bytes: usize,
    #[pyo3(default)]
    pair_weights: Option<PyReadonlyArray1<'py, f64>>,
    #[pyo3(default)]
    label_weights: Option<PyReadonlyArray1<'py, f64>>,
    #[pyo3(default)]
    callback: Option<Py<PyAny>>,
    #[pyo3(default)]
    seconds: Option<f64>,
}
}

impl SimplexRequest<'_> {
    fn rows<'a>(&self, x: Features<'a>, n: usize) -> PyResult<KernelRows<'a>> {
        match (self.kernel_name.as_str(), x) {
            ("precomputed", Features::Dense(matrix)) if matrix.data().len() == n * n => {
                KernelRows::stored(matrix.data(), n).map_err(value_error)
            }
            ("precomputed", _) => Err(PyValueError::new_err(
                "X is no square dense matrix, expected one for a precomputed kernel",
            )),
            (name, x) => {
                let kernel = kernel(name, self.gamma, self.degree, self.coef0)?;
                Ok(KernelRows::computed(Gram::of(kernel, x), self.cache_bytes))
            }
        }
    }

    fn stop(&self) -> StopRule {
        if self.absolute {
            StopRule::Absolute(self.tolerance)
        } else {
            StopRule::Relative(self.tolerance)
        }
    }
}

/// Solves Rank-CVM by Frank-Wolfe steps, see [`SimplexRequest`].
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn solve_simplex<'py>(
    py: Python<'py>,
    indicator: PyReadonlyArray2<'py, u8>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<SimplexSolution> {
    guarded(py, || {
        let mut asked = SimplexRequest::of(&request.unwrap_or_else(|| PyDict::new(py)))?;
        let (n, q) = (indicator.shape()[0], indicator.shape()[1]);
        let marks = row_major("Y", &indicator)?;
        let labels = match &asked.pair_weights {
            Some(weights) => Labels::weighted(marks, q, weights.as_slice()?),
            None => Labels::new(marks, q, asked.c),
        };
        let labels = match &asked.label_weights {
            Some(weights) => {
                let weights = weights.as_slice()?;
                labels.and_then(|labels| labels.with_label_weights(weights))
            }
            None => labels,
        }
        .map_err(value_error)?;
        let rows = asked.rows(features.features_of_rows(n)?, n)?;
        let (stop, epochs) = (asked.stop(), asked.max_epochs);
        let mut monitor = PythonMonitor::new(asked.callback.take()).with_limit(asked.seconds);
        let solution = py
            .detach(|| rank_cvm::solve(&labels, &rows, stop, epochs, &mut monitor))
            .map_err(value_error)?;
        monitor.finish()?;
        let report = solution.report;
        Ok(SimplexSolution {
            dual: matrix(py, solution.dual, n, q)?,
            bias: solution.bias.into_pyarray(py).unbind(),
            scores: matrix(py, solution.scores, n, q)?,
            rho: solution.rho,
            status: report.status.name(),
            epochs: report.epochs,
            primal: report.primal,
            dual_objective: report.dual,
            gap: report.gap(),
            history: history_columns(py, &report.history)?,
        })
    })
}
