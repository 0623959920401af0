import numpy as np
import pytest
from numpy.testing import assert_array_equal

from multimargin.checks.weights import check_sample_weight


def test_one_number_counts_for_all_rows() -> None:
    assert_array_equal(check_sample_weight(2.5, 3), [2.5, 2.5, 2.5])


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ("heavy", TypeError, "sample_weight is 'heavy'; expected a number for each of 3 rows"),
        (["heavy"] * 99, TypeError, r"sample_weight is \['heavy', .{,60}; expected a number for"),
        (np.ones(2), ValueError, r"shape \(2,\); expected \(3,\)"),
        ([1.0, -1.0, 1.0], ValueError, "negative or not finite"),
        (0.0, ValueError, "zero for all rows"),
    ],
)
def test_malformed(weights: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        check_sample_weight(weights, 3)
