"""Every pair of the same weight: the problem of Zhang & Yeung 2013, eq. (13)."""

import cvxpy as cp
import numpy as np
import pytest

from multimargin import RankSVM
from multimargin.estimators.pairwise.pair_weights import weights_of_pairs


@pytest.fixture
def problem():
    random = np.random.default_rng(3)
    X = random.normal(size=(14, 3))
    Y = (X @ random.normal(size=(3, 4)) + random.normal(size=(14, 4)) > 0.2).astype(int)
    Y[0], Y[1] = 0, 1
    return X, Y


def ordered_pairs(Y):
    """All (i, j, k) with y_ij != y_ik: each pair of labels in both orders."""
    return np.argwhere(Y[:, :, None] != Y[:, None, :]).T


def printed_primal(X, Y, lam):
    """The problem before eq. (13)."""
    n, q = Y.shape
    i, j, k = ordered_pairs(Y)
    W, b = cp.Variable((X.shape[1], q)), cp.Variable((1, q))
    F = cp.vec(X @ W + np.ones((n, 1)) @ b, order="C")
    margins = cp.multiply(Y[i, j] - Y[i, k], F[i * q + j] - F[i * q + k])
    value = cp.sum(cp.pos(1 - margins)) / n + lam / 2 * cp.sum_squares(W)
    return cp.Problem(cp.Minimize(value)).solve(solver="CLARABEL")


def printed_dual(X, Y, lam):
    """Eq. (13), as a maximum; beta_i^jk = beta_i^kj is one variable."""
    n, q = Y.shape
    i, j, k = ordered_pairs(Y)
    names, column = np.unique(
        np.column_stack([i, np.minimum(j, k), np.maximum(j, k)]), axis=0, return_inverse=True
    )
    beta = cp.Variable(len(names))
    sums = np.zeros((n * q, len(names)))
    np.add.at(sums, (i * q + j, column.ravel()), 1.0)
    alpha = cp.reshape(sums @ beta, (n, q), order="C")
    Z = cp.multiply(alpha, 2 * Y - 1)
    value = cp.sum(alpha) - cp.sum_squares(X.T @ Z) / (2 * lam)
    constraints = [cp.sum(Z, axis=0) == 0, beta >= 0, beta <= 1 / n]
    return cp.Problem(cp.Maximize(value), constraints).solve(solver="CLARABEL")


@pytest.mark.parametrize("lam", [0.1, 1.0])
def test_uniform_pairs_are_the_problem_of_zhang_and_yeung(problem, lam):
    X, Y = problem
    model = RankSVM(2 / lam, kernel="linear", pair_weights="uniform", tol=1e-8, max_iter=10**5)
    model.fit(X, Y)
    assert lam * model.objective_ == pytest.approx(printed_primal(X, Y, lam), rel=1e-6)


@pytest.mark.parametrize("lam", [0.1, 1.0])
def test_the_printed_dual_is_that_of_another_lambda(problem, lam):
    """Of 4 lam, with scores twice as large: a slip, as both orders of j and k share one beta."""
    X, Y = problem
    model = RankSVM(0.5 / lam, kernel="linear", pair_weights="uniform", tol=1e-8, max_iter=10**5)
    model.fit(X, Y)
    assert 4 * lam * model.objective_ == pytest.approx(printed_dual(X, Y, lam), rel=1e-6)


def test_a_start_of_other_weights_is_none(problem):
    X, Y = problem
    model = RankSVM(10.0, warm_start=True, random_state=0, tol=1e-6).fit(X, Y)
    model.set_params(pair_weights="uniform").fit(X, Y)
    cold = RankSVM(10.0, pair_weights="uniform", random_state=0, tol=1e-6).fit(X, Y)
    np.testing.assert_array_equal(model.label_scores(X), cold.label_scores(X))
    model.fit(X, Y)
    assert model.n_iter_ == 1


def test_weights():
    Y = np.array([[1, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0]], dtype=np.uint8)
    np.testing.assert_allclose(weights_of_pairs(Y, 6.0, "balanced"), [3, 0, 0, 3])
    np.testing.assert_allclose(weights_of_pairs(Y, 6.0, "uniform"), [1.5, 0, 0, 1.5])
