from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from multimargin.baselines import WithOneClassLabels
from multimargin.methods import BASELINES, make_method
from tests.support.problems import noisy_linear_problem

# The others take such labels themselves.
NAMES = [name for name, method in BASELINES.items() if method.estimator is WithOneClassLabels]


X, Y = noisy_linear_problem(0, 60, 4, 4, noise=0.3)


def with_constants(Y):
    """Put a label that no row has before the others and one that every row has behind them."""
    n = len(Y)
    return np.hstack([np.zeros((n, 1), dtype=int), Y, np.ones((n, 1), dtype=int)])


@pytest.mark.parametrize("name", NAMES)
def test_other_labels_are_learned_as_without_them(name):
    for some in (Y, Y[:, :1]):
        model = make_method(name).fit(X, with_constants(some))
        predicted, scores = model.predict(X), model.decision_function(X)
        np.testing.assert_array_equal(model.labels_with_one_class_, [0, some.shape[1] + 1])
        # The constants are ranked last and first.
        assert not predicted[:, 0].any()
        assert predicted[:, -1].all()
        assert (scores[:, 0] < scores[:, 1:].min(axis=1)).all()
        assert (scores[:, -1] > scores[:, :-1].max(axis=1)).all()
        np.testing.assert_array_equal(scores > 0, predicted)
        if some is Y:
            plain = make_method(name).fit(X, Y)
            np.testing.assert_array_equal(predicted[:, 1:-1], plain.predict(X))
            np.testing.assert_allclose(scores[:, 1:-1], plain.decision_function(X))
    none_left = make_method(name).fit(X, np.tile([1, 0], (len(X), 1)))
    np.testing.assert_array_equal(none_left.predict(X[:2]), [[1, 0], [1, 0]])
    np.testing.assert_array_equal(none_left.decision_function(X[:2]), [[1.0, 0.0], [1.0, 0.0]])


def test_constants_are_on_their_side_of_zero():
    far = SimpleNamespace(decision_function=lambda X: np.tile([-5.0, 3.0], (len(X), 1)))
    model = make_method("ovr-svc").fit(X, with_constants(Y[:, :2]))
    for model.estimator_ in (far, SimpleNamespace(predict_proba=far.decision_function)):
        scores = model.decision_function(X[:2])
        assert (scores[:, 0] < -5.0).all()
        assert (scores[:, -1] > 2.5).all()
    far.decision_function = lambda X: np.full((len(X), 2), -5.0)
    model.estimator_ = far
    assert (model.decision_function(X[:2])[:, -1] > 0.0).all()


def test_one_label_left_is_a_binary_problem():
    model = make_method("ovr-svc").fit(X, with_constants(Y[:, :1]))
    binary = SVC().fit(X, Y[:, 0])
    np.testing.assert_allclose(model.decision_function(X)[:, 1], binary.decision_function(X))
    np.testing.assert_array_equal(model.predict(X)[:, 1], binary.predict(X))


# HistGradientBoostingClassifier takes no sparse rows.
@pytest.mark.parametrize("name", [name for name in NAMES if name != "ovr-boosting"])
def test_sparse_rows(name):
    dense, stored = (make_method(name).fit(rows, Y).predict(rows) for rows in (X, csr_array(X)))
    assert (dense == stored).mean() > 0.98


@pytest.mark.parametrize("labels", [Y, np.ones_like(Y)])
def test_rows_in_lists(labels):
    model = WithOneClassLabels(OneVsRestClassifier(SVC())).fit(X.tolist(), labels[:, :1])
    for method in (model.predict, model.decision_function):
        np.testing.assert_array_equal(method(X.tolist()), method(X))


def test_refusals_and_what_is_passed_in():
    with pytest.raises(NotFittedError):
        make_method("knn").predict(X)
    with pytest.raises(ValueError, match=r"values other than 0 and 1"):
        make_method("knn").fit(X, 2.0 * Y)
    inner = BASELINES["knn"].make().estimator
    WithOneClassLabels(inner).fit(X, Y)
    assert not hasattr(inner, "classes_")
