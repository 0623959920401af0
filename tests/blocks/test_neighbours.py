"""LabelNeighbours: votes by their definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from multimargin.blocks import LabelNeighbours
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 90, 6, 5, cut=0.5)
X_test = noisy_linear_problem(1, 40, 6, 5)[0]


def by_definition(k, metric, weights):
    """Odds by loops over rows."""
    shares = weights @ Y / weights.sum()
    odds = []
    for x in X_test:
        if metric == "cosine":
            near = -(X @ x) / np.linalg.norm(X, axis=1) / np.linalg.norm(x)
            votes = np.maximum(-near, 1e-9)
        else:
            near = np.linalg.norm(X - x, axis=1)
            votes = 1 / near
        order = [row for row in np.argsort(near) if weights[row] > 0][:k]
        v = (votes * weights)[order] @ Y[order] / (votes * weights)[order].sum()
        p = (len(order) * v + 2 * shares + 0.02) / (len(order) + 2.04)
        odds.append(np.log(p / (1 - p)))
    return np.array(odds)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("k", [7, 1000])
def test_votes_are_those_of_the_definition(metric, stored, k):
    weights = np.random.default_rng(0).integers(0, 3, size=len(X)).astype(float)
    for given in (None, weights):
        model = LabelNeighbours(k, metric=metric).fit(stored(X), Y, given)
        counted = np.ones(len(X)) if given is None else given
        expected = by_definition(k, metric, counted)
        assert_allclose(model.decision_function(stored(X_test)), expected, atol=1e-6)
    assert_allclose(model.predict_proba(X_test), 1 / (1 + np.exp(-expected)), atol=1e-7)


def test_an_answer_does_not_depend_on_the_rows_beside_it():
    model = LabelNeighbours(5).fit(X, Y)
    rows = np.vstack([X[:1], X_test, 1e6 * X[:1]])
    alone = np.vstack([model.decision_function(row[None]) for row in rows])
    assert_allclose(model.decision_function(rows), alone, atol=1e-9)


def test_rows_of_zeros():
    model = LabelNeighbours(5, metric="cosine").fit(np.vstack([np.zeros((1, 6)), X[1:]]), Y)
    assert np.isfinite(model.decision_function(np.zeros((2, 6)))).all()
