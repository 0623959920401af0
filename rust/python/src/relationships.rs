//! MLRL: one entry, `solve_mlrl`.

use crate::answers::{history_columns, matrix};
use crate::arguments::{FeatureArrays, kernel, optional_matrix, row_major, value_error};
use crate::boundary::guarded;
use crate::monitor::PythonMonitor;
use multimargin_solvers::error::SolverError;
use multimargin_solvers::kernel::gram::Gram;
use multimargin_solvers::kernel::rows::KernelRows;
use multimargin_solvers::linalg::features::Features;
use multimargin_solvers::memory::{self, Purpose};
use multimargin_solvers::mlrl::{self, Problem, Settings, Solution, StopRule};
use multimargin_solvers::parallel::threads::Threads;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// The answer of `solve_mlrl`.
#[pyclass(frozen, get_all, module = "multimargin._rust")]
pub struct RelationshipSolution {
    /// Expansion A with W = phi(X)^T A, shape (n, q).
    expansion: Py<PyArray2<f64>>,
    /// Bias b, shape (q,).
    bias: Py<PyArray1<f64>>,
    /// Signed dual matrix Z = alpha . Y of the lower bound, shape (n, q).
    dual: Py<PyArray2<f64>>,
    /// Label covariance Omega, shape (q, q).
    covariance: Py<PyArray2<f64>>,
    /// Scores K A of the training rows without the bias, shape (n, q).
    scores: Py<PyArray2<f64>>,
    /// Why the loop ended.
    status: &'static str,
    /// Outer rounds made.
    rounds: usize,
    /// Pair steps of all labels and rounds together.
    steps: usize,
    /// Primal objective.
    primal: f64,
    /// Dual objective, a lower bound of the optimum.
    dual_objective: f64,
    /// Relative duality gap.
    gap: f64,
    /// Columns (round, seconds, primal, dual) of one row a round, shape (4, rounds).
    history: Py<PyArray2<f64>>,
}

/// What the caller asked for, apart from the data.
struct Request<'a> {
    solver: &'a str,
    covariance: Option<&'a [f64]>,
    ridge: f64,
    settings: Settings,
    threads: Threads,
}

impl Request<'_> {
    fn solve(
        &self,
        problem: &Problem<'_>,
        monitor: &mut PythonMonitor,
    ) -> Result<Solution, SolverError> {
        let Self {
            settings, threads, ..
        } = self;
        if let Some(covariance) = self.covariance {
            return mlrl::fixed(problem, covariance, settings, threads, monitor);
        }
        match self.solver {
            "splitting" => mlrl::splitting(problem, settings, threads, monitor),
            "alternating" => mlrl::alternating(problem, self.ridge, settings, threads, monitor),
            other => Err(SolverError::Argument {
                name: "solver",
                found: format!("{other:?}"),
                expected: "'splitting' or 'alternating'",
            }),
        }
    }
}

fn stop_rule(name: &str, tolerance: f64) -> Result<StopRule, SolverError> {
    match name {
        "gap" => Ok(StopRule::Gap(tolerance)),
        "covariance" => Ok(StopRule::Covariance(tolerance)),
        other => Err(SolverError::Argument {
            name: "stop",
            found: format!("{other:?}"),
            expected: "'gap' or 'covariance'",
        }),
    }
}

/// Solves the joint problem of MLRL, or that of a fixed covariance. See `multimargin.estimators` for the arguments.
#[pyfunction]
#[pyo3(signature = (
    indicator, features, *, lam, kernel_name, gamma, degree, coef0, solver, covariance, ridge, stop, tolerance,
    max_rounds, shrinking, cache_bytes, threads, callback
))]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments of a private Python function"
)]
pub fn solve_mlrl<'py>(
    py: Python<'py>,
    indicator: PyReadonlyArray2<'py, u8>,
    features: FeatureArrays<'py>,
    lam: f64,
    kernel_name: &str,
    gamma: f64,
    degree: u32,
    coef0: f64,
    solver: &str,
    covariance: Option<PyReadonlyArray2<'py, f64>>,
    ridge: f64,
    stop: &str,
    tolerance: f64,
    max_rounds: usize,
    shrinking: bool,
    cache_bytes: usize,
    threads: usize,
    callback: Option<Py<PyAny>>,
) -> PyResult<RelationshipSolution> {
    guarded(py, || {
        let (n, q) = (indicator.shape()[0], indicator.shape()[1]);
        let labels = row_major("Y", &indicator)?;
        let signs = (0..n * q).map(|at| match labels[at % n * q + at / n] {
            0 => -1.0,
            _ => 1.0,
        });
        let signs: Vec<f64> = memory::collected(signs, Purpose::RowsByLabels);
        let arrays = features.features_of_rows(n)?;
        let request = Request {
            solver,
            covariance: optional_matrix("fixed_covariance", covariance.as_ref(), [q, q])?,
            ridge,
            settings: Settings {
                stop: stop_rule(stop, tolerance).map_err(value_error)?,
                rounds: max_rounds,
                shrinking,
            },
            threads: Threads::new(threads),
        };
        let kernel = match kernel_name {
            "precomputed" => None,
            name => Some(kernel(name, gamma, degree, coef0)?),
        };
        let mut monitor = PythonMonitor::new(callback);
        let solution = py
            .detach(|| -> Result<Option<Solution>, SolverError> {
                let matrix;
                let rows = match (kernel, arrays) {
                    (None, Features::Dense(values)) => KernelRows::stored(values.data(), n)?,
                    (None, Features::Sparse(_)) => {
                        return Err(SolverError::Argument {
                            name: "X",
                            found: "a sparse precomputed kernel".into(),
                            expected: "a dense one",
                        });
                    }
                    (Some(kernel), x) => {
                        let gram = Gram::of(kernel, x);
                        if n.saturating_mul(n).saturating_mul(8) > cache_bytes {
                            KernelRows::computed(gram, cache_bytes)
                        } else {
                            match gram.matrix(&request.threads, &mut monitor) {
                                Some(values) => matrix = values,
                                None => return Ok(None),
                            }
                            KernelRows::stored(&matrix, n)?
                        }
                    }
                };
                let problem = Problem::new(&rows, &signs, lam)?;
                request.solve(&problem, &mut monitor).map(Some)
            })
            .map_err(value_error)?;
        monitor.finish()?;
        let solution = solution.ok_or_else(|| PyKeyboardInterrupt::new_err(()))?;
        let report = solution.report;
        let by_instance = |rows: &[f64]| {
            let values = memory::collected(
                (0..n * q).map(|at| rows[at % q * n + at / q]),
                Purpose::RowsByLabels,
            );
            matrix(py, values, n, q)
        };
        Ok(RelationshipSolution {
            expansion: by_instance(&solution.expansion)?,
            dual: by_instance(&solution.dual)?,
            scores: by_instance(&solution.scores)?,
            bias: solution.bias.into_pyarray(py).unbind(),
            covariance: matrix(py, solution.covariance, q, q)?,
            status: report.status.name(),
            rounds: report.epochs,
            steps: solution.steps,
            primal: report.primal,
            dual_objective: report.dual,
            gap: report.gap(),
            history: history_columns(py, &report.history)?,
        })
    })
}
