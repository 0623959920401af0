"""The Rank-SVMz reference against its own dual, a second solver, libsvm and MLRL's reference."""

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC

from multimargin.reference import mlrl, rank_svmz
from multimargin.verification.random_problems import random_problems


def kernel_matrix(problem):
    X = problem.X
    if problem.kernel == "rbf":
        return np.exp(-problem.gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    return X @ X.T


@pytest.mark.parametrize("problem", list(random_problems(12, seed=1)))
def test_primal_and_dual_certify_each_other(problem):
    K, Y, C, bias = kernel_matrix(problem), problem.Y, problem.C, problem.bias
    primal, dual = rank_svmz.primal(K, Y, C, bias), rank_svmz.dual(K, Y, C, bias)
    scale = 1e-9 * (1.0 + C)
    assert primal.objective == pytest.approx(dual.objective, rel=1e-7, abs=scale)
    value = rank_svmz.primal_objective(K, Y, C, dual.B, dual.b, bias)
    assert value == pytest.approx(dual.objective, rel=1e-7, abs=scale)
    assert rank_svmz.dual_infeasibility(Y, C, dual.B, bias) <= 1e-12 * C
    np.testing.assert_allclose(dual.F, K @ dual.B + dual.b, atol=1e-12)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_second_solver_agrees(bias):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12, 3))
    Y = (rng.random((12, 3)) < 0.4).astype(int)
    first = rank_svmz.dual(X @ X.T, Y, 1.0, bias)
    second = rank_svmz.dual(X @ X.T, Y, 1.0, bias, solver="scs")
    assert second.objective == pytest.approx(first.objective, rel=1e-7)


def test_liblinear_on_pairs_agrees():
    """One row x (x) (e_k - e_0) a pair, signed: without a bias, a linear machine of all pairs."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(15, 4))
    Y = (rng.random((15, 3)) < 0.4).astype(int)
    dual = rank_svmz.dual(X @ X.T, Y, 6.0, "none")
    directions = np.hstack([np.eye(3), -np.ones((3, 1))])
    rows = np.einsum("id,kl->ikdl", X, directions).reshape(45, -1)
    svm = LinearSVC(
        C=2.0, loss="hinge", fit_intercept=False, tol=1e-10, max_iter=1_000_000, dual=True
    )
    svm.fit(rows, 2 * Y.ravel() - 1)
    np.testing.assert_allclose(X @ svm.coef_.reshape(4, 4), dual.F, atol=1e-5)


def test_one_label_is_a_support_vector_machine():
    """With q = 1, w_1 = -w_0 = v / 2 and the regulariser is 1/4 ||v||^2: libsvm with 2 C."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 3))
    y = (X @ rng.normal(size=3) + rng.normal(size=30) > 0).astype(int)
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    ours = rank_svmz.dual(K, y[:, None], 3.0)
    svm = SVC(C=6.0, gamma=0.5, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.F[:, 0] - ours.F[:, 1], svm.decision_function(X), atol=1e-5)


def test_it_is_mlrl_of_a_fixed_covariance():
    """Omega = (I + 1 1^T) / (2 q) and lam = 1 / (2 n C)."""
    rng = np.random.default_rng(5)
    n, q, C = 14, 3, 2.0
    X = rng.normal(size=(n, 3))
    Y = (rng.random((n, q)) < 0.4).astype(int)
    K = X @ X.T
    ours = rank_svmz.dual(K, Y, C)
    Omega = (np.eye(q) + np.ones((q, q))) / (2.0 * q)
    lam = 1.0 / (2.0 * n * C)
    value, *_ = mlrl.problem_8(X, Y, lam, Omega)
    assert value == pytest.approx(ours.objective / (n * C / q), rel=1e-7)


def test_rows_without_and_with_all_labels_count():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    Y = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    solution = rank_svmz.dual(X @ X.T, Y, 100.0)
    difference = solution.F[:, :2] - solution.F[:, 2:]
    # Each label's two inner points are 1 apart: the largest margin puts 2 between them.
    np.testing.assert_allclose(difference[1:3], [[-1, -1], [1, 1]], atol=1e-6)
    assert solution.B[[1, 2]].any(axis=1).all()


def test_best_free_bias_of_labels_of_one_class():
    y = np.array([[1.0, -1.0], [1.0, -1.0]])
    b = rank_svmz.free_bias(np.zeros((2, 3)), y, np.full((2, 2), 0.5))
    np.testing.assert_allclose(b[:2] - b[2], [1.0, -1.0])
    assert b.sum() == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    ("K", "Y", "C", "message"),
    [
        (np.eye(2), [[1, 0]], 1.0, "K has 2 rows and Y has 1"),
        (np.eye(1), [[1, 2]], 1.0, "expected only 0, 1 and NaN"),
        (np.eye(1), [[1, 0]], 0.0, "C is 0.0, expected"),
    ],
)
def test_bad_arguments_are_named(K, Y, C, message):
    with pytest.raises(ValueError, match=message):
        rank_svmz.dual(K, Y, C)
