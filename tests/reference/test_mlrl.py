"""The exact models of MLRL and SSMLRL against each other, and the published loops against them."""

import itertools

import numpy as np
import pytest

from multimargin.reference import mlrl
from tests.support.problems import random_covariance


def problem(seed, n=10, q=3, unlabelled=0):
    random = np.random.default_rng(seed)
    G = random.normal(size=(n + unlabelled, 4))
    Y = (random.random((n, q)) < 0.4).astype(int)
    Y[0], Y[1] = 1, 0
    return G @ G.T, Y, 0.1, random_covariance(random, q)


@pytest.mark.parametrize("seed", range(10))
def test_primal_and_dual_of_a_fixed_covariance_agree(seed):
    K, Y, lam, Omega = problem(seed)
    solution = mlrl.primal(K, Y, lam, Omega)
    value, Z = mlrl.dual(K, Y, lam, Omega)
    assert abs(solution.objective - value) <= 1e-8
    assert mlrl.dual_infeasibility(Y, Z) <= 1e-8
    # (9): W = phi(X)^T Z Omega / lam
    np.testing.assert_allclose(K @ solution.A, K @ Z @ Omega / lam, atol=1e-6)
    np.testing.assert_allclose(mlrl.dual_objective(K, solution.Z, lam, Omega), value, atol=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_the_trace_norm_model_is_the_joint_problem(seed):
    K, Y, lam, Omega = problem(seed)
    joint = mlrl.joint(K, Y, lam)
    # No covariance does better, the one of (11) does as well, and the dual bound is tight.
    assert joint.objective <= mlrl.primal(K, Y, lam, Omega).objective
    assert abs(mlrl.primal(K, Y, lam, joint.Omega).objective - joint.objective) <= 1e-6
    assert abs(mlrl.joint_bound(K, joint.Z, lam) - joint.objective) <= 1e-6
    assert abs(mlrl.joint_objective(K, Y, lam, joint.A, joint.b) - joint.objective) <= 1e-8
    assert abs(np.trace(joint.Omega) - 1.0) <= 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_the_step_of_the_covariance_is_best(seed):
    random = np.random.default_rng(seed)
    W = random.normal(size=(6, 4))
    best = mlrl.omega_step(W.T @ W)
    value = np.trace(W @ np.linalg.solve(best, W.T))
    assert abs(value - np.linalg.norm(W, "nuc") ** 2) <= 1e-9
    other = random_covariance(random, 4)
    assert value <= np.trace(W @ np.linalg.solve(other, W.T)) + 1e-9
    np.testing.assert_array_equal(mlrl.omega_step(np.zeros((2, 2))), np.eye(2) / 2)


@pytest.mark.parametrize("seed", range(10))
def test_smo_satisfies_the_optimality_conditions(seed):
    K, Y, lam, Omega = problem(seed)
    Z, b, steps = mlrl.smo(K, Y, lam, Omega, epsilon=1e-8)
    value, _ = mlrl.dual(K, Y, lam, Omega)
    assert abs(mlrl.dual_objective(K, Z, lam, Omega) - value) <= 1e-7
    assert mlrl.dual_infeasibility(Y, Z) <= 1e-15
    assert steps > 0
    y = 2.0 * Y - 1.0
    F = K @ Z @ Omega / lam + b
    primal = mlrl.hinge(F, y, np.full(y.shape, 1.0 / len(y))) + np.sum(Z * (F - b)) / 2
    assert abs(primal - value) <= 1e-6


def test_alternation_decreases_the_joint_objective_and_stays_above_the_optimum():
    K, Y, lam, _ = problem(3)
    solution, history = mlrl.alternate(K, Y, lam, max_iter=8, epsilon=1e-9)
    assert all(later <= earlier + 1e-7 for earlier, later in itertools.pairwise(history))
    assert history[-1] >= mlrl.joint(K, Y, lam).objective - 1e-8
    assert abs(solution.objective - history[-1]) == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_the_data_dependent_kernel_turns_the_semi_supervised_problem_into_mlrl(seed):
    K, Y, lam1, Omega = problem(seed, unlabelled=6)
    lam2 = 0.05
    objective, F = mlrl.semi_supervised_primal(K, Y, lam1, lam2, Omega)
    reduced = mlrl.data_dependent_kernel(K, len(Y), lam1 / lam2)
    solution = mlrl.primal(reduced[: len(Y), : len(Y)], Y, lam1, Omega)
    assert abs(objective - solution.objective) <= 1e-7
    scores = reduced[:, : len(Y)] @ solution.A
    np.testing.assert_allclose(
        scores - scores.mean(axis=0), F - F.mean(axis=0), atol=1e-4 * np.abs(F).max()
    )
    joint, _ = mlrl.semi_supervised_primal(K, Y, lam1, lam2)
    expected = mlrl.joint(reduced[: len(Y), : len(Y)], Y, lam1).objective
    assert abs(joint - expected) <= 1e-6


def test_the_covariance_step_of_unlabelled_scores_is_that_of_the_reduced_kernel():
    K, Y, lam1, Omega = problem(1, unlabelled=6)
    lam2, n = 0.05, len(Y)
    Z = mlrl.dual(mlrl.data_dependent_kernel(K, n, 2.0)[:n, :n], Y, lam1, Omega)[1]
    K_ul, K_uu = K[n:, :n], K[n:, n:]
    Gamma = -np.linalg.solve(lam1 / lam2 * np.eye(6) + K_uu, K_ul @ Z)  # (20)
    A = np.vstack([Z, Gamma]) @ Omega / lam1  # (17)
    F = K[n:] @ A
    left = lam1 * A.T @ K @ A + lam2 * F.T @ F
    reduced = mlrl.data_dependent_kernel(K, n, lam1 / lam2)[:n, :n]
    np.testing.assert_allclose(left, Omega @ Z.T @ reduced @ Z @ Omega / lam1, atol=1e-12)


def test_malformed_arguments_are_named():
    K, Y, lam, Omega = problem(0)
    with pytest.raises(ValueError, match="lam"):
        mlrl.primal(K, Y, 0.0, Omega)
    with pytest.raises(ValueError, match="Omega"):
        mlrl.primal(K, Y, lam, np.eye(2))
    with pytest.raises(ValueError, match="K has"):
        mlrl.joint(K[:4, :4], Y, lam)


@pytest.mark.parametrize("fixed", [True, False])
def test_the_norm_of_an_expansion_is_that_of_the_weights_on_a_nearly_constant_kernel(fixed):
    random = np.random.default_rng(0)
    X = 1e-3 * random.normal(size=(12, 2))
    K = np.exp(-0.2 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    Y = (random.random((12, 2)) < [0.7, 0.8]).astype(int)
    if fixed:
        root = np.array([[0.8, 0.6]])
        solution = mlrl.primal(K, Y, 0.06, root.T @ root)
    else:
        solution = mlrl.joint(K, Y, 0.06)
    assert np.abs(solution.A.sum(axis=0)).max() <= 1e-14 * np.abs(solution.A).sum()
    signs = 2.0 * Y - 1.0
    loss = mlrl.hinge(K @ solution.A + solution.b, signs, np.full(signs.shape, 1.0 / len(signs)))
    norm = np.trace(np.linalg.pinv(solution.Omega) @ solution.A.T @ K @ solution.A)
    np.testing.assert_allclose(loss + 0.03 * norm, solution.objective, rtol=1e-6)
