"""The Rank-CVM reference: problem 37, its primal, the equivalence and the published loop."""

import numpy as np
import pytest

from multimargin.reference import exact, rank_cvm, rank_lsvm
from multimargin.verification.random_problems import random_problems
from tests.support.problems import unrelated_problem
from tests.support.subsets import first_fast


def small_problem(seed, n=12, d=3, q=4):
    X, Y = unrelated_problem(seed, n, d, q, share=0.45)
    return X @ X.T, Y


def theta_matrix(K, Y, C):
    """Theta of Xu 2013, eq. (38)."""
    pairs = exact.pairs(Y)
    H = exact.pair_matrix(pairs, Y.shape[1]).toarray()
    blocks = (H.T @ H) * (K + 1)[np.ix_(pairs.i, pairs.i)]
    return blocks + np.diag(1.0 / exact.pair_weights(pairs, C))


@pytest.mark.parametrize("problem", first_fast(random_problems(25, seed=11), 12))
def test_primal_and_dual_agree_and_so_does_the_equivalent_problem(problem):
    K, Y, C = problem.X @ problem.X.T, problem.Y, problem.C
    primal, dual = rank_cvm.primal(K, Y, C), rank_cvm.dual(K, Y, C)
    assert primal.objective == pytest.approx(dual.objective, rel=1e-6)
    alpha = rank_lsvm.dual(K, Y, C).alpha
    scaled = rank_cvm.from_rank_lsvm(K, Y, C, alpha)
    assert scaled.objective == pytest.approx(dual.objective, rel=1e-7)
    assert scaled.objective == pytest.approx(1.0 / (2.0 * alpha.sum()), rel=1e-7)
    assert scaled.rho == pytest.approx(dual.rho, rel=1e-6)
    assert primal.rho == pytest.approx(dual.rho, rel=1e-5)
    np.testing.assert_allclose(scaled.F, dual.F, atol=1e-5 * np.abs(dual.F).max())


def test_objective_is_the_quadratic_form():
    K, Y = small_problem(0)
    dual = rank_cvm.dual(K, Y, 2.0)
    Theta = theta_matrix(K, Y, 2.0)
    assert dual.objective == pytest.approx(0.5 * dual.alpha @ Theta @ dual.alpha, rel=1e-12)
    assert dual.alpha.sum() == pytest.approx(1.0, rel=1e-12)
    # Optimality on the simplex: no gradient entry is below alpha^T Theta alpha.
    gradient = Theta @ dual.alpha
    assert gradient.min() == pytest.approx(2 * dual.objective, rel=1e-6)
    for s in (0, 3, len(gradient) - 1):
        column = rank_cvm.theta_column(K + 1, dual.pairs, exact.pair_weights(dual.pairs, 2.0), s)
        np.testing.assert_allclose(column, Theta[:, s], atol=1e-14)


def test_second_solver_agrees():
    K, Y = small_problem(1)
    first, second = rank_cvm.dual(K, Y, 1.0), rank_cvm.dual(K, Y, 1.0, solver="scs")
    assert second.objective == pytest.approx(first.objective, rel=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_published_loop_descends_to_the_optimum(seed):
    K, Y = small_problem(seed)
    C = 2.0
    optimum = rank_cvm.dual(K, Y, C).objective
    run = rank_cvm.frank_wolfe(K, Y, C, eps=1e-4 * optimum, max_epochs=10**6, max_iter=3000)
    Theta = theta_matrix(K, Y, C)
    assert run.objective[0] == pytest.approx(0.5 * np.diagonal(Theta).min())
    assert (np.diff(run.objective) <= 0).all()
    # Case 2 of section 7.1: -z bounds the distance to the optimum in every iteration.
    assert (run.objective - optimum <= -run.z + 1e-12).all()
    assert run.objective[-1] == pytest.approx(run.solution.objective, rel=1e-9)
    assert run.solution.objective == pytest.approx(optimum, rel=0.05)
    assert run.solution.alpha.sum() == pytest.approx(1.0)


def test_published_loop_stops_by_either_rule():
    K, Y = small_problem(2)
    run = rank_cvm.frank_wolfe(K, Y, 2.0, eps=0.05)
    assert abs(run.z[-1]) < 0.05 <= abs(run.z[:-1]).min()
    L = len(exact.pairs(Y).i)
    assert len(rank_cvm.frank_wolfe(K, Y, 2.0, eps=1e-300, max_epochs=2).step) == 2 * L


def test_without_pairs_there_is_no_simplex():
    with pytest.raises(ValueError, match="Y has no pair"):
        rank_cvm.dual(np.eye(2), [[1, 1], [0, 0]])
