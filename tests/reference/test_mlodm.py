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


def test_ranking_margins_are_distances_to_the_nearest_tie():
    X, Y = unrelated_problem(2, 8, 3, 4, share=0.45)
    Y[0] = 1
    W = np.random.default_rng(2).normal(size=(3, 4))
    margins = mlodm.ranking_margins(X, Y, W)
    assert margins[0] == np.inf
    assert mlodm.margin_of_the_training_set(X, Y, W) == margins.min()
    for x, y, margin in zip(X[1:], Y[1:], margins[1:], strict=True):
        signed = [np.inf]
        for k in np.flatnonzero(y == 1):
            for l in np.flatnonzero(y == 0):  # noqa: E741
                normal = W[:, k] - W[:, l]
                foot = x - (normal @ x) / (normal @ normal) * normal
                assert foot @ W[:, k] == pytest.approx(foot @ W[:, l], abs=1e-12)
                signed.append(np.sign(normal @ x) * np.linalg.norm(x - foot))
        assert margin == pytest.approx(min(signed), rel=1e-12)
    moved = 3 * W + np.ones((1, 4))
    np.testing.assert_allclose(mlodm.ranking_margins(X, Y, moved), margins, rtol=1e-12)


def test_the_mean_margin_leads_to_the_margin_distribution():
    X, Y = unrelated_problem(1, 12, 5, 3, share=0.45)
    _, k, l = mlodm.pairs(Y)  # noqa: E741
    nearest, of_largest = mlodm.problem_10(X, Y)
    squares, of_sum = mlodm.problem_11(X, Y)
    for W in (of_largest, of_sum, mlodm.problem_12(X, Y, 2.0)[1]):
        np.testing.assert_allclose(mlodm.mean_margins(X @ W, Y), 1.0, atol=1e-6)
    farthest = (np.linalg.norm(of_sum[:, k] - of_sum[:, l], axis=0) ** 2).max()
    assert nearest >= (1 - 1e-6) / farthest  # (10) is the best of the largest,
    assert squares <= (1 + 1e-6) * np.sum(of_largest**2)  # (11) of the sum
    np.testing.assert_allclose(of_sum.sum(axis=1), 0, atol=1e-6)
    # The variance costs nothing at C = 0, and the mean of 1 costs something.
    assert mlodm.problem_12(X, Y, 1e-4)[0] == pytest.approx(squares, rel=1e-3)
    assert mlodm.problem_12(X, Y, 2.0)[0] >= mlodm.problem_13(X, Y, 2.0, 0.0)[0] + 0.01
    # theta and mu forgive; with them it is the problem that is solved.
    values = [mlodm.problem_13(X, Y, 2.0, theta)[0] for theta in (0.0, 0.3, 0.6)]
    assert (np.diff(values) < -0.01).all()
    half = mlodm.problem_15(X, Y, 2.0, 0.3, 1.0)[0]
    assert values[1] == pytest.approx(2 * half, rel=1e-6)
    half = mlodm.problem_15(X, Y, 2.0, 0.3, 0.4)[0]
    assert mlodm.problem_14(X, Y, 2.0, 0.3, 0.4)[0] == pytest.approx(2 * half, rel=1e-6)
