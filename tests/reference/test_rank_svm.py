"""Plain Rank-SVM: primal and dual, reductions that other programs confirm, Frank-Wolfe."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from multimargin.estimators.shared.exact_pairs import factor
from multimargin.reference import rank_svm
from multimargin.thresholds.cuts import best_thresholds
from tests.support.problems import unrelated_problem


def small_problem(seed, n=12, d=3, q=4):
    return unrelated_problem(seed, n, d, q, share=0.45)


def theta_matrix(K, Y):
    """Theta = (H^T H) o K of (42), with K on pairs as in (25)."""
    i, _, _ = rank_svm.pairs(Y)
    H = rank_svm.coefficients(Y)
    return (H.T @ H) * K[np.ix_(i, i)]


def test_one_pair_by_hand():
    # Features of one row, and a second one to which the bias belongs: w = a x.
    X, Y = np.array([[1.0], [-1.0]]), np.array([[1, 0], [0, 1]])
    # The two pairs are symmetric: W = 4 a^2 - 2 a, so a = min(C, 1/4).
    for C, a in ((0.1, 0.1), (2.0, 0.25)):
        value, alpha, b = rank_svm.problem_26(X @ X.T, Y, C)
        assert value == pytest.approx(4 * a**2 - 2 * a, abs=1e-7)
        np.testing.assert_allclose(alpha, [a, a], atol=1e-6)
        np.testing.assert_allclose(b, 0, atol=1e-6)


def test_the_dual_variables_give_the_model_of_the_primal():
    X, Y = small_problem(0, n=20)
    K = X @ X.T
    value, w, b = rank_svm.problem_18(X, Y, 2.0)
    minus, alpha, multipliers = rank_svm.problem_26(K, Y, 2.0)
    beta = rank_svm.proxy(alpha, Y)
    assert value == pytest.approx(-minus, rel=1e-7)
    np.testing.assert_allclose(X.T @ beta, w, atol=1e-4)
    np.testing.assert_allclose(multipliers, b, atol=1e-4)
    np.testing.assert_allclose(rank_svm.scores(K, beta, multipliers), X @ w + b, atol=1e-4)
    assert rank_svm.objective_18(K, Y, 2.0, beta, multipliers) == pytest.approx(value, rel=1e-6)
    assert rank_svm.objective_26(K, Y, alpha) == pytest.approx(minus, rel=1e-7)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_two_labels_are_a_binary_svm(kernel):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + rng.normal(size=30) > 0, 1, -1)
    K, C = pairwise_kernels(X, metric=kernel), 0.7
    svc = SVC(C=2 * C, kernel="precomputed", tol=1e-10).fit(K, y)
    a = np.zeros(30)
    a[svc.support_] = svc.dual_coef_[0]  # y_i alpha_i
    value = 0.5 * (np.abs(a).sum() - 0.5 * a @ K @ a)
    minus, alpha, b = rank_svm.problem_26(K, np.column_stack([y == 1, y == -1]).astype(int), C)
    assert -minus == pytest.approx(value, rel=1e-7)
    F = rank_svm.scores(K, np.column_stack([y, -y]) * alpha[:, None], b)
    np.testing.assert_allclose(F[:, 0] - F[:, 1], svc.decision_function(K), atol=1e-4)


def test_single_labels_are_weston_watkins():
    rng = np.random.default_rng(4)
    n, d, q, C = 25, 3, 4, 1.3
    X, y = rng.normal(size=(n, d)), rng.integers(q, size=n)
    w, b = cp.Variable((d, q)), cp.Variable((1, q))
    scores = X @ w + np.ones((n, 1)) @ b
    loss = sum(
        cp.pos(1 - scores[i, y[i]] + scores[i, k]) for i in range(n) for k in range(q) if k != y[i]
    )
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C / (q - 1) * loss))
    problem.solve(solver="CLARABEL")
    minus, alpha, _ = rank_svm.problem_26(X @ X.T, np.eye(q, dtype=int)[y], C)
    assert -minus == pytest.approx(problem.value, rel=1e-7)
    beta = rank_svm.proxy(alpha, np.eye(q, dtype=int)[y])
    np.testing.assert_allclose(X.T @ beta, w.value, atol=1e-4)


# -------------------------------------------------------------------------------------------------
# Thresholds
# -------------------------------------------------------------------------------------------------
def test_thresholds_make_the_fewest_errors_and_are_regressed():
    rng = np.random.default_rng(5)
    F, Y = rng.normal(size=(40, 5)), (rng.random((40, 5)) < 0.5).astype(int)
    t = rank_svm.best_thresholds(F, Y)
    np.testing.assert_allclose(t, best_thresholds(F, Y), rtol=1e-14)
    for i in range(40):
        fewest = min(np.sum((F[i] >= at) != Y[i]) for at in [*F[i], F[i].max() + 1])
        assert np.sum((F[i] >= t[i]) != Y[i]) == fewest
    s, s_0 = rank_svm.threshold(F, Y)
    residual = t - F @ s - s_0
    np.testing.assert_allclose(F.T @ residual, 0, atol=1e-12)
    assert residual.sum() == pytest.approx(0, abs=1e-12)
    np.testing.assert_array_equal(rank_svm.predict(F, s, s_0).T, F @ s + s_0 <= F.T)


# -------------------------------------------------------------------------------------------------
# Frank-Wolfe
# -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("free", [True, False])
def test_frank_wolfe_is_monotone_and_z_bounds_the_distance_to_the_optimum(free):
    X, Y = small_problem(6)
    K = pairwise_kernels(X, metric="rbf")
    alpha, b, history = rank_svm.frank_wolfe(K, Y, 1.0, epsilon=0.0, M=200, free=free)
    W, z, lam = np.transpose(history)
    assert W[0] == 0.0
    assert (np.diff(W) <= 1e-12).all()
    assert ((lam[:-1] > 0) & (lam[:-1] <= 1)).all()
    assert lam[-1] == 0.0
    H, upper = rank_svm.coefficients(Y), rank_svm.upper_bounds(Y, 1.0)
    assert ((alpha >= 0) & (alpha <= upper)).all()
    beta = rank_svm.proxy(alpha, Y)
    assert W[-1] == pytest.approx(rank_svm.objective_26(K, Y, alpha), rel=1e-12)
    if free:
        np.testing.assert_allclose(H @ alpha, 0, atol=1e-10)
        optimum = rank_svm.problem_26(K, Y, 1.0)[0]
        assert (W - optimum <= -z + 1e-7).all()
        assert W[-1] <= 0.95 * optimum
        # -z is the duality gap of the model with the multipliers as bias.
        primal = rank_svm.objective_18(K, Y, 1.0, beta, b)
        assert primal + W[-1] == pytest.approx(-z[-1], rel=1e-7)


def test_frank_wolfe_converges_at_the_rate_of_theorem_1():
    X, Y = small_problem(8)
    K = pairwise_kernels(X, metric="rbf")
    upper = rank_svm.upper_bounds(Y, 10.0)
    optimum, _, _ = rank_svm.problem_26(K, Y, 10.0)
    _, _, history = rank_svm.frank_wolfe(K, Y, 10.0, epsilon=0.0, M=100)
    W, _, lam = np.transpose(history)
    p = np.arange(1, 101)
    bound = 2 * np.linalg.norm(theta_matrix(K, Y)) * (upper @ upper) / (p + 1 / lam[0] - 1)
    assert (W - optimum <= bound).all()


def test_the_features_of_a_kernel_are_a_factor_of_it():
    X, Y = small_problem(11)
    K = pairwise_kernels(X, metric="rbf")
    value, *_ = rank_svm.problem_18(factor(K), Y, 2.0)
    assert value == pytest.approx(-rank_svm.problem_26(K, Y, 2.0)[0], rel=1e-6)
