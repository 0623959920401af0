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
from tests.support.problems import noisy_linear_problem
from tests.support.subsets import fast_only

# None of these computations ends by itself, no test waits for a time, and none bounds the time of
# an answer: a slow machine may take any. How soon a loop looks for signals is compared, at the end,
# with what the same machine needs for a product of two matrices.

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
model.set_params(tol=1e-12, max_iter=10**9, random_state=0, warm_start=True, verbose=1)
try:
    model.fit(X, Y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
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
try:
    while True:
        kernel_matrix(X, kernel="rbf", gamma=0.01)
        print("[one of many]")
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
    "frank-wolfe": (
        "wide",
        "RankSVM(C=1e5, gamma=0.01, bias='penalized', solver='frank-wolfe')",
    ),
    "squared hinge": ("small", "RankLSVM(C=1e5, gamma=0.01)"),
    "squared hinge, dcd": ("small", "RankLSVM(C=1e5, gamma=0.01, solver='dcd')"),
    "optimal margin": ("small", "MLODM(C=1e5, gamma=0.01)"),
    "simplex": ("small", "RankCVM(C=1e5, gamma=0.01)"),
    "simplex, frank-wolfe": ("small", "RankCVM(C=1e5, gamma=0.01, solver='frank-wolfe')"),
    "whitened": ("small", "RankHLapSVM(C=1e4, lam=1e-4, kernel='linear')"),
}


def interrupt(program):
    """Run a program and interrupt it after two lines that begin with a bracket; its other lines."""
    command = [sys.executable, "-u", "-c", program]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as child:
        try:
            for _ in range(2):
                assert child.stdout.readline().startswith("["), child.stderr.read()
            os.kill(child.pid, signal.SIGINT)
            said = [line for line in child.stdout if not line.startswith("[")]
            errors = child.stderr.read()
            child.wait()
        finally:
            child.kill()
    assert child.returncode == 0, errors
    return said


@pytest.mark.parametrize("name", fast_only(FITS, ["bcd, linear", "frank-wolfe"]))
def test_fit_is_interrupted_and_its_state_kept(name):
    shape, model = FITS[name]
    # With a free bias only the dual of the bias held grows, and that of Rank-CVM is divided.
    monotone = not model.startswith("RankCVM") and (
        not model.startswith("RankSVM") or "bias='penalized'" in model
    )
    program = PREAMBLE.format(shape=SHAPES[shape]) + FIT.format(model=model, monotone=monotone)
    # Before the first epoch is told there is no state to keep.
    assert interrupt(program) == ["interrupted\n", "kept\n"]


@pytest.mark.slow
def test_kernel_matrix_is_interrupted():
    program = PREAMBLE.format(shape=(6000, 100, 2)) + KERNEL_MATRIX
    assert interrupt(program) == ["interrupted\n", "kept\n"]


SIGNAL = """
class Alarm(Exception):
    pass

def ring(number, frame):
    raise Alarm("rung")

signal.signal(signal.SIGALRM, ring)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    RankSVM(kernel="linear", C=100, tol=1e-12, max_iter=10**9, random_state=0).fit(X, Y)
except Alarm:
    print("alarm", flush=True)
"""


@pytest.mark.slow
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
    X, Y = noisy_linear_problem(0, n, d, q, noise=3.0, cut=0.8)
    classes = (MLODM, RankCVM, RankHLapSVM, RankLSVM, RankSVM)
    estimator = eval(model, {one.__name__: one for one in classes})
    estimator.set_params(tol=1e-12, max_iter=10**9, random_state=0)
    return lambda: estimator.fit(X, Y)


LONG = {"definiteness": indefinite, "kernel matrix": matrix}
LONG |= {name: lambda name=name: fit(name) for name in FITS}


@pytest.fixture(scope="module")
def product():
    """Processor time of a product of two matrices of 1,500 x 1,500, in seconds."""
    A = np.random.default_rng(0).normal(size=(1500, 1500))
    times = []
    for _ in range(4):
        start = time.process_time()
        A @ A
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("name", fast_only(LONG, ["definiteness", "kernel matrix", "bcd, linear"]))
def test_ctrl_c_waits_no_longer_than_a_product_of_large_matrices(name, product):
    found = silences(LONG[name](), seconds=1.0)
    # New memory may cost more than the work on it, for which no loop can answer.
    assert found[found > product].sum() < 0.25 * found.sum()
