"""The compiled LLSF loops against the reference and scikit-learn's Lasso."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.svm import SVC

from multimargin import LLSF, LabelSpecificBinaryRelevance, LabelSpecificClassifierChain
from multimargin.reference import llsf
from tests.support.problems import unrelated_problem


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
