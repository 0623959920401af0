"""RankSVMz by itself: its threshold, rows of one kind of labels, and models it equals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from multimargin import MLRL, RankSVM, RankSVMz, RelationshipOptions
from multimargin.estimators.shared import exact_models


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    Y = (X @ rng.normal(size=(4, 4)) + 0.5 * rng.normal(size=(30, 4)) > 0.3).astype(int)
    Y[0], Y[1] = 0, 1
    return X, Y


def fitted(X, Y, **parameters):
    defaults = {"kernel": "linear", "tol": 1e-8, "max_iter": 10**5, "random_state": 0}
    return RankSVMz(**(defaults | parameters)).fit(X, Y)


def test_the_zero_label_is_the_threshold(problem):
    X, Y = problem
    model = fitted(X, Y, C=10.0)
    assert_array_equal(model.decision_function(X), model.label_scores(X))
    assert_array_equal(model.predict(X), (model.label_scores(X) > 0).astype(int))
    assert "threshold" not in model.get_params()


def test_weights_of_all_labels_and_the_zero_label_sum_to_zero(problem):
    X, Y = problem
    model = fitted(X, Y, C=2.0)
    exactly = exact_models.zero_label(X @ X.T, Y, 2.0)
    zero = -model.label_scores(X).sum(axis=1) / 5
    assert_allclose(zero, exactly.F[:, -1], atol=1e-3)


def test_rows_with_all_labels_or_none_are_learned_from():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    Y = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    model = fitted(X, Y, C=100.0)
    assert_array_equal(model.predict(X), Y)
    assert_allclose(model.label_scores(X[1:3]), [[-1, -1], [1, 1]], atol=1e-3)
    with pytest.raises(ValueError, match="y has no label pair"):
        RankSVM().fit(X, Y)


def test_one_label_of_two_classes_is_a_support_vector_machine():
    """Both labels of two classes are the same problem: libsvm with C' = C (q + 1) / q."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=40) > 0).astype(int)
    # By symmetry v_2 = -v_1, so ||v_1||^2 is the regulariser 1/2 tr(V (I + 1 1^T)^-1 V^T), and the
    # loss is C / 2 of each label: together C.
    svm = SVC(C=0.5, gamma=0.3, tol=1e-10).fit(X, y)
    model = fitted(X, y, kernel="rbf", gamma=0.3, C=1.0)
    assert_allclose(model.label_scores(X)[:, 1], svm.decision_function(X), atol=1e-3)
    assert_array_equal(model.predict(X), svm.predict(X))


def test_it_is_mlrl_of_a_fixed_covariance(problem):
    X, Y = problem
    n, q = Y.shape
    covariance = (np.eye(q) + np.ones((q, q))) / (2 * q)
    other = MLRL(
        lam=1 / (2 * n * 3.0),
        kernel="linear",
        options=RelationshipOptions(fixed_covariance=covariance),
        tol=1e-7,
    )
    other.fit(X, Y)
    model = fitted(X, Y, C=3.0)
    assert model.objective_ == pytest.approx(other.objective_ * n * 3.0 / q, rel=1e-6)
    assert_allclose(model.label_scores(X), other.label_scores(X), atol=1e-2)


def test_the_complement_of_the_labels_turns_the_scores_around(problem):
    X, Y = problem
    model, other = fitted(X, Y), fitted(X, 1 - Y)
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-7)
    assert_allclose(other.label_scores(X), -model.label_scores(X), atol=1e-3)


def test_labels_of_one_class(problem):
    X, Y = problem
    Y[:, 1], Y[:, 3] = 1, 0
    model = fitted(X, Y)
    predicted = model.predict(X)
    assert predicted[:, 1].all()
    assert not predicted[:, 3].any()


def test_bad_bias(problem):
    with pytest.raises(
        ValueError, match="bias is 'fixed'; expected one of 'free', 'penalized', 'none'"
    ):
        RankSVMz(bias="fixed").fit(*problem)
