"""ReliabilityDisplay: its points are those of scikit-learn's calibration curve."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import calibration_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multimargin import CalibratedClassifier, RankSVM
from multimargin.plots import ReliabilityDisplay

RANDOM = np.random.default_rng(0)
P = RANDOM.random((200, 3))
P[0] = [0.0, 0.5, 1.0]
Y = (RANDOM.random(P.shape) < P).astype(int)


def assert_points(line, y, p, bins=10):
    share, probability = calibration_curve(y, p, n_bins=bins)
    np.testing.assert_allclose(line.get_xdata(), probability)
    np.testing.assert_allclose(line.get_ydata(), share)


@pytest.mark.parametrize("bins", [1, 7, 10])
def test_points_of_all_labels_and_of_some(bins):
    display = ReliabilityDisplay.from_predictions(Y, P, bins=bins)
    (line,) = display.lines_
    assert_points(line, Y.ravel(), P.ravel(), bins)
    assert display.curves[0].count.sum() == Y.size
    names = ["_a", "$b", "c"]
    display = ReliabilityDisplay.from_predictions(
        Y, P, label_names=names, labels=["c", "_a"], bins=bins
    )
    for line, k in zip(display.lines_, (2, 0), strict=True):
        assert_points(line, Y[:, k], P[:, k], bins)
    assert [text.get_text().strip() for text in display.legend_.get_texts()] == ["c", "_a"]


def test_a_label_may_be_given_alone_and_unknown_labels_are_left_out():
    holes = Y.astype(float)
    holes[::3, 1] = np.nan
    (line,) = ReliabilityDisplay.from_predictions(holes, P, labels=1).lines_
    known = np.arange(200) % 3 != 0
    assert_points(line, Y[known, 1], P[known, 1])
    (line,) = ReliabilityDisplay.from_predictions(holes, P).lines_
    known = ~np.isnan(holes)
    assert_points(line, Y[known], P[known])
    holes[:, 1] = np.nan
    display = ReliabilityDisplay.from_predictions(holes, P, labels=[0, 1])
    assert [curve.count.sum() for curve in display.curves] == [200, 0]


def test_probabilities_of_a_model(data):
    X, Y = data
    names = [[f"n{k}" for k in np.flatnonzero(row)] for row in Y]
    model = make_pipeline(StandardScaler(), CalibratedClassifier(RankSVM(random_state=0), cv=2))
    model.fit(X, names)
    (line,) = ReliabilityDisplay.from_estimator(model, X, Y, labels="n2").lines_
    assert_points(line, Y[:, 2], model.predict_proba(X)[:, 2])
    turned = pd.DataFrame(Y, columns=[f"n{k}" for k in range(Y.shape[1])]).iloc[:, ::-1]
    (line,) = ReliabilityDisplay.from_estimator(model, X, turned, labels="n2").lines_
    assert_points(line, Y[:, 2], model.predict_proba(X)[:, 2])
    with pytest.raises(ValueError, match=r"labels has 'n9' .*expected some of 'n0', 'n1', 'n2'"):
        ReliabilityDisplay.from_estimator(model, X, Y, labels=["n9"])
    with pytest.raises(TypeError, match="has no predict_proba"):
        ReliabilityDisplay.from_estimator(RankSVM(random_state=0).fit(X, Y), X, Y)


def test_what_are_no_probabilities_is_refused():
    with pytest.raises(ValueError, match=r"probabilities are between -1 and .*expected numbers"):
        ReliabilityDisplay.from_predictions(Y, np.where(P < 0.5, -1.0, P))
    with pytest.raises(ValueError, match=r"probabilities has shape \(200, 2\)"):
        ReliabilityDisplay.from_predictions(Y, P[:, :2])
    with pytest.raises(ValueError, match="label_names has 2 names; expected 3"):
        ReliabilityDisplay.from_predictions(Y, P, label_names=["a", "b"])
    with pytest.raises(ValueError, match="labels has none"):
        ReliabilityDisplay.from_predictions(Y, P, labels=[])
    with pytest.raises(ValueError, match="bins is 0"):
        ReliabilityDisplay.from_predictions(Y, P, bins=0)
