"""Promises of recall and precision are kept on new rows, and are not slack."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from multimargin import CalibratedClassifier, LabelRankerCV, ThresholdedClassifier
from multimargin.thresholds import PrecisionGuarantee, RecallGuarantee, make_threshold
from tests.support.problems import noisy_linear_problem

pytestmark = pytest.mark.usefixtures("few_trees")


def world(n, seed=0, q=8):
    """Logarithms of odds that are not those of the labels, and labels of which rows have few."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(-1.5, 1.5, size=(n, q)) + rng.normal(size=(n, 1))
    return 2.0 * truth + rng.normal(size=(n, q)), (rng.random((n, q)) < expit(truth)).astype(int)


def recall_of(scores, y, cut):
    rows = y.any(axis=1)
    found = ((scores > cut) & (y == 1)).sum(axis=1)[rows]
    return np.mean(found / y.sum(axis=1)[rows])


def precision_of(scores, y, cut):
    predicted = scores > cut
    wrong = (predicted & (y == 0)).sum(axis=1)
    return 1.0 - np.mean(wrong / np.maximum(predicted.sum(axis=1), 1))


@pytest.mark.parametrize(("recall", "n"), [(0.9, 30), (0.8, 100), (0.95, 200)])
def test_a_recall_is_kept_on_average_over_random_splits(recall, n):
    scores, y = world(3000)
    rng = np.random.default_rng(1)
    found, used = [], []
    for _ in range(1000):
        order = rng.permutation(len(y))
        seen, new = order[:n], order[n:]
        cut = RecallGuarantee(recall).fit(scores[seen], y[seen])
        assert cut.guaranteed_
        found.append(recall_of(scores[new], y[new], cut.value_))
        used.append(cut.n_rows_)
    error = 4.0 * np.std(found) / np.sqrt(len(found))
    assert recall - error <= np.mean(found) <= recall + 2.0 / (np.mean(used) + 1.0) + error


@pytest.mark.parametrize(("precision", "confidence", "n"), [(0.8, 0.9, 200), (0.7, 0.8, 60)])
def test_a_precision_is_kept_with_the_wanted_confidence(precision, confidence, n):
    odds, y = world(4000, seed=2)
    rng = np.random.default_rng(3)
    kept, found = [], []
    for _ in range(300):
        order = rng.permutation(len(y))
        seen, new = order[:n], order[n:]
        cut = PrecisionGuarantee(precision, confidence).fit(odds[seen], y[seen])
        assert cut.guaranteed_
        value = precision_of(odds[new], y[new], cut.value_)
        kept.append(value >= precision)
        found.append(value)
    assert np.mean(kept) >= confidence - 4.0 * np.sqrt(confidence * (1.0 - confidence) / 300)
    # A test with n rows gives up about as much as their mean varies.
    assert np.mean(found) <= precision + 3.0 / np.sqrt(n)


def test_the_highest_threshold_is_taken():
    scores, y = world(80, seed=4)
    for recall in (0.5, 0.9):
        cut = RecallGuarantee(recall).fit(scores, y)
        rows = y.any(axis=1)

        def missed(t, rows=rows):
            return ((scores <= t) & (y == 1)).sum(axis=1)[rows] / y.sum(axis=1)[rows]

        allowed = (1.0 - recall) * (rows.sum() + 1) - 1.0
        assert missed(cut.value_).sum() <= allowed + 1e-9
        higher = np.sort(scores[(y == 1) & (scores > cut.value_)])[0]
        assert missed(higher).sum() > allowed


def test_few_rows_and_hard_labels_are_told():
    scores, y = [[1.0, -1.0], [2.0, 0.5]], [[1, 0], [1, 0]]
    with pytest.warns(UserWarning, match="a recall of 0.9 needs 9 rows with a relevant label"):
        cut = RecallGuarantee(0.9).fit(scores, y)
    assert not cut.guaranteed_
    assert cut.value_ < 1.0
    with pytest.warns(UserWarning, match="no threshold has a precision of 0.8 with confidence"):
        cut = PrecisionGuarantee(0.8).fit(scores, y)
    assert not cut.guaranteed_
    assert cut.value_ == pytest.approx(logit(0.995))
    for guarantee in (RecallGuarantee(1.0), PrecisionGuarantee(0.0), PrecisionGuarantee(0.5, 2.0)):
        with pytest.raises(ValueError, match="expected a finite number above 0"):
            guarantee.fit(scores, y)
    with pytest.raises(ValueError, match="y has no relevant label"):
        RecallGuarantee().fit(scores, np.zeros((2, 2)))


@pytest.mark.parametrize("guarantee", [RecallGuarantee(0.7), PrecisionGuarantee(0.7, 0.8)])
def test_unknown_labels_and_rows_of_weight_0_do_not_count(guarantee):
    scores, y = world(120, seed=5)
    plain = make_threshold(guarantee).fit(scores[:100], y[:100])
    weights = np.r_[np.full(100, 2.0), np.zeros(20)]
    assert make_threshold(guarantee).fit(scores, y, None, weights).value_ == plain.value_
    unknown = y.astype(float)
    unknown[100:] = np.nan
    assert make_threshold(guarantee).fit(scores, unknown).value_ == plain.value_
    with pytest.raises(ValueError, match="sample_weight has different positive weights"):
        guarantee.fit(scores, y, None, np.arange(1.0, 121.0))


def test_a_frozen_model_and_rows_that_it_has_not_seen():
    X, y = noisy_linear_problem(0, 1200, 5, 6, cut=0.8)
    model = MultiOutputClassifier(LogisticRegression()).fit(X[:200], y[:200])
    found = []
    for seed in range(30):
        order = 200 + np.random.default_rng(seed).permutation(1000)
        seen, new = order[:150], order[150:]
        cut = ThresholdedClassifier(FrozenEstimator(model), RecallGuarantee(0.8), cv=3)
        predicted = cut.fit(X[seen], y[seen]).predict(X[new])
        rows = y[new].any(axis=1)
        hits = (predicted & y[new]).sum(axis=1)[rows]
        found.append(np.mean(hits / y[new].sum(axis=1)[rows]))
    assert np.mean(found) == pytest.approx(0.8, abs=0.025)


@pytest.mark.parametrize("make", [
    lambda cut: CalibratedClassifier(MultiOutputClassifier(LogisticRegression()), cut),
    lambda cut: LabelRankerCV([1.0], kernel="linear", loss="hinge", class_weight=None, top_k=None,
                              stack=None, random_state=0, threshold=cut),
])  # fmt: skip
def test_in_classifiers(make):
    X, y = noisy_linear_problem(1, 400, 5, 6, cut=0.8)
    model = make(RecallGuarantee(0.85)).fit(X[:200], y[:200])
    assert model.threshold_.guaranteed_
    rows = y[200:].any(axis=1)
    hits = (model.predict(X[200:]) & y[200:]).sum(axis=1)[rows]
    assert np.mean(hits / y[200:].sum(axis=1)[rows]) > 0.8
