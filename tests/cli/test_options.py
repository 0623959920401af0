"""What commands share: parameters of methods, splits, missing values."""

import numpy as np
import pytest
from scipy import sparse

from multimargin.cli.options import (
    MethodName,
    Scale,
    WrongUsage,
    as_number,
    check_complete,
    choose_split,
    method_parameters,
    warn_of_one_value,
)
from multimargin.datasets import MultilabelData
from multimargin.methods import METHODS
from multimargin.scaling import SCALINGS


def test_parameters():
    method = METHODS["rank-svm"]
    settings = ["C=8", "max_iter=5", "coef0=-1", "kernel=a=b", "gamma="]
    found = {"C": "8", "max_iter": "5", "coef0": "-1", "kernel": "a=b", "gamma": ""}
    assert method_parameters(method, settings) == found
    assert method_parameters(method, None) == {}
    for wrong, message in (
        (["C"], "--set is 'C'; expected NAME=VALUE"),
        (["=8"], "--set is '=8'; expected NAME=VALUE"),
        (["Gama=1"], r"--set: rank-svm has no parameter 'Gama' \(did you mean 'gamma'\?\)"),
        (["C=1", "C=2"], "--set gives C twice"),
    ):
        with pytest.raises(WrongUsage, match=message):
            method_parameters(method, wrong)


def test_help_names_every_method_and_scaling():
    # Written out there, since the table takes a second to load.
    (method_option,) = MethodName.__metadata__
    assert f"One of {', '.join(METHODS)};" in method_option.help
    (scale_option,) = Scale.__metadata__
    assert scale_option.metavar == "|".join(SCALINGS)


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


def test_numbers_of_labels():
    given = ("-1", "+2", "3", "a.xml", None)
    assert [as_number(labels) for labels in given] == [-1, 2, 3, "a.xml", None]


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
