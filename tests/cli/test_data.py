"""Splits, missing values and labels of one value of the data of a command line."""

import numpy as np
import pytest
from scipy import sparse

from multimargin.cli.data import check_complete, choose_split, warn_of_one_value
from multimargin.cli.options import WrongUsage
from multimargin.datasets import MultilabelData


def test_a_split_without_rows():
    data = MultilabelData(np.ones((2, 1)), np.ones((2, 1), dtype=int), splits={"x": []})
    with pytest.raises(WrongUsage, match="--split x of  has no rows"):
        choose_split(data, "x", "train")


def test_missing_values_are_named():
    X = np.array([[1.0, 2.0], [np.nan, np.nan], [0.0, np.nan]])
    message = r"mine has missing values, 3 in all, .* feature 'first'; expected"
    for stored in (X, sparse.csr_array(X)):
        data = MultilabelData(stored, [[1], [0], [1]], ["first", "second"], name="mine")
        with pytest.raises(ValueError, match=message):
            check_complete(data, np.arange(3))
        check_complete(data, np.arange(1))


def test_labels_of_one_value_are_named_once():
    data = MultilabelData(
        np.zeros((3, 1)), [[1, 0, 0, 1], [1, 0, 1, 0], [1, 0, 0, 1]], (), tuple("abcd")
    )
    with pytest.warns(UserWarning, match="nothing can be learned") as found:
        warn_of_one_value(data, np.arange(3))
    assert [str(warning.message) for warning in found] == [
        "1 label applies to every row, so nothing can be learned: a",
        "1 label applies to no row, so nothing can be learned: b",
    ]
