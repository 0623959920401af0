"""The lift of labels: counted as its formula says, and a gain where labels go together."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize

from multimargin import CalibratedClassifier, LabelRankerCV
from multimargin.blocks import LabelLogistic
from multimargin.calibration import LabelLift, LiftedCalibration
from multimargin.datasets import load_debian_tags
from multimargin.measures import ranking_loss
from multimargin.model_files import load_model, save_model
from multimargin.targets.indicator import UNKNOWN


def together(seed=0, n=300, q=6):
    """Labels in pairs that occur together, the second of each without features of its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, q // 2))
    first = rng.random(X.shape) < expit(2.0 * X - 1.0)
    noise = rng.random(X.shape) < 0.1
    y = np.stack([first, first ^ noise], axis=2).reshape(n, q).astype(int)
    return X, y


def counted(indicator, weights):
    """The lift by loops."""
    n, q = indicator.shape
    weights = weights * np.count_nonzero(weights) / weights.sum()
    shares = np.zeros(q)
    for k in range(q):
        known = [i for i in range(n) if indicator[i, k] != UNKNOWN]
        total = sum(weights[i] for i in known)
        if total:
            shares[k] = sum(weights[i] for i in known if indicator[i, k] == 1) / total
    lift = np.zeros((q, q))
    for k in range(q):
        for j in range(q):
            if j == k:
                continue
            both = [i for i in range(n) if UNKNOWN not in (indicator[i, k], indicator[i, j])]
            size = sum(weights[i] for i in both)
            seen = sum(weights[i] for i in both if indicator[i, k] == indicator[i, j] == 1)
            lift[k, j] = np.log((seen + 1.0) / (size * shares[k] * shares[j] + 1.0))
    return lift, shares


@pytest.mark.parametrize("scale", [1.0, 1e20, 1e-20])
@pytest.mark.parametrize("n_marks", [2, 3])
def test_it_is_counted_as_its_formula_says(n_marks, scale):
    rng = np.random.default_rng(n_marks)
    indicator = rng.integers(0, n_marks, size=(40, 5)).astype(np.uint8)
    indicator[:, 4] = 0
    weights = scale * rng.uniform(0.0, 2.0, 40) * (rng.random(40) < 0.8)
    lift, shares = counted(indicator, weights)
    model = LabelLift().fit(indicator, weights)
    np.testing.assert_allclose(model.lift_, lift, atol=1e-12)
    np.testing.assert_allclose(model.shares_, shares, atol=1e-15)
    odds = rng.normal(size=(7, 5))
    np.testing.assert_allclose(model.scores(odds), (expit(odds) - shares) @ lift, atol=1e-12)


def test_weights_are_copies_of_rows():
    indicator = np.random.default_rng(0).integers(0, 2, size=(20, 4)).astype(np.uint8)
    counts = np.arange(20) % 3
    weighted = LabelLift().fit(indicator, counts.astype(float))
    repeated = LabelLift().fit(np.repeat(indicator, counts, axis=0))
    np.testing.assert_allclose(weighted.shares_, repeated.shares_)


def test_it_ranks_tags_better():
    X, X_test, y, y_test = load_debian_tags().train_test()
    X, X_test = normalize(X[:300].sqrt()), normalize(X_test.sqrt())
    lifted, plain = (
        CalibratedClassifier(LabelLogistic(), lift=lift).fit(X, y[:300]) for lift in (True, False)
    )
    assert isinstance(lifted.calibration_, LiftedCalibration)
    assert 0.0 <= lifted.calibration_.gap_ < 1e-8
    losses = [ranking_loss(y_test, model.label_scores(X_test)) for model in (lifted, plain)]
    assert losses[0] < 0.99 * losses[1]


def test_shares_sum_to_the_odds_and_a_file_keeps_it(tmp_path):
    X, y = together(1)
    inner = OneVsRestClassifier(LogisticRegression())
    model = CalibratedClassifier(inner, lift=True).fit(X, y)
    shares = model.shares(X)
    assert list(shares) == ["onevsrestclassifier", "lift"]
    odds = model.label_scores(X)
    # What is left is the same in all rows.
    np.testing.assert_allclose(np.ptp(odds - sum(shares.values()), axis=0), 0.0, atol=1e-12)
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.label_scores(X), odds)


def test_the_ranker_s_model_is_kept_and_fitted_again_to_the_bit(tmp_path):
    X, y = together(2)
    options = {"loss": "hinge", "kernel": "linear", "class_weight": None, "top_k": None}
    model = LabelRankerCV([1.0], stack=["lift"], **options, random_state=0).fit(X, y)
    assert model.blocks_ == ("ranker", "lift")
    save_model(model, tmp_path / "m")
    p = model.predict_proba(X)
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict_proba(X), p)
    folds = list(model.best_estimator_[-1].shares(X))
    assert folds[-1] == "lift"
    without = LabelRankerCV([1.0], stack=None, **options, random_state=0).fit(X, y)
    assert (without.predict_proba(X) != p).any()


def test_labels_of_other_folds_alone_count(monkeypatch):
    X, y = together(3)
    seen = []
    fit = LabelLift.fit

    def watched(self, indicator, sample_weight=None):
        seen.append(sample_weight)
        return fit(self, indicator, sample_weight)

    monkeypatch.setattr(LabelLift, "fit", watched)
    folds = [(np.arange(150, 300), np.arange(150)), (np.arange(150), np.arange(150, 300))]
    CalibratedClassifier(OneVsRestClassifier(LogisticRegression()), lift=True, cv=folds).fit(X, y)
    first, second, every = seen
    np.testing.assert_array_equal(first, np.arange(300) >= 150)
    np.testing.assert_array_equal(second, np.arange(300) < 150)
    assert every is None


def test_too_many_labels_are_left_out_by_name(monkeypatch):
    X, y = together(4)
    monkeypatch.setattr("multimargin.blocks.by_name._MOST_LIFTED", 5)
    options = {"loss": "hinge", "kernel": "linear", "class_weight": None, "top_k": None}
    model = LabelRankerCV([1.0], **options, random_state=0).fit(X, y)
    assert model.left_out_ == {"lift": "6 labels are more than 5"}
    assert "lift" not in model.blocks_
