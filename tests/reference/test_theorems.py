"""What the papers prove of their losses and algorithms, on small random problems."""

import numpy as np
import pytest
from sklearn.metrics import pairwise_kernels

from multimargin import RankCVM, RankSVM
from multimargin.measures import ranking_loss
from multimargin.reference import rank_cvm, rank_svm
from tests.support.problems import unrelated_problem

C = 2.0


def small_problem(seed):
    """Rows with both kinds of labels, their rbf kernel and the labels."""
    X, Y = unrelated_problem(seed, 12, 3, 4, share=0.45)
    Y[:, 0], Y[:, 1] = 1 - Y[:, 1], Y[:, 1]
    return pairwise_kernels(X, metric="rbf", gamma=0.5), Y


# -------------------------------------------------------------------------------------------------
# Xu 2013, sections 5 and 6: bounds of the ranking loss
# -------------------------------------------------------------------------------------------------
def slack_loss(F, Y, *, margin, power):
    """The mean over the rows of the mean of xi_imn^power over the pairs, over margin^power."""
    i, m, n = rank_svm.pairs(Y)
    xi = np.maximum(0.0, margin - (F[i, m] - F[i, n])) / margin
    return float(np.sum(xi**power / np.bincount(i)[i]) / len(Y))


@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_empirical_losses_bound_the_ranking_loss(seed, cost):
    """(17) and (29)."""
    K, Y = small_problem(seed)
    both = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < Y.shape[1])
    K, Y = K[np.ix_(both, both)], Y[both]
    svm = RankSVM(cost, kernel="precomputed", tol=1e-8).fit(K, Y)
    cvm = RankCVM(cost, kernel="precomputed", tol=1e-8).fit(K, Y)
    for model, margin, power in ((svm, 1.0, 1), (cvm, cvm.rho_, 2)):
        F = model.decision_function(K)
        bound = slack_loss(F, Y, margin=margin, power=power)
        assert ranking_loss(Y, F) <= bound
        # Where all labels of a row tie, each of its pairs is an error with a slack of the margin.
        assert ranking_loss(Y, 0 * F) == 1
        assert slack_loss(0 * F, Y, margin=margin, power=power) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_bounds_are_what_the_objectives_count(seed):
    """(17) without 1/l and (29) without 1/(l rho^2) are the empirical terms of (18) and (30)."""
    X, Y = unrelated_problem(seed, 12, 3, 4, share=0.45)
    Y[Y.sum(axis=1) % 4 == 0] = [1, 0, 0, 1]
    value, w, b = rank_svm.problem_18(X, Y, C)
    term = C * len(Y) * slack_loss(X @ w + b, Y, margin=1.0, power=1)
    assert value == pytest.approx(np.sum(w**2) / 2 + term, rel=1e-6)
    value, w, b, rho = rank_cvm.problem_30(X, Y, C)
    term = C / 2 * len(Y) * rho**2 * slack_loss(X @ w + b, Y, margin=rho, power=2)
    assert value == pytest.approx((np.sum(w**2) + b @ b) / 2 - rho + term, rel=1e-5)


# -------------------------------------------------------------------------------------------------
# Xu 2013, section 7: Frank-Wolfe
# -------------------------------------------------------------------------------------------------
def bounds_of_section_7(K, Y, *, method):
    """The norm of Theta and the squared diameter, as they are and as (73) or (74) bound them."""
    i, _, _ = rank_svm.pairs(Y)
    H, q, pairs = rank_svm.coefficients(Y), Y.shape[1], len(i)
    K_max = np.abs(K).max()
    plain = np.linalg.norm((H.T @ H) * K[np.ix_(i, i)])
    if method == "Rank-SVM":
        C_i = rank_svm.upper_bounds(Y, C)
        return plain, 2 * pairs * K_max, C_i @ C_i, pairs * C**2 / (q - 1) ** 2
    Theta = rank_cvm.quadratic_form(K, Y, C)
    largest = (q // 2) * (q - q // 2)
    bound = 2 * pairs * K_max + 2 * pairs + np.sqrt(pairs) * largest / C
    return np.linalg.norm(Theta), bound, 2.0, 2.0


def run(K, Y, *, method, steps):
    """W(alpha), z and lambda of each step of Frank-Wolfe, and the optimum."""
    if method == "Rank-SVM":
        history = rank_svm.frank_wolfe(K, Y, C, epsilon=0.0, M=steps)[2]
        W, z, lam = np.transpose(history)
        return W, z, lam, rank_svm.problem_26(K, Y, C)[0]
    history = rank_cvm.frank_wolfe(K, Y, C, epsilon=0.0, M=steps / len(rank_svm.pairs(Y)[0]))[1]
    _, lam, W, z = np.transpose(history)
    return W, z, lam, rank_cvm.problem_37(K, Y, C)[0]


@pytest.mark.parametrize("method", ["Rank-SVM", "Rank-CVM"])
@pytest.mark.parametrize("seed", range(3))
def test_norms_and_diameters_are_within_71_to_74(seed, method):
    K, Y = small_problem(seed)
    H = rank_svm.coefficients(Y)
    assert np.linalg.norm(H.T @ H) <= np.sum(H**2)  # (71)
    assert np.sum(H**2) == 2 * H.shape[1]
    norm, norm_bound, diameter, diameter_bound = bounds_of_section_7(K, Y, method=method)
    assert norm <= norm_bound  # (72), and those of (73) and (74)
    assert diameter <= diameter_bound


@pytest.mark.parametrize("method", ["Rank-SVM", "Rank-CVM"])
@pytest.mark.parametrize("seed", range(3))
def test_frank_wolfe_gains_what_the_proof_of_theorem_1_says(seed, method):
    """(48) and (49), of each step below 1, and theorem 1 itself, (47) with xi of (52)."""
    K, Y = small_problem(seed)
    W, z, lam, optimum = run(K, Y, method=method, steps=100)
    gap = W - optimum
    below = lam[:-1] < 1
    assert below.sum() > 50
    curvature = (-z[:-1] / lam[:-1])[below]  # d^T Theta d, by (43)
    drop = (W[:-1] - W[1:])[below]
    np.testing.assert_allclose(drop, (z[:-1][below] ** 2) / (2 * curvature), rtol=1e-6, atol=1e-12)
    assert (
        gap[1:][below] <= gap[:-1][below] * (1 - gap[:-1][below] / (2 * curvature)) + 1e-9
    ).all()
    norm, _, diameter, _ = bounds_of_section_7(K, Y, method=method)
    p, xi = np.arange(1, gap.size + 1), 1 / lam[0] - 1
    assert xi >= 0
    assert (gap <= 2 * norm * diameter / (p + xi)).all()
