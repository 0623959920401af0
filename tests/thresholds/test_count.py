"""The threshold that lets a number of labels pass (RCut)."""

import numpy as np
import pytest

from multimargin.thresholds import CountThreshold, cuts


def nearest(f, r):
    """The number of labels nearest to r of those that some threshold lets pass."""
    possible = {int(np.count_nonzero(f > t)) for t in [*f, -np.inf]}
    return min(possible, key=lambda count: (abs(count - r), count))


def test_equal_scores_are_treated_alike():
    rng = np.random.default_rng(1)
    F = rng.integers(0, 3, size=(200, 6)).astype(float)
    for r in range(7):
        predicted = CountThreshold(r).fit(F, np.ones((200, 6))).predict_labels(F)
        for f, p in zip(F, predicted, strict=True):
            assert p.sum() == nearest(f, r)
            assert all(p[a] >= p[b] for a in range(6) for b in range(6) if f[a] >= f[b])
    # One label more than wanted is as near as one less.
    assert CountThreshold(2).fit(F[:, :3], F[:, :3] > 0).predict_labels([[1, 0, 0]]).sum() == 1


def test_cardinality():
    # Where labels are unknown, each counts by its share among the rows where it is known:
    # 3/3 + 1/1 + 1/3, not 5/4.
    unknown = np.array([[1, np.nan, 0], [1, 1, np.nan], [np.nan, np.nan, 1], [1, np.nan, 0]])
    for rows, expected in (
        ([[1, 0, 0], [1, 1, 0]], 2),
        ([[1, 0, 0], [1, 0, 0], [1, 1, 0]], 1),
        ([[0, 0, 0], [0, 0, 0], [1, 0, 0]], 1),
        ([[1, 1, 1], [1, 1, 1]], 3),
        (unknown, 2),
        (np.hstack([unknown, np.full((4, 1), np.nan)]), 2),
    ):
        assert CountThreshold().fit(np.zeros(np.shape(rows)), rows).n_labels_ == expected


def test_many_rows():
    rng = np.random.default_rng(3)
    F, Y = rng.standard_normal((700, 300)), (rng.random((700, 300)) < 0.1).astype(int)
    assert F.size > cuts.ENTRIES_PER_CHUNK
    threshold = CountThreshold(30).fit(F, Y)
    found = threshold.predict(F)
    np.testing.assert_array_equal(found[:3], threshold.predict(F[:3]))
    assert (threshold.predict_labels(F).sum(axis=1) == threshold.n_labels_).all()


def test_refusals():
    F, Y = np.eye(3), np.eye(3, dtype=int)
    for parameters, message in (
        ({"n_labels": 4}, r"^n_labels is 4; expected at most q = 3"),
        ({"n_labels": -1}, r"^n_labels is -1; expected an integer of at least 0"),
        ({"n_labels": 1.5}, r"^n_labels is 1.5; expected an integer"),
        ({"n_labels": "most"}, r"^n_labels is 'most'; expected one of 'cardinality'"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            CountThreshold(**parameters).fit(F, Y)
