//! Watches a loop on behalf of Python: Ctrl-C, the time limit, and a callback after each epoch.

use crate::memory::reserve_is_spent;
use multimargin_solvers::report::{Monitor, Poll, Record};
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError};
use pyo3::prelude::*;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How often signals are checked: well below the 100 ms within which Ctrl-C must be answered.
const INTERVAL: Duration = Duration::from_millis(20);

thread_local! {
    /// Whether a loop of this thread is having Python run its signal handlers.
    static LOOKING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a signal handler that calls this was run by a loop's check for signals: such a loop keeps what it has reached
/// when the handler raises KeyboardInterrupt.
#[pyfunction]
pub fn looks_for_signals() -> bool {
    LOOKING.get()
}

/// Checks Python's signals from time to time. Once interrupted it stays interrupted. An exception of a signal handler or of
/// the callback, other than KeyboardInterrupt, reaches the caller through [`PythonMonitor::finish`].
pub struct PythonMonitor {
    callback: Option<Py<PyAny>>,
    asked: Instant,
    stopped: bool,
    hurried: bool,
    pressed: bool,
    deadline: Option<Instant>,
    recorded: bool,
    error: Option<PyErr>,
}

impl PythonMonitor {
    /// `callback(epoch, seconds, primal, dual, active)` is called after each epoch; the loop stops when it returns True.
    pub fn new(callback: Option<Py<PyAny>>) -> Self {
        Self {
            callback,
            asked: Instant::now(),
            stopped: false,
            hurried: false,
            pressed: false,
            deadline: None,
            recorded: false,
            error: None,
        }
    }

    /// Sets a time limit in seconds; infinity means none.
    pub fn with_limit(self, seconds: Option<f64>) -> Self {
        let limit = seconds.and_then(|s| Duration::try_from_secs_f64(s.max(0.0)).ok());
        Self {
            deadline: limit.and_then(|limit| Instant::now().checked_add(limit)),
            ..self
        }
    }

    /// The exception that the callback or a signal handler raised, if any.
    pub fn finish(self) -> PyResult<()> {
        self.error.map_or(Ok(()), Err)
    }

    /// The result of the loop, or an error if it was ended by an exception or by Ctrl-C.
    pub fn answer<T>(self, answer: Option<T>) -> PyResult<T> {
        self.finish()?;
        answer.ok_or_else(|| PyKeyboardInterrupt::new_err(()))
    }

    /// The result of a computation that is useless unless complete; an error also if Ctrl-C came after it was complete.
    pub fn all_or_nothing<T>(self, answer: Option<T>) -> PyResult<T> {
        let answer = answer.filter(|_| !self.pressed);
        self.answer(answer)
    }

    /// Checks for signals, and whether the memory reserve has been released.
    fn look(&mut self) {
        self.asked = Instant::now();
        if reserve_is_spent() {
            (self.stopped, self.hurried) = (true, true);
            self.error = Some(PyMemoryError::new_err(
                "no memory is left for the solver's own steps; expected some tens of MB: try fewer rows or labels",
            ));
            return;
        }
        LOOKING.set(true);
        let found = Python::attach(|py| py.check_signals());
        LOOKING.set(false);
        if let Err(error) = found {
            self.end_by(error);
        }
    }

    /// Ends the loop because a signal handler or a callback raised an exception. Ctrl-C is not an error: the estimator
    /// stores the state reached and raises KeyboardInterrupt itself.
    fn end_by(&mut self, error: PyErr) {
        (self.stopped, self.hurried) = (true, true);
        let ctrl_c = Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py));
        self.pressed |= ctrl_c;
        if !ctrl_c {
            self.error = Some(error);
        }
    }
}

impl Monitor for PythonMonitor {
    fn poll(&mut self) -> Poll {
        if !self.stopped && self.asked.elapsed() >= INTERVAL {
            self.look();
        }
        if self.stopped {
            return Poll::Interrupted {
                at_once: self.hurried,
            };
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Poll::OutOfTime {
                recorded: self.recorded,
            },
            _ => Poll::Go,
        }
    }

    fn epoch(&mut self, record: &Record) {
        self.recorded = true;
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
            Err(error) => self.end_by(error),
        }
    }
}
