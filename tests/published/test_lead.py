"""LEAD against its steps, and its network against scores and changes written out."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from published.rivals import LEAD
from published.rivals.bayesian_network import _changes, family_score, learn_structure


def marginal_likelihood(states, child, parents, sizes, sample_size):
    """The BDeu score row by row: the product of the predictive probabilities."""
    n_states = sizes[child]
    prior = sample_size / (math.prod(sizes[p] for p in parents) * n_states)
    seen = {}
    total = 0.0
    for row in states:
        counts = seen.setdefault(tuple(row[p] for p in parents), [0] * n_states)
        total += math.log((prior + counts[row[child]]) / (prior * n_states + sum(counts)))
        counts[row[child]] += 1
    return total


@pytest.mark.parametrize("parents", [(), (1,), (1, 2)])
@pytest.mark.parametrize("sample_size", [1.0, 7.5])
def test_score(parents, sample_size):
    sizes = [3, 2, 4]
    states = np.random.default_rng(0).integers(0, sizes, (40, 3))
    expected = marginal_likelihood(states.tolist(), 0, parents, sizes, sample_size)
    found = family_score(states, 0, parents, sizes=sizes, sample_size=sample_size)
    assert found == pytest.approx(expected, rel=1e-10)


def test_one_edge_more_less_or_reversed_and_no_circle():
    chain, triangle = [(), (0,), (1,)], [(), (0,), (0, 1)]
    for parents, changes in (
        (chain, [{1: ()}, {1: (), 0: (1,)}, {2: (0, 1)}, {2: ()}, {2: (), 1: (0, 2)}]),
        (triangle, [{1: ()}, {1: (), 0: (1,)}, {2: (1,)}, {2: (0,)}, {2: (0,), 1: (0, 2)}]),
    ):
        assert list(_changes(parents, max_parents=2)) == changes


def test_chain_is_found_and_the_bound_on_parents_kept():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 400)
    second = np.where(rng.random(400) < 0.9, first, rng.integers(0, 3, 400))
    third = np.where(rng.random(400) < 0.9, second, rng.integers(0, 3, 400))
    states = np.column_stack([third, first, second, rng.integers(0, 3, 400)])
    parents = learn_structure(states, max_parents=1, sample_size=1.0)
    joined = {frozenset((child, p)) for child, family in enumerate(parents) for p in family}
    assert joined == {frozenset((1, 2)), frozenset((0, 2))}
    assert learn_structure(states, max_parents=0, sample_size=1.0) == [()] * 4


def test_steps():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 2))
    first = (X[:, 0] + rng.standard_normal(150) > 0).astype(int)
    flip = rng.random(150) < 0.05
    Y = np.column_stack([first, np.where(flip, 1 - first, first), X[:, 1] > 0]).astype(int)
    model = LEAD(LogisticRegression()).fit(X, Y)
    # The first two labels err alike, so one is learned from the other.
    assert sorted(len(family) for family in model.parents_[:2]) == [0, 1]
    done = {}
    for k in model.order_:
        own = [X] + [Y[:, [p]] for p in model.parents_[k]]
        seen = [X] + [done[p][:, None] > 0 for p in model.parents_[k]]
        classifier = LogisticRegression().fit(np.hstack(own), Y[:, k])
        done[k] = classifier.decision_function(np.hstack(seen))
    expected = np.column_stack([done[k] for k in range(3)])
    assert_allclose(model.label_scores(X), expected, atol=1e-8)
