//! The guard around every function of the module: only an `Exception` ever reaches Python.

use crate::memory::keep_reserve;
use multimargin_solvers::memory::{Failure, Purpose, catch};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;

/// Runs the body of a function of the module. Failure to allocate an array becomes a `MemoryError`, and a panic on any
/// thread a `RuntimeError`: PyO3 would raise its own `PanicException`, which `except Exception` misses.
pub fn guarded<R>(py: Python<'_>, body: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    if !keep_reserve() {
        return Err(PyMemoryError::new_err(
            "less than 64 MB of memory are free; expected room for a fit: try fewer rows, or free memory first",
        ));
    }
    catch(body).unwrap_or_else(|failure| {
        // The Python error that made a binding panic, if there is one.
        let cause = PyErr::take(py);
        Err(match failure {
            Failure::Memory(error) => {
                PyMemoryError::new_err(format!("{error}: try {}", advice(error.purpose)))
            }
            Failure::Panic(message) => cause.unwrap_or_else(|| {
                PyRuntimeError::new_err(format!(
                    "multimargin failed in a way that it never should ({message}); please report this with the data \
                     and the call that led to it"
                ))
            }),
        })
    })
}

/// Advice on which arguments make an array smaller.
fn advice(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::KernelMatrix => {
            "a smaller cache_size, which computes its rows when they are needed, or fewer rows"
        }
        Purpose::KernelRows => "a smaller cache_size",
        Purpose::LabelPairs => "solver='bcd', which stores none, or fewer rows",
        Purpose::LabelNetwork => "another bias, which needs none, or fewer labels",
        Purpose::Matrix => "fewer rows, features or labels, or a smaller cache_size",
    }
}
