"""Between two scores, and in units of their spread."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from multimargin.thresholds import LabelsThreshold
from multimargin.thresholds.base import learn_threshold, middle, spread

INF = np.inf
BIG = np.finfo(float).max


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (1.0, 3.0, 2.0),
        (-INF, 3.0, 2.0),
        (3.0, INF, 4.0),
        (0.5 * BIG, BIG, 0.75 * BIG),
        (1.0, np.nextafter(1.0, 2.0), 1.0),
        # One unit is nothing beside such scores.
        (-INF, 1e300, np.nextafter(1e300, 0.0)),
    ],
)
def test_middle(lower, upper, expected):
    assert middle(np.array([lower]), np.array([upper])) == [expected]


def test_spread_is_the_mean_deviation_of_a_row():
    assert spread(np.array([[1.0, 3.0], [0.0, 6.0]])) == 2.0
    assert spread(np.ones((3, 2))) == 1.0


def test_learned_thresholds_are_those_of_the_scores_as_they_are():
    random = np.random.default_rng(0)
    scores = random.normal(size=(40, 3))
    Y = (scores + random.normal(size=(40, 3)) > 0.3).astype(int)
    plain = LabelsThreshold(cv=None).fit(scores, Y)
    found = learn_threshold(LabelsThreshold(cv=None), 1e3 * scores, Y, None)
    # Beyond the last score thresholds are one unit away: here there is none such.
    assert_allclose(found.thresholds_, 1e3 * plain.thresholds_, rtol=1e-12)
    assert_array_equal(found.predict_labels(1e3 * scores), plain.predict_labels(scores))
