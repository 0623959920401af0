"""One cut for all rows and labels, against every cut that there is."""

import numpy as np
import pytest

from multimargin.measures import example_f1, macro_f1, micro_f1
from multimargin.thresholds import F1Threshold, make_threshold

MEASURES = {"micro": micro_f1, "macro": macro_f1, "samples": example_f1}


def every_cut(scores):
    values = np.unique(scores)
    return np.r_[values[0] - 1, (values[1:] + values[:-1]) / 2, values[-1] + 1]


@pytest.mark.parametrize("average", MEASURES)
@pytest.mark.parametrize("seed", range(4))
def test_no_cut_is_better(average, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random((12, 5)) < [0.5, 0.3, 0.2, 0.1, 0.0]).astype(int)
    scores = np.round(rng.normal(size=y.shape) + y, 1)  # with ties
    cut = F1Threshold(average).fit(scores, y)
    f1 = [MEASURES[average](y, (scores > t).astype(int)) for t in every_cut(scores)]
    assert cut.score_ == pytest.approx(max(f1), abs=1e-12)
    found = MEASURES[average](y, cut.predict_labels(scores))
    assert found == pytest.approx(max(f1), abs=1e-12)


def test_pairs_far_below_the_cut_change_nothing():
    rng = np.random.default_rng(1)
    scores = np.round(rng.normal(size=(60, 50)), 2)
    y = (scores + rng.normal(size=scores.shape) > 2.5).astype(int)
    short = F1Threshold().fit(scores, y)
    # With weights all pairs are looked at.
    whole = F1Threshold().fit(scores, y, None, np.ones(60))
    assert (short.value_, short.score_) == (whole.value_, pytest.approx(whole.score_, rel=1e-12))


@pytest.mark.parametrize("average", MEASURES)
def test_weights_are_repetitions_and_unknown_labels_are_left_out(average):
    rng = np.random.default_rng(0)
    y = (rng.random((30, 4)) < 0.4).astype(float)
    scores = rng.normal(size=y.shape) + y
    weights = rng.integers(0, 3, size=30)
    again = np.repeat(np.arange(30), weights)
    y[rng.random(y.shape) < 0.2] = np.nan
    one = F1Threshold(average).fit(scores, y, sample_weight=weights)
    other = F1Threshold(average).fit(scores[again], y[again])
    assert one.value_ == other.value_
    assert one.score_ == pytest.approx(other.score_)
    beyond = np.where(np.isnan(y), 1e6, scores)
    assert F1Threshold(average).fit(beyond, y, sample_weight=weights).value_ == one.value_


@pytest.mark.parametrize(("average", "axis"), [("macro", 0), ("samples", 1)])
def test_the_highest_of_equal_cuts_in_any_order(average, axis):
    rng = np.random.default_rng(0)
    for _ in range(400):
        n = int(rng.integers(3, 12))
        scores = rng.integers(0, 12, size=(n, 3)).astype(float)
        y = (scores + 4.0 * rng.normal(size=scores.shape) > 6.0).astype(int)
        values = every_cut(scores)
        predicted = scores > values[:, None, None]
        hits = (predicted & (y == 1)).sum(axis=1 + axis)
        either = predicted.sum(axis=1 + axis) + y.sum(axis=axis)
        f1 = np.where(either > 0, 2.0 * hits / np.maximum(either, 1), 1.0).mean(axis=1)
        expected = values[np.flatnonzero(f1 >= f1.max() - 1e-9)[-1]]
        rows, labels = rng.permutation(n), rng.permutation(3)
        for of_rows, of_labels in ((slice(None), slice(None)), (rows, labels)):
            some = scores[of_rows][:, of_labels], y[of_rows][:, of_labels]
            assert F1Threshold(average).fit(*some).value_ == expected


def test_nothing_relevant_is_nothing_predicted():
    scores = np.array([[1.0, 2.0], [3.0, 0.0]])
    for average in MEASURES:
        cut = F1Threshold(average).fit(scores, np.zeros((2, 2)))
        assert (cut.value_, cut.score_) == (4.0, 1.0)
        assert F1Threshold(average).fit(scores, np.ones((2, 2))).value_ == -1.0


def test_scale_and_name():
    scores, y = [[0.9, 0.8, 0.1], [0.7, 0.2, 0.3]], [[1, 1, 0], [1, 0, 0]]
    cut = make_threshold("micro").fit(scores, y)
    assert cut.value_ == 0.5
    assert cut.rescale(4.0).predict(scores).tolist() == [2.0, 2.0]


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="average is 'weighted'; expected one of 'micro'"):
        F1Threshold("weighted").fit([[1.0, 0.0]], [[1, 0]])
    with pytest.raises(ValueError, match="y has no known label"):
        F1Threshold().fit([[1.0, 0.0]], [[np.nan, np.nan]])


@pytest.mark.parametrize("average", ["micro", "samples"])
@pytest.mark.parametrize("weighted", [False, True])
def test_labels_without_a_score_are_missed_by_every_cut(average, weighted):
    rng = np.random.default_rng(2)
    y = (rng.random((30, 9)) < 0.3).astype(np.uint8)
    y[:3] = 0
    scores = np.round(rng.normal(size=y.shape) + y, 1)
    weights = rng.integers(1, 4, 30).astype(float) if weighted else None
    listed = slice(0, 5)
    cut = F1Threshold(average).fit_listed(
        scores[:, listed], y[:, listed], weights, y.sum(axis=1).astype(float)
    )

    def f1(threshold):
        predicted = np.zeros(y.shape, dtype=int)
        predicted[:, listed] = scores[:, listed] > threshold
        return MEASURES[average](y, predicted, sample_weight=weights)

    best = max(f1(threshold) for threshold in every_cut(scores[:, listed]))
    assert cut.score_ == pytest.approx(best, abs=1e-12)
    assert f1(cut.value_) == pytest.approx(best, abs=1e-12)
