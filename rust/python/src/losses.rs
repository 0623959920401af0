//! The losses by themselves, for tests against independent solvers.

use crate::arguments::{row_major, value_error};
use crate::boundary::guarded;
use multimargin_solvers::error::SolverError;
use multimargin_solvers::labels::Labels;
use multimargin_solvers::pairwise::loss::{
    Hinge, Loss, OptimalMargin, Pairs, SquaredHinge, ZeroLabelHinge,
};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// A loss by its name in Python.
#[derive(Clone, Copy, Debug)]
pub enum AnyLoss {
    Hinge(Hinge),
    SquaredHinge(SquaredHinge),
    OptimalMargin(OptimalMargin),
    ZeroLabelHinge(ZeroLabelHinge),
}

impl AnyLoss {
    /// The loss of that name; `theta` and `mu` are those of the optimal margin.
    pub fn new(name: &str, theta: f64, mu: f64) -> Result<Self, SolverError> {
        match name {
            "hinge" => Ok(Self::Hinge(Hinge)),
            "squared_hinge" => Ok(Self::SquaredHinge(SquaredHinge)),
            "optimal_margin" => Ok(Self::OptimalMargin(OptimalMargin::new(theta, mu)?)),
            "zero_label_hinge" => Ok(Self::ZeroLabelHinge(ZeroLabelHinge)),
            other => Err(SolverError::Argument {
                name: "loss",
                found: format!("{other:?}"),
                expected: "'hinge', 'squared_hinge', 'optimal_margin' or 'zero_label_hinge'",
            }),
        }
    }

    /// Whether the loss has a zero label.
    pub fn has_zero_label(self) -> bool {
        matches!(self, Self::ZeroLabelHinge(_))
    }

    /// The labels that the loss is of: those of an `n x q` indicator matrix, with the zero label if it has one. The
    /// weight of each pair is `c` over the number of pairs of its instance, unless `weights` gives it by instance.
    pub fn labels(
        self,
        indicator: &PyReadonlyArray2<'_, u8>,
        c: f64,
        weights: Option<&PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Labels> {
        let (q, indicator) = (indicator.shape()[1], row_major("Y", indicator)?);
        let weights = weights.map(PyReadonlyArray1::as_slice).transpose()?;
        let labels = match weights {
            _ if self.has_zero_label() => {
                Labels::new(indicator, q, c).and_then(|labels| labels.with_zero_label(c, weights))
            }
            Some(weights) => Labels::weighted(indicator, q, weights),
            None => Labels::new(indicator, q, c),
        };
        labels.map_err(value_error)
    }
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
        return Err(SolverError::Argument {
            name: "relevant",
            found: format!("{relevant} of {} labels", scores.len()),
            expected,
        });
    }
    Ok(())
}

fn prox<L: Loss>(loss: &L, centre: &[f64], relevant: usize, lam: f64) -> Vec<f64> {
    let mut displacement = vec![0.0; centre.len()];
    let mut workspace = L::Workspace::default();
    loss.prox(
        centre,
        centre,
        &mut displacement,
        Pairs::all(relevant),
        lam,
        &mut workspace,
    );
    displacement
}

fn value<L: Loss>(loss: &L, scores: &[f64], relevant: usize) -> f64 {
    loss.value(scores, Pairs::all(relevant), &mut L::Workspace::default())
}

/// The displacement `s - centre` of the proximal map of one instance's loss; the first `relevant` scores are those of
/// the relevant labels.
#[pyfunction]
#[pyo3(signature = (centre, relevant, lam, *, loss, theta=0.0, mu=1.0))]
pub fn loss_prox<'py>(
    py: Python<'py>,
    centre: PyReadonlyArray1<'py, f64>,
    relevant: usize,
    lam: f64,
    loss: &str,
    theta: f64,
    mu: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    guarded(py, || {
        let centre = centre.as_slice()?;
        let loss = AnyLoss::new(loss, theta, mu).map_err(value_error)?;
        check(loss, centre, relevant).map_err(value_error)?;
        if !(lam > 0.0 && lam.is_finite()) {
            return Err(value_error(SolverError::Argument {
                name: "lam",
                found: lam.to_string(),
                expected: "a positive number",
            }));
        }
        let displacement = match loss {
            AnyLoss::Hinge(loss) => prox(&loss, centre, relevant, lam),
            AnyLoss::SquaredHinge(loss) => prox(&loss, centre, relevant, lam),
            AnyLoss::OptimalMargin(loss) => prox(&loss, centre, relevant, lam),
            AnyLoss::ZeroLabelHinge(loss) => prox(&loss, centre, relevant, lam),
        };
        Ok(PyArray1::from_vec(py, displacement))
    })
}

/// The sum over all pairs of one instance's loss; a zero label's score is the last one.
#[pyfunction]
#[pyo3(signature = (scores, relevant, *, loss, theta=0.0, mu=1.0))]
pub fn loss_value(
    py: Python<'_>,
    scores: PyReadonlyArray1<'_, f64>,
    relevant: usize,
    loss: &str,
    theta: f64,
    mu: f64,
) -> PyResult<f64> {
    guarded(py, || {
        let scores = scores.as_slice()?;
        let loss = AnyLoss::new(loss, theta, mu).map_err(value_error)?;
        check(loss, scores, relevant).map_err(value_error)?;
        Ok(match loss {
            AnyLoss::Hinge(loss) => value(&loss, scores, relevant),
            AnyLoss::SquaredHinge(loss) => value(&loss, scores, relevant),
            AnyLoss::OptimalMargin(loss) => value(&loss, scores, relevant),
            AnyLoss::ZeroLabelHinge(loss) => value(&loss, scores, relevant),
        })
    })
}
