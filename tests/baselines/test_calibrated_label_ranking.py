"""CLR against votes that are counted one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from multimargin.baselines import CalibratedLabelRanking
from tests.support.problems import noisy_linear_problem


def test_votes():
    X, Y = noisy_linear_problem(0, 60, 4, 4)
    model = CalibratedLabelRanking(LogisticRegression()).fit(X, Y)
    votes = np.zeros((60, 5))  # label 4 is the virtual one, which is between the two kinds
    calibrated = np.hstack([2 * Y, np.ones((60, 1), dtype=int)])
    for first in range(5):
        for second in range(first + 1, 5):
            rows = calibrated[:, first] != calibrated[:, second]
            wins = (calibrated[:, first] > calibrated[:, second])[rows]
            for i, won in enumerate(LogisticRegression().fit(X[rows], wins).predict(X)):
                votes[i, first if won else second] += 1
    assert_allclose(model.label_scores(X), votes[:, :4] - votes[:, 4:])
    assert_array_equal(model.predict(X), votes[:, :4] > votes[:, 4:])
    assert (votes.sum(axis=1) == 10).all()


def test_pairs_that_no_row_tells_apart():
    X = np.linspace(-1, 1, 20)[:, None]
    y = (X[:, 0] > 0).astype(int)
    # Labels 0 and 1 are the same; label 2 is on no row, label 3 on all.
    Y = np.column_stack([y, y, 0 * y, 1 + 0 * y])
    model = CalibratedLabelRanking().fit(X, Y)
    assert [tuple(pair) for pair in model.pairs_] == [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    # Of the last row: labels 0 and 1 share a vote, win over label 2, lose to label 3, beat the
    # virtual label, which beats label 2.
    assert_allclose(model.label_scores(X[-1:]), [[2.5 - 1, 2.5 - 1, 0 - 1, 4 - 1]])
    # Of the first row: the virtual label beats all but label 3.
    assert_allclose(model.label_scores(X[:1]), [[1.5 - 3, 1.5 - 3, 0 - 3, 4 - 3]])


def test_estimator_is_checked():
    with pytest.raises(TypeError, match="estimator is 3; expected None or a classifier"):
        CalibratedLabelRanking(3).fit(np.zeros((2, 1)), [0, 1])
