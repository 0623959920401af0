"""ExpectedF1Threshold: the cut with the largest F1 that probabilities promise."""

import numpy as np
import pytest
from scipy.special import expit

from multimargin import CalibratedClassifier, LabelRankerCV
from multimargin.measures import macro_f1
from multimargin.thresholds import ExpectedF1Threshold, F1Threshold, ShrunkenThreshold
from tests.calibration.test_bend import mostly_empty


def odds_of(seed, n=60, q=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, q)) * 2.0 - np.linspace(0.0, 4.0, q)


def expected_f1(p, weights, predicted):
    hits = (weights * p)[predicted].sum()
    return 2.0 * hits / (weights[predicted].sum() + (weights * p).sum())


@pytest.mark.parametrize("own", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_no_cut_promises_more(own, seed):
    odds = odds_of(seed)
    weights = np.random.default_rng(seed + 100).choice([0.0, 0.5, 1.0, 7.0], len(odds))
    cut = ExpectedF1Threshold(own).fit(odds, np.zeros_like(odds), None, weights)
    found = cut.predict_labels(odds) == 1
    of_pairs = np.broadcast_to(weights[:, None], odds.shape)
    columns = [...] if own == 0.0 else [np.s_[:, k] for k in range(odds.shape[1])]
    for at in columns:
        p, weighed, predicted = expit(odds[at]), of_pairs[at], found[at]
        best = max(expected_f1(p, weighed, p >= least) for least in p.ravel())
        assert expected_f1(p, weighed, predicted) == pytest.approx(best, rel=1e-12)
    if own == 0.0:
        assert np.ptp(cut.thresholds_) == 0.0
    other = ExpectedF1Threshold(own).fit(odds, np.zeros_like(odds), None, 1e300 * weights)
    np.testing.assert_allclose(other.thresholds_, cut.thresholds_, rtol=1e-12)


def test_it_is_steadier_than_cuts_by_few_relevant_rows():
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(20):
        odds = rng.normal(size=(400, 4)) * [0.8, 1.5, 2.5, 4.0] - 4.5
        y, new = (rng.random((2, *odds.shape)) < expit(odds)).astype(int)
        one, other = (
            macro_f1(new, cut.fit(odds, y).predict_labels(odds))
            for cut in (ExpectedF1Threshold(1.0), ShrunkenThreshold())
        )
        gains.append(one - other)
    assert np.mean(gains) > 0.01


def test_of_labels_it_only_matters_which_are_known():
    odds, y = odds_of(1), np.zeros((60, 3))
    y[::2, 0] = y[:, 1] = np.nan
    cut = ExpectedF1Threshold(1.0).fit(odds, y)
    y[1::2, 0] = 1.0
    np.testing.assert_array_equal(
        cut.thresholds_, ExpectedF1Threshold(1.0).fit(odds, y).thresholds_
    )
    alone = ExpectedF1Threshold(1.0).fit(odds[1::2], np.zeros((30, 3)))
    assert cut.thresholds_[0] == pytest.approx(alone.thresholds_[0], rel=1e-12)
    common = ExpectedF1Threshold(0.0).fit(odds, y).thresholds_
    assert cut.thresholds_[1] == common[1]
    between = ExpectedF1Threshold(0.3).fit(odds, y).thresholds_
    np.testing.assert_allclose(between, common + 0.3 * (cut.thresholds_ - common), rtol=1e-12)
    with pytest.raises(ValueError, match="no known label in a row of positive weight"):
        ExpectedF1Threshold().fit(odds, np.full((60, 3), np.nan))
    with pytest.raises(ValueError, match=r"own is 1.5"):
        ExpectedF1Threshold(1.5).fit(odds, y)


@pytest.mark.parametrize("odds", [-1e3, 0.0, 1e3])
def test_odds_beyond_all_probabilities(odds):
    cut = ExpectedF1Threshold().fit(np.full((4, 2), odds), np.zeros((4, 2)))
    assert np.isfinite(cut.thresholds_).all()
    assert (cut.predict_labels(np.full((4, 2), odds)) == (odds >= 0.0)).all()


@pytest.mark.parametrize(
    ("threshold", "own", "elsewhere"),
    [("micro", 0.25, F1Threshold), ("macro", 1.0, ShrunkenThreshold)],
)
def test_it_stands_for_a_name_where_most_rows_have_no_label(threshold, own, elsewhere):
    X, y = mostly_empty(0)
    options = {"kernel": "linear", "loss": "hinge", "stack": None, "random_state": 0}
    model = LabelRankerCV([1.0], threshold=threshold, **options).fit(X, y)
    assert isinstance(model.threshold_, ExpectedF1Threshold)
    assert model.threshold_.own == own
    wrapped = CalibratedClassifier(model.ranker_, threshold, empty_label=True).fit(X, y)
    assert isinstance(wrapped.threshold_, ExpectedF1Threshold)
    wrapped = CalibratedClassifier(model.ranker_, threshold).fit(X, y)
    assert isinstance(wrapped.threshold_, elsewhere)
