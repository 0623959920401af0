//! Rank-CVM by the Frank-Wolfe method: one entry, `solve_simplex`.

use crate::answers::{matrix, reported};
use crate::arguments::{FeatureArrays, IndicatorArrays, kernel, value_error};
use crate::boundary::guarded;
use crate::keywords::{Keywords, keywords};
use crate::losses::labels_of;
use crate::monitor::PythonMonitor;
use multimargin_solvers::kernel::gram::Gram;
use multimargin_solvers::kernel::rows::KernelRows;
use multimargin_solvers::linalg::features::Features;
use multimargin_solvers::pairwise::AnyLoss;
use multimargin_solvers::pairwise::loss::SquaredHinge;
use multimargin_solvers::pairwise::published::rank_cvm::{self, StopRule};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

keywords! {
/// A problem of Rank-CVM and how to solve it, except for labels and features. See `multimargin.estimators` for the meaning.
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

/// Solves Rank-CVM by Frank-Wolfe steps, see [`SimplexRequest`]: the keywords of
/// `multimargin.estimators.pairwise.problem.Fit` except the weights.
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn solve_simplex<'py>(
    py: Python<'py>,
    indicator: IndicatorArrays<'py>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(py, || {
        let mut asked = SimplexRequest::of(py, request)?;
        let loss = AnyLoss::SquaredHinge(SquaredHinge);
        let (pairs, relevant) = (asked.pair_weights.as_ref(), asked.label_weights.as_ref());
        let labels = labels_of(loss, &indicator, asked.c, pairs, relevant, None)?;
        let (n, q) = (labels.instances(), labels.count());
        let rows = asked.rows(features.features_of_rows(n)?, n)?;
        let (stop, epochs) = (asked.stop(), asked.max_epochs);
        let mut monitor = PythonMonitor::new(asked.callback.take()).with_limit(asked.seconds);
        let solution = py
            .detach(|| rank_cvm::solve(&labels, &rows, stop, epochs, &mut monitor))
            .map_err(value_error)?;
        monitor.finish()?;
        let fit = reported(py, &solution.report)?;
        fit.set_item("dual", matrix(py, solution.dual, n, q)?)?;
        fit.set_item("bias", solution.bias.into_pyarray(py))?;
        fit.set_item("scores", matrix(py, solution.scores, n, q)?)?;
        fit.set_item("margin", solution.rho)?;
        Ok(fit)
    })
}
