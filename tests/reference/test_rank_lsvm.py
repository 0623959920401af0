"""The Rank-LSVM reference against its own dual, a second solver and liblinear."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from multimargin.reference import exact, rank_lsvm
from multimargin.verification.random_problems import random_problems
from tests.support.problems import unrelated_problem


def kernel_matrix(problem):
    X = problem.X
    if problem.kernel == "rbf":
        return np.exp(-problem.gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    return X @ X.T


@pytest.mark.parametrize("problem", list(random_problems(25, seed=1)))
def test_primal_and_dual_certify_each_other(problem):
    K, Y, C = kernel_matrix(problem), problem.Y, problem.C
    primal, dual = rank_lsvm.primal(K, Y, C), rank_lsvm.dual(K, Y, C)
    assert primal.objective == pytest.approx(dual.objective, rel=1e-7, abs=1e-12)
    value = rank_lsvm.primal_objective(K, Y, C, dual.B)
    assert value == pytest.approx(dual.objective, rel=1e-7, abs=1e-12)
    assert (dual.alpha >= 0).all()
    np.testing.assert_allclose(dual.F, (K + 1) @ dual.B, atol=1e-12)


@pytest.mark.parametrize("problem", list(random_problems(6, seed=2)))
def test_second_solver_agrees(problem):
    K, Y = kernel_matrix(problem), problem.Y
    first, second = rank_lsvm.dual(K, Y, 1.0), rank_lsvm.dual(K, Y, 1.0, solver="scs")
    assert second.objective == pytest.approx(first.objective, rel=1e-7)
    np.testing.assert_allclose(second.F, first.F, atol=1e-5)


def test_liblinear_on_pairs_agrees():
    """One row (x, 1) (x) (e_m - e_n) a pair, with weight C_i; signs alternate: two classes."""
    X, Y = unrelated_problem(3, 15, 4, 3)
    dual = rank_lsvm.dual(X @ X.T, Y, 2.0)
    pairs = exact.pairs(Y)
    H = exact.pair_matrix(pairs, 3).toarray()
    X1 = np.column_stack([X, np.ones(15)])
    rows = np.einsum("ld,ql->ldq", X1[pairs.i], H).reshape(len(pairs.i), -1)
    sign = np.where(np.arange(len(rows)) % 2, 1.0, -1.0)
    # scikit-learn's squared hinge has no factor 1/2
    svm = LinearSVC(fit_intercept=False, C=1.0, tol=1e-10, max_iter=1_000_000, dual=True)
    svm.fit(sign[:, None] * rows, sign, sample_weight=exact.pair_weights(pairs, 2.0) / 2.0)
    W = svm.coef_.reshape(5, 3)
    np.testing.assert_allclose(X1 @ W, dual.F, atol=1e-5)


def test_coordinate_descent_reaches_the_optimum():
    X, Y = unrelated_problem(4, 12, 3, 4, share=0.5)
    K = X @ X.T
    exactly = rank_lsvm.dual(K, Y, 3.0)
    solution, history = rank_lsvm.dual_coordinate_descent(K, Y, 3.0)
    assert solution.objective == pytest.approx(exactly.objective, rel=1e-9)
    np.testing.assert_allclose(solution.F, exactly.F, atol=1e-6)
    assert len(history) < 1000


def test_without_pairs_the_solution_is_zero():
    solution = rank_lsvm.primal(np.eye(2), [[1, 1], [0, 0]])
    assert solution.objective == 0.0
    assert not solution.B.any()
    assert rank_lsvm.dual(np.eye(2), [[1, 1], [0, 0]]).objective == 0.0
