//! The losses by themselves, for tests against independent solvers.

use crate::arguments::{IndicatorArrays, row_major, value_error};
use crate::boundary::guarded;
use multimargin_solvers::error::{SolverError, refused};
use multimargin_solvers::labels::Labels;
use multimargin_solvers::pairwise::loss::{
    Hinge, Loss, OptimalMargin, Pairs, SquaredHinge, ZeroLabelHinge, total_loss as total,
};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// A loss by its name in Python.
#[derive(Clone, Copy, Debug)]
pub enum AnyLoss {
    Hinge(Hinge),
    SquaredHinge(SquaredHinge),
    OptimalMargin(OptimalMargin),
    ZeroLabelHinge(ZeroLabelHinge),
}

/// Runs code that is generic over the loss: `of_any!(any, |loss| run(loss))`. With `AnyLoss`, the one list of losses.
macro_rules! of_any {
    ($any:expr, |$loss:ident| $run:expr) => {
        match $any {
            $crate::losses::AnyLoss::Hinge($loss) => $run,
            $crate::losses::AnyLoss::SquaredHinge($loss) => $run,
            $crate::losses::AnyLoss::OptimalMargin($loss) => $run,
            $crate::losses::AnyLoss::ZeroLabelHinge($loss) => $run,
        }
    };
}
pub(crate) use of_any;

impl AnyLoss {
    /// The loss of that name; `theta` and `mu` are those of the optimal margin.
    pub fn new(name: &str, theta: f64, mu: f64) -> Result<Self, SolverError> {
        match name {
            "hinge" => Ok(Self::Hinge(Hinge)),
            "squared_hinge" => Ok(Self::SquaredHinge(SquaredHinge)),
            "optimal_margin" => Ok(Self::OptimalMargin(OptimalMargin::new(theta, mu)?)),
            "zero_label_hinge" => Ok(Self::ZeroLabelHinge(ZeroLabelHinge)),
            other => Err(refused(
                "loss",
                format!("{other:?}"),
                "'hinge', 'squared_hinge', 'optimal_margin' or 'zero_label_hinge'",
            )),
        }
    }

    /// Whether the loss has a zero label.
    pub fn has_zero_label(self) -> bool {
        matches!(self, Self::ZeroLabelHinge(_))
    }

    /// Whether the pairs may be those with the highest irrelevant labels alone.
    fn has_top(self) -> bool {
        matches!(self, Self::Hinge(_) | Self::SquaredHinge(_))
    }

    /// The labels that the loss is of: those of an `n x q` indicator matrix, with the zero label if it has one. The
    /// weight of each pair is `c` over the number of pairs of its instance, unless `weights` gives it by instance;
    /// times the weight of the relevant label, if there are any; `top` of the irrelevant labels count.
    pub fn labels(
        self,
        indicator: &IndicatorArrays<'_>,
        c: f64,
        weights: Option<&PyReadonlyArray1<'_, f64>>,
        label_weights: Option<&PyReadonlyArray1<'_, f64>>,
        top: Option<usize>,
    ) -> PyResult<Labels> {
        let labels = self.labels_of(indicator, c, weights)?;
        let labels = match label_weights {
            Some(weights) => labels.with_label_weights(weights.as_slice()?),
            None => Ok(labels),
        };
        let labels = match top {
            Some(top) => labels.and_then(|labels| labels.with_top(top)),
            None => labels,
        };
        labels.map_err(value_error)
    }

    fn labels_of(
        self,
        indicator: &IndicatorArrays<'_>,
        c: f64,
        weights: Option<&PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Labels> {
        let weights = weights.map(PyReadonlyArray1::as_slice).transpose()?;
        let labels = match weights {
            _ if self.has_zero_label() => indicator.labels(c)?.with_zero_label(c, weights),
            Some(weights) => indicator.labels(1.0)?.with_weights(weights),
            None => Ok(indicator.labels(c)?),
        };
        labels.map_err(value_error)
    }
}

/// The pairs of one instance, with weights of its relevant labels, of which `top` irrelevant labels count.
fn pairs<'a>(
    loss: AnyLoss,
    scores: &[f64],
    relevant: usize,
    weights: Option<&'a PyReadonlyArray1<'_, f64>>,
    top: Option<usize>,
) -> PyResult<Pairs<'a>> {
    check(loss, scores, relevant).map_err(value_error)?;
    let weights = weights.map_or(Ok(&[][..]), PyReadonlyArray1::as_slice)?;
    let positive = weights.iter().all(|w| *w > 0.0 && w.is_finite());
    if !positive || !(weights.is_empty() || weights.len() == relevant) {
        return Err(value_error(refused(
            "weights",
            format!("{weights:?}"),
            "a positive number for each relevant label",
        )));
    }
    let top = top.unwrap_or(usize::MAX);
    if top == 0 || (top < scores.len() && !loss.has_top()) {
        return Err(value_error(refused(
            "top",
            top,
            "at least 1, and None for other losses than 'hinge' and 'squared_hinge'",
        )));
    }
    Ok(Pairs {
        relevant,
        weights,
        top,
    })
}

fn check(loss: AnyLoss, scores: &[f64], relevant: usize) -> Result<(), SolverError> {
    let expected = if loss.has_zero_label() {
        "finite scores with the zero label's last, and at least one more"
    } else {
        "finite scores with at least one relevant and one irrelevant label"
    };
    let one_side = !loss.has_zero_label() && relevant == 0;
    let no_pair = one_side || relevant >= scores.len() || scores.len() < 2;
    if no_pair || scores.iter().any(|s| !s.is_finite()) {
        return Err(refused(
            "relevant",
            format!("{relevant} of {} labels", scores.len()),
            expected,
        ));
    }
    Ok(())
}

fn prox<L: Loss>(loss: &L, centre: &[f64], pairs: Pairs<'_>, lam: f64) -> Vec<f64> {
    let mut displacement = vec![0.0; centre.len()];
    let mut workspace = L::Workspace::default();
    loss.prox(
        centre,
        centre,
        &mut displacement,
        pairs,
        lam,
        &mut workspace,
    );
    displacement
}

/// The displacement `s - centre` of the proximal map of one instance's loss; the first `relevant` scores are those of
/// the relevant labels, which have `weights` and form pairs with the `top` highest irrelevant labels.
#[pyfunction]
#[pyo3(signature = (centre, relevant, lam, *, loss, theta=0.0, mu=1.0, weights=None, top=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub fn loss_prox<'py>(
    py: Python<'py>,
    centre: PyReadonlyArray1<'py, f64>,
    relevant: usize,
    lam: f64,
    loss: &str,
    theta: f64,
    mu: f64,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    top: Option<usize>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    guarded(py, || {
        let centre = centre.as_slice()?;
        let loss = AnyLoss::new(loss, theta, mu).map_err(value_error)?;
        let pairs = pairs(loss, centre, relevant, weights.as_ref(), top)?;
        if !(lam > 0.0 && lam.is_finite()) {
            return Err(value_error(refused("lam", lam, "a positive number")));
        }
        let displacement = of_any!(loss, |loss| prox(&loss, centre, pairs, lam));
        Ok(PyArray1::from_vec(py, displacement))
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
        let labels = loss.labels(
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
        of_any!(loss, |loss| total(&loss, &labels, scores)).map_err(value_error)
    })
}
