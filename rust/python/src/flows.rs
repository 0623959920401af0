//! The cheap repair of a free bias over many machines: `pairs_near_margin` and `mixed_rows` of a part of the rows, `first_band`
//! and `flow_of_parts` of the sums over all parts. See `multimargin_solvers::pairwise::bias`.

use crate::answers::matrix;
use crate::arguments::{
    FeatureArrays, IndicatorArrays, check_finite, of_linear, row_major, shaped_matrix, value_error,
};
use crate::boundary::guarded;
use crate::keywords::keywords;
use crate::losses::AnyLoss;
use crate::monitor::PythonMonitor;
use multimargin_solvers::labels::Labels;
use multimargin_solvers::memory;
use multimargin_solvers::pairwise::bcd::PartPoint;
use multimargin_solvers::pairwise::bias::{self, Carried, Flow};
use multimargin_solvers::parallel::threads::Threads;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Bands, prices, spread, share and best prices; the bands alone where some labels need wider ones.
type FlowArrays = (
    Py<PyArray1<f64>>,
    Option<(Py<PyArray1<f64>>, f64, f64, Py<PyArray1<f64>>)>,
);

keywords! {
/// A part of the rows at the common point `weights`, `offset`, but for labels and features, and the flow, of which
/// `pairs_near_margin` needs the bands alone.
struct FlowRequest<'py> {
    pair_weights: PyReadonlyArray1<'py, f64>,
    #[pyo3(default)]
    label_weights: Option<PyReadonlyArray1<'py, f64>>,
    dual: PyReadonlyArray2<'py, f64>,
    weights: PyReadonlyArray2<'py, f64>,
    offset: PyReadonlyArray1<'py, f64>,
    loss: String,
    threads: usize,
    bands: PyReadonlyArray1<'py, f64>,
    #[pyo3(default)]
    prices: Option<PyReadonlyArray1<'py, f64>>,
    #[pyo3(default = 0.0)]
    spread: f64,
    #[pyo3(default = 1.0)]
    share: f64,
}
}

impl<'py> FlowRequest<'py> {
    /// The request, its labels, and the number of these, the zero label included.
    fn with_labels(
        py: Python<'py>,
        indicator: &IndicatorArrays<'_>,
        request: Option<Bound<'py, PyDict>>,
    ) -> PyResult<(Self, Labels, usize)> {
        let asked = Self::of(py, request)?;
        let loss = AnyLoss::new(&asked.loss, 1.0, 0.0).map_err(value_error)?;
        let labels = loss.labels(
            indicator,
            1.0,
            Some(&asked.pair_weights),
            asked.label_weights.as_ref(),
            None,
        )?;
        let q = labels.count();
        Ok((asked, labels, q))
    }
}

impl FlowRequest<'_> {
    fn point(&self) -> PyResult<PartPoint<'_>> {
        let point = PartPoint {
            dual: row_major("dual", &self.dual)?,
            weights: row_major("weights", &self.weights)?,
            offset: self.offset.as_slice()?,
        };
        check_finite("dual", point.dual)?;
        check_finite("weights", point.weights)?;
        check_finite("offset", point.offset)?;
        Ok(point)
    }

    fn flow(&self) -> PyResult<Flow> {
        let prices = self.prices.as_ref().map(PyReadonlyArray1::as_slice);
        Ok(Flow {
            bands: self.bands.as_slice()?.to_vec(),
            prices: prices.transpose()?.unwrap_or_default().to_vec(),
            spread: self.spread,
            share: self.share,
            best: Vec::new(),
        })
    }
}

/// What the pairs of a part within some bands can carry between any two labels, in steps of costs: `capacities`, shape
/// (q * q, steps); and the `sum` of the best dual rows, shape (q,), and their `distance` from the part's.
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn pairs_near_margin<'py>(
    py: Python<'py>,
    indicator: IndicatorArrays<'py>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(py, || {
        let (asked, labels, q) = FlowRequest::with_labels(py, &indicator, request)?;
        let x = features.features_of_rows(labels.instances())?;
        let (point, bands) = (asked.point()?, asked.bands.as_slice()?);
        let threads = Threads::new(asked.threads);
        let mut monitor = PythonMonitor::new(None);
        let found = py
            .detach(|| {
                of_linear!(x, q, |scores| bias::pairs_near_margin(
                    &labels,
                    scores,
                    point,
                    bands,
                    &threads,
                    &mut monitor
                ))
            })
            .map_err(value_error)?;
        let found = monitor.all_or_nothing(found)?;
        let steps = found.capacities.len() / (q * q).max(1);
        let part = PyDict::new(py);
        part.set_item("capacities", matrix(py, found.capacities, q * q, steps)?)?;
        part.set_item("sum", found.sum.into_pyarray(py))?;
        part.set_item("distance", found.distance)?;
        Ok(part)
    })
}

/// The dual rows of a part mixed with their share of a flow, shape (n, q).
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn mixed_rows<'py>(
    py: Python<'py>,
    indicator: IndicatorArrays<'py>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<Py<PyArray2<f64>>> {
    guarded(py, || {
        let (asked, labels, q) = FlowRequest::with_labels(py, &indicator, request)?;
        let x = features.features_of_rows(labels.instances())?;
        let (point, flow) = (asked.point()?, asked.flow()?);
        let threads = Threads::new(asked.threads);
        let mut monitor = PythonMonitor::new(None);
        let dual = py
            .detach(|| {
                of_linear!(x, q, |scores| bias::mixed_rows(
                    &labels,
                    scores,
                    point,
                    &flow,
                    &threads,
                    &mut monitor
                ))
            })
            .map_err(value_error)?;
        let dual = monitor.all_or_nothing(dual)?;
        matrix(py, dual, labels.instances(), q)
    })
}

/// Refuses a network without labels.
fn check_labels(name: &str, labels: usize) -> PyResult<()> {
    if labels > 0 {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{name} is of 0 labels, expected at least one"
    )))
}

/// How far from the margin pairs take part at first, for the sum of the dual rows and the weight of all pairs.
#[pyfunction]
pub fn first_band(sum: PyReadonlyArray1<'_, f64>, pair_weight: f64) -> PyResult<f64> {
    Ok(bias::first_band(sum.as_slice()?, pair_weight))
}

/// The flow that makes the dual rows, with their `sum`, sum to 0, from what `pairs_near_margin` found in all parts, where it may lose what is `negligible`. It is `None`
/// where some labels need wider bands, which are returned; all is `None` where no pairs can carry it.
#[pyfunction]
pub fn flow_of_parts<'py>(
    py: Python<'py>,
    sum: PyReadonlyArray1<'py, f64>,
    bands: PyReadonlyArray1<'py, f64>,
    capacities: PyReadonlyArray2<'py, f64>,
    sum_of_best: PyReadonlyArray1<'py, f64>,
    distance: f64,
    negligible: f64,
) -> PyResult<Option<FlowArrays>> {
    guarded(py, || {
        let (sum, bands) = (sum.as_slice()?, bands.as_slice()?.to_vec());
        check_labels("sum", sum.len())?;
        check_finite("sum", sum)?;
        let capacities = row_major("capacities", &capacities)?;
        check_finite("capacities", capacities)?;
        let all = bias::PartSummary {
            capacities: memory::copied(capacities),
            sum: sum_of_best.as_slice()?.to_vec(),
            distance,
        };
        check_finite("sum_of_best", &all.sum)?;
        let mut monitor = PythonMonitor::new(None);
        let carried = py
            .detach(|| bias::flow_of_parts(sum, bands, all, negligible, &mut monitor))
            .map_err(value_error)?;
        monitor.finish()?;
        let array = |values: Vec<f64>| values.into_pyarray(py).unbind();
        Ok(carried.map(|carried| match carried {
            Carried::By(flow) => {
                let prices = (
                    array(flow.prices),
                    flow.spread,
                    flow.share,
                    array(flow.best),
                );
                (array(flow.bands), Some(prices))
            }
            Carried::Within(wider) => (array(wider), None),
        }))
    })
}

/// The biases that are best without features, shape (q,), for the capacities of the labels' network, shape (q, q).
#[pyfunction]
pub fn best_bias_without_features<'py>(
    py: Python<'py>,
    capacity: PyReadonlyArray2<'py, f64>,
) -> PyResult<Py<PyArray1<f64>>> {
    guarded(py, || {
        let q = capacity.shape()[0];
        check_labels("capacity", q)?;
        let capacity = shaped_matrix("capacity", &capacity, [q, q])?;
        let mut monitor = PythonMonitor::new(None);
        let bias = py.detach(|| bias::best_without_features(capacity, &mut monitor));
        monitor.finish()?;
        Ok(bias.into_pyarray(py).unbind())
    })
}
