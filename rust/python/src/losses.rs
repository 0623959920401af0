//! The losses on their own, for tests against independent solvers.

use crate::answers::matrix;
use crate::arguments::{IndicatorArrays, row_major, value_error};
use crate::boundary::guarded;
use multimargin_solvers::error::refused;
use multimargin_solvers::labels::Labels;
use multimargin_solvers::pairwise::AnyLoss;
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// The labels of an `n x q` indicator matrix, with a zero label if the loss has one. The weight of each pair is `c` divided
/// by the number of pairs of its instance, unless `weights` gives it by instance; label weights, if given, multiply it. Only
/// the `top` highest irrelevant labels count.
pub fn labels_of(
    loss: AnyLoss,
    indicator: &IndicatorArrays<'_>,
    c: f64,
    weights: Option<&PyReadonlyArray1<'_, f64>>,
    label_weights: Option<&PyReadonlyArray1<'_, f64>>,
    top: Option<usize>,
) -> PyResult<Labels> {
    let weights = weights.map(PyReadonlyArray1::as_slice).transpose()?;
    let labels = match weights {
        _ if loss.has_zero_label() => indicator.labels(c)?.with_zero_label(c, weights),
        Some(weights) => indicator.labels(1.0)?.with_weights(weights),
        None => Ok(indicator.labels(c)?),
    };
    let labels = match label_weights {
        Some(weights) => {
            let weights = weights.as_slice()?;
            labels.and_then(|labels| labels.with_label_weights(weights))
        }
        None => labels,
    };
    let labels = match top {
        Some(top) => labels.and_then(|labels| labels.with_top(top)),
        None => labels,
    };
    labels.map_err(value_error)
}

/// The displacements `s - centre` of the proximal map of each row's loss, of shape `(n, q)` like the centre; labels as in
/// [`total_loss`].
#[pyfunction]
#[pyo3(signature = (indicator, centre, lam, *, loss, theta=0.0, mu=1.0, label_weights=None, top=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub fn loss_prox<'py>(
    py: Python<'py>,
    indicator: IndicatorArrays<'py>,
    centre: PyReadonlyArray2<'py, f64>,
    lam: f64,
    loss: &str,
    theta: f64,
    mu: f64,
    label_weights: Option<PyReadonlyArray1<'py, f64>>,
    top: Option<usize>,
) -> PyResult<Py<PyArray2<f64>>> {
    guarded(py, || {
        let loss = AnyLoss::new(loss, theta, mu).map_err(value_error)?;
        let labels = labels_of(loss, &indicator, 1.0, None, label_weights.as_ref(), top)?;
        let centre = row_major("centre", &centre)?;
        let (n, q) = (labels.instances(), labels.count());
        if centre.len() != n * q || centre.iter().any(|score| !score.is_finite()) {
            let found = format!("{} numbers", centre.len());
            let expected = "a finite score for each instance and label";
            return Err(value_error(refused("centre", found, expected)));
        }
        if !(lam > 0.0 && lam.is_finite()) {
            return Err(value_error(refused("lam", lam, "a positive number")));
        }
        let moved = loss.prox(&labels, centre, lam).map_err(value_error)?;
        matrix(py, moved, n, q)
    })
}

/// The weighted sum of all instances' losses at scores of shape `(n, q)`, with the zero label's last if there is one;
/// infinite where a score is not finite.
#[pyfunction]
#[pyo3(signature = (indicator, scores, pair_weights, *, loss, theta=0.0, mu=1.0, label_weights=None, top=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub fn total_loss(
    py: Python<'_>,
    indicator: IndicatorArrays<'_>,
    scores: PyReadonlyArray2<'_, f64>,
    pair_weights: PyReadonlyArray1<'_, f64>,
    loss: &str,
    theta: f64,
    mu: f64,
    label_weights: Option<PyReadonlyArray1<'_, f64>>,
    top: Option<usize>,
) -> PyResult<f64> {
    guarded(py, || {
        let loss = AnyLoss::new(loss, theta, mu).map_err(value_error)?;
        let labels = labels_of(
            loss,
            &indicator,
            1.0,
            Some(&pair_weights),
            label_weights.as_ref(),
            top,
        )?;
        let scores = row_major("scores", &scores)?;
        if scores.iter().any(|score| !score.is_finite()) {
            return Ok(f64::INFINITY);
        }
        loss.total(&labels, scores).map_err(value_error)
    })
}
