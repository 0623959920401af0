"""Classifiers of a stack learn from known labels."""

import numpy as np
import pytest

from multimargin import LabelRankerCV
from multimargin.blocks import (
    LabelBoosting,
    LabelDiscriminant,
    LabelForest,
    LabelKernelRidge,
    LabelLogistic,
    LabelNeighbours,
)
from tests.support.problems import noisy_linear_problem

BLOCKS = [
    LabelForest(20, random_state=0),
    LabelForest(20, n_projections=3, random_state=0),
    LabelBoosting(20, max_samples=60, random_state=0),
    LabelBoosting(20, n_projections=3, random_state=0),
    LabelLogistic(),
    LabelDiscriminant(),
    LabelKernelRidge(),
    LabelNeighbours(5),
]


def partly(share=0.2, seed=0, n=120):
    X, y = noisy_linear_problem(seed, n, 4, 3, cut=0.3)
    hidden = y.astype(float)
    hidden[np.random.default_rng(seed).random(y.shape) < share] = np.nan
    return X, y, hidden


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_the_rest_is_learned_from(block):
    """Hardly worse on new rows; a label of which nothing is known is as likely as not."""
    X, y, hidden = partly(n=500)
    train, test = np.arange(250), np.arange(250, 500)

    def right(labels):
        found = block.fit(X[train], labels[train]).predict_proba(X[test])
        return np.mean((found > 0.5) == y[test])

    assert right(hidden) > right(y) - 0.03
    hidden[:, 1] = np.nan
    np.testing.assert_allclose(block.fit(X, hidden).predict_proba(X)[:, 1], 0.5, atol=1e-6)
    hidden[:] = np.nan
    with pytest.raises(ValueError, match="y has no known label"):
        block.fit(X, hidden)


def test_logistic_is_that_of_the_known_rows():
    X, _, hidden = partly()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    model = LabelLogistic(tol=1e-9).fit(X, hidden, weights)
    for label in range(hidden.shape[1]):
        rows = ~np.isnan(hidden[:, label])
        alone = LabelLogistic(tol=1e-9).fit(X[rows], hidden[rows, label][:, None], weights[rows])
        np.testing.assert_allclose(model.coef_[label], alone.coef_[0], atol=1e-9)


def test_neighbours_vote_by_the_share_where_nothing_is_known():
    X, _, hidden = partly()
    model = LabelNeighbours(5).fit(X, hidden)
    shares = np.nanmean(hidden, axis=0)
    unknown = np.isnan(hidden)
    labels = model.labels_.toarray()
    np.testing.assert_allclose(labels[unknown], np.broadcast_to(shares, labels.shape)[unknown])
    np.testing.assert_array_equal(labels[~unknown], hidden[~unknown])


def test_the_stack_of_a_ranker_learns_from_known_labels():
    X, _, hidden = partly()
    options = {"loss": "hinge", "kernel": "linear", "class_weight": None, "top_k": None}
    model = LabelRankerCV([1.0], **options, random_state=0).fit(X, hidden)
    assert model.blocks_ == (
        "ranker",
        "discriminant",
        "kernel_ridge",
        "boosting",
        "neighbours",
        "forest",
        "lift",
    )
    assert model.left_out_ == {}
