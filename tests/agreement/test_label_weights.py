"""Weights of labels: every loop against the reference, whose pairs have weights one by one."""

import numpy as np
import pytest

from multimargin import MLODM, RankLSVM, RankSVM
from multimargin.reference import mlodm, rank_lsvm, rank_svm
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
        return rank_svm.dual(K, Y, C, problem.bias).objective

    check(problem, number // 4, RankSVM, optimum, bias=problem.bias)


@pytest.mark.parametrize("number", first_fast(range(1, 2000, 4), 40))
def test_the_squared_hinge(number):
    def optimum(K, Y, C):
        return rank_lsvm.dual(K, Y, C).objective

    check(PROBLEMS[number], number // 4, RankLSVM, optimum)


@pytest.mark.parametrize("number", first_fast(range(2, 2000, 4), 40))
def test_the_optimal_margin(number):
    def optimum(K, Y, C):
        return mlodm.dual(K, Y, C, 0.2, 0.5).objective

    check(PROBLEMS[number], number // 4, MLODM, optimum)
