"""The compiled LLSF loops against the reference and scikit-learn's Lasso."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.svm import SVC

from multimargin import (
    LLSF,
    LabelSpecificBinaryRelevance,
    LabelSpecificClassifierChain,
    beta_max,
)
from multimargin.estimators.shared import exact_features
from multimargin.reference import llsf
from tests.support.cases import case
from tests.support.problems import unrelated_problem


def random_problem(seed):
    """X, Y, alpha, beta: wide and tall, with duplicate, absent and universal labels in turn."""
    rng = np.random.default_rng(seed)
    n, d, q = rng.integers(4, 13), rng.integers(2, 13), rng.integers(2, 5)
    X = rng.normal(size=(n, d))
    Y = (rng.random((n, q)) < 0.4).astype(int)
    kind = seed % 6
    if kind == 1:
        Y[:, 0] = Y[:, -1]
    if kind == 2:
        Y[:, 0] = 0
    if kind == 3:
        Y[:, 0] = 1
    if kind == 4:
        X[:, -1] = X[:, 0]
    if kind == 5:
        X[:, 0] = 0.0
    # Little of the tall problems' convexity survives a large alpha, so some are small.
    alpha = [0.0, 0.05, 0.5, 3.0][seed % 4]
    return X, Y, alpha, 10.0 ** rng.uniform(-1.5, 0.3)


@pytest.mark.parametrize("solver", ["admm", "apg"])
def test_the_exact_optimum_is_reached_and_no_bound_exceeds_it(solver):
    # The form has a null space where features are more than rows, or columns equal or 0.
    shifts = []
    for seed in range(24):
        X, Y, alpha, beta = random_problem(seed)
        for scale in (1e-6, 1.0):
            with case(seed, scale):
                exact, _ = exact_features.solve_exactly(X, Y, alpha, scale * beta)
                model = LLSF(alpha, scale * beta, solver=solver, tol=1e-9, max_iter=100_000)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    model.fit(X, Y)
                # Where R alone is indefinite, the objective may be negative.
                allowance = 1e-7 * max(abs(exact), 1e-3)
                assert (model.history_["dual"] <= exact + allowance).all()
                if scale == 1.0:
                    assert abs(model.objective_ - exact) <= 10.0 * allowance
        shifts.append(model.shift_)
    assert min(shifts) == 0.0 < max(shifts)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("shape", [(40, 12), (12, 40)])
def test_beyond_the_largest_beta_one_certificate_suffices(alpha, shape):
    X, Y = unrelated_problem(4, *shape, 4)
    model = LLSF(alpha, 1.01 * beta_max(X, Y), solver="admm", tol=1e-9).fit(X, Y)
    assert model.n_iter_ == 0
    assert not model.coef_.any()
    assert model.objective_ == pytest.approx(0.5 * Y.sum(), rel=1e-12)


@pytest.mark.parametrize("shape", [(80, 20, 5), (60, 60, 4), (30, 90, 4)])
@pytest.mark.parametrize("beta", [0.05, 0.5, 3.0])
def test_independent_labels_agree_with_lasso(shape, beta):
    n, d, q = shape
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    Y = (X[:, :q] + 0.5 * rng.normal(size=(n, q)) > 0.3).astype(int)
    lasso = Lasso(alpha=beta / n, fit_intercept=False, tol=1e-10, max_iter=1_000_000).fit(X, Y)
    zero = np.zeros((q, q))
    best = llsf.objective(X, Y, lasso.coef_.T, zero, 0.0, beta)
    for solver in ("cd", "admm", "apg"):
        model = LLSF(0.0, beta, solver=solver, tol=1e-9, max_iter=200_000).fit(X, Y)
        assert model.objective_ == pytest.approx(best, rel=1e-7)
        if d < n:
            np.testing.assert_allclose(model.coef_, lasso.coef_, atol=1e-5)


def test_certificate_is_that_of_the_returned_point():
    X, Y, _, _ = random_problem(10)
    for alpha in (0.0, 0.7):
        model = LLSF(alpha, 0.2, tol=1e-4).fit(X, Y)
        R = llsf.label_dissimilarity(Y) + model.shift_ * np.eye(Y.shape[1])
        W = model.coef_.T
        assert model.objective_ == pytest.approx(llsf.objective(X, Y, W, R, alpha, 0.2), rel=1e-12)
        g = llsf.gradient(X, Y, W, R, alpha)
        residual = np.where(W == 0, np.maximum(np.abs(g) - 0.2, 0), np.abs(g + 0.2 * np.sign(W)))
        assert model.kkt_residual_ == pytest.approx(residual.max(), abs=1e-12)


@pytest.mark.parametrize("convex", [True, False])
def test_published_loop_takes_the_same_steps(convex):
    X, Y = unrelated_problem(1, *((40, 8) if convex else (10, 30)), 4)
    for iterations in (1, 2, 7, 30):
        model = LLSF(0.5, 0.1, convexify=False, tol=1e-15, max_iter=iterations)
        with pytest.warns(ConvergenceWarning, match="ended|unbounded"):
            model.fit(X, Y)
        loop = llsf.algorithm_1(X, Y, 0.5, 0.1, max_iter=iterations)
        assert model.n_iter_ == iterations
        np.testing.assert_allclose(model.coef_.T, loop.W, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.history_["primal"], loop.history, rtol=1e-8)
    assert model.status_ == "max_iterations"
    assert (model.dual_objective_ > 0) == convex


def test_classifiers_on_own_features_are_the_plain_ones():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 12))
    Y = (X[:, :4] + X[:, 4:8] + 0.5 * rng.standard_normal((60, 4)) > 0.3).astype(int)
    svm, selector = SVC(kernel="linear", C=1.0), LLSF(beta=2.0)
    relevance = LabelSpecificBinaryRelevance(svm, selector).fit(X[:40], Y[:40])
    W = relevance.selector_.coef_.T
    assert 0 < np.count_nonzero(W) < W.size
    labels, scores = llsf.algorithm_3(X[:40], Y[:40], X[40:], W, lambda: clone(svm))
    np.testing.assert_allclose(relevance.decision_function(X[40:]), scores, atol=1e-6)
    np.testing.assert_array_equal(relevance.predict(X[40:]), labels)
    pi = [2, 0, 3, 1]
    chain = LabelSpecificClassifierChain(svm, selector, order=pi).fit(X[:40], Y[:40])
    labels, scores = llsf.classifier_chain(X[:40], Y[:40], X[40:], W, lambda: clone(svm), pi)
    np.testing.assert_allclose(chain.decision_function(X[40:]), scores, atol=1e-6)
    np.testing.assert_array_equal(chain.predict(X[40:]), labels)
