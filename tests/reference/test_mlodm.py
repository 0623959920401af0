"""The mlODM reference against its own dual, its published algorithm and least squares."""

import numpy as np
import pytest

from multimargin.reference import exact, mlodm, rank_lsvm
from multimargin.verification.random_problems import random_problems
from tests.support.problems import unrelated_problem
from tests.support.subsets import first_fast


def small_problem(seed, n=12, d=3, q=4):
    X, Y = unrelated_problem(seed, n, d, q, share=0.45)
    return X @ X.T, Y


@pytest.mark.parametrize("problem", first_fast(random_problems(25, seed=5), 12))
def test_primal_and_dual_certify_each_other(problem):
    K, Y, C = problem.X @ problem.X.T, problem.Y, problem.C
    for theta, mu in ((0.2, 0.5), (0.7, 1.0)):
        primal, dual = mlodm.primal(K, Y, C, theta, mu), mlodm.dual(K, Y, C, theta, mu)
        # Without bias, features of zero leave the loss at zero scores: an optimum of its own.
        assert primal.objective == pytest.approx(dual.objective, rel=1e-7, abs=1e-11)
        value = mlodm.primal_objective(K, Y, C, theta, mu, dual.B)
        assert value == pytest.approx(dual.objective, rel=1e-7, abs=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_second_solver_agrees(seed):
    K, Y = small_problem(seed)
    first, second = mlodm.dual(K, Y, 2.0), mlodm.dual(K, Y, 2.0, solver="scs")
    assert second.objective == pytest.approx(first.objective, rel=1e-7)
    np.testing.assert_allclose(second.F, first.F, atol=1e-5)


def test_theta_zero_and_mu_one_is_least_squares():
    K, Y = small_problem(7)
    pairs = exact.pairs(Y)
    c = exact.pair_weights(pairs, 3.0)
    H = exact.block_pair_matrix(pairs, *Y.shape).toarray()
    # 1/2 ||t||^2_Q + 1/2 sum (1 - z)^2 c with z = Q t: (Q + diag(1/c)) t = 1
    Q = H.T @ np.kron(K, np.eye(Y.shape[1])) @ H
    t = np.linalg.solve(Q + np.diag(1.0 / c), np.ones(len(c)))
    dual = mlodm.dual(K, Y, 3.0, theta=0.0, mu=1.0)
    np.testing.assert_allclose(dual.alpha, t, atol=1e-8)


def test_where_no_margin_is_too_large_it_is_the_squared_hinge_scaled():
    K, Y = small_problem(8)
    # The penalised bias of Rank-LSVM is the kernel K + 1.
    lsvm = rank_lsvm.dual(K, Y, 0.5)
    theta = 0.9
    odm = mlodm.dual(K + 1.0, Y, 0.5, theta=theta)
    assert odm.objective == pytest.approx((1 - theta) ** 2 * lsvm.objective, rel=1e-8)
    np.testing.assert_allclose(odm.F, (1 - theta) * lsvm.F, atol=1e-8)


def test_published_algorithm_reaches_the_optimum():
    K, Y = small_problem(9)
    dual = mlodm.dual(K, Y, 2.0, 0.2, 0.4)
    solution, history = mlodm.block_coordinate_descent(K, Y, 2.0, 0.2, 0.4, tol=1e-8)
    assert solution.objective == pytest.approx(dual.objective, rel=1e-6)
    np.testing.assert_allclose(solution.F, dual.F, atol=1e-3)
    assert (np.diff(history) >= -1e-9 * abs(history[-1])).all()
    assert solution.objective <= dual.objective * (1 + 1e-12)


def test_multiplicative_updates_solve_a_small_programme():
    rng = np.random.default_rng(10)
    A = rng.normal(size=(6, 6))
    H = A @ A.T + np.eye(6)
    v = rng.normal(size=6)
    eta = mlodm.multiplicative_updates(H, v, np.ones(6), tol=1e-14, max_updates=20000)
    gradient = H @ eta + v
    assert (eta >= 0).all()
    np.testing.assert_allclose(np.minimum(eta, gradient), 0.0, atol=1e-8)


@pytest.mark.parametrize(("theta", "mu"), [(-0.1, 0.5), (1.0, 0.5), (0.2, 0.0), (0.2, 1.1)])
def test_parameters_outside_their_range_are_errors(theta, mu):
    K, Y = small_problem(0)
    with pytest.raises(ValueError, match="expected 0"):
        mlodm.dual(K, Y, 1.0, theta, mu)


def test_without_pairs_everything_is_zero():
    Y = np.array([[1, 1], [0, 0]])
    for solution in (mlodm.primal(np.eye(2), Y, 1.0), mlodm.dual(np.eye(2), Y, 1.0)):
        assert solution.objective == 0.0
        assert not solution.F.any()
