"""ShrunkenThreshold: between the common cut and a label's own."""

import numpy as np
import pytest

from multimargin.measures import macro_f1
from multimargin.thresholds import F1Threshold, LabelsThreshold, ShrunkenThreshold


def problem(seed=0, n=600, q=6):
    rng = np.random.default_rng(seed)
    odds = rng.normal(size=(n, q)) - np.linspace(0, 3, q)
    y = (odds + rng.normal(size=(n, q)) > np.linspace(0, 1, q)).astype(int)
    return odds, y


def test_its_ends_are_the_common_cut_and_the_labels_own():
    odds, y = problem()
    common = F1Threshold("macro").fit(odds, y).value_
    one = ShrunkenThreshold([np.inf]).fit(odds, y)
    np.testing.assert_array_equal(one.thresholds_, common)
    own = ShrunkenThreshold([1e-9], reach=100.0).fit(odds, y)
    some = y.any(axis=0)
    assert np.count_nonzero(some) >= 2
    expected = np.where(some, LabelsThreshold().fit(odds, y).thresholds_, common)
    np.testing.assert_allclose(own.thresholds_, expected, atol=1e-7)
    m = 50.0
    between = ShrunkenThreshold([m], reach=100.0).fit(odds, y)
    share = y.sum(axis=0) / (y.sum(axis=0) + m)
    np.testing.assert_allclose(
        between.thresholds_, common + share * (own.thresholds_ - common), atol=1e-7
    )


def test_it_is_better_than_one_cut_where_labels_differ():
    odds, y = problem(1)
    rows, test = slice(0, 300), slice(300, None)
    shrunken = ShrunkenThreshold().fit(odds[rows], y[rows])
    common = F1Threshold("macro").fit(odds[rows], y[rows])
    gain = macro_f1(y[test], shrunken.predict_labels(odds[test])) - macro_f1(
        y[test], common.predict_labels(odds[test])
    )
    assert gain > 0.01


def test_a_label_without_relevant_rows_has_the_common_cut():
    odds, y = problem(2)
    y[:, 2] = 0
    unknown = y.astype(float)
    unknown[:, 3] = np.nan
    model = ShrunkenThreshold([10.0]).fit(odds, unknown)
    assert model.thresholds_[2] == model.thresholds_[3] == model.common_
    nothing = ShrunkenThreshold().fit(odds, np.zeros_like(y))
    assert np.ptp(nothing.thresholds_) == 0.0


def test_own_cuts_stay_within_reach_and_scale():
    odds, y = problem(3)
    model = ShrunkenThreshold([1e-9], reach=0.1).fit(odds, y)
    assert np.abs(model.thresholds_ - model.common_).max() <= 0.1 + 1e-12
    before = model.thresholds_.copy()
    np.testing.assert_array_equal(model.rescale(2.0).thresholds_, 2.0 * before)


def test_weights_of_zero_are_rows_that_are_not_there():
    odds, y = problem(4)
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    kept = weights > 0
    one = ShrunkenThreshold().fit(odds, y, None, weights)
    other = ShrunkenThreshold().fit(odds[kept], y[kept])
    np.testing.assert_allclose(one.thresholds_, other.thresholds_)


def test_bad_strengths_are_named():
    odds, y = problem(5)
    for strengths in ([], [0.0], [-1.0], [np.nan]):
        with pytest.raises(ValueError, match=r"strengths is .*; expected numbers above 0"):
            ShrunkenThreshold(strengths).fit(odds, y)
