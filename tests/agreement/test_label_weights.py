"""Weights of labels and the top of the ranking: every loop against the reference."""

import numpy as np
import pytest

from multimargin import MLODM, RankCVM, RankHLapSVM, RankLSVM, RankSVM, RankSVMz
from multimargin.estimators.shared import exact_models
from multimargin.verification.random_problems import random_problems
from tests.support.subsets import first_fast

PROBLEMS = list(random_problems(2000, seed=31))
TOL = 1e-7


def drawn(problem, seed):
    """Weights of the labels and of the rows, and a matrix with unknown labels, all at random."""
    random = np.random.default_rng(seed)
    n, q = problem.Y.shape
    label_weights = 10.0 ** random.uniform(-1.5, 1.5, size=q)
    sample_weight = random.integers(1, 4, size=n).astype(float) if seed % 2 else None
    Y = problem.Y.astype(float)
    if seed % 3 == 0:
        Y[random.random(Y.shape) < 0.15] = np.nan
    return label_weights, sample_weight, Y


def reference_weights(C, label_weights, sample_weight, Y):
    rows = np.ones(len(Y)) if sample_weight is None else sample_weight
    return C * rows[:, None] * np.where(Y == 1, label_weights, 1.0)


def has_pairs(Y):
    return bool(((Y == 1).any(axis=1) & (Y == 0).any(axis=1)).any())


def kernel_matrix(problem):
    from multimargin.kernels import make_kernel

    kernel = make_kernel(
        problem.kernel, problem.X, gamma=problem.gamma, degree=3, coef0=problem.coef0
    )
    K = kernel.matrix(problem.X, threads=1)
    return (K + K.T) / 2.0


def model_of(problem, method, **parameters):
    given = {"kernel": problem.kernel, "gamma": problem.gamma, "coef0": problem.coef0}
    return method(C=problem.C, tol=TOL, max_iter=100_000, random_state=0, **given, **parameters)


def check(problem, seed, method, optimum_of, **parameters):
    label_weights, sample_weight, Y = drawn(problem, seed)
    if not has_pairs(Y):
        pytest.skip("no pairs")
    model = model_of(problem, method, class_weight=label_weights, **parameters)
    model.fit(problem.X, Y, sample_weight=sample_weight)
    C = reference_weights(problem.C, label_weights, sample_weight, Y)
    optimum = optimum_of(kernel_matrix(problem), Y, C)
    slack = 1e-6 * optimum + 1e-9 * (1.0 + C.max())
    assert abs(model.objective_ - optimum) <= slack
    assert model.dual_objective_ <= optimum + slack
    assert model.dual_gap_ <= TOL or model.status_ == "stalled"


@pytest.mark.parametrize("number", first_fast(range(0, 2000, 4), 40))
def test_the_hinge(number):
    problem = PROBLEMS[number]

    def optimum(K, Y, C):
        return exact_models.hinge(K, Y, C, problem.bias).objective

    check(problem, number // 4, RankSVM, optimum, bias=problem.bias)


@pytest.mark.parametrize("number", first_fast(range(1, 2000, 4), 40))
def test_the_squared_hinge(number):
    def optimum(K, Y, C):
        return exact_models.squared_hinge(K, Y, C).objective

    check(PROBLEMS[number], number // 4, RankLSVM, optimum)


@pytest.mark.parametrize("number", first_fast(range(2, 2000, 4), 40))
def test_the_optimal_margin(number):
    def optimum(K, Y, C):
        return exact_models.optimal_margin(K, Y, C, 0.2, 0.5).objective

    check(PROBLEMS[number], number // 4, MLODM, optimum)


@pytest.mark.parametrize("number", first_fast(range(3, 2000, 4), 30))
def test_the_zero_label(number):
    problem = PROBLEMS[number]

    def optimum(K, Y, C):
        return exact_models.zero_label(K, Y, C, problem.bias).objective

    check(problem, number // 4, RankSVMz, optimum, bias=problem.bias)


@pytest.mark.parametrize("solver", ["bcd", "frank-wolfe", "pairwise-frank-wolfe"])
@pytest.mark.parametrize("number", first_fast(range(5, 400, 20), 4))
def test_the_margin_of_rank_cvm(number, solver):
    # The optimum at a margin of 1 is 1/(4 times that of problem 37).
    problem = PROBLEMS[number]
    label_weights, sample_weight, Y = drawn(problem, number)
    C = reference_weights(problem.C, label_weights, sample_weight, Y)
    optimum = 0.25 / exact_models.squared_hinge(kernel_matrix(problem), Y, C).objective
    tol = TOL if solver == "bcd" else 1e-2
    given = {"kernel": problem.kernel, "gamma": problem.gamma, "coef0": problem.coef0}
    model = RankCVM(
        C=problem.C, tol=tol, max_iter=100_000, solver=solver, class_weight=label_weights, **given
    )
    model.fit(problem.X, Y, sample_weight=sample_weight)
    assert model.dual_objective_ <= optimum * (1.0 + 1e-6)
    assert optimum * (1.0 - 1e-6) <= model.objective_ <= optimum * (1.0 + 2.0 * tol + 1e-6)


@pytest.mark.parametrize("number", first_fast(range(0, 2000, 4), 40))
def test_the_hinge_at_the_top(number):
    problem = PROBLEMS[number]
    top = 1 + number // 4 % 4

    def optimum(K, Y, C):
        return exact_models.hinge(K, Y, C, problem.bias, top).objective

    check(problem, number // 4, RankSVM, optimum, bias=problem.bias, top_k=top)


@pytest.mark.parametrize("number", first_fast(range(1, 2000, 8), 20))
def test_the_squared_hinge_at_the_top(number):
    top = 1 + number // 8 % 4

    def optimum(K, Y, C):
        return exact_models.squared_hinge(K, Y, C, "penalized", top).objective

    check(PROBLEMS[number], number // 8, RankLSVM, optimum, top_k=top)


@pytest.mark.parametrize("method", [RankSVM, RankLSVM, RankHLapSVM, RankCVM])
@pytest.mark.parametrize("given", [{"top_k": 2}, {"top_k": 2, "class_weight": "balanced"}])
def test_the_exact_solver_agrees(method, given):
    problem = next(problem for problem in PROBLEMS if problem.Y.shape[1] == 5)
    settings = {"C": 2.0, "kernel": "rbf", **given}
    exact = method(**settings, solver="exact").fit(problem.X, problem.Y)
    model = method(**settings, tol=TOL, max_iter=100_000).fit(problem.X, problem.Y)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-6)
