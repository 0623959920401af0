"""A fit has the same bits with any number of BLAS threads."""

from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import multimargin
from tests.support.problems import noisy_linear_problem

METHODS = (
    "LLSF",
    "MLODM",
    "MLRL",
    "RankCVM",
    "RankHLapSVM",
    "RankLSVM",
    "RankSVM",
    "RankSVMz",
    "SSMLRL",
)
CASES = [
    (method, kernel)
    for method in METHODS
    for kernel in ("linear", "rbf")
    if not (method == "LLSF" and kernel == "rbf")
]


def learned(method: str, kernel: str, threads: int) -> dict[str, Any]:
    """Return all numbers that a fit learns."""
    # Large enough that a BLAS deals its work to several threads.
    X, Y = noisy_linear_problem(0, 400, 130, 6, noise=0.5, cut=0.5)
    targets = Y.astype(float)
    if method == "SSMLRL":
        targets[::3] = -1.0
    model = getattr(multimargin, method)()
    options = {"kernel": kernel, "max_iter": 20, "tol": 1e-2, "random_state": 0}
    model.set_params(**{k: v for k, v in options.items() if k in model.get_params()})
    with threadpool_limits(threads, user_api="blas"):
        model.fit(X, targets)
    numbers = {k: v for k, v in vars(model).items() if isinstance(v, np.ndarray | float)}
    with threadpool_limits(1, user_api="blas"):
        # With the threshold.
        return numbers | {"decision_function": model.decision_function(X)}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("method", "kernel"), CASES)
def test_bits_are_those_of_one_thread(method: str, kernel: str) -> None:
    one, two = (learned(method, kernel, threads) for threads in (1, 2))
    assert one.keys() == two.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, two[name], err_msg=name)
