//! LLSF: one entry, `solve_label_features`.

use crate::answers::{matrix, reported};
use crate::arguments::{FeatureArrays, optional_matrix, row_major, shaped_matrix, value_error};
use crate::boundary::guarded;
use crate::keywords::{Keywords, keywords};
use crate::monitor::PythonMonitor;
use multimargin_solvers::error::refused;
use multimargin_solvers::llsf::admm::Eigenpairs;
use multimargin_solvers::llsf::{Problem, Solver};
use multimargin_solvers::memory;
use multimargin_solvers::parallel::threads::Threads;
use multimargin_solvers::report::Settings;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Eigenvalues, and eigenvectors as columns.
type EigenArrays<'py> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray2<'py, f64>);

fn eigenpairs<'a>(arrays: &'a EigenArrays<'_>) -> PyResult<Eigenpairs<'a>> {
    Ok(Eigenpairs {
        values: arrays.0.as_slice()?,
        vectors: row_major("basis", &arrays.1)?,
    })
}

keywords! {
/// A problem of LLSF and how to solve it, except for labels and features. See `multimargin.estimators.llsf` for the meaning.
struct LabelFeaturesRequest<'py> {
    sums: (PyReadonlyArray2<'py, f64>, PyReadonlyArray1<'py, f64>),
    #[pyo3(default)]
    coupling: Option<PyReadonlyArray2<'py, f64>>,
    beta: f64,
    #[pyo3(default)]
    anchor: Option<f64>,
    convex: bool,
    solver: String,
    lipschitz: f64,
    #[pyo3(default)]
    basis: Option<EigenArrays<'py>>,
    #[pyo3(default)]
    coupling_basis: Option<EigenArrays<'py>>,
    #[pyo3(default)]
    start: Option<PyReadonlyArray2<'py, f64>>,
    tolerance: f64,
    max_epochs: usize,
    #[pyo3(default = 1)]
    threads: usize,
    #[pyo3(default)]
    callback: Option<Py<PyAny>>,
    #[pyo3(default)]
    seconds: Option<f64>,
}
}

impl LabelFeaturesRequest<'_> {
    fn solver(&self) -> PyResult<Solver<'_>> {
        let lipschitz = self.lipschitz;
        match self.solver.as_str() {
            "cd" => Ok(Solver::Descent),
            "admm" => {
                let needed = || refused("basis", "None", "the eigenpairs of X^T X for 'admm'");
                let features = self.basis.as_ref().ok_or_else(|| value_error(needed()))?;
                let coupling = self.coupling_basis.as_ref().map(eigenpairs).transpose()?;
                Ok(Solver::Directions(eigenpairs(features)?, coupling))
            }
            restarting @ ("apg" | "published") => Ok(Solver::Gradient {
                lipschitz,
                restarts: restarting == "apg",
            }),
            other => Err(value_error(refused(
                "solver",
                format!("{other:?}"),
                "'cd', 'admm', 'apg' or 'published'",
            ))),
        }
    }
}

/// Solves an LLSF problem, see [`LabelFeaturesRequest`]: the keywords of
/// `multimargin.estimators.llsf_problem.Coefficients`.
#[pyfunction]
#[pyo3(signature = (features, **request))]
pub fn solve_label_features<'py>(
    py: Python<'py>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(py, || {
        let mut asked = LabelFeaturesRequest::of(py, request)?;
        let mut monitor = PythonMonitor::new(asked.callback.take()).with_limit(asked.seconds);
        let q = asked.sums.0.shape()[0];
        let features = features.features()?;
        let (d, (correlation, squared_norms)) = (features.columns(), &asked.sums);
        let start = optional_matrix("start", asked.start.as_ref(), [q, d])?;
        let problem = Problem {
            features,
            correlation: memory::copied(shaped_matrix("sums", correlation, [q, d])?),
            squared_norms: squared_norms.as_slice()?.to_vec(),
            coupling: optional_matrix("coupling", asked.coupling.as_ref(), [q, q])?,
            beta: asked.beta,
            anchor: asked.anchor,
            convex: asked.convex,
            start: start.map(memory::copied),
            settings: Settings {
                tolerance: asked.tolerance,
                max_epochs: asked.max_epochs,
                ..Settings::default()
            },
        };
        let solver = asked.solver()?;
        let threads = Threads::new(asked.threads);
        let solution = py
            .detach(|| problem.solve(solver, &threads, &mut monitor))
            .map_err(value_error)?;
        monitor.finish()?;
        let fit = reported(py, &solution.report)?;
        let weights = matrix(py, solution.weights, q, d)?;
        fit.set_item("weights", weights)?;
        fit.set_item("kkt_residual", solution.kkt_residual)?;
        Ok(fit)
    })
}
