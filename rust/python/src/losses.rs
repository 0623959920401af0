//! The losses by themselves, for tests against independent solvers.

use crate::answers::matrix;
use crate::arguments::{IndicatorArrays, row_major, value_error};
use crate::boundary::guarded;
use multimargin_solvers::error::{SolverError, refused};
use multimargin_solvers::labels::Labels;
use multimargin_solvers::pairwise::loss::{
    Hinge, Loss, OptimalMargin, SquaredHinge, ZeroLabelHinge, check_pairs, total_loss as total,
};
use multimargin_solvers::pairwise::published::{self, Loop};
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// A loss by its name in Python.
#[derive(Clone, Copy, Debug)]
pub enum AnyLoss {
    Hinge(Hinge),
    SquaredHinge(SquaredHinge),
    OptimalMargin(OptimalMargin),
    ZeroLabelHinge(ZeroLabelHinge),
}

/// The loops by name.
const SOLVERS: &str =
    "'bcd', 'dcd', (hinge only) 'frank-wolfe' or (optimal margin only) 'multiplicative'";

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

    /// The published loop of a solver's name; `None` is the engine's.
    pub fn published(self, solver: &str) -> Result<Option<Loop>, SolverError> {
        Ok(Some(match (solver, self) {
            ("bcd", _) => return Ok(None),
            ("dcd", Self::Hinge(loss)) => published::dcd(loss),
            ("dcd", Self::SquaredHinge(loss)) => published::dcd(loss),
            ("dcd", Self::OptimalMargin(loss)) => published::dcd(loss),
            ("dcd", Self::ZeroLabelHinge(loss)) => published::dcd(loss),
            ("frank-wolfe", Self::Hinge(_)) => published::frank_wolfe(),
            ("multiplicative", Self::OptimalMargin(loss)) => published::multiplicative(loss),
            _ => return Err(refused("solver", format!("{solver:?}"), SOLVERS)),
        }))
    }

    /// Whether the loss has a zero label.
    pub fn has_zero_label(self) -> bool {
        matches!(self, Self::ZeroLabelHinge(_))
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
        let weights = weights.map(PyReadonlyArray1::as_slice).transpose()?;
        let labels = match weights {
            _ if self.has_zero_label() => indicator.labels(c)?.with_zero_label(c, weights),
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
}

/// The displacements `s - centre` of the proximal map of each instance's loss, with the centres as rows.
fn prox<L: Loss>(
    loss: &L,
    labels: &Labels,
    centre: &[f64],
    lam: f64,
) -> Result<Vec<f64>, SolverError> {
    check_pairs::<L>(labels)?;
    let q = labels.count();
    let (mut workspace, mut displacement) = (L::Workspace::default(), vec![0.0; centre.len()]);
    let (mut gathered, mut moved) = (vec![0.0; q], vec![0.0; q]);
    let rows = centre.chunks_exact(q).zip(displacement.chunks_exact_mut(q));
    for (i, (row, out)) in rows.enumerate().filter(|&(i, _)| labels.has_pairs(i)) {
        let known = labels.gather(i, row, &mut gathered);
        let moved = &mut moved[..known.len()];
        loss.prox(known, known, moved, labels.pairs_of(i), lam, &mut workspace);
        labels.scatter(i, moved, out);
    }
    Ok(displacement)
}

/// The displacements `s - centre` of the proximal map of each row's loss, of shape `(n, q)` as the centre; labels as those of
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
        let labels = loss.labels(&indicator, 1.0, None, label_weights.as_ref(), top)?;
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
        let moved = of_any!(loss, |loss| prox(&loss, &labels, centre, lam)).map_err(value_error)?;
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
