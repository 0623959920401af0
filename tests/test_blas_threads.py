"""A fit has the same bits with any number of BLAS threads."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import multimargin
from multimargin import RankSVMz
from multimargin.baselines import BPMLL
from multimargin.calibration import PooledCalibration
from multimargin.thresholds import ScoresThreshold
from tests.support.models import PAIRWISE
from tests.support.problems import noisy_linear_problem

METHODS = [*(method.__name__ for method in PAIRWISE), "LLSF", "MLRL", "SSMLRL"]
CASES = [
    (method, kernel)
    for method in METHODS
    for kernel in ("linear", "rbf")
    if not (method == "LLSF" and kernel == "rbf")
] + [("LLSF", "published")]


def learned(method: str, kernel: str, threads: int) -> dict[str, Any]:
    """Return all numbers that a fit learns."""
    # Large enough that a BLAS deals its work to several threads.
    X, Y = noisy_linear_problem(0, 400, 130, 6, noise=0.5, cut=0.5)
    targets = Y.astype(float)
    if method == "SSMLRL":
        targets[::3] = -1.0
    model = getattr(multimargin, method)()
    options = {"kernel": kernel, "max_iter": 4, "tol": 1e-2, "random_state": 0}
    options["convexify"] = kernel != "published"
    model.set_params(**{k: v for k, v in options.items() if k in model.get_params()})
    with threadpool_limits(threads, user_api="blas"):
        model.fit(X, targets)
        # With the threshold.
        decisions = model.decision_function(X)
        # Of few rows, BLAS adds up parts of each sum.
        few = model.label_scores(X[:3])
    numbers = {k: v for k, v in vars(model).items() if isinstance(v, np.ndarray | float)}
    return numbers | {"decision_function": decisions, "few rows": few}


@pytest.mark.parametrize("shape", [(3, 700, 300), (100, 5000, 6)])
def test_scores_are_those_of_one_thread(shape: tuple[int, int, int]) -> None:
    n, d, q = shape
    random = np.random.default_rng(0)
    model = multimargin.LLSF(alpha=0.0, beta=1e6, max_iter=1)
    Y = np.arange(2 * q).reshape(2, q) % 2
    model.fit(random.normal(size=(2, d)), Y)
    model.coef_ = random.normal(size=(q, d))
    X = random.normal(size=(n, d))
    with threadpool_limits(1, user_api="blas"):
        expected = model.label_scores(X)
    with threadpool_limits(2, user_api="blas"):
        np.testing.assert_array_equal(model.label_scores(X), expected)


@pytest.mark.parametrize("n", [1024, 1025, 2500])
def test_threads_that_share_the_rows_give_the_same_bits(n: int) -> None:
    X, Y = noisy_linear_problem(0, n, 130, 7, noise=0.5, cut=0.5)
    model = multimargin.RankLSVM(kernel="linear", threshold=0.0, tol=0.1).fit(X[:100], Y[:100])
    scores = model.label_scores(X)
    np.testing.assert_allclose(scores, X @ model.coef_.T + model.intercept_, atol=1e-12)
    for n_jobs in (2, 3):
        model.set_params(n_jobs=n_jobs)
        np.testing.assert_array_equal(model.label_scores(X), scores)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("method", "kernel"), CASES)
def test_bits_are_those_of_one_thread(method: str, kernel: str) -> None:
    one, two = (learned(method, kernel, threads) for threads in (1, 2))
    assert one.keys() == two.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, two[name], err_msg=name)


def test_a_calibration_has_the_bits_of_one_thread() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=(1500, 40))
    y = random.random(scores.shape) < 1.0 / (1.0 + np.exp(1.0 - 2.0 * scores))
    odds = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            odds.append(PooledCalibration().fit(scores, y).decision_function(scores))
    np.testing.assert_array_equal(*odds)


# What calls LAPACK itself, which no profile sees.
DIRECT = {ScoresThreshold.fit_design.__wrapped__.__code__}


def threads_of_linear_algebra(call: Callable[[], Any]) -> dict[str, int]:
    """The most threads that BLAS had at a call of NumPy's or SciPy's on more than a sliver."""
    libraries = ThreadpoolController().select(user_api="blas")
    most: dict[str, int] = {}

    def look(frame: FrameType, event: str, _: Any) -> None:
        place = Path(frame.f_code.co_filename)
        algebra = place.parent.name in ("linalg", "_linalg") or frame.f_code in DIRECT
        if event != "call" or not algebra:
            return
        arrays = [a for a in frame.f_locals.values() if isinstance(a, np.ndarray)]
        if max((a.size for a in arrays), default=0) > 32 * 32:
            threads = max(one.num_threads for one in libraries.lib_controllers)
            name = f"{place.stem}.{frame.f_code.co_name}"
            most[name] = max(most.get(name, 0), threads)

    with threadpool_limits(2, user_api="blas"):
        sys.setprofile(look)
        try:
            call()
        finally:
            sys.setprofile(None)
    return most


WIDE_X, WIDE_Y = noisy_linear_problem(0, 80, 40, 40, noise=0.5, cut=0.5)
HALF = np.where(np.arange(80)[:, None] % 2 == 0, WIDE_Y.astype(float), -1.0)
# A method, what it is fitted to, and a call of LAPACK that it makes.
FACTORISED: list[tuple[Any, Any, str]] = [
    *((method(max_iter=2), WIDE_Y, "fit_design") for method in PAIRWISE if method is not RankSVMz),
    (multimargin.RankHLapSVM(kernel="rbf", max_iter=2), WIDE_Y, "solve_triangular"),
    (multimargin.RankSVM(kernel="sigmoid", max_iter=2, C=0.01), WIDE_Y, "cholesky"),
    (multimargin.SSMLRL(max_iter=2), HALF, "cholesky"),
    (multimargin.LLSF(max_iter=2), WIDE_Y, "eigh"),
    (multimargin.LLSF(max_iter=2, convexify=False), WIDE_Y, "norm"),
    (BPMLL(n_epochs=1, random_state=0), WIDE_Y, "fit_design"),
    (
        multimargin.ThresholdedClassifier(multimargin.RankSVM(), "scores", cv=2),
        WIDE_Y,
        "fit_design",
    ),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("model", "Y", "expected"), FACTORISED, ids=str)
def test_factorisations_have_one_thread(model: Any, Y: Any, expected: str) -> None:
    """On a busy machine, LAPACK with two threads takes forty times as long as with one."""
    found = threads_of_linear_algebra(lambda: model.fit(WIDE_X, Y))
    assert any(expected in name for name in found), found
    assert set(found.values()) == {1}, found
