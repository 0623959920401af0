"""Weights and the highest labels alone: what Xu 2013 has for one C and all pairs, and else."""

import numpy as np
import pytest

from multimargin.reference import beyond, rank_cvm, rank_svm
from tests.support.problems import unrelated_problem

ROWS, LABELS, C = 12, 4, 1.7
SAME = (C, np.full(ROWS, C), np.full((ROWS, LABELS), C))


def draw(seed):
    X, Y = unrelated_problem(seed, ROWS, 3, LABELS, share=0.45)
    Y = Y.astype(float)
    Y[np.random.default_rng(seed).random(Y.shape) < 0.1] = np.nan
    return X, X @ X.T, Y


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("k", [None, LABELS])
@pytest.mark.parametrize("weights", SAME, ids=["one", "instances", "labels"])
def test_one_weight_and_all_labels_are_the_paper(weights, k, seed):
    X, K, Y = draw(seed)
    C_i = rank_svm.upper_bounds(Y, C)
    np.testing.assert_array_equal(beyond.upper_bounds(Y, weights, k), C_i)
    primal, _, b = rank_svm.problem_18(X, Y, C)
    dual, alpha, _ = rank_svm.problem_26(K, Y, C)
    beta = rank_svm.proxy(alpha, Y)
    assert beyond.problem_18(X, Y, weights, k)[0] == pytest.approx(primal, rel=1e-6)
    assert beyond.problem_26(K, Y, weights, k)[0] == pytest.approx(dual, rel=1e-6)
    of_paper = rank_svm.objective_18(K, Y, C, beta, b)
    assert beyond.objective_18(K, Y, weights, beta, b, k) == pytest.approx(of_paper, rel=1e-12)
    on_simplex, alpha = rank_cvm.problem_37(K, Y, C)
    assert beyond.problem_37(K, Y, weights, k)[0] == pytest.approx(on_simplex, rel=1e-6)
    of_paper = alpha @ rank_cvm.quadratic_form(K, Y, C) @ alpha
    assert beyond.value_of_theta(alpha, K, Y, weights, k) == pytest.approx(of_paper, rel=1e-6)


@pytest.mark.parametrize("k", [None, 1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_the_loss_is_the_mean_of_the_largest_of_each_relevant_label(seed, k):
    import cvxpy as cp

    _, _, Y = draw(seed)
    rng = np.random.default_rng(seed)
    i, m, _ = rank_svm.pairs(Y)
    xi, weights = rng.exponential(size=len(i)), rng.uniform(0.5, 2.0, size=Y.shape)
    expected = 0.0
    for row, label in sorted({*zip(i, m, strict=True)}):
        own = np.sort(xi[(i == row) & (m == label)])[::-1][:k]
        expected += weights[row, label] / (Y[row] == 1).sum() * own.mean()
    assert beyond.value_of_loss(xi, Y, weights, k) == pytest.approx(expected, rel=1e-12)
    assert beyond.loss(cp.Constant(xi), Y, weights, k).value == pytest.approx(expected, rel=1e-12)
