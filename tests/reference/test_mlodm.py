"""Plain mlODM: primal, dual, a case in closed form, and the published algorithms."""

import numpy as np
import pytest

from multimargin.reference import mlodm
from tests.support.problems import unrelated_problem


@pytest.mark.parametrize(("theta", "mu"), [(0.2, 0.5), (0.7, 1.0), (0.0, 0.1)])
def test_primal_and_dual_agree(theta, mu):
    X, Y = unrelated_problem(1, 12, 3, 4, share=0.45)
    K, arguments = X @ X.T, (3.0, theta, mu)
    value, W = mlodm.problem_15(X, Y, *arguments)
    minus, alpha, beta = mlodm.problem_18(K, Y, *arguments)
    assert value == pytest.approx(-minus, rel=1e-6)
    np.testing.assert_allclose(alpha * beta, 0, atol=1e-6)
    B = mlodm.expansion(alpha, beta, Y)
    np.testing.assert_allclose(X.T @ B, W, atol=1e-4)
    assert mlodm.objective_15(K, Y, *arguments, B) == pytest.approx(value, rel=1e-6)
    assert mlodm.objective_18(K, Y, *arguments, alpha, beta) == pytest.approx(minus, rel=1e-6)


def test_published_algorithm_reaches_the_optimum():
    X, Y = unrelated_problem(9, 7, 3, 4, share=0.45)
    K, arguments = X @ X.T, (2.0, 0.2, 0.4)
    optimum, *_ = mlodm.problem_18(K, Y, *arguments)
    alpha, beta, values = mlodm.algorithm_1(K, Y, *arguments)
    assert values[-1] == pytest.approx(optimum, rel=1e-6)
    assert (np.diff(values) <= 1e-9 * abs(values[-1])).all()
    assert mlodm.objective_18(K, Y, *arguments, alpha, beta) == pytest.approx(values[-1])
    shuffle = np.random.default_rng(0)
    *_, shuffled = mlodm.algorithm_1(K, Y, *arguments, shuffle=shuffle)
    assert shuffled[0] != values[0]
    assert shuffled[-1] == pytest.approx(optimum, rel=1e-6)
