"""CalibrationDisplay: scikit-learn's, over the pairs of rows and labels."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from multimargin import CalibratedClassifier, RankSVM
from multimargin.plots import CalibrationDisplay


def test_the_curve_is_that_of_all_pairs(data):
    X, y = data
    model = CalibratedClassifier(RankSVM(random_state=0)).fit(X, y)
    display = CalibrationDisplay.from_estimator(model, X, y, n_bins=4)
    p = model.predict_proba(X)
    shares, means = calibration_curve(y.ravel(), p.ravel(), n_bins=4, strategy="quantile")
    np.testing.assert_allclose(display.line_.get_ydata(), shares)
    np.testing.assert_allclose(display.line_.get_xdata(), means)
    assert display.estimator_name == "CalibratedClassifier"


def test_some_labels_without_the_unknown_ones(data):
    _, y = data
    p = np.random.default_rng(0).random(y.shape)
    partly = y.astype(float)
    partly[:5] = np.nan
    display = CalibrationDisplay.from_predictions(partly, p, labels=[1, 2], n_bins=3, name="a")
    expected = calibration_curve(
        y[5:, 1:3].ravel(), p[5:, 1:3].ravel(), n_bins=3, strategy="quantile"
    )
    np.testing.assert_allclose(display.prob_true, expected[0])
    again = CalibrationDisplay.from_predictions(y, p, ax=display.ax_)
    assert again.ax_ is display.ax_


def test_input_is_checked(data):
    X, y = data
    with pytest.raises(TypeError, match="RankSVM, which has no predict_proba"):
        CalibrationDisplay.from_estimator(RankSVM().fit(X, y), X, y)
    with pytest.raises(ValueError, match=r"labels is \[9\]; expected numbers from 0 to 3"):
        CalibrationDisplay.from_predictions(y, y * 0.5, labels=[9])
    with pytest.raises(ValueError, match=r"y_prob has shape \(40, 2\)"):
        CalibrationDisplay.from_predictions(y, y[:, :2] * 0.5)
