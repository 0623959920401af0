"""Targets of a fit."""

from typing import Any

import numpy as np
import pytest

from multimargin.checks.targets import check_targets


@pytest.mark.parametrize(
    "Y",
    [
        [["a", "b"], ["c", "d"]],
        [["a"], ["b", "c"], []],
        [("a", "b"), ("c",)],
        [{"a"}, {"b", "c"}, set()],
        [{1}, {2, 3}],
        np.array([{"a"}, set()], dtype=object),
    ],
)
def test_label_sets_get_the_line_that_helps(Y: Any) -> None:
    with pytest.raises(TypeError, match=r"MultiLabelBinarizer\(\)\.fit_transform\(y\)$"):
        check_targets(Y)


def test_a_series_of_label_sets() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="y lists the labels of each row"):
        check_targets(pandas.Series([["a", "b"], ["c"]]))


@pytest.mark.parametrize("Y", [["a", "b", "a"], [2, 0, 1], [[0, 1], [1, 0]], [(1, 0), (0, 1)]])
def test_classes_and_indicators_are_none(Y: Any) -> None:
    assert check_targets(Y).indicator.shape[0] == len(Y)


def test_names_that_occur_twice_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 1, 1], [1, 0, 1]], columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="y has several columns named 'a'"):
        check_targets(frame)
