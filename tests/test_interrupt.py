"""Ctrl-C ends a long computation at once, and what was reached is kept."""

import io
import os
import signal
import time
from contextlib import redirect_stdout

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from multimargin import (
    MLODM,
    LabelSpecificBinaryRelevance,
    RankCVM,
    RankHLapSVM,
    RankLSVM,
    RankSVM,
)
from multimargin.baselines import RAkEL
from multimargin.baselines.one_class_labels import WithOneClassLabels
from multimargin.kernels import Kernel, is_indefinite
from tests.support.problems import noisy_linear_problem
from tests.support.subsets import fast_only

# None of these computations ends by itself, and none bounds the time of an answer: a slow machine
# may take any. How soon a loop looks for signals is compared with what the same machine needs for a
# product of two matrices.

SMALL, WIDE = (2000, 50, 10), (1500, 200, 20)
FITS = {
    "bcd, linear": (SMALL, RankSVM(C=100, kernel="linear")),
    "bcd, stored": (SMALL, RankSVM(C=1e5, gamma=0.01)),
    "bcd, penalized": (SMALL, RankSVM(C=1e5, gamma=0.01, bias="penalized")),
    "bcd, blocks": (SMALL, RankSVM(C=1e5, gamma=0.01, cache_size=0)),
    "bcd, threads": (SMALL, RankSVM(C=1e5, gamma=0.01, n_jobs=2)),
    "dcd": (SMALL, RankSVM(C=1e5, gamma=0.01, solver="dcd")),
    "frank-wolfe": (WIDE, RankSVM(C=1e5, gamma=0.01, bias="penalized", solver="frank-wolfe")),
    "frank-wolfe, free": (SMALL, RankSVM(C=1e5, gamma=0.01, solver="frank-wolfe")),
    "squared hinge": (SMALL, RankLSVM(C=1e6, gamma=0.003)),
    "squared hinge, dcd": (SMALL, RankLSVM(C=1e5, gamma=0.01, solver="dcd")),
    "optimal margin": (SMALL, MLODM(C=1e5, gamma=0.01)),
    "simplex": (SMALL, RankCVM(C=1e6, gamma=0.003)),
    "simplex, frank-wolfe": (SMALL, RankCVM(C=1e5, gamma=0.01, solver="frank-wolfe")),
    "whitened": (SMALL, RankHLapSVM(C=1e4, lam=1e-4, kernel="linear")),
}


def endless(name):
    """A fit that does not end, and its data."""
    (n, d, q), model = FITS[name]
    settings = {"tol": 1e-12, "max_iter": 10**9, "random_state": 0, "warm_start": True}
    return clone(model).set_params(**settings), noisy_linear_problem(0, n, d, q, noise=3.0, cut=0.8)


class SetsAnAlarm(io.StringIO):
    """Takes what a fit prints, and has a signal come soon after the second line."""

    lines = 0

    def write(self, text):
        self.lines += text.count("\n")
        if text.endswith("\n") and self.lines == 2:
            signal.setitimer(signal.ITIMER_PROF, 0.002)
        return len(text)


@pytest.mark.parametrize("name", fast_only(FITS, ["bcd, linear", "frank-wolfe"]))
def test_a_fit_that_is_interrupted_in_its_loop_keeps_its_state(name):
    model, (X, Y) = endless(name)
    model.set_params(verbose=1)
    before = signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        with redirect_stdout(SetsAnAlarm()), pytest.raises(KeyboardInterrupt):
            model.fit(X, Y)
    finally:
        signal.signal(signal.SIGPROF, before)
    assert model.status_ == "interrupted"
    assert model.n_iter_ > 0 < model.dual_coef_.shape[0]
    assert model.dual_objective_ <= model.objective_ < np.inf
    assert model.predict(X[:3]).shape == (3, Y.shape[1])


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
    X = np.random.default_rng(0).normal(size=(3000, 400))
    return lambda: again_and_again(lambda: Kernel("rbf", gamma=0.01).matrix(X))


def fit(name):
    model, data = endless(name)
    return lambda: model.fit(*data)


def library(model, n):
    """A fit most of whose time is that of compiled loops of a library."""
    X, Y = noisy_linear_problem(0, n, 30, 4, noise=3.0, cut=0.8)
    return lambda: again_and_again(lambda: clone(model).fit(X, Y))


LONG = {"definiteness": indefinite, "kernel matrix": matrix}
LONG |= {
    "libsvm": lambda: library(RAkEL(n_models=1), 3000),
    "libsvm, label-specific": lambda: library(LabelSpecificBinaryRelevance(SVC(C=10.0)), 3000),
    "trees": lambda: library(
        WithOneClassLabels(RandomForestClassifier(1, max_features=None)), 9000
    ),
}
LONG |= {name: lambda name=name: fit(name) for name in FITS}


@pytest.fixture(scope="module")
def product():
    """Processor time of a product of two matrices of 1,500 x 1,500, in seconds."""
    A = np.random.default_rng(0).normal(size=(1500, 1500))
    times = []
    # With the threads that users have, and not with the one of a worker of these tests.
    with threadpool_limits(os.cpu_count(), user_api="blas"):
        for _ in range(4):
            start = time.process_time()
            A @ A
            times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(
    "name", fast_only(LONG, ["definiteness", "kernel matrix", "libsvm", "bcd, linear"])
)
def test_ctrl_c_waits_no_longer_than_a_product_of_large_matrices(name, product):
    found = silences(LONG[name](), seconds=1.0)
    # New memory may cost more than the work on it, for which no loop can answer.
    assert found[found > product].sum() < 0.25 * found.sum()
