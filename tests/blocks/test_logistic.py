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
            peer = LogisticRegression(
                C=2.0, class_weight=class_weight, solver="liblinear", tol=1e-8
            ).fit(X[kept], Y[kept, k], None if given is None else given[kept])
            found = model.decision_function(stored(X))[:, k]
            assert_allclose(found, peer.decision_function(X), atol=1e-6)
    assert_allclose(model.predict_proba(X), 1 / (1 + np.exp(-model.decision_function(X))))
    assert_array_equal(model.predict(X), model.decision_function(X) > 0)


def test_labels_of_one_value_have_their_odds():
    y = np.column_stack([Y, np.zeros(len(Y), int), np.ones(len(Y), int)])
    odds = LabelLogistic().fit(X, y).decision_function(X)
    assert_allclose(odds[:, 5], logit(0.5 / 121))
    assert_allclose(odds[:, 6], logit(120.5 / 121))
