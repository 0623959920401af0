"""The compiled Frank-Wolfe loop makes the steps of the plain one."""

from types import SimpleNamespace

import numpy as np
import pytest

from multimargin import _rust
from multimargin.reference import rank_cvm
from tests.support.problems import unrelated_problem


def run(K, Y, C, tolerance=1e-300, max_epochs=50):
    found = _rust.solve_simplex(
        Y.astype(np.uint8),
        np.ascontiguousarray(K),
        c=C,
        kernel_name="precomputed",
        gamma=1.0,
        degree=3,
        coef0=0.0,
        absolute=True,
        tolerance=tolerance,
        max_epochs=max_epochs,
        cache_bytes=0,
        callback=None,
    )
    return SimpleNamespace(**found)


@pytest.mark.parametrize("kind", ["linear", "rbf"])
@pytest.mark.parametrize("seed", range(5))
def test_the_iterates_are_those_of_the_plain_loop(seed, kind):
    X, Y = unrelated_problem(seed, 25, 4, 5)
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    K = X @ X.T if kind == "linear" else np.exp(-squares / 4)
    # Each epoch is as many iterations as there are pairs.
    for epochs in (1, 2, 4):
        beta, plain = rank_cvm.frank_wolfe(K, Y, 2.0, epsilon=0.0, M=epochs)
        compiled = run(K, Y, 2.0, max_epochs=epochs)
        assert compiled.n_iter == len(plain)
        np.testing.assert_allclose(compiled.dual, beta, rtol=0, atol=1e-11)
        np.testing.assert_allclose(compiled.primal, plain[-1][2], rtol=1e-9)


def test_both_stop_at_the_same_iteration_and_point():
    X, Y = unrelated_problem(7, 20, 3, 4, share=0.5)
    K = X @ X.T
    beta, plain = rank_cvm.frank_wolfe(K, Y, 2.0, epsilon=0.02)
    compiled = run(K, Y, 2.0, tolerance=0.02)
    assert compiled.status == "converged"
    assert compiled.n_iter == len(plain)
    assert compiled.primal == pytest.approx(plain[-1][2], rel=1e-10)
    np.testing.assert_allclose(compiled.dual, beta, atol=1e-12)
    np.testing.assert_allclose(
        compiled.scores + compiled.bias, rank_cvm.scores(K, beta), atol=1e-12
    )


def test_the_maximum_number_of_epochs_is_as_published():
    rng = np.random.default_rng(8)
    K = np.eye(4)
    Y = (rng.random((4, 3)) < 0.5).astype(int)
    L = int((Y.sum(axis=1) * (3 - Y.sum(axis=1))).sum())
    compiled = run(K, Y, 2.0, max_epochs=3)
    assert (compiled.status, compiled.n_iter) == ("max_iterations", 3 * L)
