//! A free bias over many machines: `pairs_near_margin` and `mixed_rows` for one part of the rows, and the flow for the sums
//! over all parts. See `multimargin_solvers::pairwise::bias`.

use crate::answers::matrix;
use crate::arguments::{
    FeatureArrays, IndicatorArrays, check_finite, linear_scores, shaped_matrix, value_error,
};
use crate::boundary::guarded;
use crate::keywords::{Keywords, keywords};
use crate::monitor::PythonMonitor;
use crate::parts::Part;
use multimargin_solvers::memory;
use multimargin_solvers::pairwise::bias::network::STEPS;
use multimargin_solvers::pairwise::bias::{self, Flow, Summary, centred};
use multimargin_solvers::pairwise::parts::flow;
use multimargin_solvers::report::Monitor;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

keywords! {
/// The flow; `pairs_near_margin` needs only its bands.
struct FlowRequest<'py> {
    bands: PyReadonlyArray1<'py, f64>,
    #[pyo3(default)]
    prices: Option<PyReadonlyArray1<'py, f64>>,
    #[pyo3(default = 1.0)]
    share: f64,
}
}

impl FlowRequest<'_> {
    fn flow(&self) -> PyResult<Flow> {
        let prices = self.prices.as_ref().map(PyReadonlyArray1::as_slice);
        Ok(Flow {
            bands: self.bands.as_slice()?.to_vec(),
            prices: prices.transpose()?.unwrap_or_default().to_vec(),
            share: self.share,
            best: Vec::new(),
        })
    }
}

/// The flow that a part's pairs within the given bands can carry between any two labels, by cost step: `capacities`, shape
/// (q * q, steps); and the `sum` of the best dual rows, shape (q,), with their `distance` from the part's rows.
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn pairs_near_margin<'py>(
    py: Python<'py>,
    indicator: IndicatorArrays<'py>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(py, || {
        let (part, asked) = <(Part<'_>, FlowRequest<'_>)>::of(py, request)?;
        let (_, labels) = part.problem(&indicator)?;
        let (x, q) = (
            features.features_of_rows(labels.instances())?,
            labels.count(),
        );
        let (point, bands) = (part.point()?, asked.bands.as_slice()?);
        let threads = part.threads();
        let mut monitor = PythonMonitor::new(None);
        let found = py
            .detach(|| {
                flow::pairs_near_margin(
                    &labels,
                    &mut *linear_scores(x, q),
                    point,
                    bands,
                    &threads,
                    &mut monitor,
                )
            })
            .map_err(value_error)?;
        let found = monitor.all_or_nothing(found)?;
        let near = PyDict::new(py);
        near.set_item("capacities", matrix(py, found.capacities, q * q, STEPS)?)?;
        near.set_item("sum", found.sum.into_pyarray(py))?;
        near.set_item("distance", found.distance)?;
        Ok(near)
    })
}

/// The dual rows of a part mixed with its share of a flow, shape (n, q).
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn mixed_rows<'py>(
    py: Python<'py>,
    indicator: IndicatorArrays<'py>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<Py<PyArray2<f64>>> {
    guarded(py, || {
        let (part, asked) = <(Part<'_>, FlowRequest<'_>)>::of(py, request)?;
        let (_, labels) = part.problem(&indicator)?;
        let (x, q) = (
            features.features_of_rows(labels.instances())?,
            labels.count(),
        );
        let (point, flow) = (part.point()?, asked.flow()?);
        let threads = part.threads();
        let dual = py
            .detach(|| flow::mixed_rows(&labels, &mut *linear_scores(x, q), point, &flow, &threads))
            .map_err(value_error)?;
        matrix(py, dual, labels.instances(), q)
    })
}

/// The flow that makes the dual rows of all parts, whose sum is `sum`, sum to 0, as a dictionary; it may use up part of the
/// `tolerated` loss. `None` if no pairs can carry it. `look(bands)` adds up the results of `pairs_near_margin` over the
/// parts.
#[pyfunction]
pub fn flow_of_parts<'py>(
    py: Python<'py>,
    sum: PyReadonlyArray1<'py, f64>,
    pair_weight: f64,
    tolerated: f64,
    look: Py<PyAny>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    guarded(py, || {
        let sum = centred(sum.as_slice()?.to_vec());
        check_finite("sum", &sum)?;
        let (mut monitor, mut failed) = (PythonMonitor::new(None), None);
        let mut look = |bands: &[f64], _: &mut dyn Monitor| {
            let found = Python::attach(|py| summary(py, &look, bands));
            found.map_err(|error| failed = Some(error)).ok()
        };
        let flow = py.detach(|| bias::flow(&sum, pair_weight, tolerated, &mut look, &mut monitor));
        failed.map_or(Ok(()), Err)?;
        monitor.finish()?;
        let Some(flow) = flow else { return Ok(None) };
        let found = PyDict::new(py);
        found.set_item("bands", flow.bands.into_pyarray(py))?;
        found.set_item("prices", flow.prices.into_pyarray(py))?;
        found.set_item("share", flow.share)?;
        found.set_item("best", flow.best.into_pyarray(py))?;
        Ok(Some(found))
    })
}

/// The result of `look` for some bands.
fn summary(py: Python<'_>, look: &Py<PyAny>, bands: &[f64]) -> PyResult<Summary> {
    let q = bands.len();
    let found = look.call1(py, (bands.to_vec().into_pyarray(py),))?;
    let found = found.bind(py);
    let capacities: PyReadonlyArray2<'_, f64> = found.get_item("capacities")?.extract()?;
    let sum: PyReadonlyArray1<'_, f64> = found.get_item("sum")?.extract()?;
    if sum.len() != q {
        return Err(PyValueError::new_err(format!(
            "sum is {} numbers, expected {q}",
            sum.len()
        )));
    }
    let capacities = shaped_matrix("capacities", &capacities, [q * q, STEPS])?;
    let all = Summary {
        capacities: memory::copied(capacities),
        sum: centred(sum.as_slice()?.to_vec()),
        distance: found.get_item("distance")?.extract()?,
    };
    check_finite("sum", &all.sum)?;
    Ok(all)
}

/// The biases that are best without features, shape (q,), for the capacities of the labels' network, shape (q, q).
#[pyfunction]
pub fn best_bias_without_features<'py>(
    py: Python<'py>,
    capacity: PyReadonlyArray2<'py, f64>,
) -> PyResult<Py<PyArray1<f64>>> {
    guarded(py, || {
        let q = capacity.shape()[0];
        let capacity = shaped_matrix("capacity", &capacity, [q, q])?;
        let mut monitor = PythonMonitor::new(None);
        let bias = py.detach(|| bias::best_without_features(capacity, &mut monitor));
        monitor.finish()?;
        Ok(bias.into_pyarray(py).unbind())
    })
}

/// A routing of a multiple of `-sum` through the network of the labels with these capacities, shape (q, q): its share of the
/// mixture that sums to 0, and its prices, shape (q,); `None` when it carries nothing.
#[pyfunction]
pub fn route_label_sums<'py>(
    py: Python<'py>,
    sum: PyReadonlyArray1<'py, f64>,
    capacity: PyReadonlyArray2<'py, f64>,
) -> PyResult<Option<(f64, Py<PyArray1<f64>>)>> {
    guarded(py, || {
        let sum = centred(sum.as_slice()?.to_vec());
        check_finite("sum", &sum)?;
        let capacity = shaped_matrix("capacity", &capacity, [sum.len(); 2])?;
        let mut monitor = PythonMonitor::new(None);
        let routing = py.detach(|| bias::routing_of(&sum, capacity, &mut monitor));
        monitor.finish()?;
        Ok(routing.map(|routing| (routing.share, routing.prices.into_pyarray(py).unbind())))
    })
}
