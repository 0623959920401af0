//! What a fit over many machines asks of a part of the rows in a round: `improve_part` and `split_part`.

use crate::answers::matrix;
use crate::arguments::{
    FeatureArrays, IndicatorArrays, check_finite, linear_scores, row_major, value_error,
};
use crate::boundary::guarded;
use crate::keywords::keywords;
use crate::losses::{AnyLoss, of_any};
use crate::monitor::PythonMonitor;
use multimargin_solvers::memory;
use multimargin_solvers::pairwise::bcd::{self, Common, PartState, Proximal};
use multimargin_solvers::pairwise::splitting::{self, Split};
use multimargin_solvers::parallel::threads::Threads;
use multimargin_solvers::report::Settings;
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

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
}
}

impl PartRequest<'_> {
    fn common(&self) -> PyResult<Common<'_>> {
        let weights = row_major("weights", &self.weights)?;
        let offset = self.offset.as_slice()?;
        let factors = [self.sigma, self.growth, self.tolerated];
        for (name, values) in [
            ("weights", weights),
            ("offset", offset),
            ("sigma, growth or tolerated", &factors),
        ] {
            check_finite(name, values)?;
        }
        Ok(Common {
            weights,
            offset,
            sigma: self.sigma,
            growth: self.growth,
        })
    }

    fn start(&self) -> PyResult<PartState> {
        let dual = row_major("dual", &self.dual)?;
        check_finite("dual", dual)?;
        let dual_terms = match &self.dual_terms {
            Some(terms) => {
                check_finite("dual_terms", terms.as_slice()?)?;
                Some(terms.as_slice()?.to_vec())
            }
            None => None,
        };
        Ok(PartState {
            dual: memory::copied(dual),
            dual_terms,
        })
    }
}

/// Certifies a part of the rows at the common point, and improves its dual rows by some epochs, see [`PartRequest`]: the
/// new dual rows, shape (n, q), and their dual terms; the change of the weights X^T B, shape (d, q), and of the sum of the
/// dual rows; the sum of the losses and the part's share of the duality gap at the common point, with what their rounding
/// comes of; and how many rows were visited.
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn improve_part<'py>(
    py: Python<'py>,
    indicator: IndicatorArrays<'py>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(py, || {
        let asked = PartRequest::of(py, request)?;
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
        let (common, start) = (asked.common()?, asked.start()?);
        let settings = Settings {
            seed: asked.seed,
            ..Settings::default()
        };
        let threads = Threads::new(asked.threads);
        let mut monitor = PythonMonitor::new(None);
        let answer = py
            .detach(|| {
                let mut scores = linear_scores(arrays, q);
                of_any!(loss, |loss| bcd::improve_part(
                    &labels,
                    &mut *scores,
                    Proximal::new(loss),
                    common,
                    start,
                    asked.tolerated,
                    asked.epochs,
                    &settings,
                    &threads,
                    &mut monitor,
                ))
            })
            .map_err(value_error)?;
        let answer = monitor.answer(answer)?;
        let part = PyDict::new(py);
        part.set_item("dual", matrix(py, answer.state.dual, n, q)?)?;
        let dual_terms = answer.state.dual_terms;
        part.set_item("dual_terms", dual_terms.map(|terms| terms.into_pyarray(py)))?;
        part.set_item("weights", matrix(py, answer.weights, columns, q)?)?;
        part.set_item("sum", answer.sum.into_pyarray(py))?;
        part.set_item("loss", answer.loss)?;
        part.set_item("gap", answer.gap)?;
        part.set_item("rounding", answer.rounding)?;
        part.set_item("size", answer.size)?;
        part.set_item("active", answer.active)?;
        Ok(part)
    })
}

keywords! {
/// A part of the rows at the common point `weights`, `offset`, and the penalty, but for labels and features. See
/// `multimargin_solvers::pairwise::splitting::split_part` for the meaning.
struct SplitRequest<'py> {
    pair_weights: PyReadonlyArray1<'py, f64>,
    #[pyo3(default)]
    label_weights: Option<PyReadonlyArray1<'py, f64>>,
    #[pyo3(default)]
    top: Option<usize>,
    #[pyo3(default)]
    scores: Option<PyReadonlyArray2<'py, f64>>,
    dual: PyReadonlyArray2<'py, f64>,
    weights: PyReadonlyArray2<'py, f64>,
    offset: PyReadonlyArray1<'py, f64>,
    loss: String,
    theta: f64,
    mu: f64,
    rho: f64,
    length: f64,
    beside: f64,
    #[pyo3(default = 1)]
    threads: usize,
}
}

impl SplitRequest<'_> {
    fn common(&self) -> PyResult<Split<'_>> {
        let weights = row_major("weights", &self.weights)?;
        let offset = self.offset.as_slice()?;
        check_finite("weights", weights)?;
        check_finite("offset", offset)?;
        Ok(Split {
            weights,
            offset,
            rho: self.rho,
            length: self.length,
            beside: self.beside,
        })
    }

    fn start(&self) -> PyResult<(Option<Vec<f64>>, Vec<f64>)> {
        let dual = row_major("dual", &self.dual)?;
        check_finite("dual", dual)?;
        let scores = self.scores.as_ref();
        let scores = scores
            .map(|scores| row_major("scores", scores))
            .transpose()?;
        check_finite("scores", scores.unwrap_or_default())?;
        Ok((scores.map(memory::copied), memory::copied(dual)))
    }
}

/// A round of the alternating direction method over a part of the rows, see [`SplitRequest`]: its scores times the scales and
/// its dual rows, both of shape (n, q), and their dual terms; the part's share of the weights X^T B, shape (d, q), and of the
/// sum of the dual rows; the sum of the losses at the common point, with what the rounding of the certificate comes of; and
/// the sums of squares of the scores, of their distance from those of the common point, of their move, and of the multipliers.
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn split_part<'py>(
    py: Python<'py>,
    indicator: IndicatorArrays<'py>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(py, || {
        let asked = SplitRequest::of(py, request)?;
        let loss = AnyLoss::new(&asked.loss, asked.theta, asked.mu).map_err(value_error)?;
        let labels = loss.labels(
            &indicator,
            1.0,
            Some(&asked.pair_weights),
            asked.label_weights.as_ref(),
            asked.top,
        )?;
        let (n, q) = (labels.instances(), labels.count());
        let arrays = features.features_of_rows(n)?;
        let columns = arrays.columns();
        let (common, start) = (asked.common()?, asked.start()?);
        let threads = Threads::new(asked.threads);
        let mut monitor = PythonMonitor::new(None);
        let answer = py
            .detach(|| {
                let mut scores = linear_scores(arrays, q);
                of_any!(loss, |loss| splitting::split_part(
                    &labels,
                    &mut *scores,
                    &loss,
                    common,
                    start,
                    &threads,
                    &mut monitor,
                ))
            })
            .map_err(value_error)?;
        let answer = monitor.answer(answer)?;
        let part = PyDict::new(py);
        part.set_item("scores", matrix(py, answer.scores, n, q)?)?;
        part.set_item("dual", matrix(py, answer.dual, n, q)?)?;
        part.set_item("dual_terms", answer.dual_terms.into_pyarray(py))?;
        part.set_item("weights", matrix(py, answer.weights, columns, q)?)?;
        part.set_item("sum", answer.sum.into_pyarray(py))?;
        part.set_item("loss", answer.loss)?;
        part.set_item("rounding", answer.rounding)?;
        part.set_item("size", answer.size)?;
        part.set_item("square", answer.square)?;
        part.set_item("primal", answer.squares.primal)?;
        part.set_item("moved", answer.squares.moved)?;
        part.set_item("displacements", answer.squares.displacements)?;
        Ok(part)
    })
}
