"""Iterative stratification is that of the package of that name, draw by draw."""

import numpy as np
import pytest
from iterstrat.ml_stratifiers import IterativeStratification

from multimargin.tuning.stratification import parts_of_rows


@pytest.mark.parametrize("seed", range(60))
def test_the_parts_are_those_of_the_package(seed):
    rng = np.random.default_rng(seed)
    n, q = rng.integers(2, 120), rng.integers(1, 20)
    relevant = rng.random((n, q)) < rng.random() ** 3 * rng.random(q)
    shares = rng.random(rng.integers(2, 6)) if seed % 2 else np.ones(rng.integers(2, 6))
    shares /= shares.sum()
    draws, others = np.random.RandomState(seed), np.random.RandomState(seed)
    expected = IterativeStratification(relevant, shares, others)
    given = relevant.copy(), shares.copy()
    np.testing.assert_array_equal(parts_of_rows(*given, draws), expected)
    np.testing.assert_array_equal(given[0], relevant)
    np.testing.assert_array_equal(given[1], shares)
    # What is drawn next is the same, too.
    assert draws.randint(2**30) == others.randint(2**30)


def test_labels_with_few_rows_are_in_as_many_parts():
    relevant = np.zeros((90, 3), dtype=bool)
    relevant[:2, 0] = relevant[:3, 1] = relevant[:60, 2] = True
    parts = parts_of_rows(relevant, np.full(3, 1 / 3), np.random.RandomState(0))
    counts = np.array([relevant[parts == part].sum(axis=0) for part in range(3)])
    assert sorted(counts[:, 0]) == [0, 1, 1]
    assert counts[:, 1:].tolist() == [[1, 20]] * 3
    assert np.bincount(parts).tolist() == [30, 30, 30]
