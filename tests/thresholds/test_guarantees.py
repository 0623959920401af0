"""Promises of recall and precision are kept on new rows, and are not slack."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, RepeatedKFold
from sklearn.multioutput import MultiOutputClassifier

from multimargin import (
    LLSF,
    MLODM,
    CalibratedClassifier,
    LabelRankerCV,
    RankCVM,
    RankHLapSVM,
    RankLSVM,
    RankSVM,
    ThresholdedClassifier,
)
from multimargin.thresholds import (
    ConstantThreshold,
    CountThreshold,
    F1Threshold,
    FeaturesThreshold,
    LabelsThreshold,
    PrecisionGuarantee,
    RecallGuarantee,
    ShrunkenThreshold,
    make_threshold,
)
from tests.support.problems import noisy_linear_problem
from tests.support.subsets import first_fast


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


@pytest.mark.parametrize(
    ("recall", "n", "unknown"),
    first_fast(
        [(0.9, 30, 0.0), (0.8, 300, 0.5), (0.8, 100, 0.0), (0.95, 200, 0.0), (0.8, 200, 0.3)], 2
    ),
)
def test_a_recall_is_kept_on_average_over_random_splits(recall, n, unknown):
    scores, y = world(1500)
    rng = np.random.default_rng(1)
    found, used = [], []
    for _ in range(1000):
        order = rng.permutation(len(y))
        seen, new = order[:n], order[n:]
        hidden = np.where(rng.random((n, y.shape[1])) < unknown, np.nan, y[seen])
        cut = RecallGuarantee(recall).fit(scores[seen], hidden)
        assert cut.guaranteed_
        found.append(recall_of(scores[new], y[new], cut.value_))
        used.append(cut.n_rows_)
    error = 4.0 * np.std(found) / np.sqrt(len(found))
    # A row of which one label is known counts up to 1 / (1 - unknown) times.
    slack = 2.0 / (1.0 - unknown) / (np.mean(used) + 1.0)
    assert recall - error <= np.mean(found) <= recall + slack + error


@pytest.mark.parametrize("unknown", first_fast([0.0, 0.6, 0.3], 2))
@pytest.mark.parametrize(
    ("precision", "confidence", "n"), first_fast([(0.7, 0.8, 60), (0.8, 0.9, 200)], 1)
)
def test_a_precision_is_kept_with_the_wanted_confidence(precision, confidence, n, unknown):
    odds, y = world(1500, seed=2)
    rng = np.random.default_rng(3)
    kept, found = [], []
    for _ in range(300):
        order = rng.permutation(len(y))
        seen, new = order[:n], order[n:]
        hidden = np.where(rng.random((n, y.shape[1])) < unknown, np.nan, y[seen])
        cut = PrecisionGuarantee(precision, confidence).fit(odds[seen], hidden)
        assert cut.guaranteed_
        value = precision_of(odds[new], y[new], cut.value_)
        kept.append(value >= precision)
        found.append(value)
    assert np.mean(kept) >= confidence - 4.0 * np.sqrt(confidence * (1.0 - confidence) / 300)
    # A test with n rows gives up about as much as their mean varies.
    assert np.mean(found) <= precision + 3.0 / np.sqrt(n)


@pytest.mark.parametrize("confidence", [0.6, 0.9])
@pytest.mark.parametrize("precision", [0.5, 0.8])
def test_a_precision_is_said_to_be_kept_where_the_bound_of_its_tail_is_small(precision, confidence):
    n, share = 25, 1.0 - precision
    said = []
    for wrong in range(n + 1):
        # The smaller of Hoeffding's bound, with the relative entropy, and Bentkus's.
        risk = wrong / n
        below = min(risk, share)
        entropy = stats.entropy([below, 1.0 - below], [share, precision])
        tail = min(np.exp(-n * entropy), np.e * stats.binom.cdf(wrong, n, share))
        y = np.arange(n)[:, None] >= wrong
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cut = PrecisionGuarantee(precision, confidence).fit(np.ones((n, 1)), y.astype(int))
        said.append(cut.guaranteed_ and cut.value_ < 1.0)
        assert said[-1] == (tail <= 1.0 - confidence)
    assert said[0]
    assert not said[-1]


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


GUARANTEES = [PrecisionGuarantee(0.8), RecallGuarantee(0.8)]
BY_NAME = [MLODM, RankCVM, RankHLapSVM, RankLSVM, RankSVM, LLSF]
SHORT = {"Cs": [1.0], "kernel": "linear", "loss": "squared_hinge", "stack": None}


def linear_world(n, seed):
    X, y = noisy_linear_problem(seed, n, 6, 5, noise=2.0, cut=1.5)
    return X, y


@pytest.mark.parametrize("threshold", GUARANTEES, ids=str)
@pytest.mark.parametrize("method", BY_NAME)
def test_rows_of_the_fit_promise_nothing(method, threshold):
    X, y = linear_world(60, 0)
    with pytest.raises(
        ValueError, match="cannot be guaranteed when it is learned from training rows"
    ):
        method(threshold=threshold).fit(X, y)


def around(threshold, **options):
    """Classifiers that learn the threshold from held-out rows."""
    inner = RankLSVM(kernel="linear", random_state=0)
    return [
        CalibratedClassifier(inner, threshold, **options),
        ThresholdedClassifier(inner, threshold, **options),
        LabelRankerCV(**SHORT, threshold=threshold, random_state=0, **options),
        LabelRankerCV(**SHORT, threshold=threshold, calibration=False, random_state=0, **options),
    ]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("threshold", GUARANTEES, ids=str)
def test_the_best_label_of_each_row_breaks_no_promise(place, threshold):
    X, y = linear_world(2400, 1)
    X, X_new, y, y_new = X[:400], X[400:], y[:400], y[400:]
    model = around(threshold, at_least_one=True)[place]
    if isinstance(threshold, PrecisionGuarantee):
        with pytest.raises(ValueError, match="at_least_one is True; expected False"):
            model.fit(X, y)
        return
    predicted = model.fit(X, y).predict(X_new)
    rows = y_new.any(axis=1)
    recall = np.mean((predicted & y_new).sum(axis=1)[rows] / y_new.sum(axis=1)[rows])
    assert recall > 0.77
    assert predicted.any(axis=1).all()


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("threshold", GUARANTEES, ids=str)
def test_each_row_or_group_counts_once(monkeypatch, place, threshold):
    X, y = linear_world(60, 2)
    groups = np.arange(60) % 20
    weights = np.where(np.arange(60) < 15, 0.0, 2.0)
    counts = []

    def count(self, scores, y, X=None, sample_weight=None):
        counts.append(len(scores))
        return self.__class__.__base__.fit(self, scores, y, X, sample_weight)

    class Counted(type(threshold)):
        fit = count

    folds = list(KFold(2).split(X)) + list(KFold(3).split(X))
    for options, given, expected in (
        ({"cv": folds}, {}, 60),
        ({"cv": folds}, {"sample_weight": weights}, 45),
        ({}, {"groups": groups}, 20),
        ({}, {"groups": groups, "sample_weight": weights}, 20),
    ):
        model = around(Counted(**threshold.get_params()), **options)[place]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y, **given)
        assert counts[-1] == expected


def test_promises_of_repeated_folds_are_kept():
    """Copies of a row would be counted as so many rows that agree."""

    class Scores(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.arange(y.shape[1])
            return self

        def decision_function(self, X):
            return X

    odds, y = world(20_000, seed=8)
    frozen = FrozenEstimator(Scores().fit(odds, y))
    rng, broken = np.random.default_rng(9), 0
    for _ in range(60):
        rows = rng.choice(len(y), 60, replace=False)
        folds = RepeatedKFold(n_splits=2, n_repeats=5, random_state=0)
        model = ThresholdedClassifier(frozen, PrecisionGuarantee(0.7), cv=folds)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cut = model.fit(odds[rows], y[rows]).threshold_
        broken += cut.guaranteed_ and precision_of(odds, y, cut.value_) < 0.7
    # A tenth of 60 at most, and three standard deviations.
    assert broken <= 6 + 3 * np.sqrt(60 * 0.1 * 0.9)


NONSENSE = [
    RecallGuarantee(1.5),
    RecallGuarantee("most"),
    PrecisionGuarantee(0.8, confidence=1.0),
    FeaturesThreshold(C=-1.0),
    FeaturesThreshold(max_iter=0),
    FeaturesThreshold(loss="absolute"),
    F1Threshold("weighted"),
    CountThreshold(6),
    CountThreshold(1.5),
    LabelsThreshold("recall"),
    LabelsThreshold(n_splits=1),
    LabelsThreshold(fbr=2.0),
    ShrunkenThreshold(strengths=()),
    ShrunkenThreshold(reach=0.0),
    ConstantThreshold(np.nan),
]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("threshold", NONSENSE, ids=str)
def test_nonsense_is_refused_before_anything_is_fitted(monkeypatch, place, threshold):
    def fitted(*arguments, **named):
        raise AssertionError

    monkeypatch.setattr(RankLSVM, "fit", fitted)
    X, y = linear_world(60, 3)
    with pytest.raises((TypeError, ValueError)):
        around(threshold)[place].fit(X, y)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("threshold", GUARANTEES, ids=str)
def test_unequal_weights_are_refused_before_anything_is_fitted(monkeypatch, place, threshold):
    monkeypatch.setattr(RankLSVM, "fit", lambda *a, **k: pytest.fail("fitted"))
    X, y = linear_world(60, 3)
    with pytest.raises(ValueError, match="sample_weight has different positive weights"):
        around(threshold)[place].fit(X, y, sample_weight=np.linspace(1.0, 2.0, 60))


def test_a_threshold_on_the_features():
    X, y = linear_world(200, 4)
    for model in around(FeaturesThreshold(random_state=0)):
        assert model.fit(X, y).predict(X).shape == y.shape
