"""LabelLogistic: scikit-learn's logistic regression of each label."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from multimargin.blocks import LabelLogistic
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 120, 6, 5, cut=0.5)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_each_label_is_that_of_scikit_learn(stored, class_weight):
    weights = np.random.default_rng(0).integers(0, 3, size=len(X)).astype(float)
    for given in (None, weights):
        model = LabelLogistic(2.0, class_weight=class_weight, tol=1e-8).fit(stored(X), Y, given)
        kept = slice(None) if given is None else given > 0
        for k in range(Y.shape[1]):
            own = np.ones(len(X)) if given is None else given.copy()
            if class_weight == "balanced":
                total = own.sum()
                for mark in (0, 1):
                    own[Y[:, k] == mark] *= total / (2.0 * own[Y[:, k] == mark].sum())
            peer = LogisticRegression(C=2.0, solver="liblinear", tol=1e-8)
            peer.fit(X[kept], Y[kept, k], own[kept])
            found = model.decision_function(stored(X))[:, k]
            assert_allclose(found, peer.decision_function(X), atol=1e-6)
    assert_allclose(model.predict_proba(X), 1 / (1 + np.exp(-model.decision_function(X))))
    assert_array_equal(model.predict(X), model.decision_function(X) > 0)


def test_labels_of_one_value_have_their_odds():
    y = np.column_stack([Y, np.zeros(len(Y), int), np.ones(len(Y), int)])
    odds = LabelLogistic().fit(X, y).decision_function(X)
    assert_allclose(odds[:, 5], logit(0.5 / 121))
    assert_allclose(odds[:, 6], logit(120.5 / 121))


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("tol", [0.5, 0.05, 1e-3])
def test_the_gap_bounds_how_far_the_objective_is_above_its_minimum(stored, class_weight, tol):
    rng = np.random.default_rng(1)
    weights, C = rng.uniform(0.1, 3.0, size=len(X)), 2.0
    y = np.where(rng.random(Y.shape) < 0.1, np.nan, Y)

    def objectives(model):
        found = []
        for k, (w, b) in enumerate(zip(model.coef_, model.intercept_, strict=True)):
            known = ~np.isnan(y[:, k])
            own, signs = weights[known].copy(), 2.0 * y[known, k] - 1.0
            if class_weight == "balanced":
                total = own.sum()
                for sign in (-1.0, 1.0):
                    own[signs == sign] *= total / (2.0 * own[signs == sign].sum())
            loss = np.log1p(np.exp(-signs * (X[known] @ w + b)))
            found.append(0.5 * (w @ w + b * b) + C * np.sum(own * loss))
        return np.array(found)

    model = LabelLogistic(C, class_weight=class_weight, tol=tol).fit(stored(X), y, weights)
    best = LabelLogistic(C, class_weight=class_weight, tol=1e-10).fit(X, y, weights)
    above = 1.0 - objectives(best) / objectives(model)
    assert (above <= model.gap_ + 1e-12).all()
    assert (model.gap_ <= 100.0 * above + 1e-3 * tol).all()
    assert best.gap_.max() < 1e-8


def test_a_label_of_one_value_has_no_gap():
    y = np.column_stack([Y, np.zeros(len(Y), int)])
    model = LabelLogistic().fit(X, y)
    assert model.gap_[5] == 0.0
    assert (model.gap_[:5] > 0.0).all()


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("unit", [1e31, 1e60, 1e140])
def test_features_that_liblinear_refuses(stored, unit):
    # With one such column the others are what they were.
    units = np.where(np.arange(X.shape[1]) == 2, unit, 1.0)
    for scale in (unit, units):
        huge = X * scale
        largest = np.abs(huge).max(axis=0)
        limited = np.where(largest > 1e20, huge / largest, huge)
        expected = LabelLogistic().fit(stored(limited), Y).predict_proba(stored(limited))
        model = LabelLogistic().fit(stored(huge), Y)
        assert_allclose(model.predict_proba(stored(huge)), expected, atol=1e-5)
        assert np.isfinite(model.gap_).all()
