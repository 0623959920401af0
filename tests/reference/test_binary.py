"""Xu 2013, section 4: the binary machines, and the CVM that Rank-CVM at two labels is."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from multimargin.reference import binary, rank_cvm
from tests.support.problems import noisy_linear_problem


def problem(seed):
    X, Y = noisy_linear_problem(seed, 20, 3, 1)
    return X, 2.0 * Y[:, 0] - 1.0


@pytest.mark.parametrize("seed", range(3))
def test_the_svm_is_that_of_libsvm(seed):
    X, y = problem(seed)
    svc = SVC(C=0.7, kernel="linear", tol=1e-10).fit(X, y)
    value, w, b = binary.problem_10(X, y, 0.7)
    minus, alpha = binary.problem_11(X @ X.T, y, 0.7)
    assert value == pytest.approx(-minus, rel=1e-6)
    np.testing.assert_allclose(X @ w + b, svc.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(X.T @ (alpha * y), svc.coef_[0], atol=1e-4)


@pytest.mark.parametrize("nu", [1.0, 3.0])
def test_primal_and_duals_of_the_cvm_agree(nu):
    X, y = problem(3)
    value, w, b, rho = binary.problem_12(X, y, 0.7, nu)
    minus, alpha = binary.problem_13(X @ X.T, y, 0.7, nu)
    on_the_simplex, share = binary.problem_14(X @ X.T, y, 0.7)
    assert value == pytest.approx(-minus, rel=1e-6)
    assert minus == pytest.approx(nu**2 * on_the_simplex, rel=1e-6)
    np.testing.assert_allclose(alpha, nu * share, atol=1e-5)
    np.testing.assert_allclose(X.T @ (alpha * y), w, atol=1e-4)
    assert b == pytest.approx(alpha @ y, abs=1e-4)
    assert rho == pytest.approx(2 * minus / nu, rel=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_rank_cvm_with_two_labels_is_a_cvm(kernel):
    X, y = problem(4)
    K, C = pairwise_kernels(X, metric=kernel), 0.7
    Y = np.column_stack([y == 1, y == -1]).astype(int)
    value, alpha = rank_cvm.problem_37(K, Y, C)
    of_binary, share = binary.problem_14(K, y, 2 * C)
    assert value == pytest.approx(2 * of_binary, rel=1e-6)
    np.testing.assert_allclose(alpha, share, atol=1e-5)
