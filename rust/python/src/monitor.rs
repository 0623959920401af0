//! Watches a loop on behalf of Python: Ctrl-C, and a callback after each epoch.

use multimargin_solvers::report::{Monitor, Record};
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// How often signals are looked at: well below the 100 ms in which Ctrl-C must be answered.
const INTERVAL: Duration = Duration::from_millis(20);

/// Asks Python for signals now and then. Once interrupted it stays so.
pub struct PythonMonitor {
    callback: Option<Py<PyAny>>,
    asked: Instant,
    stopped: bool,
    error: Option<PyErr>,
}

impl PythonMonitor {
    /// `callback(epoch, seconds, primal, dual, active)` is called after each epoch; the loop stops when it returns True.
    pub fn new(callback: Option<Py<PyAny>>) -> Self {
        Self {
            callback,
            asked: Instant::now(),
            stopped: false,
            error: None,
        }
    }

    /// The exception that the callback raised, if any.
    pub fn finish(self) -> PyResult<()> {
        self.error.map_or(Ok(()), Err)
    }
}

impl Monitor for PythonMonitor {
    fn interrupted(&mut self) -> bool {
        if !self.stopped && self.asked.elapsed() >= INTERVAL {
            self.asked = Instant::now();
            // The estimator stores the state reached and raises KeyboardInterrupt itself.
            self.stopped = Python::attach(|py| py.check_signals()).is_err();
        }
        self.stopped
    }

    fn epoch(&mut self, record: &Record) {
        let Some(callback) = &self.callback else {
            return;
        };
        let arguments = (
            record.epoch,
            record.seconds,
            record.primal,
            record.dual,
            record.active,
        );
        let answer = Python::attach(|py| callback.call1(py, arguments)?.extract::<bool>(py));
        match answer {
            Ok(stop) => self.stopped |= stop,
            Err(error) => {
                self.error = Some(error);
                self.stopped = true;
            }
        }
    }
}
