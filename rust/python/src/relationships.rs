//! MLRL: one entry, `solve_mlrl`.

use crate::answers::{matrix, reported};
use crate::arguments::{FeatureArrays, kernel, optional_matrix, row_major, value_error};
use crate::boundary::guarded;
use crate::keywords::{Keywords, keywords};
use crate::monitor::PythonMonitor;
use multimargin_solvers::error::refused;
use multimargin_solvers::kernel::gram::Kernel;
use multimargin_solvers::kernel::rows::KernelRows;
use multimargin_solvers::memory;
use multimargin_solvers::mlrl::Problem;
use multimargin_solvers::mlrl::request::{Request, Solver};
use multimargin_solvers::mlrl::smo::Limits;
use multimargin_solvers::parallel::threads::Threads;
use multimargin_solvers::report::Settings;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Column<'py> = Bound<'py, PyArray1<f64>>;

keywords! {
/// A problem of MLRL and how to solve it, except for labels and features. See `multimargin.estimators` for the meaning.
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
    tolerance: f64,
    max_rounds: usize,
    #[pyo3(default)]
    row_shares: Option<PyReadonlyArray1<'py, f64>>,
    cache_bytes: usize,
    #[pyo3(default = 1)]
    threads: usize,
    #[pyo3(default)]
    callback: Option<Py<PyAny>>,
    #[pyo3(default)]
    seconds: Option<f64>,
}
}

impl RelationshipRequest<'_> {
    fn solver(&self) -> PyResult<Solver> {
        match self.solver.as_str() {
            "splitting" => Ok(Solver::Splitting),
            "alternating" => Ok(Solver::Alternating(self.ridge)),
            other => Err(value_error(refused(
                "solver",
                format!("{other:?}"),
                "'splitting' or 'alternating'",
            ))),
        }
    }

    fn settings(&self) -> Settings {
        Settings {
            tolerance: self.tolerance,
            max_epochs: self.max_rounds,
            ..Settings::default()
        }
    }

    /// The kernel; `None` if the features are a matrix of kernel values.
    fn kernel(&self) -> PyResult<Option<Kernel>> {
        match self.kernel_name.as_str() {
            "precomputed" => Ok(None),
            name => kernel(name, self.gamma, self.degree, self.coef0).map(Some),
        }
    }
}

/// Solves the joint problem of MLRL, or that of a fixed covariance, see [`RelationshipRequest`]: the keywords of
/// `multimargin.estimators.bases.relationships.RelationshipFit`.
#[pyfunction]
#[pyo3(signature = (indicator, features, **request))]
pub fn solve_mlrl<'py>(
    py: Python<'py>,
    indicator: PyReadonlyArray2<'py, u8>,
    features: FeatureArrays<'py>,
    request: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    guarded(py, || {
        let mut asked = RelationshipRequest::of(py, request)?;
        let mut monitor = PythonMonitor::new(asked.callback.take()).with_limit(asked.seconds);
        let (n, q) = (indicator.shape()[0], indicator.shape()[1]);
        let covariance = asked.covariance.as_ref();
        let shares = asked.row_shares.as_ref();
        let problem = Request {
            indicator: row_major("Y", &indicator)?,
            labels: q,
            row_shares: shares.map(PyReadonlyArray1::as_slice).transpose()?,
            features: features.features_of_rows(n)?,
            kernel: asked.kernel()?,
            cache_bytes: asked.cache_bytes,
            lambda: asked.lam,
            fixed_covariance: optional_matrix("covariance", covariance, [q, q])?,
            solver: asked.solver()?,
            settings: asked.settings(),
        };
        let threads = Threads::new(asked.threads);
        let solution = py
            .detach(|| problem.solve(&threads, &mut monitor))
            .map_err(value_error)?;
        let solution = monitor.answer(solution)?;
        let fit = reported(py, &solution.report)?;
        let by_instance = |rows: &[f64]| {
            let values = memory::collected((0..n * q).map(|at| rows[at % q * n + at / q]));
            matrix(py, values, n, q)
        };
        fit.set_item("expansion", by_instance(&solution.expansion)?)?;
        fit.set_item("dual", by_instance(&solution.dual)?)?;
        fit.set_item("scores", by_instance(&solution.scores)?)?;
        fit.set_item("bias", solution.bias.into_pyarray(py))?;
        fit.set_item("covariance", matrix(py, solution.covariance, q, q)?)?;
        Ok(fit)
    })
}

/// Runs sequential minimal optimisation for one label from `dual`, up to a number of steps, for tests against a plain loop:
/// returns the column reached, its gradient, and the number of steps made. `scale` is the factor of the kernel.
#[pyfunction]
#[pyo3(signature = (kernel, signs, bounds, dual, *, scale, tolerance, steps))]
#[allow(clippy::too_many_arguments)]
pub fn solve_label<'py>(
    py: Python<'py>,
    kernel: PyReadonlyArray2<'py, f64>,
    signs: PyReadonlyArray1<'py, f64>,
    bounds: PyReadonlyArray1<'py, f64>,
    dual: PyReadonlyArray1<'py, f64>,
    scale: f64,
    tolerance: f64,
    steps: usize,
) -> PyResult<(Column<'py>, Column<'py>, usize)> {
    guarded(py, || {
        let n = kernel.shape()[0];
        let rows = KernelRows::stored(row_major("kernel", &kernel)?, n).map_err(value_error)?;
        let (signs, bounds) = (signs.as_slice()?, bounds.as_slice()?);
        let mut dual = memory::copied(dual.as_slice()?);
        // A problem with one label, where lambda is the inverse of the kernel's factor.
        let problem = Problem::new(&rows, signs, bounds, 1.0 / scale).map_err(value_error)?;
        let (gradient, made) = problem
            .steps_of_a_label(&mut dual, Limits { tolerance, steps })
            .map_err(value_error)?;
        Ok((dual.into_pyarray(py), gradient.into_pyarray(py), made))
    })
}
