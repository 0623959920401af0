"""Plain Rank-SVM: primal and dual, reductions that other programs confirm, Frank-Wolfe."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from multimargin.reference import rank_svm
from multimargin.thresholds.cuts import best_thresholds
from tests.support.problems import unrelated_problem


def test_the_dual_variables_give_the_model_of_the_primal():
    X, Y = unrelated_problem(0, 20, 3, 4, share=0.45)
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


@pytest.mark.parametrize("free", [True, False])
def test_frank_wolfe_is_monotone_and_z_bounds_the_distance_to_the_optimum(free):
    X, Y = unrelated_problem(6, 12, 3, 4, share=0.45)
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


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([[1, -1], [-1, 1]], "Y holds -1; expected 0, 1 and NaN only"),
        ([[1, 1], [0, 0]], "Y has no row with a 1 and a 0; expected one"),
        ([[1, np.nan], [np.nan, 0]], "Y has no row with a 1 and a 0; expected one"),
    ],
)
def test_what_has_no_pairs_is_named(Y, message):
    for function in (rank_svm.pairs, lambda Y: rank_svm.problem_26(np.eye(2), Y, 1.0)):
        with pytest.raises(ValueError, match=message):
            function(np.array(Y))
