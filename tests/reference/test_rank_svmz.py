"""Plain Rank-SVMz: primal against dual, and libsvm."""

import numpy as np
import pytest
from sklearn.svm import SVC

from multimargin.reference import rank_svmz
from tests.support.problems import unrelated_problem


def model(K, X, Y, C):
    """Scores less the zero label's, from the primal."""
    _, W, b = rank_svmz.primal(X, Y, C)
    F = X @ W + b
    return F[:, :-1] - F[:, -1:]


@pytest.mark.parametrize("seed", range(3))
def test_primal_and_dual_agree(seed):
    X, Y = unrelated_problem(seed, 12, 3, 3)
    value, W, b = rank_svmz.primal(X, Y, 2.0)
    minus, Z, multipliers = rank_svmz.dual(X @ X.T, Y, 2.0)
    assert value == pytest.approx(-minus, rel=1e-6)
    B = np.hstack([Z, -Z.sum(axis=1, keepdims=True)])
    np.testing.assert_allclose(X.T @ B, W, atol=1e-4)
    np.testing.assert_allclose(multipliers, b, atol=1e-4)
    f = X @ W + b
    np.testing.assert_array_equal(rank_svmz.predict(f), f[:, :3] > f[:, 3:])


def test_one_label_is_a_support_vector_machine():
    """With q = 1, w_1 = -w_0 = v / 2 and the regulariser is 1/4 ||v||^2: libsvm with 2 C."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 3))
    y = (X @ rng.normal(size=3) + rng.normal(size=30) > 0).astype(int)
    svm = SVC(C=6.0, kernel="linear", tol=1e-10).fit(X, y)
    F = model(X @ X.T, X, y[:, None], 3.0)
    np.testing.assert_allclose(F[:, 0], svm.decision_function(X), atol=1e-4)
