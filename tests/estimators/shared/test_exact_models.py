"""The exact duals of the pairwise losses: certified, over decades of C and rare data."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels

from multimargin.estimators.shared import exact_flows, exact_models
from multimargin.estimators.shared import exact_pairs as ep
from tests.campaign.random_problems import random_problems
from tests.support import certificates
from tests.support.cases import case
from tests.support.subsets import first_fast

BIASES = ["free", "penalized", "none"]


def random_problem(seed, decades=4):
    """K, Y, C: linear or rbf, C over some decades around 1, degenerate rows and labels in turn."""
    rng = np.random.default_rng(seed)
    n, d, q = rng.integers(4, 16), rng.integers(1, 6), rng.integers(2, 6)
    X = rng.normal(size=(n, d))
    Y = (rng.random((n, q)) < 0.4).astype(int)
    kind = seed % 5
    if kind == 1:
        Y[:, 0] = 1  # a label relevant for all rows
    if kind == 2:
        Y[:, -1] = 0  # a label relevant for none
    if kind == 3:
        Y[0], Y[1] = 0, 1  # rows without pairs
    if kind == 4:
        X[1], X[2], Y[2] = X[0], X[0], Y[0]  # duplicates, with different and with equal labels
    K = pairwise_kernels(X, metric="linear" if seed % 2 else "rbf")
    return K, Y, 10.0 ** rng.integers(-decades, decades + 1)


def costs_something(Y, bias):
    """Whether the optimum is above 0: with a free bias, unless biases alone separate all pairs."""
    pairs = ep.pairs(Y)
    if bias != "free":
        return len(pairs.i) > 0
    c = ep.pair_weights(pairs, 1.0)
    return bool(exact_flows.interior_circulation(pairs, c, np.shape(Y)[1]).any())


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("seeds", first_fast([range(12), range(12, 40)], 1))
def test_the_hinge_is_certified(seeds, bias):
    for seed in seeds:
        with case(seed):
            check_hinge(seed, bias)


def check_hinge(seed, bias):
    K, Y, C = random_problem(seed)
    found = exact_models.hinge(K, Y, C, bias)
    # Where the bias alone separates all pairs, the optimum is exactly 0.
    bound = 1e-8 * found.primal if costs_something(Y, bias) else 1e-9
    assert abs(found.primal - found.objective) <= bound
    B, kernel = found.B, K + (bias == "penalized")
    value = np.sum(B[Y == 1]) - 0.5 * np.sum(B * (kernel @ B))
    assert found.objective == pytest.approx(value)
    assert abs(found.b.sum()) <= 1e-9 * (1 + np.abs(found.b).max()) or bias != "free"
    np.testing.assert_allclose(found.F, K @ found.B + found.b, atol=1e-12)


@pytest.mark.parametrize("problem", first_fast(random_problems(25, seed=5), 8))
def test_the_squares_are_certified(problem):
    K, Y, C = problem.X @ problem.X.T, problem.Y, problem.C
    found = [exact_models.optimal_margin(K, Y, C, *of) for of in ((0.2, 0.5), (0.7, 1.0))]
    found.append(exact_models.squared_hinge(K, Y, C))
    for solution in found:
        assert solution.primal == pytest.approx(solution.objective, rel=1e-7, abs=1e-11)


@pytest.mark.parametrize("problem", list(random_problems(12, seed=1)))
def test_the_zero_label_is_certified(problem):
    K, Y, C, bias = problem.X @ problem.X.T, problem.Y, problem.C, problem.bias
    found = exact_models.zero_label(K, Y, C, bias)
    assert found.primal == pytest.approx(found.objective, rel=1e-7, abs=1e-9 * (1 + C))
    B, kernel = found.B, K + (bias == "penalized")
    value = np.sum(np.abs(B[:, :-1])) - 0.5 * np.sum(B * (kernel @ B))
    assert found.objective == pytest.approx(value)


@pytest.mark.parametrize(
    "solve", [exact_models.hinge, exact_models.squared_hinge, exact_models.optimal_margin]
)
def test_a_problem_without_pairs_has_the_zero_solution(solve):
    found = solve(np.eye(2), [[1, 1], [0, 0]])
    assert found.objective == found.primal == 0.0
    np.testing.assert_array_equal(found.F, np.zeros((2, 2)))


def test_arguments_are_checked_and_left_alone():
    K, Y = np.eye(2), np.array([[1, 0], [0, 1]])
    with pytest.raises(ValueError, match="K has 2 rows and Y has 1"):
        exact_models.hinge(K, Y[:1])
    with pytest.raises(ValueError, match="K has 2 rows and Y has 1"):
        exact_models.zero_label(K, Y[:1])
    with pytest.raises(ValueError, match="K is indefinite"):
        exact_models.hinge(np.diag([1.0, -1.0]), Y, bias="none")
    for C in (0.0, np.nan):
        with pytest.raises(ValueError, match="C is"):
            exact_models.zero_label(K, Y, C)
    for theta, mu in ((-0.1, 0.5), (1.0, 0.5), (0.2, 0.0), (0.2, 1.1)):
        with pytest.raises(ValueError, match="expected 0"):
            exact_models.optimal_margin(K, Y, 1.0, theta, mu)
    exact_models.hinge(K, Y)
    np.testing.assert_array_equal(K, np.eye(2))
    np.testing.assert_array_equal(Y, [[1, 0], [0, 1]])


def test_dual_infeasibility_sees_every_constraint():
    Y = np.array([[1, 0], [1, 1]])
    B = np.zeros((2, 2))
    assert certificates.dual_infeasibility(Y, 1.0, B, "free") == 0
    assert certificates.dual_infeasibility(Y, 1.0, np.array([[1.5, -1.5], [0, 0]]), "none") == 0.5
    assert certificates.dual_infeasibility(Y, 1.0, np.array([[-0.5, 0.5], [0, 0]]), "none") == 0.5
    assert certificates.dual_infeasibility(Y, 1.0, np.array([[0.5, -0.25], [0, 0]]), "none") == 0.25
    assert certificates.dual_infeasibility(Y, 1.0, np.array([[0, 0], [0.5, -0.5]]), "none") == 0.5
    assert (
        certificates.dual_infeasibility(Y, 1.0, np.array([[0.75, -0.75], [0, 0]]), "free") == 0.75
    )
