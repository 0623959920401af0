"""RankLSVM by itself: it is the model of liblinear on pairs; the rest is the family's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import LinearSVC

from multimargin import RankLSVM


@pytest.mark.parametrize("solver", ["bcd", "dcd", "exact"])
def test_one_relevant_label_of_two_is_the_squared_hinge_svm(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=30) > 0).astype(int)
    model = RankLSVM(C=2.0, kernel="linear", solver=solver, tol=1e-11).fit(X, y)
    # Two labels: w_1 = -w_0, so with f = 2 w_1 the regulariser is ||f||^2 / 4: half
    # of liblinear's, as is the loss.
    svm = LinearSVC(C=2.0, tol=1e-10, max_iter=10**6, dual=True).fit(X, y)
    assert_allclose(model.decision_function(X), svm.decision_function(X), atol=1e-4)
