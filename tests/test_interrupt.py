"""Ctrl-C ends a long computation at once, and what was reached is kept."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from multimargin import MLODM, RankCVM, RankHLapSVM, RankLSVM, RankSVM
from multimargin.kernels import is_indefinite, kernel_matrix

# None of these computations ends by itself, and no test bounds the time of an answer: a slow
# machine may take any. How soon a loop looks for signals is measured in processor time, at the end.

PREAMBLE = """
import os, signal, sys, time, warnings
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from multimargin import MLODM, RankCVM, RankHLapSVM, RankLSVM, RankSVM
from multimargin.kernels import kernel_matrix

random = np.random.default_rng(0)
n, d, q = {shape}
X = random.normal(size=(n, d))
Y = (X @ random.normal(size=(d, q)) + 3 * random.normal(size=(n, q)) > 0.8).astype(np.uint8)
"""

FIT = """
model = {model}
model.set_params(tol=1e-12, max_iter=10**9, random_state=0, warm_start=True)
print("start", flush=True)
try:
    model.fit(X, Y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
if not hasattr(model, "status_"):
    print("early", flush=True)
    raise SystemExit
assert model.status_ == "interrupted", model.status_
assert model.n_iter_ > 0 and model.dual_coef_.shape[0] > 0
assert np.isfinite(model.objective_) and model.dual_objective_ <= model.objective_
assert model.predict(X[:3]).shape == (3, q)
reached = model.dual_objective_
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    model.set_params(max_iter=1).fit(X, Y)
assert model.status_ in ("converged", "max_iterations"), model.status_
assert model.dual_objective_ <= model.objective_
if {monotone}:
    # One epoch or step never lowers the dual objective of where it starts.
    assert model.history_["dual"][0] >= reached * (1 - 1e-9), (model.history_["dual"], reached)
print("kept", flush=True)
"""

KERNEL_MATRIX = """
print("start", flush=True)
try:
    while True:
        kernel_matrix(X, kernel="rbf", gamma=0.01)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print("kept", flush=True)
"""

SHAPES = {"small": (2000, 50, 10), "wide": (1500, 200, 20)}
FITS = {
    "bcd, linear": ("small", "RankSVM(C=100, kernel='linear')"),
    "bcd, stored": ("small", "RankSVM(C=1e5, gamma=0.01)"),
    "bcd, penalized": ("small", "RankSVM(C=1e5, gamma=0.01, bias='penalized')"),
    "bcd, blocks": ("small", "RankSVM(C=1e5, gamma=0.01, cache_size=0)"),
    "bcd, threads": ("small", "RankSVM(C=1e5, gamma=0.01, n_jobs=2)"),
    "dcd": ("small", "RankSVM(C=1e5, gamma=0.01, solver='dcd')"),
    "frank-wolfe": ("wide", "RankSVM(C=1e5, gamma=0.01, solver='frank-wolfe')"),
    "frank-wolfe, penalized": (
        "wide",
        "RankSVM(C=1e5, gamma=0.01, bias='penalized', solver='frank-wolfe')",
    ),
    "squared hinge": ("small", "RankLSVM(C=1e5, gamma=0.01)"),
    "squared hinge, dcd": ("small", "RankLSVM(C=1e5, gamma=0.01, solver='dcd')"),
    "optimal margin": ("small", "MLODM(C=1e5, gamma=0.01)"),
    "simplex": ("small", "RankCVM(C=1e5, gamma=0.01)"),
    "simplex, frank-wolfe": ("small", "RankCVM(C=1e5, gamma=0.01, solver='frank-wolfe')"),
    "simplex, pairwise": ("small", "RankCVM(C=1e5, gamma=0.01, solver='pairwise-frank-wolfe')"),
    "whitened": ("small", "RankHLapSVM(C=1e4, lam=1e-4)"),
}


def interrupt(program, delay):
    """Run a program and interrupt it `delay` seconds after it says "start"; its last words."""
    command = [sys.executable, "-c", program]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as child:
        try:
            assert child.stdout.readline() == "start\n", child.stderr.read()
            time.sleep(delay)
            os.kill(child.pid, signal.SIGINT)
            answer = child.stdout.readline()
            # Not communicate(): it would miss what the line above has left in the buffer.
            output, errors = child.stdout.read(), child.stderr.read()
            child.wait()
        finally:
            child.kill()
    assert answer == "interrupted\n", errors
    assert child.returncode == 0, errors
    return output


@pytest.mark.parametrize("name", FITS)
def test_fit_is_interrupted_and_its_state_kept(name):
    shape, model = FITS[name]
    # With a free bias only the dual of the bias held grows, and that of Rank-CVM is divided.
    monotone = not model.startswith("RankCVM") and (
        not model.startswith("RankSVM") or "bias='penalized'" in model
    )
    program = PREAMBLE.format(shape=SHAPES[shape]) + FIT.format(model=model, monotone=monotone)
    delay = 1.0
    while (said := interrupt(program, delay)) == "early\n":
        delay *= 2.0  # before the first epoch there is no state to keep
    assert said == "kept\n"


def test_kernel_matrix_is_interrupted():
    program = PREAMBLE.format(shape=(6000, 100, 2)) + KERNEL_MATRIX
    assert interrupt(program, delay=0.5) == "kept\n"


SIGNAL = """
class Alarm(Exception):
    pass

def ring(number, frame):
    raise Alarm("rung")

signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    RankSVM(kernel="linear", C=100, tol=1e-12, max_iter=10**9, random_state=0).fit(X, Y)
except Alarm:
    print("alarm", flush=True)
"""


def test_the_exception_of_another_signal_handler_reaches_the_caller():
    n, d, q = SHAPES["small"]
    program = PREAMBLE.format(shape=(n, d, q)) + SIGNAL
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "alarm\n", done.stderr


class EnoughError(Exception):
    """Ends a computation from a signal handler."""


def silences(work, seconds):
    """How long Python's signal handlers have to wait while `work` runs, one time after another.

    In processor time, so that a busy machine changes nothing.
    """
    times = []

    def look(number, frame):
        times.append(time.process_time())
        if times[-1] - times[0] > seconds:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            raise EnoughError

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, 0.005, 0.005)
    try:
        with pytest.raises(EnoughError):
            work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
    return np.diff(times)


def again_and_again(work):
    while True:
        work()


def indefinite():
    X = np.random.default_rng(0).normal(size=(4000, 20))
    K = X @ X.T
    return lambda: again_and_again(lambda: is_indefinite(K))


def matrix():
    X = np.random.default_rng(0).normal(size=(5000, 100))
    return lambda: again_and_again(lambda: kernel_matrix(X, kernel="rbf", gamma=0.01))


def fit(name):
    shape, model = FITS[name]
    n, d, q = SHAPES[shape]
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    Y = (X @ random.normal(size=(d, q)) + 3 * random.normal(size=(n, q)) > 0.8).astype(np.uint8)
    classes = (MLODM, RankCVM, RankHLapSVM, RankLSVM, RankSVM)
    estimator = eval(model, {one.__name__: one for one in classes})
    estimator.set_params(tol=1e-12, max_iter=10**9, random_state=0)
    return lambda: estimator.fit(X, Y)


LONG = {"definiteness": indefinite, "kernel matrix": matrix}
LONG |= {name: lambda name=name: fit(name) for name in FITS}


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_is_answered_within_100_ms(name):
    found = silences(LONG[name](), seconds=1.0)
    # New memory may cost more than the work on it, for which no loop can answer.
    assert found[found > 0.1].sum() < 0.25 * found.sum()
