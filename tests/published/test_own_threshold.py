"""Labels as the published programs seem to predict them."""

from itertools import pairwise

import numpy as np
import pytest

from published.own_threshold import best_thresholds, predicted


@pytest.mark.parametrize(("choice", "among"), [("highest", max), ("lowest", min)])
def test_of_the_best_intervals_one_end_is_taken(choice, among):
    rng = np.random.default_rng(0)
    scores, Y = rng.normal(size=(200, 4)), rng.integers(0, 2, (200, 4))
    for row, y, found in zip(scores, Y, best_thresholds(scores, Y, choice=choice), strict=True):
        ends = np.sort(row)
        middles = [ends[0] - 1, *((a + b) / 2 for a, b in pairwise(ends)), ends[-1] + 1]
        errors = [int(((row > t) != (y == 1)).sum()) for t in middles]
        assert ((row > found) != (y == 1)).sum() == min(errors)
        best = among(k for k, count in enumerate(errors) if count == min(errors))
        np.testing.assert_array_equal(row > found, row > middles[best])


def test_rows_below_the_threshold_get_their_first_label_if_asked():
    scores = np.array([[2.0, 0.0, -1.0], [0.5, 3.0, 0.0], [1.0, 0.0, 4.0], [2.0, 0.1, 3.0]])
    Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    rows = np.array([[0.2, 0.1, 0.0], [5.0, 0.0, 0.0]])
    plain = predicted(scores, Y, rows, never_empty=False)
    filled = predicted(scores, Y, rows, never_empty=True)
    assert (plain.sum(axis=1) == 0).any()
    np.testing.assert_array_equal(filled[plain.any(axis=1)], plain[plain.any(axis=1)])
    empty = ~plain.any(axis=1)
    np.testing.assert_array_equal(filled[empty].argmax(axis=1), rows[empty].argmax(axis=1))
    assert (filled[empty].sum(axis=1) == 1).all()
