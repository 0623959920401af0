//! MLRL: one entry, `solve_mlrl`.

use crate::answers::{history_columns, matrix};
use crate::arguments::{FeatureArrays, kernel, optional_matrix, row_major, value_error};
use crate::boundary::guarded;
use crate::keywords::keywords;
use crate::monitor::PythonMonitor;
use multimargin_solvers::error::SolverError;
use multimargin_solvers::kernel::gram::{Gram, Kernel};
use multimargin_solvers::kernel::rows::KernelRows;
use multimargin_solvers::linalg::features::Features;
use multimargin_solvers::memory::{self, Purpose};
use multimargin_solvers::mlrl::{self, Problem, Settings, Solution, StopRule};
use multimargin_solvers::parallel::threads::Threads;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

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

keywords! {
/// A problem of MLRL and how to solve it, but for labels and features. See `multimargin.estimators` for the meaning.
struct RelationshipRequest<'py> {
    lam: f64,
    kernel_name: String,
    gamma: f64,
    degree: u32,
    coef0: f64,
    solver: String,
    #[pyo3(default)]
    covariance: Option<PyReadonlyArray2<'py, f64>>,
    ridge: f64,
    stop: String,
    tolerance: f64,
    max_rounds: usize,
    #[pyo3(default = true)]
    shrinking: bool,
    cache_bytes: usize,
    #[pyo3(default = 1)]
    threads: usize,
    #[pyo3(default)]
    callback: Option<Py<PyAny>>,
}
}

impl RelationshipRequest<'_> {
    fn loop_of<'a>(&'a self, q: usize) -> PyResult<Loop<'a>> {
        let covariance = optional_matrix("fixed_covariance", self.covariance.as_ref(), [q, q])?;
        match (covariance, self.solver.as_str()) {
            (Some(covariance), _) => Ok(Loop::Fixed(covariance)),
            (None, "splitting") => Ok(Loop::Splitting),
            (None, "alternating") => Ok(Loop::Alternating(self.ridge)),
            (None, other) => Err(value_error(SolverError::Argument {
                name: "solver",
                found: format!("{other:?}"),
                expected: "'splitting' or 'alternating'",
            })),
        }
    }

    fn settings(&self) -> PyResult<Settings> {
        let stop = match self.stop.as_str() {
            "gap" => StopRule::Gap(self.tolerance),
            "covariance" => StopRule::Covariance(self.tolerance),
            other => {
                return Err(value_error(SolverError::Argument {
                    name: "stop",
                    found: format!("{other:?}"),
                    expected: "'gap' or 'covariance'",
                }));
            }
        };
        Ok(Settings {
            stop,
            rounds: self.max_rounds,
            shrinking: self.shrinking,
        })
    }

    /// The kernel, `None` for a matrix of its values.
    fn kernel(&self, x: &Features<'_>) -> PyResult<Option<Kernel>> {
        match (self.kernel_name.as_str(), x) {
            ("precomputed", Features::Dense(_)) => Ok(None),
            ("precomputed", Features::Sparse(_)) => Err(value_error(SolverError::Argument {
                name: "X",
                found: "a sparse precomputed kernel".into(),
                expected: "a dense one",
            })),
            (name, _) => kernel(name, self.gamma, self.degree, self.coef0).map(Some),
        }
    }
}

/// The problem that is asked for, and its loop.
#[derive(Clone, Copy)]
enum Loop<'a> {
    Fixed(&'a [f64]),
    Splitting,
    Alternating(f64),
}

impl Loop<'_> {
    fn run(
        self,
        problem: &Problem<'_>,
        settings: &Settings,
        threads: &Threads,
        monitor: &mut PythonMonitor,
    ) -> Result<Solution, SolverError> {
        match self {
            Self::Fixed(covariance) => mlrl::fixed(problem, covariance, settings, threads, monitor),
            Self::Splitting => mlrl::splitting(problem, settings, threads, monitor),
            Self::Alternating(ridge) => {
                mlrl::alternating(problem, ridge, settings, threads, monitor)
            }
        }
    }
}

/// 1 and -1 for the labels, by label.
fn signs(indicator: &[u8], q: usize) -> Vec<f64> {
    let n = indicator.len() / q.max(1);
    let sign = |at: usize| match indicator[at % n * q + at / n] {
        0 => -1.0,
        _ => 1.0,
    };
    memory::collected((0..n * q).map(sign), Purpose::RowsByLabels)
}

/// Solves the joint problem of MLRL, or that of a fixed covariance, see [`RelationshipRequest`].
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn solve_mlrl<'py>(
    py: Python<'py>,
    indicator: PyReadonlyArray2<'py, u8>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<RelationshipSolution> {
    guarded(py, || {
        let mut asked = RelationshipRequest::of(&request.unwrap_or_else(|| PyDict::new(py)))?;
        let mut monitor = PythonMonitor::new(asked.callback.take());
        let (n, q) = (indicator.shape()[0], indicator.shape()[1]);
        let signs = signs(row_major("Y", &indicator)?, q);
        let x = features.features_of_rows(n)?;
        let (loop_of, settings, kernel) = (asked.loop_of(q)?, asked.settings()?, asked.kernel(&x)?);
        let (lam, cache_bytes) = (asked.lam, asked.cache_bytes);
        let threads = Threads::new(asked.threads);
        let solution = py
            .detach(|| -> Result<Option<Solution>, SolverError> {
                let matrix;
                let rows = match (kernel, x) {
                    (Some(kernel), x) if !Gram::of(kernel, x).fits(cache_bytes) => {
                        KernelRows::computed(Gram::of(kernel, x), cache_bytes)
                    }
                    (Some(kernel), x) => {
                        match Gram::of(kernel, x).matrix(&threads, &mut monitor) {
                            Some(values) => matrix = values,
                            None => return Ok(None),
                        }
                        KernelRows::stored(&matrix, n)?
                    }
                    (None, Features::Dense(values)) => KernelRows::stored(values.data(), n)?,
                    (None, Features::Sparse(_)) => return Ok(None),
                };
                let problem = Problem::new(&rows, &signs, lam)?;
                loop_of
                    .run(&problem, &settings, &threads, &mut monitor)
                    .map(Some)
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
