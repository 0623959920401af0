"""The plain problems of the papers and the exact models of ``solver="exact"``: one optimum."""

import numpy as np
import pytest

from multimargin.estimators.shared import exact_features, exact_models
from multimargin.reference import (
    llsf,
    mlodm,
    rank_cvm,
    rank_hlapsvm,
    rank_lsvm,
    rank_svm,
    rank_svmz,
    top_k,
)
from tests.support.cases import case
from tests.support.problems import unrelated_problem
from tests.support.subsets import first_fast

SEEDS = first_fast([range(6), range(6, 200)], 1)


def over_seeds(test):
    """Run a test of a seed for a few seeds, and as a slow one for many."""

    @pytest.mark.parametrize("seeds", SEEDS, ids=str)
    def of_all(seeds):
        for seed in seeds:
            with case(seed):
                test(seed)

    return of_all


def problem(seed):
    """Features, their kernel matrix, labels of which some rows have none or all, and C."""
    random = np.random.default_rng(seed)
    n, d, q = random.integers(6, 13), random.integers(2, 5), random.integers(3, 6)
    X, Y = unrelated_problem(seed, n, d, q, share=0.45)
    Y[:3] = 0
    Y[0, 0], Y[1, 1], Y[2] = 1, 1, seed % 2
    return X, X @ X.T, Y, 10.0 ** random.uniform(-1, 1)


def same(*values):
    for value in values[1:]:
        assert value == pytest.approx(values[0], rel=2e-6, abs=1e-7)


@over_seeds
def test_the_hinge(seed):
    X, K, Y, C = problem(seed)
    found = exact_models.hinge(K, Y, C)
    same(found.objective, found.primal, rank_svm.problem_18(X, Y, C)[0])
    same(found.objective, -rank_svm.problem_26(K, Y, C)[0])
    for bias, features in (("penalized", rank_hlapsvm.append_1(X)), ("none", X)):
        found = exact_models.hinge(K, Y, C, bias)
        no_edge = np.zeros(K.shape)
        same(found.objective, rank_hlapsvm.problem_10(features, Y, C, 0.0, no_edge)[0])
        same(found.objective, -rank_hlapsvm.problem_17(features @ features.T, Y, C)[0])


@over_seeds
def test_the_squared_hinge(seed):
    X, K, Y, C = problem(seed)
    found = exact_models.squared_hinge(K, Y, C)
    same(found.objective, found.primal, rank_lsvm.primal(X, Y, C)[0], -rank_lsvm.dual(K, Y, C)[0])
    value = 1.0 / (4.0 * found.objective)
    same(value, rank_cvm.problem_37(K, Y, C)[0], -rank_cvm.problem_30(X, Y, C)[0])


@over_seeds
def test_the_optimal_margin(seed):
    X, K, Y, C = problem(seed)
    theta, mu = np.random.default_rng(seed).uniform([0.0, 0.1], [0.9, 1.0])
    found = exact_models.optimal_margin(K, Y, C, theta, mu)
    same(found.objective, found.primal, mlodm.problem_15(X, Y, C, theta, mu)[0])
    same(found.objective, -mlodm.problem_18(K, Y, C, theta, mu)[0])


@over_seeds
def test_the_zero_label(seed):
    X, K, Y, C = problem(seed)
    found = exact_models.zero_label(K, Y, C)
    same(found.objective, found.primal, rank_svmz.primal(X, Y, C)[0], -rank_svmz.dual(K, Y, C)[0])
    for bias, kernel in (("penalized", K + 1.0), ("none", K)):
        found = exact_models.zero_label(K, Y, C, bias)
        same(found.objective, found.primal, -rank_svmz.dual(kernel, Y, C, free=False)[0])


# Inaccurate by Clarabel's measure or not: its values are compared.
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@over_seeds
def test_the_top_of_the_ranking(seed):
    X, K, Y, C = problem(seed)
    k = 1 + seed % 3
    found = exact_models.hinge(K, Y, C, "free", k)
    same(found.objective, found.primal, top_k.primal(X, Y, C, k)[0], -top_k.dual(K, Y, C, k)[0])
    found = exact_models.squared_hinge(K, Y, C, "penalized", k)
    same(found.objective, found.primal, top_k.primal(X, Y, C, k, squared=True)[0])
    same(found.objective, -top_k.dual(K, Y, C, k, squared=True)[0])


@over_seeds
def test_the_features_of_each_label(seed):
    X, _, Y, _ = problem(seed)
    alpha, beta = [0.0, 0.05, 0.5, 3.0][seed % 4], 0.2
    same(exact_features.solve_exactly(X, Y, alpha, beta)[0], llsf.problem_3(X, Y, alpha, beta)[0])
