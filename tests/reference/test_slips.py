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


def test_xu_48_and_47_do_not_hold_where_the_first_step_is_cut():
    # f(x) = Theta/2 x^2 - x on [0, 1] from 0: the step 1/Theta is cut to 1, the optimum.
    Theta = 0.1
    step = min(1 / Theta, 1.0)
    f = Theta / 2 * step**2 - step
    assert f > -(1.0**2) / (2 * Theta)  # (48)
    delta, xi = 2 * Theta, 1 / step - 1  # (51), (52)
    assert 0 - f > delta / (1 + xi)  # (47) at p = 1


@pytest.mark.parametrize("q", range(2, 20))
def test_pairs_of_a_row_before_xu_73(q):
    pairs = [relevant * (q - relevant) for relevant in range(1, q)]
    assert (min(pairs), max(pairs)) == (q - 1, (q // 2) * (q - q // 2))
    assert (q // 2) * (1 - q // 2) <= 0  # as printed


def test_omega_of_zhang_and_yeung_is_singular_for_a_label_of_no_row():
    _, K, Y, _, _ = small_problem()
    Y[:, 0] = 0
    _, Z = mlrl.problem_10(K, Y, 0.1, np.eye(4) / 4)
    assert np.linalg.eigvalsh(mlrl.omega_step(Z.T @ K @ Z))[0] < 1e-6


def test_zhang_and_yeung_13_is_the_dual_with_four_lambda():
    X, _, Y, i, H = small_problem()
    (n, q), lam = Y.shape, 0.3
    _, m, k = rank_svm.pairs(Y)

    def primal(lam):
        W, b = cp.Variable((3, q)), cp.Variable((1, q))
        f = X @ W + np.ones((n, 1)) @ b
        loss = 2 / n * cp.sum(cp.pos(1 - f[i, m] + f[i, k]))  # each pair as (j, k) and as (k, j)
        return minimum(loss + lam / 2 * cp.sum_squares(W)), W.value

    beta = cp.Variable(len(i))  # beta_i^jk = beta_i^kj; y_i^j alpha_i^j = sum_k +-beta
    Z = [cp.multiply(beta, h) for h in H]
    W = cp.vstack([X[i].T @ z for z in Z]).T / lam
    constraints = [beta >= 0, beta <= 1 / n, *(cp.sum(z) == 0 for z in Z)]
    value = minimum(lam / 2 * cp.sum_squares(W) - 2 * cp.sum(beta), constraints)
    expected, weights = primal(4 * lam)
    assert -value == pytest.approx(expected, rel=1e-6)
    assert -value > 1.05 * primal(lam)[0]
    np.testing.assert_allclose(W.value, 2 * weights, atol=1e-4)


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
