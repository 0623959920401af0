//! The pairwise family: one entry, `solve_pairwise`.

use crate::answers::{matrix, reported};
use crate::arguments::{
    FeatureArrays, IndicatorArrays, check_finite, kernel, optional_matrix, value_error,
};
use crate::boundary::guarded;
use crate::keywords::{Keywords, keywords};
use crate::losses::labels_of;
use crate::monitor::PythonMonitor;
use multimargin_solvers::error::refused;
use multimargin_solvers::linalg::features::Features;
use multimargin_solvers::memory;
use multimargin_solvers::pairwise::bias::Bias;
use multimargin_solvers::pairwise::request::{Geometry, Request, Storage, Stored};
use multimargin_solvers::pairwise::{AnyLoss, Setup};
use multimargin_solvers::parallel::threads::Threads;
use multimargin_solvers::report::Settings;
use multimargin_solvers::tuning::Tuning;
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

keywords! {
/// A pairwise problem and how to solve it, except for labels and features. See `multimargin.estimators` for the meaning.
struct PairwiseRequest<'py> {
    c: f64,
    loss: String,
    #[pyo3(default = 0.0)]
    theta: f64,
    #[pyo3(default = 1.0)]
    mu: f64,
    kernel_name: String,
    #[pyo3(default = 1.0)]
    gamma: f64,
    #[pyo3(default = 3)]
    degree: u32,
    #[pyo3(default = 0.0)]
    coef0: f64,
    #[pyo3(default)]
    metric: Option<PyReadonlyArray2<'py, f64>>,
    #[pyo3(default)]
    pair_weights: Option<PyReadonlyArray1<'py, f64>>,
    #[pyo3(default)]
    label_weights: Option<PyReadonlyArray1<'py, f64>>,
    #[pyo3(default)]
    top: Option<usize>,
    bias: String,
    solver: String,
    #[pyo3(default)]
    start: Option<PyReadonlyArray2<'py, f64>>,
    #[pyo3(default)]
    start_bias: Option<PyReadonlyArray1<'py, f64>>,
    tolerance: f64,
    max_epochs: usize,
    #[pyo3(default = 0)]
    seed: u64,
    #[pyo3(default = true)]
    shuffle: bool,
    #[pyo3(default)]
    without: Vec<String>,
    #[pyo3(default = 0)]
    block_size: usize,
    #[pyo3(default = 0)]
    chains: usize,
    #[pyo3(default = 0)]
    cache_bytes: usize,
    #[pyo3(default)]
    storage: Option<String>,
    #[pyo3(default = 1)]
    threads: usize,
    #[pyo3(default)]
    callback: Option<Py<PyAny>>,
    #[pyo3(default)]
    seconds: Option<f64>,
}
}

impl PairwiseRequest<'_> {
    fn loss(&self) -> PyResult<AnyLoss> {
        AnyLoss::new(&self.loss, self.theta, self.mu).map_err(value_error)
    }

    fn bias(&self) -> PyResult<Bias> {
        match self.bias.as_str() {
            "free" => Ok(Bias::Free),
            "penalized" => Ok(Bias::Penalized),
            "none" => Ok(Bias::None),
            other => Err(value_error(refused(
                "bias",
                format!("{other:?}"),
                "'free', 'penalized' or 'none'",
            ))),
        }
    }

    fn storage(&self) -> PyResult<Storage> {
        match self.storage.as_deref() {
            None => Ok(Storage::BySize),
            Some("dense") => Ok(Storage::Dense),
            Some("compact") => Ok(Storage::Compact),
            Some("single") => Ok(Storage::Single),
            Some(other) => Err(value_error(refused(
                "storage",
                format!("{other:?}"),
                "None, 'dense', 'compact' or 'single'",
            ))),
        }
    }

    fn geometry<'a>(&'a self, x: Features<'a>) -> PyResult<Geometry<'a>> {
        let name = self.kernel_name.as_str();
        let d = x.columns();
        let metric = optional_matrix("metric", self.metric.as_ref(), [d, d])?;
        match (name, x, metric) {
            ("linear", Features::Sparse(x), Some(metric)) => Ok(Geometry::Metric(x, metric)),
            (_, _, Some(_)) => Err(PyValueError::new_err(
                "metric is given, expected sparse X and the linear kernel with it",
            )),
            ("precomputed", Features::Dense(x), None) => Ok(Geometry::Matrix(x.data())),
            ("precomputed", Features::Sparse(_), None) => Err(value_error(refused(
                "X",
                "a sparse precomputed kernel",
                "a dense one",
            ))),
            (name, x, None) => {
                let kernel = kernel(name, self.gamma, self.degree, self.coef0)?;
                Ok(Geometry::Kernel(kernel, x))
            }
        }
    }

    fn setup(&self, n: usize, q: usize) -> PyResult<Setup> {
        let start = optional_matrix("start", self.start.as_ref(), [n, q])?;
        let start_bias = match &self.start_bias {
            Some(bias) => {
                check_finite("start_bias", bias.as_slice()?)?;
                Some(bias.as_slice()?.to_vec())
            }
            None => None,
        };
        Ok(Setup {
            bias: self.bias()?,
            start: start.map(memory::copied),
            start_bias,
            settings: Settings {
                tolerance: self.tolerance,
                max_epochs: self.max_epochs,
                seed: self.seed,
                shuffle: self.shuffle,
                block_size: self.block_size,
                chains: self.chains,
                tuning: Tuning::without(&self.without).map_err(value_error)?,
            },
            threads: Threads::new(self.threads).into(),
        })
    }
}

/// Solves a pairwise problem, see [`PairwiseRequest`]: the keywords of `multimargin.estimators.pairwise.problem.Fit`, with a
/// further column for the zero label if the loss has one. A compactly stored matrix is returned as its CSR arrays (indptr,
/// indices, data).
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn solve_pairwise<'py>(
    py: Python<'py>,
    indicator: IndicatorArrays<'py>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(py, || {
        let mut asked = PairwiseRequest::of(py, request)?;
        let loss = asked.loss()?;
        let mut monitor = PythonMonitor::new(asked.callback.take()).with_limit(asked.seconds);
        let labels = labels_of(
            loss,
            &indicator,
            asked.c,
            asked.pair_weights.as_ref(),
            asked.label_weights.as_ref(),
            asked.top,
        )?;
        // With the zero label.
        let (n, q) = (labels.instances(), labels.count());
        let arrays = features.features_of_rows(n)?;
        let request = Request {
            labels,
            geometry: asked.geometry(arrays)?,
            cache_bytes: asked.cache_bytes,
            storage: asked.storage()?,
            by: loss.published(&asked.solver).map_err(value_error)?,
            setup: asked.setup(n, q)?,
        };
        let answer = py
            .detach(|| loss.solve(request, &mut monitor))
            .map_err(value_error)?;
        monitor.finish()?;
        let fit = reported(py, &answer.report)?;
        fit.set_item("dual", stored(py, answer.dual, n, q)?)?;
        fit.set_item("bias", answer.bias.into_pyarray(py))?;
        let weights = answer.weights;
        let weights = weights.map(|weights| stored(py, weights, arrays.columns(), q));
        fit.set_item("weights", weights.transpose()?)?;
        let scores = answer.scores.map(|scores| matrix(py, scores, n, q));
        fit.set_item("scores", scores.transpose()?)?;
        Ok(fit)
    })
}

/// A matrix, or its CSR arrays.
fn stored(py: Python<'_>, values: Stored, rows: usize, columns: usize) -> PyResult<Py<PyAny>> {
    match values {
        Stored::Dense(values) => Ok(matrix(py, values, rows, columns)?.into_any()),
        Stored::Single(values) => Ok(matrix(py, values, rows, columns)?.into_any()),
        Stored::Compact(values) => {
            let (starts, places, values) = values.into_csr();
            let arrays = (
                starts.into_pyarray(py),
                places.into_pyarray(py),
                values.into_pyarray(py),
            );
            Ok(arrays.into_pyobject(py)?.into_any().unbind())
        }
    }
}
