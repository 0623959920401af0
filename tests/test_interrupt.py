"""Ctrl-C ends a long computation at once, and what was reached is kept."""

import os
import signal
import subprocess
import sys
import time

import pytest

# Far longer than any machine needs for the answer, far shorter than the computations below.
BOUND = 2.0

PREAMBLE = """
import os, signal, sys, time
import numpy as np
from multimargin import RankSVM
from multimargin.kernels import kernel_matrix

random = np.random.default_rng(0)
n, d, q = {shape}
X = random.normal(size=(n, d))
Y = (X @ random.normal(size=(d, q)) + 3 * random.normal(size=(n, q)) > 0.8).astype(np.uint8)
"""

FIT = """
model = RankSVM({parameters}, tol=1e-12, max_iter=10**9, random_state=0, warm_start=True)
print("start", flush=True)
try:
    model.fit(X, Y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert model.status_ == "interrupted", model.status_
assert model.n_iter_ > 0 and model.dual_coef_.shape[0] > 0
assert np.isfinite(model.objective_) and model.dual_objective_ <= model.objective_
assert model.predict(X[:3]).shape == (3, q)
first, reached = model.n_iter_, model.objective_
model.set_params(tol=0.5, max_iter=1000).fit(X, Y)
assert model.status_ == "converged", model.status_
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
    "bcd, linear": ("small", "C=100, kernel='linear'"),
    "bcd, stored": ("small", "C=1e5, gamma=0.01"),
    "bcd, penalized": ("small", "C=1e5, gamma=0.01, bias='penalized'"),
    "bcd, blocks": ("small", "C=1e5, gamma=0.01, cache_size=0"),
    "bcd, threads": ("small", "C=1e5, gamma=0.01, n_jobs=2"),
    "dcd": ("small", "C=1e5, gamma=0.01, solver='dcd'"),
    "frank-wolfe": ("wide", "C=1e5, gamma=0.01, solver='frank-wolfe'"),
    "frank-wolfe, penalized": ("wide", "C=1e5, gamma=0.01, bias='penalized', solver='frank-wolfe'"),
}


def interrupt(program, delay):
    """Run a program, interrupt it `delay` seconds after it says "start"; seconds to the answer."""
    command = [sys.executable, "-c", program]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as child:
        try:
            assert child.stdout.readline() == "start\n", child.stderr.read()
            time.sleep(delay)
            sent = time.perf_counter()
            os.kill(child.pid, signal.SIGINT)
            answer = child.stdout.readline()
            seconds = time.perf_counter() - sent
            # Not communicate(): it would miss what the line above has left in the buffer.
            output, errors = child.stdout.read(), child.stderr.read()
            child.wait()
        finally:
            child.kill()
    assert answer == "interrupted\n", errors
    assert child.returncode == 0, errors
    assert output == "kept\n"
    return seconds


@pytest.mark.parametrize("name", FITS)
def test_fit_is_interrupted_and_its_state_kept(name):
    shape, parameters = FITS[name]
    program = PREAMBLE.format(shape=SHAPES[shape]) + FIT.format(parameters=parameters)
    assert interrupt(program, delay=1.0) < BOUND


def test_kernel_matrix_is_interrupted():
    program = PREAMBLE.format(shape=(6000, 100, 2)) + KERNEL_MATRIX
    assert interrupt(program, delay=0.5) < BOUND


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
