"""LabelNeighbours: votes by their definition."""

import itertools

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


def test_many_rows_on_a_grid_vote_with_ties_shared():
    random = np.random.default_rng(0)
    rows, asked = random.integers(-3, 4, (2000, 3)), random.integers(-3, 4, (30, 3))
    # Some are near nothing: all cosines are 0.
    rows[:, 2], asked[-3:] = rows[:, 2] * (random.random(2000) < 0.1), [0, 0, 1]
    asked = asked + 0.5 * (asked != 0)
    labels = random.integers(0, 2, (2000, 4))
    for metric, k in itertools.product(("cosine", "euclidean"), (1, 5, 20, 400)):
        expected = []
        for x in asked:
            if metric == "cosine":
                lengths = np.maximum(np.linalg.norm(rows, axis=1) * np.linalg.norm(x), 1e-300)
                near = np.round(rows @ x / lengths, 6)
                weights = np.maximum(rows @ x / lengths, 1e-9)
            else:
                near = -((rows - x) ** 2).sum(axis=1)
                weights = 1.0 / np.sqrt(-near)
            last = np.sort(near)[-k]
            closer, tied = near > last, near == last
            votes = (closer + tied * (k - closer.sum()) / tied.sum()) * weights
            shares = votes @ labels / votes.sum()
            expected.append((k * shares + 2 * labels.mean(axis=0) + 0.02) / (k + 2.04))
        model = LabelNeighbours(k, metric=metric).fit(rows.astype(float), labels)
        found = model.predict_proba(asked)
        assert_allclose(found, expected, atol=1e-6, err_msg=f"{metric} {k}")


def test_an_answer_does_not_depend_on_the_rows_beside_it():
    model = LabelNeighbours(5).fit(X, Y)
    rows = np.vstack([X[:1], X_test, 1e6 * X[:1]])
    alone = np.vstack([model.decision_function(row[None]) for row in rows])
    assert_allclose(model.decision_function(rows), alone, atol=1e-9)


def test_rows_of_zeros():
    model = LabelNeighbours(5, metric="cosine").fit(np.vstack([np.zeros((1, 6)), X[1:]]), Y)
    assert np.isfinite(model.decision_function(np.zeros((2, 6)))).all()


@pytest.mark.parametrize("far", [1e9, 1e20, 1e60])
def test_a_huge_number_leaves_other_rows_their_neighbours(far):
    expected = LabelNeighbours(5).fit(X[1:], Y[1:]).predict_proba(X_test)
    rows = X.copy()
    rows[0, 2] = far
    found = LabelNeighbours(5).fit(rows, Y).predict_proba(X_test)
    # The share of each label counts two votes.
    assert_allclose(found, expected, atol=0.01)
