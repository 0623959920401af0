"""The Rank-HLapSVM reference: hypergraph, primal against dual, the published loop."""

import numpy as np
import pytest

from multimargin.reference import exact, rank_hlapsvm, rank_svm
from multimargin.verification.random_problems import random_problems
from tests.support.problems import unrelated_problem


def small_problem(seed, n=12, d=3, q=4):
    return unrelated_problem(seed, n, d, q, share=0.45)


def test_hyperedge_weights_of_a_case_done_by_hand():
    X = np.array([[0.0], [1.0], [3.0]])
    Y = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [1, 0, 0, 1]])
    # Label 0: distances 1, 4, 9 between unordered pairs, each counted twice over 3 * 2.
    expected = np.exp(-0.1 * np.array([28 / 6, 0.0, np.inf, 4.0]))
    weights = rank_hlapsvm.hyperedge_weights(X @ X.T, Y, 0.1)
    np.testing.assert_allclose(weights, expected, rtol=1e-13)


def test_laplacian_is_the_weighted_sum_over_edges():
    _, Y = small_problem(0)
    w = np.array([0.5, 1.0, 0.25, 2.0])
    Lap = rank_hlapsvm.laplacian(Y, w)
    F = np.random.default_rng(1).normal(size=(len(Y), 3))
    total = 0.0
    for k in range(4):
        e = np.flatnonzero(Y[:, k])
        for u in e:
            for v in e:
                total += 0.5 * w[k] * ((F[u] - F[v]) ** 2).sum()
    assert np.trace(F.T @ Lap @ F) == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(Lap.sum(axis=1), 0.0, atol=1e-12)


def test_kernel_has_both_forms_of_equation_27():
    X, Y = small_problem(2)
    X1 = np.column_stack([X, np.ones(len(X))])
    K1 = X1 @ X1.T
    Lap = rank_hlapsvm.laplacian(Y, rank_hlapsvm.hyperedge_weights(X @ X.T, Y, 0.3))
    A = rank_hlapsvm.kernel(X @ X.T, Y, 0.7, 0.3)
    inner = np.eye(X1.shape[1]) + 0.7 * X1.T @ Lap @ X1
    np.testing.assert_allclose(A, X1 @ np.linalg.inv(inner) @ X1.T, atol=1e-12)
    np.testing.assert_allclose(A, K1 @ np.linalg.inv(np.eye(len(X)) + 0.7 * Lap @ K1), atol=1e-10)


@pytest.mark.parametrize("problem", list(random_problems(25, seed=21)))
def test_primal_and_dual_certify_each_other(problem):
    K, Y, C = problem.X @ problem.X.T, problem.Y, problem.C
    primal, dual = (
        rank_hlapsvm.primal(K, Y, C, 0.5, 0.2),
        rank_hlapsvm.dual(K, Y, C, 0.5, 0.2),
    )
    assert primal.objective == pytest.approx(dual.objective, rel=1e-7, abs=1e-12)
    # Weights that reproduce the scores by the expansion on the ordinary kernel.
    np.testing.assert_allclose(dual.F, K @ dual.expansion + dual.b, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_second_solver_agrees(seed):
    X, Y = small_problem(seed)
    first = rank_hlapsvm.dual(X @ X.T, Y, 2.0, 0.5, 0.2)
    for solve in (rank_hlapsvm.primal, rank_hlapsvm.dual):
        second = solve(X @ X.T, Y, 2.0, 0.5, 0.2, solver="scs")
        assert second.objective == pytest.approx(first.objective, rel=1e-7)
        np.testing.assert_allclose(second.F, first.F, atol=1e-5)


def test_without_laplacian_it_is_rank_svm():
    X, Y = small_problem(4)
    K = X @ X.T
    assert rank_hlapsvm.dual(K, Y, 2.0, lam=0.0).objective == pytest.approx(
        rank_svm.dual(K, Y, 2.0, "penalized").objective, rel=1e-9
    )


def test_published_loop_reaches_the_optimum():
    X, Y = small_problem(5)
    dual = rank_hlapsvm.dual(X @ X.T, Y, 2.0, 0.5, 0.2)
    W, history = rank_hlapsvm.dual_coordinate_descent(X, Y, 2.0, 0.5, 0.2, max_epochs=5000)
    np.testing.assert_allclose(X @ W[:-1] + W[-1], dual.F, atol=1e-4)
    np.testing.assert_allclose(history[-1], X @ W[:-1] + W[-1], atol=1e-12)


def test_parameters_outside_their_range_are_errors():
    X, Y = small_problem(6)
    K = exact.kernel_matrix(X @ X.T, "none")
    with pytest.raises(ValueError, match="nu is -1"):
        rank_hlapsvm.hyperedge_weights(K, Y, -1)
    with pytest.raises(ValueError, match="lam is nan"):
        rank_hlapsvm.dual(K, Y, 1.0, np.nan)


def test_without_pairs_everything_is_zero():
    Y = np.array([[1, 1], [0, 0]])
    for solve in (rank_hlapsvm.primal, rank_hlapsvm.dual):
        found = solve(np.eye(2), Y, 1.0, lam=0.5)
        assert found.objective == 0.0
        assert not found.F.any()
