"""Plain Rank-CVM and Rank-LSVM: primal, dual, the equivalence, and the published loop."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from multimargin import RankCVM
from multimargin.reference import rank_cvm, rank_lsvm, rank_svm
from tests.support.problems import noisy_linear_problem, unrelated_problem


def test_primal_and_dual_agree_and_so_does_the_equivalent_problem():
    X, Y = unrelated_problem(1, 12, 3, 4, share=0.45)
    K, C = X @ X.T, 2.0
    value, w, b, rho = rank_cvm.problem_30(X, Y, C)
    minus, alpha = rank_cvm.problem_37(K, Y, C)
    assert value == pytest.approx(-minus, rel=1e-6)
    Theta = rank_cvm.quadratic_form(K, Y, C)
    assert alpha @ Theta @ alpha == pytest.approx(rho, rel=1e-5)
    # Optimality on the simplex: no gradient entry is below alpha^T Theta alpha.
    assert (Theta @ alpha).min() == pytest.approx(rho, rel=1e-4)
    F = rank_cvm.scores(K, rank_svm.proxy(alpha, Y))
    np.testing.assert_allclose(F, X @ w + b, atol=1e-4 * np.abs(F).max())
    # The remark at the end of the file.
    _, of_margin_1 = rank_lsvm.dual(K, Y, C)
    np.testing.assert_allclose(of_margin_1 / of_margin_1.sum(), alpha, atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_published_loop_descends_to_the_optimum(seed):
    X, Y = unrelated_problem(seed, 12, 3, 4, share=0.45)
    K, C = X @ X.T, 2.0
    optimum, _ = rank_cvm.problem_37(K, Y, C)
    beta, history = rank_cvm.frank_wolfe(K, Y, C, epsilon=1e-4 * optimum)
    s, lam, W, z = (np.array(column) for column in zip(*history, strict=True))
    Theta = rank_cvm.quadratic_form(K, Y, C)
    assert W[0] == pytest.approx(0.5 * np.diagonal(Theta).min())
    assert (np.diff(W) <= 0).all()
    # Case 2 of section 7.1: -z bounds the distance to the optimum in every iteration.
    assert (W - optimum <= -z + 1e-8).all()
    assert W[-1] == pytest.approx(optimum, rel=0.05)
    # The recursions (67) and (68) are those of alpha, (65).
    alpha = np.eye(len(Theta))[np.argmin(np.diagonal(Theta))]
    for chosen, step in zip(s, lam, strict=True):
        alpha = (1 - step) * alpha + step * np.eye(len(Theta))[chosen]
    assert W[-1] == pytest.approx(0.5 * alpha @ Theta @ alpha, rel=1e-9)
    np.testing.assert_allclose(beta, rank_svm.proxy(alpha, Y), atol=1e-12)


def test_the_threshold_has_the_unit_of_the_scores():
    X, Y = noisy_linear_problem(0, 40, 3, 4)
    model = RankCVM(C=10.0, kernel="linear", threshold="scores", tol=1e-8, random_state=0).fit(X, Y)
    F = model.label_scores(X)
    assert model.rho_ < 0.1
    found = rank_svm.predict(F, *rank_cvm.threshold(F, Y, model.rho_))
    assert_array_equal(found, model.predict(X))
    of_margin_1 = rank_svm.threshold(F / model.rho_, Y)
    assert_array_equal(found, rank_svm.predict(F / model.rho_, *of_margin_1))
    # With one unit beyond scores of this size, other labels come out.
    assert (found != rank_svm.predict(F, *rank_svm.threshold(F, Y))).any()
