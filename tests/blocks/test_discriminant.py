"""LabelDiscriminant: scikit-learn's linear discriminant of each label, from one covariance."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from multimargin import LabelRankerCV
from multimargin.blocks import LabelDiscriminant, discriminant
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 3000, 6, 4, cut=0.5)


@pytest.mark.parametrize("move", [(0.0, 1.0), (1e6, 1.0), (0.0, 1e-60), (-3.0, 1e60)])
def test_each_label_is_that_of_scikit_learn(move):
    offset, scale = move
    moved = (X + offset) * np.where(np.arange(6) < 3, scale, 1.0)
    odds = LabelDiscriminant(1e-9).fit(moved, Y).decision_function(moved)
    for k in range(Y.shape[1]):
        peer = LinearDiscriminantAnalysis().fit(X, Y[:, k])
        # One row more, half of it relevant, and one degree of freedom
        np.testing.assert_allclose(odds[:, k], peer.decision_function(X), atol=0.03, rtol=0.01)


def test_weights_are_copies_of_rows_and_chunks_do_not_matter(monkeypatch):
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    one = LabelDiscriminant().fit(X, Y, 7.0 * weights).decision_function(X)
    monkeypatch.setattr(discriminant, "_ENTRIES", 600)
    np.testing.assert_allclose(one, LabelDiscriminant().fit(X, Y, weights).decision_function(X))
    # The heaviest row counts once
    copies = LabelDiscriminant(100.0 * weights.max()).fit(X[rows], Y[rows]).decision_function(X)
    np.testing.assert_allclose(one, copies, atol=0.01)


def test_it_stands_in_where_a_forest_is_left_out(monkeypatch):
    monkeypatch.setattr("multimargin.blocks.by_name._MOST_PAIRS", 299 * 4)
    options = {"kernel": "linear", "loss": "hinge", "class_weight": None, "top_k": None}
    model = LabelRankerCV([1.0], **options, random_state=0).fit(X[:300], Y[:300])
    assert model.blocks_ == (
        "ranker",
        "discriminant",
        "kernel_ridge",
        "boosting",
        "neighbours",
        "lift",
    )
    assert list(model.left_out_) == ["forest"]
