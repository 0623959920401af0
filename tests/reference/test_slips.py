"""Slips of the papers (docs/reproduction.md): what is printed fails, what the guide says holds."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.metrics import pairwise_kernels

from multimargin.reference import mlodm, mlrl, rank_hlapsvm, rank_svm
from tests.support.problems import unrelated_problem


def small_problem(seed=1):
    """Features, their rbf kernel, labels, the instance of each pair and H."""
    X, Y = unrelated_problem(seed, 10, 3, 4, share=0.45)
    Y[0] = [1, 1, 0, 0]
    K = pairwise_kernels(X, metric="rbf", gamma=0.5)
    return X, K, Y, rank_svm.pairs(Y)[0], rank_svm.coefficients(Y)


def minimum(objective, constraints=()):
    return cp.Problem(cp.Minimize(objective), list(constraints)).solve(solver="CLARABEL")


def test_xu_26_lacks_the_kernel_and_42_has_the_wrong_sign():
    X, _, Y, i, H = small_problem()
    alpha = cp.Variable(len(i))
    feasible = [H @ alpha == 0, alpha >= 0, alpha <= rank_svm.upper_bounds(Y, 1.0)]
    quadratic = cp.quad_form(alpha, cp.psd_wrap((H.T @ H) * (X @ X.T)[np.ix_(i, i)])) / 2
    value, _, _ = rank_svm.problem_18(X, Y, 1.0)
    assert minimum(quadratic - cp.sum(alpha), feasible) == pytest.approx(-value, rel=1e-6)
    assert minimum(quadratic + cp.sum(alpha), feasible) == pytest.approx(0, abs=1e-6)
    without_kernel = minimum(cp.sum_squares(H @ alpha) / 2 - cp.sum(alpha), feasible)
    assert without_kernel < -1.1 * value


def test_xu_42_is_not_strictly_convex_for_rank_svm():
    _, K, _, i, H = small_problem()
    assert np.linalg.eigvalsh(K)[0] > 1e-3
    eigenvalues = np.linalg.eigvalsh((H.T @ H) * K[np.ix_(i, i)])
    assert abs(eigenvalues[0]) < 1e-12


def test_omega_of_zhang_and_yeung_is_singular_for_a_label_of_no_row():
    _, K, Y, _, _ = small_problem()
    Y[:, 0] = 0
    _, Z = mlrl.problem_10(K, Y, 0.1, np.eye(4) / 4)
    assert np.linalg.eigvalsh(mlrl.omega_step(Z.T @ K @ Z))[0] < 1e-6


def test_a_step_of_chen_et_al_is_dense():
    rng = np.random.default_rng(0)
    X = rank_hlapsvm.append_1(rng.random((60, 40)) * (rng.random((60, 40)) < 0.05))
    Y = (rng.random((60, 4)) < 0.4).astype(int)
    A = np.eye(41) + 0.1 * X.T @ rank_hlapsvm.laplacian(Y, np.ones(4)) @ X
    images = np.linalg.solve(A, X.T)
    assert np.mean(X != 0) < 0.1
    assert np.mean(np.abs(images) > 1e-12) > 0.5


def test_tan_22_lacks_the_kernel_and_a_half():
    _, K, Y, i, H = small_problem()
    C, theta, mu = 2.0, 0.2, 0.4
    alpha, beta = np.random.default_rng(0).random((2, len(i)))
    zeta, u = np.r_[alpha, beta], np.r_[0 * alpha + theta - 1, 0 * beta + theta + 1]
    C_i = mlodm.pair_weights(Y, C)

    def value_22(products):
        Q = np.kron([[1, -1], [-1, 1]], products) + np.diag(np.r_[1 / C_i, 1 / (mu * C_i)] / 2)
        return zeta @ Q @ zeta + zeta @ u

    expected = mlodm.objective_18(K, Y, C, theta, mu, alpha, beta)  # as (21)
    with_kernel = (H.T @ H) * K[np.ix_(i, i)]
    assert value_22(with_kernel / 2) == pytest.approx(expected, rel=1e-12)
    for printed in (H.T @ H, with_kernel):
        assert abs(value_22(printed) - expected) > 0.01 * expected
