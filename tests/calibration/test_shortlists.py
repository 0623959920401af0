"""The best labels of each row: their choice, their marks, and how often others apply."""

import numpy as np
import pytest
from scipy import sparse

from multimargin.calibration import on_folds, shortlists
from multimargin.calibration.on_folds import block_of
from multimargin.calibration.shortlists import Shortlists, best_of_rows, labels_at
from multimargin.targets.indicator import UNKNOWN


class Fixed:
    """Scores that are the features."""

    def label_scores(self, X):
        return np.array(X)

    decision_function = label_scores


@pytest.mark.parametrize("held", [1, 40, 2**20])
def test_lists_are_the_best_labels_by_blocks_of_any_size(monkeypatch, held):
    monkeypatch.setattr(shortlists, "_SCORES", held)
    monkeypatch.setattr(on_folds, "_SCORES", held)
    monkeypatch.setattr(shortlists, "N_BEST", 4)
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 6, size=(30, 11)).astype(float)  # with ties
    lists = Shortlists.by(Fixed(), scores, 11)
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(lists.numbers, expected)
    np.testing.assert_array_equal(lists.scores, np.take_along_axis(scores, expected, axis=1))
    other = rng.normal(size=scores.shape)
    found = block_of(Fixed(), "label_scores", other, True, 11, lists.numbers)
    np.testing.assert_array_equal(found, np.take_along_axis(other, expected, axis=1))
    numbers, _ = best_of_rows(scores, 20)
    assert numbers.shape == scores.shape


def test_marks_of_listed_labels():
    Y = sparse.csr_array(np.array([[0, 1, UNKNOWN], [1, 0, 0]], dtype=np.uint8))
    found = labels_at(Y, np.array([[2, 1, 3], [0, 2, 1]]))
    np.testing.assert_array_equal(found, [[UNKNOWN, 1, UNKNOWN], [1, 0, 0]])


@pytest.mark.parametrize("unknown", [False, True])
def test_base_rates_are_shares_of_the_rows_that_do_not_list_the_label(unknown):
    rng = np.random.default_rng(0)
    marks = (rng.random((40, 12)) < 0.3).astype(np.uint8)
    if unknown:
        marks[rng.random(marks.shape) < 0.2] = UNKNOWN
    numbers = np.argsort(rng.random((40, 12)), axis=1)[:, :4]
    weights = rng.integers(0, 3, 40).astype(float)
    listed = np.zeros((40, 12), dtype=bool)
    np.put_along_axis(listed, numbers, True, axis=1)
    missed = weights @ (~listed & (marks == 1))
    known = weights @ (~listed & (marks != UNKNOWN))
    # One row more, with the mean share of all labels.
    expected = (missed + missed.sum() / known.sum()) / (known + 1.0)
    Y = sparse.csr_array(marks)
    found = shortlists._base_rates(Y, numbers, labels_at(Y, numbers), weights)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
