"""Head: what a classifier of scores answers."""

import numpy as np
from scipy.special import expit

from multimargin.calibration import PooledCalibration
from multimargin.calibration.head import Head
from multimargin.thresholds import ConstantThreshold

rng = np.random.default_rng(0)
SCORES = [rng.normal(size=(80, 4)), rng.normal(size=(80, 4))]
Y = (SCORES[0] + SCORES[1] + rng.normal(size=(80, 4)) > 0).astype(int)


def test_further_labels_serve_the_calibration_alone():
    calibration = PooledCalibration().fit(SCORES, Y)
    head = Head(calibration, ConstantThreshold(0.3), 3)
    odds = calibration.decision_function(SCORES)[:, :3]
    np.testing.assert_allclose(head.label_scores(SCORES), odds)
    np.testing.assert_allclose(head.predict_proba(SCORES), expit(odds))
    np.testing.assert_array_equal(head.predict(SCORES), odds > 0.3)
    assert head.classes_.tolist() == [0, 1, 2]


def test_classes_have_no_threshold():
    head = Head(None, None, 4)
    np.testing.assert_array_equal(head.predict(SCORES[0]).argmax(axis=1), SCORES[0].argmax(axis=1))
    assert (head.predict(SCORES[0]).sum(axis=1) == 1).all()
