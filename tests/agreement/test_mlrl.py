"""The Rust solvers of MLRL and SSMLRL against the exact models and the published loops."""

import warnings

import numpy as np
import pytest

from multimargin import MLRL, SSMLRL
from multimargin.reference import mlrl

PROBLEMS = 300


def random_problem(seed, unlabelled=0):
    """Kernel, labels of the first rows with both classes each, lam and a covariance."""
    random = np.random.default_rng(seed)
    n = int(random.integers(4, 13))
    q = int(random.integers(1, 5)) if unlabelled == 0 else int(random.integers(2, 4))
    q = max(q, 2)
    rank = int(random.integers(1, n + 4))
    G = random.normal(size=(n + unlabelled, rank)) * random.choice([0.3, 1.0, 3.0])
    Y = (random.random((n, q)) < random.choice([0.2, 0.5])).astype(int)
    Y[0], Y[1] = 1, 0
    lam = float(10.0 ** random.uniform(-3, 1))
    S = random.normal(size=(q, int(random.integers(1, q + 1))))
    Omega = S @ S.T / np.trace(S @ S.T)
    K = G @ G.T
    return 0.5 * (K + K.T), Y, lam, 0.5 * (Omega + Omega.T)


@pytest.mark.parametrize("block", range(10))
def test_a_fixed_covariance_reaches_the_exact_optimum(block):
    for seed in range(block, PROBLEMS, 10):
        K, Y, lam, Omega = random_problem(seed)
        expected = mlrl.primal(K, Y, lam, Omega).objective
        bound, _ = mlrl.dual(K, Y, lam, Omega)
        assert abs(expected - bound) <= 1e-7 * max(1.0, expected), seed
        model = MLRL(
            lam, kernel="precomputed", fixed_covariance=Omega, tol=1e-8, max_outer=20_000
        ).fit(K, Y)
        assert abs(model.objective_ - expected) <= 1e-6 * expected, seed
        assert abs(model.dual_objective_ - expected) <= 1e-6 * expected, seed


@pytest.mark.parametrize("block", range(10))
def test_the_joint_problem_reaches_the_trace_norm_model(block):
    for seed in range(block, PROBLEMS, 10):
        K, Y, lam, _ = random_problem(seed)
        expected = mlrl.joint(K, Y, lam).objective
        model = MLRL(lam, kernel="precomputed", tol=1e-5, max_outer=20_000).fit(K, Y)
        assert abs(model.objective_ - expected) <= 1e-4 * expected, seed
        assert model.dual_objective_ <= expected * (1 + 1e-7), seed
        assert model.dual_gap_ <= 1e-5, seed


@pytest.mark.parametrize("block", range(10))
def test_semi_supervised_sub_problems_reach_the_exact_optimum(block):
    for seed in range(block, PROBLEMS, 10):
        random = np.random.default_rng(10_000 + seed)
        unlabelled = int(random.integers(1, 8))
        K, Y, lam1, Omega = random_problem(seed, unlabelled)
        lam2 = float(lam1 * 10.0 ** random.uniform(-1, 1))
        expected, F = mlrl.semi_supervised_primal(K, Y, lam1, lam2, Omega)
        targets = np.vstack([Y, np.full((unlabelled, Y.shape[1]), -1)])
        model = SSMLRL(
            lam1,
            lam2,
            kernel="precomputed",
            fixed_covariance=Omega,
            tol=1e-8,
            max_outer=20_000,
        ).fit(K, targets)
        assert abs(model.objective_ - expected) <= 1e-6 * expected, seed
