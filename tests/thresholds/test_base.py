"""Between two scores, and in units of their spread."""

import numpy as np

from multimargin.thresholds.base import middle, spread

INF = np.inf
BIG = np.finfo(float).max


def test_middle():
    for lower, upper, expected in (
        (1.0, 3.0, 2.0),
        (-INF, 3.0, 2.0),
        (3.0, INF, 4.0),
        (0.5 * BIG, BIG, 0.75 * BIG),
        (1.0, np.nextafter(1.0, 2.0), 1.0),
        # Of neighbouring float32 numbers.
        (np.float32(1.0), np.float32(1.0 + 2**-23), 1.0 + 2**-24),
        # One unit is nothing beside such scores.
        (-INF, 1e300, np.nextafter(1e300, 0.0)),
    ):
        assert middle(np.array([lower]), np.array([upper])) == [expected]


def test_spread_is_the_mean_deviation_of_a_row():
    assert spread(np.array([[1.0, 3.0], [0.0, 6.0]])) == 2.0
    assert spread(np.ones((3, 2))) == 1.0
