"""Label powerset against scikit-learn's multi-class classifiers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from multimargin.baselines import LabelPowerset
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 80, 4, 3, noise=0.3)


def test_the_best_set_is_predicted():
    names = ["".join(map(str, row)) for row in Y]
    for classifier in (LogisticRegression(), KNeighborsClassifier(1), SVC(break_ties=True)):
        expected = classifier.fit(X, names).predict(X + 0.1)
        predicted = LabelPowerset(classifier).fit(X, Y).predict(X + 0.1)
        assert ["".join(map(str, row)) for row in predicted] == list(expected)


def test_scores_are_differences_of_the_best_sets():
    model = LabelPowerset(LogisticRegression()).fit(X, Y)
    values = LogisticRegression().fit(X, Y @ [4, 2, 1]).decision_function(X)
    sets = [tuple(map(int, f"{code:03b}")) for code in sorted({*(Y @ [4, 2, 1]).tolist()})]
    assert_array_equal(model.label_sets_, sets)
    for i in range(0, 80, 10):
        for k in range(3):
            within = max(value for value, s in zip(values[i], sets, strict=True) if s[k])
            without = max(value for value, s in zip(values[i], sets, strict=True) if not s[k])
            assert model.label_scores(X)[i, k] == pytest.approx(within - without)


def test_labels_that_none_or_all_have():
    wide = np.hstack([np.zeros((80, 1), dtype=int), Y, np.ones((80, 1), dtype=int)])
    model, plain = LabelPowerset().fit(X, wide), LabelPowerset().fit(X, Y)
    scores = model.label_scores(X)
    assert_allclose(scores[:, 1:4], plain.label_scores(X))
    assert (scores[:, 0] < scores[:, 1:].min(axis=1)).all()
    assert (scores[:, 4] > scores[:, :4].max(axis=1)).all()
    assert_array_equal(model.predict(X)[:, [0, 4]], np.tile([0, 1], (80, 1)))


def test_two_sets_and_one():
    two = np.column_stack([Y[:, 0], 1 - Y[:, 0]])
    values = SVC(kernel="linear").fit(X, Y[:, 0]).decision_function(X)
    expected = np.column_stack([values, -values])
    assert_allclose(LabelPowerset().fit(X, two).label_scores(X), expected, atol=1e-9)
    one = LabelPowerset().fit(X, np.tile([1, 0], (80, 1)))
    assert_array_equal(one.predict(X[:2]), [[1, 0], [1, 0]])
