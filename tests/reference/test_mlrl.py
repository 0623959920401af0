"""The models of MLRL and SSMLRL against each other, and the published loops against them."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from multimargin.reference import exact, mlrl, rank_svm
from tests.support.problems import random_covariance

LAM, LAM2 = 0.1, 0.05


def problem(seed, n=10, m=3, unlabelled=0):
    random = np.random.default_rng(seed)
    Phi = random.normal(size=(n + unlabelled, 4))
    Y = (random.random((n, m)) < 0.4).astype(int)
    Y[0], Y[1] = 1, 0
    return Phi, Phi @ Phi.T, Y, random_covariance(random, m)


@pytest.mark.parametrize("seed", range(5))
def test_primal_and_dual_of_a_fixed_covariance_agree(seed):
    Phi, K, Y, Omega = problem(seed)
    value, W, b, of_margins = mlrl.problem_8(Phi, Y, LAM, Omega)
    minus, Z = mlrl.problem_10(K, Y, LAM, Omega)
    assert value == pytest.approx(-minus, rel=1e-6)
    assert_allclose(Phi @ W, K @ Z @ Omega / LAM, atol=1e-4)  # (9)
    assert_allclose(K @ of_margins @ Omega, K @ Z @ Omega, atol=1e-4)
    assert_allclose(mlrl.predict(K, Z, b, LAM, Omega), Phi @ W + b, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_covariance_as_a_variable_is_the_trace_norm(seed):
    Phi, _, Y, Omega = problem(seed)
    value, W, b, best = mlrl.problem_6(Phi, Y, LAM)
    assert value == pytest.approx(mlrl.trace_norm(Phi, Y, LAM)[0], rel=1e-6)
    assert value <= mlrl.problem_8(Phi, Y, LAM, Omega)[0]
    assert_allclose(best, mlrl.omega_step(W.T @ W), atol=1e-3)
    assert value == pytest.approx(mlrl.objective_6(Phi @ W + b, Y, LAM, W.T @ W), rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_step_of_the_covariance_is_best(seed):
    random = np.random.default_rng(seed)
    W = random.normal(size=(6, 4))
    best = mlrl.omega_step(W.T @ W)
    value = np.trace(W @ np.linalg.solve(best, W.T))
    assert abs(value - np.linalg.norm(W, "nuc") ** 2) <= 1e-9
    other = random_covariance(random, 4)
    assert value <= np.trace(W @ np.linalg.solve(other, W.T)) + 1e-9
    assert_array_equal(mlrl.omega_step(np.zeros((2, 2))), np.eye(2) / 2)


@pytest.mark.parametrize("seed", range(5))
def test_smo_reaches_the_optimum_of_the_dual(seed):
    Phi, K, Y, Omega = problem(seed)
    Z, b = mlrl.smo(K, Y, LAM, Omega, epsilon=1e-8)
    value, *_ = mlrl.problem_8(Phi, Y, LAM, Omega)
    dual = np.abs(Z).sum() - np.sum((Z.T @ K @ Z) * Omega) / (2 * LAM)
    assert dual == pytest.approx(value, rel=1e-6)
    scores = K @ Z @ Omega / LAM + b
    hinge = np.maximum(0, 1 - (2 * Y - 1) * scores).sum() / len(Y)
    assert hinge + np.sum(Z * (scores - b)) / 2 == pytest.approx(value, rel=1e-6)


def test_the_alternation_decreases_the_objective_and_stays_above_the_optimum():
    Phi, K, Y, _ = problem(3)
    Z, _, _, values = mlrl.mlrl(K, Y, LAM, rounds=8, epsilon=1e-9)
    assert all(later <= earlier + 1e-7 for earlier, later in itertools.pairwise(values))
    optimum = mlrl.trace_norm(Phi, Y, LAM)[0]
    assert mlrl.bound_6(K, Z, LAM) <= optimum <= values[-1] + 1e-8


@pytest.mark.parametrize("seed", range(3))
def test_the_semi_supervised_problem_and_its_dual(seed):
    Phi, K, Y, Omega = problem(seed, unlabelled=6)
    l, c = len(Y), LAM / LAM2  # noqa: E741
    value, W, _, F = mlrl.problem_15(Phi, Y, LAM, LAM2, Omega)
    minus, Z, Gamma = mlrl.problem_18(Phi, Y, LAM, LAM2, Omega)
    assert value == pytest.approx(-minus, rel=1e-6)
    assert_allclose(Gamma, mlrl.gamma(K, Z, c), atol=1e-5)  # (20)
    assert_allclose(mlrl.covariance_of_weights(K, Z, LAM, c, Omega), W.T @ W, atol=1e-4)
    assert_allclose(mlrl.unlabelled_scores(K, Z, LAM, c, Omega), F, atol=1e-4)
    # (21): the problem of the labelled rows with the kernel k'.
    reduced = mlrl.data_dependent_kernel(K, l, c)
    assert -mlrl.problem_10(reduced[:l, :l], Y, LAM, Omega)[0] == pytest.approx(value, rel=1e-6)
    assert_allclose(reduced[l:, :l] @ Z @ Omega / LAM, F, atol=1e-4)


def test_the_semi_supervised_alternation_stays_above_its_optimum():
    Phi, K, Y, _ = problem(0, unlabelled=6)
    optimum, _, _, Omega = mlrl.problem_14(Phi, Y, LAM, LAM2)
    *_, learned, values = mlrl.ssmlrl(K, Y, LAM, LAM2, rounds=6, epsilon=1e-9)
    assert all(later <= earlier + 1e-7 for earlier, later in itertools.pairwise(values))
    assert optimum - 1e-6 <= values[-1] <= optimum * 1.02
    assert_allclose(learned, Omega, atol=0.1)
    # Fixed to the best covariance, (15) has the value of (14).
    assert mlrl.problem_15(Phi, Y, LAM, LAM2, Omega)[0] == pytest.approx(optimum, rel=1e-5)


@pytest.mark.parametrize("fixed", [True, False])
def test_the_norm_of_an_expansion_is_that_of_the_weights_on_a_nearly_constant_kernel(fixed):
    random = np.random.default_rng(0)
    X = 1e-3 * random.normal(size=(12, 2))
    K = np.exp(-0.2 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    Y = (random.random((12, 2)) < [0.7, 0.8]).astype(int)
    root = np.array([[0.8, 0.6]])
    solution = exact.relationship(K, Y, 0.06, root.T @ root if fixed else None)
    assert np.abs(solution.B.sum(axis=0)).max() <= 1e-14 * np.abs(solution.B).sum()
    loss = mlrl.hinge(K @ solution.B + solution.b, Y)
    norm = np.trace(np.linalg.pinv(solution.Omega) @ solution.B.T @ K @ solution.B)
    assert_allclose(loss + 0.03 * norm, solution.upper, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_dual_of_bsvm_is_a_support_vector_machine_a_label(seed):
    _, K, Y, _ = problem(seed)
    n, value = len(Y), 0.0
    for y in Y.T:
        svc = SVC(C=1 / (n * LAM), kernel="precomputed", tol=1e-10).fit(K, y)
        a, on = svc.dual_coef_[0], svc.support_
        value += LAM * (a @ K[np.ix_(on, on)] @ a / 2 - np.abs(a).sum())
    assert mlrl.problem_12(K, Y, LAM)[0] == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_13_is_the_dual_of_the_problem_before_it_with_four_lam_and_rank_svm(seed):
    Phi, K, Y, _ = problem(seed)
    Y[:3] = [[0, 0, 1], [1, 0, 0], [1, 1, 0]]
    value, W, _ = mlrl.before_13(Phi, Y, 4 * LAM)
    minus, Z = mlrl.problem_13(K, Y, LAM)
    assert value == pytest.approx(-minus, rel=1e-6)
    assert_allclose(Phi.T @ Z / (2 * LAM), W, atol=1e-4)
    # Rank-SVM of each row with a pair, all of two pairs here, which share C.
    both = Y.any(axis=1) & ~Y.all(axis=1)
    of_rank_svm = rank_svm.problem_26(K[np.ix_(both, both)], Y[both], 1 / (len(Y) * LAM))[0]
    assert minus == pytest.approx(4 * LAM * of_rank_svm, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_singular_covariance_is_the_limit_of_others(seed):
    Phi, K, Y, _ = problem(seed, unlabelled=3)
    singular = random_covariance(np.random.default_rng(seed), 3, rank=1)
    near = (1 - 1e-9) * singular + 1e-9 * np.eye(3) / 3
    rows = len(Y)
    values = [mlrl.problem_8(Phi[:rows], Y, LAM, Omega)[0] for Omega in (singular, near)]
    values.append(-mlrl.problem_10(K[:rows, :rows], Y, LAM, singular)[0])
    assert_allclose(values, values[0], rtol=1e-5)
    values = [mlrl.problem_15(Phi, Y, LAM, LAM2, Omega)[0] for Omega in (singular, near)]
    values.append(-mlrl.problem_18(Phi, Y, LAM, LAM2, singular)[0])
    assert_allclose(values, values[0], rtol=1e-5)


def test_what_is_no_label_matrix_is_named():
    Phi, K, Y, Omega = problem(0)
    named = pytest.raises(ValueError, match="Y holds -1; expected 0, 1 and NaN only")
    for solve in (
        lambda Y: mlrl.problem_6(Phi, Y, LAM),
        lambda Y: mlrl.trace_norm(Phi, Y, LAM),
        lambda Y: mlrl.problem_8(Phi, Y, LAM, Omega),
        lambda Y: mlrl.problem_10(K, Y, LAM, Omega),
        lambda Y: mlrl.problem_13(K, Y, LAM),
        lambda Y: mlrl.problem_14(Phi, Y, LAM, LAM2),
        lambda Y: mlrl.problem_15(Phi, Y, LAM, LAM2, Omega),
        lambda Y: mlrl.problem_18(Phi, Y, LAM, LAM2, Omega),
        lambda Y: mlrl.mlrl(K, Y, LAM),
        lambda Y: mlrl.ssmlrl(K, Y, LAM, LAM2),
    ):
        with named:
            solve(2 * Y - 1)
    Y[:, 1] = 0
    with pytest.raises(ValueError, match="Y has one value in column 1; expected 0 and 1"):
        mlrl.mlrl(K, Y, LAM)
