"""RAkEL against votes that are counted one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from multimargin.baselines import LabelPowerset, RAkEL
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 60, 5, 5, noise=0.5)


@pytest.mark.parametrize("overlapping", [True, False])
def test_votes(overlapping):
    model = RAkEL(2, overlapping=overlapping, estimator=LogisticRegression(), random_state=0)
    model.fit(X, Y)
    votes, voters = np.zeros(Y.shape), np.zeros(5)
    for labels in model.labelsets_:
        # A multi-class problem whose classes are written as text.
        classes = ["".join(map(str, row)) for row in Y[:, labels]]
        predicted = LogisticRegression().fit(X, classes).predict(X)
        votes[:, labels] += [list(map(int, name)) for name in predicted]
        voters[labels] += 1
    expected = votes / np.maximum(voters, 1)
    assert_allclose(model.label_scores(X), expected)
    assert_array_equal(model.predict(X), expected > 0.5)


def test_sets():
    X, Y = np.zeros((4, 1)), np.array([[1, 0, 1, 0, 1, 1, 0]] * 2 + [[0, 1, 0, 0, 1, 0, 1]] * 2)
    many = RAkEL(random_state=0).fit(X, Y).labelsets_
    assert len({tuple(labels) for labels in many}) == len(many) == 14
    assert all(len(set(labels)) == 3 for labels in many)
    parts = RAkEL(overlapping=False, random_state=0).fit(X, Y).labelsets_
    assert [len(labels) for labels in parts] == [3, 3, 1]
    assert sorted(np.concatenate(parts)) == list(range(7))
    # There are no more than 21 sets of 2 of 7 labels.
    assert len(RAkEL(2, n_models=1000, random_state=0).fit(X, Y).labelsets_) == 21


def test_all_labels_at_once_are_a_label_powerset():
    all_at_once = RAkEL(9, random_state=0).fit(X, Y)
    assert len(all_at_once.labelsets_) == 1
    assert_array_equal(all_at_once.predict(X), LabelPowerset().fit(X, Y).predict(X))
