"""The exact duals of the pairwise losses: certified, feasible, over decades of C and rare data."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.metrics.pairwise import pairwise_kernels

from multimargin.estimators.shared import exact_models
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


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("seeds", first_fast([range(12), range(12, 40)], 1))
def test_the_hinge_is_certified_by_a_feasible_point(seeds, bias):
    for seed in seeds:
        with case(seed):
            check_hinge(seed, bias)


def check_hinge(seed, bias):
    K, Y, C = random_problem(seed)
    found = exact_models.hinge(K, Y, C, bias)
    # Where the bias alone separates all pairs, the optimum is exactly 0.
    bound = 1e-8 * found.primal if certificates.costs_something(Y, bias) else 1e-9
    assert abs(found.primal - found.objective) <= bound
    assert found.objective == pytest.approx(certificates.dual_objective(K, Y, found.B, bias))
    assert certificates.dual_infeasibility(Y, C, found.B, bias) <= 1e-9 * max(1, C)
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
    assert certificates.zero_label_infeasibility(Y, C, found.B, bias) <= 1e-12 * C
    value = certificates.zero_label_objective(K, found.B, bias)
    assert found.objective == pytest.approx(value)


def test_labels_of_one_class_cost_nothing_where_the_bias_is_free():
    found = exact_models.zero_label(np.eye(2), [[1, 0], [1, 0]])
    assert found.primal == found.objective == 0.0
    assert found.b.sum() == pytest.approx(0.0, abs=1e-9)


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


# -------------------------------------------------------------------------------------------------
# The judge of dual points
# -------------------------------------------------------------------------------------------------
def test_dual_infeasibility_decides_as_a_linear_programme_does():
    for seed in range(30):
        check_dual_infeasibility(seed, np.random.default_rng(seed))


def check_dual_infeasibility(seed, rng):
    q, C = 5, 1.0
    Y = np.array([[1, 1, 0, 0, 0], [1, 1, 1, 0, 0]])[seed % 2 : seed % 2 + 1]
    pairs = ep.pairs(Y)
    H = ep.pair_matrix(pairs, q)
    c = ep.pair_weights(pairs, C)
    inside = (H @ (c * rng.random(6)))[None, :]
    assert certificates.dual_infeasibility(Y, C, inside, "none") <= 1e-15
    # supplies and demands with equal sums, beyond the capacities about every other time
    supply, demand = rng.random(Y.sum()), rng.random(q - Y.sum())
    beta = np.concatenate([supply / supply.sum(), -demand / demand.sum()])
    beta *= rng.uniform(0.3, 1.0) * C
    flow = linprog(np.zeros(6), A_eq=H, b_eq=beta, bounds=list(zip(0 * c, c, strict=True)))
    feasible = certificates.dual_infeasibility(Y, C, beta[None, :], "none") <= 1e-9
    assert feasible == (flow.status == 0)


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
