"""CNMF against an independent minimiser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from published.rivals import CNMF


def similarities(X, Y, gamma):
    A = np.array([[np.exp(-gamma * np.sum((a - b) ** 2)) for b in X] for a in X])
    B = np.array([[a @ b / np.sqrt((a @ a) * (b @ b)) for b in Y.T] for a in Y.T])
    return A, B


def objective(A, B, T):
    n = len(A)
    return sum((A[i, j] - T[i] @ B @ T[j]) ** 2 for i in range(n) for j in range(n))


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((14, 2))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] > 0.5, X[:, 1] > 0]).astype(int)
    partly = Y.copy()
    partly[7:] = -1
    Y[0], partly[0] = [1, 1, 0], [1, 1, 0]
    return X, Y, partly


def test_a_stationary_point(problem):
    X, Y, partly = problem
    model = CNMF(gamma=0.5, tol=1e-12, max_iter=20_000).fit(X, partly)
    A, B = similarities(X, Y[:7].astype(float), 0.5)
    T = model.transduced_scores_
    for given, scaled in zip(Y[:7], T[:7], strict=True):
        expected = given / np.sqrt(given @ B @ given) if given.any() else 0 * given
        assert_allclose(scaled, expected)
    assert model.objective_ == pytest.approx(objective(A, B, T))
    # A bounded quasi-Newton method that starts there finds nothing better.
    found = minimize(
        lambda free: objective(A, B, np.vstack([T[:7], free.reshape(7, 3)])),
        T[7:].ravel(),
        bounds=[(0, None)] * 21,
        method="L-BFGS-B",
    )
    assert found.fun >= model.objective_ * (1 - 1e-4)


def test_the_objective_never_rises(problem):
    X, _, partly = problem
    values = []
    for iterations in range(1, 25):
        with pytest.warns(ConvergenceWarning, match=f"after max_iter={iterations} "):
            model = CNMF(gamma=0.5, tol=1e-300, max_iter=iterations).fit(X, partly)
        values.append(model.objective_)
        assert model.n_iter_ == iterations
    assert (np.diff(values) <= 1e-12).all()
    assert values[-1] < 0.99 * values[0]
    assert (model.transduced_scores_ >= 0).all()
