"""pair_margins and the estimators' `margins`."""

import numpy as np
import pandas as pd
import pytest

from multimargin import RankSVM
from multimargin.measures.margins import pair_margins
from tests.support.models import expansion_matrix
from tests.support.problems import noisy_linear_problem


def test_margins_follow_rows_then_relevant_then_irrelevant_labels():
    Y = [[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0]]
    scores = np.array([[8.0, 4.0, 2.0, 1.0], [1, 2, 3, 4], [4, 3, 2, 1], [1.0, 9.0, 5.0, 7.0]])
    expected = [8 - 4, 8 - 1, 2 - 4, 2 - 1, 9 - 1, 9 - 5, 9 - 7]
    np.testing.assert_array_equal(pair_margins(Y, scores), expected)


def test_estimators_give_the_margins_of_their_scores():
    X, Y = noisy_linear_problem(0, 30, 3, 4, noise=0.0, cut=0.0)
    model = RankSVM(C=1.0, random_state=0).fit(X, Y)
    expected = pair_margins(Y, model.label_scores(X))
    np.testing.assert_array_equal(model.margins(X, Y), expected)
    named = pd.DataFrame(Y).add_prefix("n")
    model.fit(X, named)
    np.testing.assert_array_equal(model.margins(X, named.iloc[:, ::-1]), expected)
    # The loss of Rank-SVM is the mean hinge of each row's margins.
    pairs = (Y.sum(axis=1) * (4 - Y.sum(axis=1))).astype(int)
    weights = np.repeat(1.0 / np.maximum(pairs, 1), pairs)
    loss = weights @ np.maximum(0.0, 1.0 - model.margins(X, Y))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (3 * X.var()))
    B = expansion_matrix(model, 30)
    assert 0.5 * np.einsum("ik,ik->", B, K @ B) + loss == pytest.approx(model.objective_)
