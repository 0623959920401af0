//! The pairwise family: one entry, `solve_pairwise`.

use crate::answers::{history_columns, matrix};
use crate::arguments::{
    FeatureArrays, check_finite, kernel, optional_matrix, row_major, value_error,
};
use crate::boundary::guarded;
use crate::losses::AnyLoss;
use crate::monitor::PythonMonitor;
use multimargin_solvers::error::SolverError;
use multimargin_solvers::kernel::gram::Gram;
use multimargin_solvers::labels::Labels;
use multimargin_solvers::linalg::features::Features;
use multimargin_solvers::memory::{self, Purpose};
use multimargin_solvers::pairwise::bcd::Proximal;
use multimargin_solvers::pairwise::bias::Bias;
use multimargin_solvers::pairwise::dcd::{OnePair, PairLoss};
use multimargin_solvers::pairwise::frank_wolfe;
use multimargin_solvers::pairwise::scores::{
    KernelBlocks, LinearDense, LinearMetric, LinearSparse, Precision, Scores, StoredKernel,
};
use multimargin_solvers::pairwise::{self, Setup};
use multimargin_solvers::parallel::threads::Threads;
use multimargin_solvers::report::{Settings, Solution};
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The answer of a pairwise solver.
#[pyclass(frozen, get_all, module = "multimargin._rust")]
pub struct PairwiseSolution {
    /// Dual matrix B, shape (n, q), here and below with a further column for the zero label of a loss that has one.
    dual: Py<PyArray2<f64>>,
    /// Bias b, shape (q,).
    bias: Py<PyArray1<f64>>,
    /// Weights W, shape (d, q), for a linear kernel on features.
    weights: Option<Py<PyArray2<f64>>>,
    /// Scores of the training rows without the bias, shape (n, q).
    scores: Py<PyArray2<f64>>,
    /// Why the loop ended.
    status: &'static str,
    /// Epochs made.
    epochs: usize,
    /// Primal objective.
    primal: f64,
    /// Dual objective, a lower bound of the optimum.
    dual_objective: f64,
    /// Relative duality gap.
    gap: f64,
    /// Columns (epoch, seconds, primal, dual) of one row an epoch, shape (4, epochs).
    history: Py<PyArray2<f64>>,
}

/// What the caller asked for, apart from the features.
struct Request<'a> {
    labels: Labels,
    loss: AnyLoss,
    bias: Bias,
    solver: &'a str,
    start: Option<Vec<f64>>,
    start_bias: Option<Vec<f64>>,
    settings: Settings,
    threads: Threads,
}

impl Request<'_> {
    fn solve<S: Scores>(
        &self,
        scores: &mut S,
        monitor: &mut PythonMonitor,
    ) -> Result<Solution, SolverError> {
        match self.loss {
            AnyLoss::Hinge(_) if self.solver == "frank-wolfe" => {
                frank_wolfe::solve(&self.labels, scores, self.setup(), monitor)
            }
            AnyLoss::Hinge(loss) => self.solve_by_blocks(loss, scores, monitor),
            AnyLoss::SquaredHinge(loss) => self.solve_by_blocks(loss, scores, monitor),
            AnyLoss::OptimalMargin(loss) => self.solve_by_blocks(loss, scores, monitor),
            AnyLoss::ZeroLabelHinge(loss) => self.solve_by_blocks(loss, scores, monitor),
        }
    }

    /// Solves the problem, and adds the training scores, from which thresholds are learned; zeros after a
    /// signal.
    fn answer<S: Scores>(
        &self,
        scores: &mut S,
        monitor: &mut PythonMonitor,
    ) -> Result<Outcome, SolverError> {
        let solution = self.solve(scores, monitor)?;
        let training = if monitor.hurried() {
            memory::matrix(scores.instances(), scores.labels(), Purpose::RowsByLabels)
        } else {
            scores.all(&self.threads)
        };
        Ok(Outcome {
            solution,
            scores: training,
            weights: None,
        })
    }

    fn solve_by_blocks<S: Scores, L: PairLoss>(
        &self,
        loss: L,
        scores: &mut S,
        monitor: &mut PythonMonitor,
    ) -> Result<Solution, SolverError> {
        match self.solver {
            "bcd" => {
                let step = |_: &Labels| Ok(Proximal::new(loss.clone()));
                pairwise::solve(&self.labels, scores, step, self.setup(), monitor)
            }
            "dcd" => {
                let step = |labels: &Labels| OnePair::new(loss.clone(), labels);
                pairwise::solve(&self.labels, scores, step, self.setup(), monitor)
            }
            other => Err(SolverError::Argument {
                name: "solver",
                found: format!("{other:?}"),
                expected: "'bcd', 'dcd' or (hinge only) 'frank-wolfe'",
            }),
        }
    }

    fn setup(&self) -> Setup {
        let start = self.start.as_deref();
        Setup {
            bias: self.bias,
            start: start.map(|start| memory::copied(start, Purpose::RowsByLabels)),
            start_bias: self.start_bias.clone(),
            settings: self.settings.clone(),
            threads: Threads::new(self.threads.count()),
        }
    }
}

fn parse_bias(name: &str) -> Result<Bias, SolverError> {
    match name {
        "free" => Ok(Bias::Free),
        "penalized" => Ok(Bias::Penalized),
        "none" => Ok(Bias::None),
        other => Err(SolverError::Argument {
            name: "bias",
            found: format!("{other:?}"),
            expected: "'free', 'penalized' or 'none'",
        }),
    }
}

/// What a finished geometry hands back.
struct Outcome {
    solution: Solution,
    scores: Vec<f64>,
    weights: Option<Vec<f64>>,
}

impl Outcome {
    fn interrupted(labels: &Labels) -> Self {
        Self {
            solution: Solution::interrupted(labels),
            scores: memory::matrix(labels.instances(), labels.count(), Purpose::RowsByLabels),
            weights: None,
        }
    }

    fn with_weights(self, weights: Vec<f64>) -> Self {
        Self {
            weights: Some(weights),
            ..self
        }
    }
}

/// Solves a pairwise problem. See `multimargin.estimators` for the meaning of the arguments.
#[pyfunction]
#[pyo3(signature = (
    indicator, features, *, c, loss, theta, mu, kernel_name, gamma, degree, coef0, bias, solver, start, tolerance,
    max_epochs, seed, shuffle, shrinking, acceleration, block_size, chains, cache_bytes, threads, callback, start_bias=None, metric=None,
    pair_weights=None
))]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments of a private Python function"
)]
pub fn solve_pairwise<'py>(
    py: Python<'py>,
    indicator: PyReadonlyArray2<'py, u8>,
    features: FeatureArrays<'py>,
    c: f64,
    loss: &str,
    theta: f64,
    mu: f64,
    kernel_name: &str,
    gamma: f64,
    degree: u32,
    coef0: f64,
    bias: &str,
    solver: &str,
    start: Option<PyReadonlyArray2<'py, f64>>,
    tolerance: f64,
    max_epochs: usize,
    seed: u64,
    shuffle: bool,
    shrinking: bool,
    acceleration: bool,
    block_size: usize,
    chains: usize,
    cache_bytes: usize,
    threads: usize,
    callback: Option<Py<PyAny>>,
    start_bias: Option<PyReadonlyArray1<'py, f64>>,
    metric: Option<PyReadonlyArray2<'py, f64>>,
    pair_weights: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<PairwiseSolution> {
    guarded(py, || {
        let (n, q) = (indicator.shape()[0], indicator.shape()[1]);
        let loss = AnyLoss::new(loss, theta, mu).map_err(value_error)?;
        let pair_weights = pair_weights
            .as_ref()
            .map(PyReadonlyArray1::as_slice)
            .transpose()?;
        let labels = loss
            .labels(row_major("Y", &indicator)?, q, c, pair_weights)
            .map_err(value_error)?;
        // With the zero label.
        let q = labels.count();
        let arrays = features.features_of_rows(n)?;
        let start = optional_matrix("start", start.as_ref(), [n, q])?
            .map(|start| memory::copied(start, Purpose::RowsByLabels));
        let d = arrays.columns();
        let metric = optional_matrix("metric", metric.as_ref(), [d, d])?;
        if metric.is_some() && (kernel_name != "linear" || matches!(arrays, Features::Dense(_))) {
            return Err(PyValueError::new_err(
                "metric is given, expected sparse X and the linear kernel with it",
            ));
        }
        let request = Request {
            labels,
            loss,
            bias: parse_bias(bias).map_err(value_error)?,
            solver,
            start,
            start_bias: match &start_bias {
                Some(bias) => {
                    check_finite("start_bias", bias.as_slice()?)?;
                    Some(bias.as_slice()?.to_vec())
                }
                None => None,
            },
            settings: Settings {
                tolerance,
                max_epochs,
                seed,
                shuffle,
                shrinking,
                acceleration,
                block_size,
                chains,
            },
            threads: Threads::new(threads),
        };
        let kernel = match kernel_name {
            "precomputed" => None,
            name => Some(kernel(name, gamma, degree, coef0)?),
        };
        let mut monitor = PythonMonitor::new(callback);
        let outcome = py
            .detach(|| -> Result<Outcome, SolverError> {
                match (kernel, arrays) {
                    (None, Features::Dense(matrix)) => {
                        request.answer(&mut StoredKernel::new(matrix.data(), n, q)?, &mut monitor)
                    }
                    (None, Features::Sparse(_)) => Err(SolverError::Argument {
                        name: "X",
                        found: "a sparse precomputed kernel".into(),
                        expected: "a dense one",
                    }),
                    (
                        Some(multimargin_solvers::kernel::gram::Kernel::Linear),
                        Features::Dense(x),
                    ) => {
                        let mut scores = LinearDense::new(x, q);
                        let outcome = request.answer(&mut scores, &mut monitor)?;
                        Ok(outcome.with_weights(scores.into_weights()))
                    }
                    (
                        Some(multimargin_solvers::kernel::gram::Kernel::Linear),
                        Features::Sparse(x),
                    ) if let Some(metric) = metric => {
                        let threads = &request.threads;
                        match Precision::for_tolerance(tolerance) {
                            Precision::Double => {
                                let mut scores = LinearMetric::<f64>::new(x, metric, q, threads)?;
                                let outcome = request.answer(&mut scores, &mut monitor)?;
                                Ok(outcome.with_weights(scores.into_weights()))
                            }
                            Precision::Single => {
                                let mut scores = LinearMetric::<f32>::new(x, metric, q, threads)?;
                                let outcome = request.answer(&mut scores, &mut monitor)?;
                                Ok(outcome.with_weights(scores.into_weights()))
                            }
                        }
                    }
                    (
                        Some(multimargin_solvers::kernel::gram::Kernel::Linear),
                        Features::Sparse(x),
                    ) => {
                        let mut scores = LinearSparse::new(x, q);
                        let outcome = request.answer(&mut scores, &mut monitor)?;
                        Ok(outcome.with_weights(scores.into_weights()))
                    }
                    (Some(kernel), x) => {
                        let gram = Gram::of(kernel, x);
                        if n.saturating_mul(n).saturating_mul(8) <= cache_bytes {
                            let Some(matrix) = gram.matrix(&request.threads, &mut monitor) else {
                                return Ok(Outcome::interrupted(&request.labels));
                            };
                            request.answer(&mut StoredKernel::new(&matrix, n, q)?, &mut monitor)
                        } else {
                            let precision = Precision::for_tolerance(tolerance);
                            let mut scores = KernelBlocks::new(gram, q, cache_bytes, precision);
                            request.answer(&mut scores, &mut monitor)
                        }
                    }
                }
            })
            .map_err(value_error)?;
        monitor.finish()?;
        let Outcome {
            solution,
            scores,
            weights,
        } = outcome;
        let report = solution.report;
        let features = arrays.columns();
        Ok(PairwiseSolution {
            dual: matrix(py, solution.dual, n, q)?,
            bias: solution.bias.into_pyarray(py).unbind(),
            weights: weights
                .map(|weights| matrix(py, weights, features, q))
                .transpose()?,
            scores: matrix(py, scores, n, q)?,
            status: report.status.name(),
            epochs: report.epochs,
            primal: report.primal,
            dual_objective: report.dual,
            gap: report.gap(),
            history: history_columns(py, &report.history)?,
        })
    })
}
