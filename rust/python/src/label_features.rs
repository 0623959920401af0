//! LLSF: one entry, `solve_label_features`.

use crate::answers::{history_columns, matrix};
use crate::arguments::{FeatureArrays, optional_matrix, row_major, value_error};
use crate::boundary::guarded;
use crate::monitor::PythonMonitor;
use multimargin_solvers::error::SolverError;
use multimargin_solvers::llsf::apg::{self, Published, Variant};
use multimargin_solvers::llsf::eigenbasis::{Eigenbasis, Eigenpairs};
use multimargin_solvers::llsf::{Problem, admm, descent};
use multimargin_solvers::memory::{self, Purpose};
use multimargin_solvers::parallel::threads::Threads;
use multimargin_solvers::report::Settings;
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// The answer of an LLSF solver.
#[pyclass(frozen, get_all, module = "multimargin._rust")]
pub struct LabelFeaturesSolution {
    /// Coefficients, shape (q, d).
    weights: Py<PyArray2<f64>>,
    /// Why the loop ended.
    status: &'static str,
    /// Epochs or iterations made.
    epochs: usize,
    /// Objective.
    primal: f64,
    /// Lower bound of the optimum.
    dual_objective: f64,
    /// Relative duality gap.
    gap: f64,
    /// Largest violation of the optimality conditions.
    kkt_residual: f64,
    /// The Lipschitz constant of the gradient steps.
    lipschitz: Option<f64>,
    /// Columns (epoch, seconds, primal, dual) of one row an epoch, shape (4, epochs).
    history: Py<PyArray2<f64>>,
}

/// Eigenvalues, and eigenvectors as columns.
type EigenArrays<'py> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray2<'py, f64>);

fn eigenpairs<'a>(arrays: &'a EigenArrays<'_>) -> PyResult<Eigenpairs<'a>> {
    Ok(Eigenpairs {
        values: arrays.0.as_slice()?,
        vectors: row_major("basis", &arrays.1)?,
    })
}

/// Solves an LLSF problem. See `multimargin.estimators.llsf` for the meaning of the arguments.
#[pyfunction]
#[pyo3(signature = (
    indicator, features, *, coupling, beta, anchor, convex, solver, lipschitz, basis, coupling_basis, start, tolerance, max_epochs,
    threads, callback
))]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments of a private Python function"
)]
pub fn solve_label_features<'py>(
    py: Python<'py>,
    indicator: PyReadonlyArray2<'py, u8>,
    features: FeatureArrays<'py>,
    coupling: Option<PyReadonlyArray2<'py, f64>>,
    beta: f64,
    anchor: Option<f64>,
    convex: bool,
    solver: &str,
    lipschitz: f64,
    basis: Option<EigenArrays<'py>>,
    coupling_basis: Option<EigenArrays<'py>>,
    start: Option<PyReadonlyArray2<'py, f64>>,
    tolerance: f64,
    max_epochs: usize,
    threads: usize,
    callback: Option<Py<PyAny>>,
) -> PyResult<LabelFeaturesSolution> {
    guarded(py, || {
        let q = indicator.shape()[1];
        let labels = row_major("Y", &indicator)?;
        let features = features.features_of_rows(indicator.shape()[0])?;
        let coupling = optional_matrix("coupling", coupling.as_ref(), [q, q])?;
        let start = optional_matrix("start", start.as_ref(), [q, features.columns()])?
            .map(|start| memory::copied(start, Purpose::FeaturesByLabels));
        let basis = basis.as_ref().map(eigenpairs).transpose()?;
        let coupling_basis = coupling_basis.as_ref().map(eigenpairs).transpose()?;
        let settings = Settings {
            tolerance,
            max_epochs,
            ..Settings::default()
        };
        let threads = Threads::new(threads);
        let mut monitor = PythonMonitor::new(callback);
        let solution = py
            .detach(|| {
                let problem = Problem::new(features, labels, q, coupling, beta, anchor, convex)?;
                let basis = basis
                    .map(|pairs| Eigenbasis::new(&problem, pairs, coupling_basis))
                    .transpose()?;
                let variant = match solver {
                    "cd" => {
                        return descent::solve(
                            &problem,
                            labels,
                            start,
                            &settings,
                            &threads,
                            &mut monitor,
                        );
                    }
                    "admm" => {
                        let basis = basis.ok_or(SolverError::Unsupported(
                            "the alternating direction method needs the eigenvalues of X^T X",
                        ))?;
                        return admm::solve(
                            &problem,
                            &basis,
                            start,
                            &settings,
                            &threads,
                            &mut monitor,
                        );
                    }
                    "apg" => Variant::Restarting {
                        coupling_eigenvalue: lipschitz,
                    },
                    "published" => Variant::Printed(Published { lipschitz }),
                    other => {
                        return Err(SolverError::Argument {
                            name: "solver",
                            found: format!("{other:?}"),
                            expected: "'cd', 'admm', 'apg' or 'published'",
                        });
                    }
                };
                apg::solve(
                    &problem,
                    variant,
                    basis.as_ref(),
                    start,
                    &settings,
                    &threads,
                    &mut monitor,
                )
            })
            .map_err(value_error)?;
        monitor.finish()?;
        let report = solution.report;
        Ok(LabelFeaturesSolution {
            weights: matrix(py, solution.weights, q, features.columns())?,
            status: report.status.name(),
            epochs: report.epochs,
            primal: report.primal,
            dual_objective: report.dual,
            gap: report.gap(),
            kkt_residual: solution.kkt_residual,
            lipschitz: solution.lipschitz,
            history: history_columns(py, &report.history)?,
        })
    })
}
