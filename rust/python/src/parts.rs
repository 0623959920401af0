//! One part's work in a round of a fit over many machines: `improve_part` and `split_part`.

use crate::answers::matrix;
use crate::arguments::{
    FeatureArrays, IndicatorArrays, check_finite, linear_scores, row_major, value_error,
};
use crate::boundary::guarded;
use crate::keywords::{Keywords, keywords};
use crate::losses::labels_of;
use crate::monitor::PythonMonitor;
use multimargin_solvers::labels::Labels;
use multimargin_solvers::memory;
use multimargin_solvers::pairwise::AnyLoss;
use multimargin_solvers::pairwise::bcd::{Common, PartPoint, PartState, PartTask};
use multimargin_solvers::pairwise::parts::split::Split;
use multimargin_solvers::parallel::threads::Threads;
use multimargin_solvers::report::Settings;
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

keywords! {
/// A part of the rows at the common point `weights`, `offset`, except for labels and features.
pub struct Part<'py> {
    pair_weights: PyReadonlyArray1<'py, f64>,
    #[pyo3(default)]
    label_weights: Option<PyReadonlyArray1<'py, f64>>,
    #[pyo3(default)]
    top: Option<usize>,
    dual: PyReadonlyArray2<'py, f64>,
    weights: PyReadonlyArray2<'py, f64>,
    offset: PyReadonlyArray1<'py, f64>,
    loss: String,
    #[pyo3(default = 0.0)]
    theta: f64,
    #[pyo3(default = 1.0)]
    mu: f64,
    #[pyo3(default = 1)]
    threads: usize,
}
}

impl Part<'_> {
    /// The loss and its labels.
    pub fn problem(&self, indicator: &IndicatorArrays<'_>) -> PyResult<(AnyLoss, Labels)> {
        let loss = AnyLoss::new(&self.loss, self.theta, self.mu).map_err(value_error)?;
        let (pairs, relevant) = (Some(&self.pair_weights), self.label_weights.as_ref());
        let labels = labels_of(loss, indicator, 1.0, pairs, relevant, self.top)?;
        Ok((loss, labels))
    }

    /// The dual rows and the common point.
    pub fn point(&self) -> PyResult<PartPoint<'_>> {
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

    pub fn threads(&self) -> Threads {
        Threads::new(self.threads)
    }
}

keywords! {
/// What to do with the part. See `multimargin_solvers::pairwise::bcd::improve_part` for the meaning.
struct PartRequest<'py> {
    sigma: f64,
    growth: f64,
    tolerated: f64,
    epochs: usize,
    seed: u64,
    #[pyo3(default)]
    dual_terms: Option<PyReadonlyArray1<'py, f64>>,
}
}

impl PartRequest<'_> {
    fn dual_terms(&self) -> PyResult<Option<Vec<f64>>> {
        let terms = self.dual_terms.as_ref();
        let terms = terms.map(PyReadonlyArray1::as_slice).transpose()?;
        check_finite("dual_terms", terms.unwrap_or_default())?;
        Ok(terms.map(memory::copied))
    }
}

/// Certifies a part of the rows at the common point and improves its dual rows by some epochs, see [`Part`] and
/// [`PartRequest`]. Returns the new dual rows, shape (n, q), and their dual terms; the changes of the weights X^T B, shape
/// (d, q), and of the sum of the dual rows; the sum of the losses and the part's share of the duality gap at the common
/// point, with the sizes that bound their rounding; and the number of rows visited.
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn improve_part<'py>(
    py: Python<'py>,
    indicator: IndicatorArrays<'py>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(py, || {
        let (part, asked) = <(Part<'_>, PartRequest<'_>)>::of(py, request)?;
        let (loss, labels) = part.problem(&indicator)?;
        // With the zero label.
        let (n, q) = (labels.instances(), labels.count());
        let arrays = features.features_of_rows(n)?;
        let columns = arrays.columns();
        let point = part.point()?;
        let factors = [asked.sigma, asked.growth, asked.tolerated];
        check_finite("sigma, growth or tolerated", &factors)?;
        let common = Common {
            weights: point.weights,
            offset: point.offset,
            sigma: asked.sigma,
            growth: asked.growth,
        };
        let start = PartState {
            dual: memory::copied(point.dual),
            dual_terms: asked.dual_terms()?,
        };
        let task = PartTask {
            common,
            start,
            tolerated: asked.tolerated,
            epochs: asked.epochs,
            settings: Settings {
                seed: asked.seed,
                ..Settings::default()
            },
        };
        let threads = part.threads();
        let mut monitor = PythonMonitor::new(None);
        let answer = py
            .detach(|| {
                let mut scores = linear_scores(arrays, q);
                loss.improve_part(&labels, &mut *scores, task, &threads, &mut monitor)
            })
            .map_err(value_error)?;
        let answer = monitor.answer(answer)?;
        let found = PyDict::new(py);
        found.set_item("dual", matrix(py, answer.state.dual, n, q)?)?;
        let dual_terms = answer.state.dual_terms;
        found.set_item("dual_terms", dual_terms.map(|terms| terms.into_pyarray(py)))?;
        found.set_item("weights", matrix(py, answer.weights, columns, q)?)?;
        found.set_item("sum", answer.sum.into_pyarray(py))?;
        found.set_item("loss", answer.loss)?;
        found.set_item("gap", answer.gap)?;
        found.set_item("rounding", answer.rounding)?;
        found.set_item("size", answer.size)?;
        found.set_item("active", answer.active)?;
        Ok(found)
    })
}

keywords! {
/// The penalty and the scores. See `multimargin_solvers::pairwise::parts::split::split_part` for the meaning.
struct SplitRequest<'py> {
    #[pyo3(default)]
    scores: Option<PyReadonlyArray2<'py, f64>>,
    rho: f64,
    length: f64,
    beside: f64,
}
}

impl SplitRequest<'_> {
    fn scores(&self) -> PyResult<Option<Vec<f64>>> {
        let scores = self.scores.as_ref();
        let scores = scores
            .map(|scores| row_major("scores", scores))
            .transpose()?;
        check_finite("scores", scores.unwrap_or_default())?;
        Ok(scores.map(memory::copied))
    }
}

/// A round of the alternating direction method over a part of the rows, see [`Part`] and [`SplitRequest`]. Returns its
/// scores times the scales and its dual rows, both of shape (n, q), and their dual terms; the part's share of the weights
/// X^T B, shape (d, q), and of the sum of the dual rows; the sum of the losses at the common point, with the sizes that
/// bound the rounding of the certificate; and the sums of squares of the scores, of their distance from those of the common
/// point, of their change, and of the multipliers.
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn split_part<'py>(
    py: Python<'py>,
    indicator: IndicatorArrays<'py>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(py, || {
        let (part, asked) = <(Part<'_>, SplitRequest<'_>)>::of(py, request)?;
        let (loss, labels) = part.problem(&indicator)?;
        let (n, q) = (labels.instances(), labels.count());
        let arrays = features.features_of_rows(n)?;
        let columns = arrays.columns();
        let point = part.point()?;
        let common = Split {
            weights: point.weights,
            offset: point.offset,
            rho: asked.rho,
            length: asked.length,
            beside: asked.beside,
        };
        let start = (asked.scores()?, memory::copied(point.dual));
        let threads = part.threads();
        let mut monitor = PythonMonitor::new(None);
        let answer = py
            .detach(|| {
                let mut scores = linear_scores(arrays, q);
                loss.split_part(&labels, &mut *scores, common, start, &threads, &mut monitor)
            })
            .map_err(value_error)?;
        let answer = monitor.answer(answer)?;
        let found = PyDict::new(py);
        found.set_item("scores", matrix(py, answer.scores, n, q)?)?;
        found.set_item("dual", matrix(py, answer.dual, n, q)?)?;
        found.set_item("dual_terms", answer.dual_terms.into_pyarray(py))?;
        found.set_item("weights", matrix(py, answer.weights, columns, q)?)?;
        found.set_item("sum", answer.sum.into_pyarray(py))?;
        found.set_item("loss", answer.loss)?;
        found.set_item("rounding", answer.rounding)?;
        found.set_item("size", answer.size)?;
        found.set_item("square", answer.square)?;
        found.set_item("primal", answer.squares.primal)?;
        found.set_item("moved", answer.squares.moved)?;
        found.set_item("displacements", answer.squares.displacements)?;
        Ok(found)
    })
}
