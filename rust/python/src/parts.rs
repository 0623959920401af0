//! What a fit over many machines asks of a part of the rows: `improve_part`; and of sums over all parts:
//! `route_label_sums`.

use crate::answers::matrix;
use crate::arguments::{FeatureArrays, check_finite, optional_matrix, row_major, value_error};
use crate::boundary::guarded;
use crate::keywords::keywords;
use crate::losses::{AnyLoss, of_any};
use crate::monitor::PythonMonitor;
use multimargin_solvers::error::SolverError;
use multimargin_solvers::labels::Labels;
use multimargin_solvers::linalg::features::Features;
use multimargin_solvers::memory;
use multimargin_solvers::pairwise::bcd::{self, Answer, Common, PartState, Proximal};
use multimargin_solvers::pairwise::bias;
use multimargin_solvers::pairwise::loss::Loss;
use multimargin_solvers::pairwise::scores::{DenseScores, LinearDense, LinearSparse};
use multimargin_solvers::parallel::threads::Threads;
use multimargin_solvers::report::Settings;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What a part sends to the others.
#[pyclass(frozen, get_all, module = "multimargin._rust")]
pub struct PartAnswer {
    /// Dual rows after the epoch, shape (n, q).
    dual: Py<PyArray2<f64>>,
    /// Their dual terms, shape (n,).
    dual_terms: Py<PyArray1<f64>>,
    /// Change of the weights X^T B, shape (d, q).
    weights: Py<PyArray2<f64>>,
    /// Change of the sum of the dual rows, shape (q,).
    sum: Py<PyArray1<f64>>,
    /// Sum of the losses at the common point.
    loss: f64,
    /// The part's share of the duality gap at the common point.
    gap: f64,
    /// Rows that the epoch visited.
    active: usize,
}

struct Request<'a> {
    labels: Labels,
    common: Common<'a>,
    start: PartState,
    centre: Option<Vec<f64>>,
    tolerated: f64,
    epochs: usize,
    settings: Settings,
    threads: Threads,
}

impl Request<'_> {
    fn improve<S: DenseScores>(
        self,
        scores: S,
        loss: AnyLoss,
        monitor: &mut PythonMonitor,
    ) -> Result<Option<Answer>, SolverError> {
        of_any!(loss, |loss| self.improve_by(scores, loss, monitor))
    }

    fn improve_by<S: DenseScores, L: Loss>(
        self,
        scores: S,
        loss: L,
        monitor: &mut PythonMonitor,
    ) -> Result<Option<Answer>, SolverError> {
        bcd::improve_part(
            &self.labels,
            scores,
            Proximal::new(loss),
            self.common,
            self.start,
            self.centre,
            self.tolerated,
            self.epochs,
            &self.settings,
            &self.threads,
            monitor,
        )
    }
}

keywords! {
/// A part of the rows at the common point `weights`, `offset`, and what to do, but for labels and features. See
/// `multimargin_solvers::pairwise::bcd::improve_part` for the meaning.
struct PartRequest<'py> {
    pair_weights: PyReadonlyArray1<'py, f64>,
    #[pyo3(default)]
    label_weights: Option<PyReadonlyArray1<'py, f64>>,
    #[pyo3(default)]
    top: Option<usize>,
    dual: PyReadonlyArray2<'py, f64>,
    weights: PyReadonlyArray2<'py, f64>,
    offset: PyReadonlyArray1<'py, f64>,
    loss: String,
    theta: f64,
    mu: f64,
    sigma: f64,
    growth: f64,
    tolerated: f64,
    epochs: usize,
    seed: u64,
    #[pyo3(default = 1)]
    threads: usize,
    #[pyo3(default)]
    dual_terms: Option<PyReadonlyArray1<'py, f64>>,
    #[pyo3(default)]
    centre: Option<PyReadonlyArray2<'py, f64>>,
    #[pyo3(default = 0.0)]
    rho: f64,
}
}

impl PartRequest<'_> {
    fn request(&self, labels: Labels) -> PyResult<Request<'_>> {
        let (n, q) = (labels.instances(), labels.count());
        let dual = row_major("dual", &self.dual)?;
        let weights = row_major("weights", &self.weights)?;
        let offset = self.offset.as_slice()?;
        let dual_terms = match &self.dual_terms {
            Some(terms) => {
                check_finite("dual_terms", terms.as_slice()?)?;
                terms.as_slice()?.to_vec()
            }
            // Unknown until the rows have been visited.
            None => vec![f64::NEG_INFINITY; n],
        };
        let factors = [self.sigma, self.growth, self.tolerated, self.rho];
        for (name, values) in [
            ("dual", dual),
            ("weights", weights),
            ("offset", offset),
            ("sigma, growth, tolerated or rho", &factors),
        ] {
            check_finite(name, values)?;
        }
        Ok(Request {
            labels,
            common: Common {
                weights,
                offset,
                sigma: self.sigma,
                growth: self.growth,
                rho: self.rho,
            },
            start: PartState {
                dual: memory::copied(dual),
                dual_terms,
            },
            centre: optional_matrix("centre", self.centre.as_ref(), [n, q])?.map(memory::copied),
            tolerated: self.tolerated,
            epochs: self.epochs,
            settings: Settings {
                seed: self.seed,
                ..Settings::default()
            },
            threads: Threads::new(self.threads),
        })
    }
}

/// Certifies a part of the rows at the common point, and improves its dual rows by some epochs, see [`PartRequest`].
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn improve_part<'py>(
    py: Python<'py>,
    indicator: PyReadonlyArray2<'py, u8>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<PartAnswer> {
    guarded(py, || {
        let asked = PartRequest::of(&request.unwrap_or_else(|| PyDict::new(py)))?;
        let loss = AnyLoss::new(&asked.loss, asked.theta, asked.mu).map_err(value_error)?;
        let labels = loss.labels(
            &indicator,
            1.0,
            Some(&asked.pair_weights),
            asked.label_weights.as_ref(),
            asked.top,
        )?;
        // With the zero label.
        let (n, q) = (labels.instances(), labels.count());
        let arrays = features.features_of_rows(n)?;
        let columns = arrays.columns();
        let request = asked.request(labels)?;
        let mut monitor = PythonMonitor::new(None);
        let answer = py
            .detach(|| match arrays {
                Features::Dense(x) => request.improve(LinearDense::new(x, q), loss, &mut monitor),
                Features::Sparse(x) => request.improve(LinearSparse::new(x, q), loss, &mut monitor),
            })
            .map_err(value_error)?;
        let answer = monitor.answer(answer)?;
        Ok(PartAnswer {
            dual: matrix(py, answer.state.dual, n, q)?,
            dual_terms: answer.state.dual_terms.into_pyarray(py).unbind(),
            weights: matrix(py, answer.weights, columns, q)?,
            sum: answer.sum.into_pyarray(py).unbind(),
            loss: answer.loss,
            gap: answer.gap,
            active: answer.active,
        })
    })
}

/// The largest `t` for which the network of the labels with these capacities, shape (q, q), carries `-t sum`, and the
/// flow, shape (q, q); `None` when it carries nothing.
#[pyfunction]
pub fn route_label_sums<'py>(
    py: Python<'py>,
    sum: PyReadonlyArray1<'py, f64>,
    capacity: PyReadonlyArray2<'py, f64>,
) -> PyResult<Option<(f64, Py<PyArray2<f64>>)>> {
    guarded(py, || {
        let q = sum.len();
        if capacity.shape() != [q, q] {
            return Err(PyValueError::new_err(format!(
                "capacity has shape {:?}, expected [{q}, {q}]",
                capacity.shape()
            )));
        }
        let (sum, capacity) = (sum.as_slice()?, row_major("capacity", &capacity)?);
        check_finite("sum", sum)?;
        check_finite("capacity", capacity)?;
        let mut monitor = PythonMonitor::new(None);
        let routing = py.detach(|| bias::routing_of(sum, capacity, &mut monitor));
        monitor.finish()?;
        routing
            .map(|routing| Ok((routing.scale, matrix(py, routing.flow, q, q)?)))
            .transpose()
    })
}
