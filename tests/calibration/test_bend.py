"""Calibrations of rows of which most have no label, where low scores count in another way."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from multimargin import CalibratedClassifier, LabelRankerCV, load_model, save_model
from multimargin.calibration import BentCalibration, LiftedCalibration, PooledCalibration
from multimargin.calibration.calibrated import calibrate
from multimargin.calibration.held_out import HeldOut
from multimargin.measures import auc_macro


def mostly_empty(seed, n=400, q=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = (X @ rng.normal(size=(6, q)) + rng.normal(size=(n, q)) > 4.0).astype(int)
    assert (y.sum(axis=1) == 0).mean() > 0.5
    assert (y.sum(axis=0) > 3).all()
    return X, y


@pytest.mark.parametrize("lift", [False, True])
def test_shares_sum_to_the_odds(lift):
    X, y = mostly_empty(0)
    inner = OneVsRestClassifier(LogisticRegression())
    model = CalibratedClassifier([inner, clone(inner)], lift=lift, empty_label=True).fit(X, y)
    assert isinstance(model.calibration_, BentCalibration)
    kind = LiftedCalibration if lift else PooledCalibration
    assert isinstance(model.calibration_.calibration, kind)
    assert 0.0 <= model.calibration_.gap_ < 1e-8
    shares = model.shares(X)
    assert len(shares) == 2 + lift
    rest = model.label_scores(X) - sum(shares.values())
    np.testing.assert_allclose(np.ptp(rest, axis=0), 0.0, atol=1e-12)


def test_a_model_file_keeps_it(tmp_path):
    X, y = mostly_empty(1)
    model = LabelRankerCV([1.0], kernel="linear", loss="hinge", stack=["linear", "lift"])
    model.fit(X, y)
    assert model.blocks_ == ("linear", "ranker", "lift")
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert isinstance(loaded.calibration_, BentCalibration)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def held_out(scores, y, weights=None):
    n = len(y)
    labels = np.column_stack([y, y.sum(axis=1) == 0]).astype(float)
    return HeldOut(scores, labels, np.arange(n), weights, np.arange(n) % 3, n_learned=y.shape[1])


def test_low_scores_of_the_first_model_may_mean_nothing():
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(2, 20000, 3))
    odds = -5.0 + 5.0 * np.maximum(first, 0.0) + 2.0 * second
    y = (rng.random(odds.shape) < expit(odds)).astype(int)
    blocks = [np.column_stack([one, np.zeros(len(one))]) for one in (first, second)]
    bent = calibrate(held_out(blocks, y)).odds[:, :3]
    plain = calibrate(replace(held_out(blocks, y), n_learned=None)).odds[:, :3]
    best, with_bend, without = (auc_macro(y, found) for found in (odds, bent, plain))
    assert best - with_bend < 0.3 * (best - without)


@pytest.mark.parametrize("scale", [1e-6, 1e6, 1e150])
def test_the_scale_of_scores_does_not_matter(scale):
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(300, 4))
    y = (scores[:, :3] > 1.5).astype(int)
    expected = calibrate(held_out([scores], y)).odds
    found = calibrate(held_out([scale * scores], y)).odds
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_equal_scores_and_rows_without_weight():
    rng = np.random.default_rng(4)
    scores, y = rng.normal(size=(300, 4)), (rng.random((300, 3)) < 0.1).astype(int)
    flat = calibrate(held_out([np.full((300, 4), 0.1)], y))
    assert np.isfinite(flat.odds).all()
    weights = np.where(np.arange(300) < 240, 1.0, 0.0)
    other = scores.copy()
    other[240:] = 1e3
    one, two = (calibrate(held_out([block], y, weights)) for block in (scores, other))
    np.testing.assert_allclose(one.odds[:240], two.odds[:240], atol=1e-9)
    assert one.calibration.mean == two.calibration.mean
