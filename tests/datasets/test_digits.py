from math import isqrt

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from multimargin.datasets import load_digit_attributes

DATA = load_digit_attributes()
DIGITS = load_digits()

# Each label by a definition other than a list of digits, but the one that the shape decides.
DEFINITIONS = {
    "closed loop": lambda digit: digit in (0, 6, 8, 9),
    "even": lambda digit: digit % 2 == 0,
    "prime": lambda digit: sum(digit % k == 0 for k in range(1, digit + 1)) == 2,
    "multiple of three": lambda digit: digit % 3 == 0,
    "greater than four": lambda digit: digit > 4,
    "perfect square": lambda digit: isqrt(digit) ** 2 == digit,
    # Gessel's test: one of 5 m^2 + 4 and 5 m^2 - 4 is a square.
    "Fibonacci number": lambda digit: any(
        isqrt(max(m, 0)) ** 2 == m for m in (5 * digit**2 + 4, 5 * digit**2 - 4)
    ),
}


def test_features_are_the_scaled_pixels():
    assert DATA.X.shape == (1797, 64)
    assert DATA.X.min() == 0.0
    assert DATA.X.max() == 1.0
    assert_array_equal(DATA.X * 16, DIGITS.data)


@pytest.mark.parametrize("label", DEFINITIONS)
def test_labels_follow_their_definition(label):
    expected = [DEFINITIONS[label](int(digit)) for digit in DIGITS.target]
    assert_array_equal(DATA.Y[:, DATA.label_names.index(label)], expected)


def test_splits_divide_the_rows_and_hold_every_digit():
    train, test = DATA.splits["train"], DATA.splits["test"]
    assert (len(train), len(test)) == (1198, 599)
    assert_array_equal(np.concatenate([train, test]), np.arange(1797))
    for rows in (train, test):
        assert set(DIGITS.target[rows]) == set(range(10))
