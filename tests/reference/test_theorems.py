"""The bounds that the papers prove, on random problems. Each test has the paper's numbers."""

import numpy as np
import pytest

from multimargin.measures import ranking_loss
from multimargin.reference import rank_cvm, rank_hlapsvm, rank_svm
from tests.support.problems import unrelated_problem

SEEDS = range(4)


def problem(seed):
    X, Y = unrelated_problem(seed, 9, 3, 4, share=0.45)
    Y[:2] = [[1, 0, 0, 1], [0, 1, 0, 0]]
    kept = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 4)
    return X[kept], Y[kept], 10.0 ** np.random.default_rng(seed).uniform(-1, 1)


def matrices(X, Y, C):
    """Theta of (42) for Rank-SVM and for Rank-CVM."""
    i, H, K = rank_svm.pairs(Y)[0], rank_svm.coefficients(Y), X @ X.T
    return (H.T @ H) * K[np.ix_(i, i)], rank_cvm.quadratic_form(K, Y, C)


@pytest.mark.parametrize("seed", SEEDS)
def test_17_and_29_are_upper_bounds_of_the_ranking_loss(seed):
    X, Y, C = problem(seed)
    i, m, n = rank_svm.pairs(Y)
    share = rank_svm.upper_bounds(Y, 1.0) / len(Y)
    _, w, b = rank_svm.problem_18(X, Y, C)
    # Of any scores, not of the best ones alone.
    for F in (X @ w + b, np.random.default_rng(seed).normal(size=Y.shape)):
        xi = np.maximum(0, 1 - (F[i, m] - F[i, n]))
        assert 0 < ranking_loss(Y, F) <= share @ xi
    _, w, b, rho = rank_cvm.problem_30(X, Y, C)
    for F in (X @ w + b, rho * np.random.default_rng(seed).normal(size=Y.shape)):
        xi = np.maximum(0, rho - (F[i, m] - F[i, n]))
        assert 0 < ranking_loss(Y, F) <= share @ xi**2 / rho**2


@pytest.mark.parametrize("seed", SEEDS)
def test_71_to_74_bound_what_theorem_1_needs(seed):
    X, Y, C = problem(seed)
    H, C_i = rank_svm.coefficients(Y), rank_svm.upper_bounds(Y, C)
    of_svm, of_cvm = matrices(X, Y, C)
    l_t, q, K_max = H.shape[1], Y.shape[1], np.abs(X @ X.T).max()
    D = np.sqrt(l_t) * (q // 2) * (q - q // 2) / C
    assert np.linalg.norm(H.T @ H) <= np.linalg.norm(H) ** 2 == pytest.approx(2 * l_t)  # (71)
    assert np.linalg.norm(of_svm) <= K_max * np.linalg.norm(H.T @ H)  # (72)
    assert C_i @ C_i <= l_t * C**2 / (q - 1) ** 2 * (1 + 1e-12)  # (73)
    assert np.linalg.norm(1 / C_i) <= D * (1 + 1e-12)  # (74)
    assert np.linalg.norm(of_cvm) <= 2 * l_t * K_max + 2 * l_t + D
    # The diameters, between feasible points.
    random = np.random.default_rng(seed)
    a, b = random.dirichlet(np.full(l_t, 0.1), size=2)
    assert np.sum((a - b) ** 2) <= 2
    alpha, _, _ = rank_svm.frank_wolfe(X @ X.T, Y, C, M=5)
    assert np.sum((alpha - rank_svm.problem_26(X @ X.T, Y, C)[1]) ** 2) <= C_i @ C_i


@pytest.mark.parametrize("seed", SEEDS)
def test_theorem_1_of_xu_bounds_frank_wolfe(seed):
    X, Y, C = problem(seed)
    K, l_t = X @ X.T, len(rank_svm.pairs(Y)[0])
    of_svm, of_cvm = matrices(X, Y, C)
    optimum, *_ = rank_svm.problem_26(K, Y, C)
    _, _, svm = rank_svm.frank_wolfe(K, Y, C, epsilon=0.0, M=60)
    W = np.array([step[0] for step in svm])
    bound = 2 * np.linalg.norm(of_svm) * np.sum(rank_svm.upper_bounds(Y, C) ** 2)
    # xi by the proof, or, where its first step is 1, by what is above the optimum at first.
    xi = min(1 / svm[0][2], bound / (W[0] - optimum)) - 1
    assert xi >= -1
    assert (W - optimum <= bound / (np.arange(1, len(W) + 1) + xi) + 1e-9).all()
    optimum, _ = rank_cvm.problem_37(K, Y, C)
    _, cvm = rank_cvm.frank_wolfe(K, Y, C, epsilon=0.0, M=200 / l_t)
    W = np.array([step[2] for step in cvm])
    bound = 2 * np.linalg.norm(of_cvm) * 2
    assert (W - optimum <= bound / (np.arange(1, len(W) + 1) + 1 / cvm[0][1] - 1)).all()
    # Case 2, (44): z bounds what is above the optimum.
    assert (W - optimum <= -np.array([step[3] for step in cvm]) + 1e-12).all()


def test_the_xi_of_the_proof_fails_where_the_first_step_is_1():
    X, Y, _ = problem(0)
    C = 0.01
    _, _, svm = rank_svm.frank_wolfe(X @ X.T, Y, C, epsilon=0.0, M=2)
    optimum, *_ = rank_svm.problem_26(X @ X.T, Y, C)
    bound = 2 * np.linalg.norm(matrices(X, Y, C)[0]) * np.sum(rank_svm.upper_bounds(Y, C) ** 2)
    assert svm[0][2] == 1
    assert svm[0][0] - optimum > bound / (1 + 1 / svm[0][2] - 1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_theorem_1_of_chen_a_pass_leaves_a_share_of_what_is_above_the_optimum(seed, lam):
    X, Y, C = problem(seed)
    X = rank_hlapsvm.append_1(X)
    L = rank_hlapsvm.laplacian(Y, rank_hlapsvm.hyperedge_weights(X, Y, 0.1))
    _, iterates = rank_hlapsvm.algorithm_1(X, Y, C, lam, L, epsilon=1e-10, passes=20_000)
    A = rank_hlapsvm.kernel_27(X @ X.T, lam, L)
    g = np.array([rank_hlapsvm.objective_17(A, Y, alpha) for alpha in iterates])
    above = g - g[-1]
    assert -g[-1] == pytest.approx(rank_hlapsvm.problem_10(X, Y, C, lam, L)[0], rel=1e-6)
    shares = above[1:] / np.where(above[:-1] > 1e-9 * abs(g[-1]), above[:-1], np.inf)
    assert shares.max() < 1  # (26)
    # O(log(1 / epsilon)) passes: three more digits take no more of them than the three before.
    to = [np.argmax(above <= epsilon * above[0]) for epsilon in (1e-2, 1e-5, 1e-8)]
    assert to[0] <= to[1] <= to[2]
    assert to[2] - to[1] <= 1.5 * (to[1] - to[0]) + 3
