//! The losses by themselves, for tests against independent solvers.

use crate::arguments::value_error;
use crate::boundary::guarded;
use multimargin_solvers::error::SolverError;
use multimargin_solvers::pairwise::loss::{Hinge, Loss, OptimalMargin, SquaredHinge};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// A loss by its name in Python.
#[derive(Clone, Copy, Debug)]
pub enum AnyLoss {
    Hinge(Hinge),
    SquaredHinge(SquaredHinge),
    OptimalMargin(OptimalMargin),
}

impl AnyLoss {
    /// The loss of that name; `theta` and `mu` are those of the optimal margin.
    pub fn new(name: &str, theta: f64, mu: f64) -> Result<Self, SolverError> {
        match name {
            "hinge" => Ok(Self::Hinge(Hinge)),
            "squared_hinge" => Ok(Self::SquaredHinge(SquaredHinge)),
            "optimal_margin" => Ok(Self::OptimalMargin(OptimalMargin::new(theta, mu)?)),
            other => Err(SolverError::Argument {
                name: "loss",
                found: format!("{other:?}"),
                expected: "'hinge', 'squared_hinge' or 'optimal_margin'",
            }),
        }
    }
}

fn check(scores: &[f64], relevant: usize) -> Result<(), SolverError> {
    if relevant == 0 || relevant >= scores.len() || scores.iter().any(|s| !s.is_finite()) {
        return Err(SolverError::Argument {
            name: "relevant",
            found: format!("{relevant} of {} labels", scores.len()),
            expected: "finite scores with at least one relevant and one irrelevant label",
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
        relevant,
        lam,
        &mut workspace,
    );
    displacement
}

fn value<L: Loss>(loss: &L, scores: &[f64], relevant: usize) -> f64 {
    loss.value(scores, relevant, &mut L::Workspace::default())
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
        check(centre, relevant).map_err(value_error)?;
        if !(lam > 0.0 && lam.is_finite()) {
            return Err(value_error(SolverError::Argument {
                name: "lam",
                found: lam.to_string(),
                expected: "a positive number",
            }));
        }
        let displacement = match AnyLoss::new(loss, theta, mu).map_err(value_error)? {
            AnyLoss::Hinge(loss) => prox(&loss, centre, relevant, lam),
            AnyLoss::SquaredHinge(loss) => prox(&loss, centre, relevant, lam),
            AnyLoss::OptimalMargin(loss) => prox(&loss, centre, relevant, lam),
        };
        Ok(PyArray1::from_vec(py, displacement))
    })
}

/// The sum over all pairs of one instance's loss.
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
        check(scores, relevant).map_err(value_error)?;
        Ok(match AnyLoss::new(loss, theta, mu).map_err(value_error)? {
            AnyLoss::Hinge(loss) => value(&loss, scores, relevant),
            AnyLoss::SquaredHinge(loss) => value(&loss, scores, relevant),
            AnyLoss::OptimalMargin(loss) => value(&loss, scores, relevant),
        })
    })
}
