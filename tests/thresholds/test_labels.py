"""The threshold of each label (SCut) against brute force."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, zero_one_loss

from multimargin.thresholds import LabelsThreshold
from tests.support.subsets import first_fast

MEASURES = {
    "f1": lambda y, p: f1_score(y, p, zero_division=0.0),
    "hamming_loss": lambda y, p: -zero_one_loss(y, p),
    "balanced_accuracy": balanced_accuracy_score,
}


def candidates(f):
    levels = sorted(set(f))
    return [levels[0] - 1, *[(a + b) / 2 for a, b in pairwise(levels)], levels[-1] + 1]


def problem(rng, n=40, q=3, rounded=False):
    F = rng.standard_normal((n, q))
    Y = (F + rng.standard_normal((n, q)) > rng.uniform(-0.5, 1.0, q)).astype(int)
    Y[:2] = [[0] * q, [1] * q]
    return np.round(F * 2) / 2 if rounded else F, Y


@pytest.mark.parametrize("cases", first_fast([2, 6], 1))
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("rounded", [False, True])
def test_best_of_all_intervals(measure, rounded, cases):
    rng = np.random.default_rng(0)
    for _ in range(cases):
        F, Y = problem(rng, rounded=rounded)
        found = LabelsThreshold(measure, n_splits=None).fit(F, Y)
        for k in range(F.shape[1]):
            tried = candidates(F[:, k])
            values = [MEASURES[measure](Y[:, k], F[:, k] > t) for t in tried]
            best = next(t for t, v in zip(tried, values, strict=True) if v >= max(values) - 1e-12)
            assert found.thresholds_[k] == pytest.approx(best, abs=1e-14)
            f1 = f1_score(Y[:, k], F[:, k] > best)
            assert found.f1_[k] == pytest.approx(f1, abs=1e-14)


def test_mean_over_folds_by_hand():
    F, Y = problem(np.random.default_rng(1), n=30, q=2)
    found = LabelsThreshold(n_splits=3).fit(F, Y)
    for k in range(2):
        # Rows of each kind go to the folds in turn.
        fold = np.empty(30, dtype=int)
        for kind in (0, 1):
            rows = np.flatnonzero(Y[:, k] == kind)
            fold[rows] = np.arange(rows.size) % 3
        t, predicted = [], np.empty(30, dtype=bool)
        for i in range(3):
            part = LabelsThreshold(n_splits=None).fit(F[fold != i][:, [k]], Y[fold != i][:, [k]])
            t.append(part.thresholds_[0])
            predicted[fold == i] = F[fold == i, k] > t[-1]
        assert found.thresholds_[k] == pytest.approx(np.mean(t), rel=1e-14)
        assert found.f1_[k] == pytest.approx(f1_score(Y[:, k], predicted), rel=1e-14)


def test_rare_labels():
    rng = np.random.default_rng(3)
    F = rng.standard_normal((20, 4))
    Y = np.zeros((20, 4), dtype=int)
    Y[:, 1] = 1
    Y[4, 2] = 1
    Y[:2, 3] = 1
    threshold = LabelsThreshold(n_splits=5).fit(F, Y)
    assert np.isfinite(threshold.thresholds_).all()
    predicted = threshold.predict_labels(F)
    assert not predicted[:, 0].any()
    assert predicted[:, 1].all()
    assert predicted[4, 2]
    assert threshold.f1_[0] == 0.0


def test_fbr_silences_labels_that_cannot_be_told():
    rng = np.random.default_rng(4)
    F = rng.standard_normal((200, 2))
    Y = np.column_stack([F[:, 0] > 1.0, rng.random(200) < 0.03]).astype(int)
    plain, cautious = LabelsThreshold().fit(F, Y), LabelsThreshold(fbr=0.2).fit(F, Y)
    assert plain.f1_[1] < 0.2 < 0.9 < plain.f1_[0]
    assert cautious.thresholds_[0] == plain.thresholds_[0]
    assert cautious.thresholds_[1] == F[:, 1].max()
    assert not cautious.predict_labels(F)[:, 1].any()


def test_refusals():
    F, Y = problem(np.random.default_rng(6))
    for parameters, message in (
        ({"measure": "f2"}, r"^measure is 'f2'; expected one of 'f1', 'hamming_loss'"),
        ({"n_splits": 1}, r"^n_splits is 1; expected an integer of at least 2"),
        ({"n_splits": "5"}, r"^n_splits is '5'; expected an integer"),
        ({"fbr": 1.5}, r"^fbr is 1.5; expected a finite number from 0 to 1"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            LabelsThreshold(**parameters).fit(F, Y)


def test_a_label_of_which_nothing_is_known_is_relevant_nowhere():
    F, Y = problem(np.random.default_rng(3))
    known = LabelsThreshold().fit(F[:, 1:], Y[:, 1:])
    Y = Y.astype(float)
    Y[:, 0] = np.nan
    threshold = LabelsThreshold().fit(F, Y)
    assert not (F[:, 0] > threshold.thresholds_[0]).any()
    np.testing.assert_array_equal(threshold.thresholds_[1:], known.thresholds_)
