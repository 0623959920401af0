"""Targets of a fit."""

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from multimargin import (
    LLSF,
    MLRL,
    SSMLRL,
    CalibratedClassifier,
    EmptyRowsWarning,
    LabelRankerCV,
    RankSVM,
    ThresholdedClassifier,
    UnknownLabelsWarning,
)
from multimargin.targets.reading import read_targets
from tests.support.cases import case
from tests.support.problems import unrelated_problem


def test_lists_of_names_become_an_indicator() -> None:
    columns = [pd.Series([["b"], ["a"], missing], index=[7, 8, 9]) for missing in (None, np.nan)]
    for Y, names, indicator in (
        ([["a", "b"], ["c", "d"]], "abcd", [[1, 1, 0, 0], [0, 0, 1, 1]]),
        ([["a"], ["b", "c"], []], "abc", [[1, 0, 0], [0, 1, 1], [0, 0, 0]]),
        ([("a", "b"), ("c",)], "abc", [[1, 1, 0], [0, 0, 1]]),
        ([{"a"}, {"b", "c"}, set()], "abc", [[1, 0, 0], [0, 1, 1], [0, 0, 0]]),
        ([{1}, {2, 3}], [1, 2, 3], [[1, 0, 0], [0, 1, 1]]),
        (np.array([{"a", "b"}, set()], dtype=object), "ab", [[1, 1], [0, 0]]),
        # Of a row without a list nothing is known.
        *((column, "ab", [[0, 1], [1, 0], [2, 2]]) for column in columns),
    ):
        with case(Y):
            found = read_targets(Y, unknown="take")
            assert found.label_names is not None
            assert found.label_names.tolist() == list(names)
            assert found.indicator.tolist() == indicator
            assert found.multilabel


NO_TARGETS = ("labels", 1, None, {"a": 1}, {frozenset("a")}, iter([0, 1]), [[0], [0, 1]], [0.5] * 9)
NO_TARGETS += ([], np.ones((9, 1)), np.ones((9, 2, 2)), np.full(9, np.inf))
NO_TARGETS += tuple(np.empty(shape) for shape in ((0, 3), (9, 0)))
NO_TARGETS += (pd.DataFrame({"a": [0, None] * 9, "b": [1, 0] * 9}, dtype="Int64"), 1j * np.eye(9))
NO_FEATURES = (1.5, None, iter([0, 1]), len, np.ones(9), np.ones(9) + 1j, [[0]] * 8 + [[0, 1]])


@pytest.mark.parametrize("model", [RankSVM(), SSMLRL(), LLSF(), ThresholdedClassifier(MLRL())])
def test_what_is_no_target_or_no_feature_is_named_with_what_is_expected(model: Any) -> None:
    X, Y = np.ones((9, 2)), np.eye(9, 2, dtype=int)
    calls = [(X, y) for y in NO_TARGETS] + [(x, Y) for x in NO_FEATURES]
    for x, y in calls:
        with case(x, y), pytest.raises((TypeError, ValueError)) as raised:
            model.fit(x, y)
        message = str(raised.value)
        name = "X" if y is Y else "y"
        assert re.match(rf"{name} (.*; expected|is not an? )|.* {name} to be passed", message)
        assert len(message.split("\n")[0]) == len(message) < 280


def test_lists_that_name_too_little_are_refused() -> None:
    with pytest.raises(ValueError, match=r"y lists 1 different label\(s\), \['a'\]"):
        read_targets([{"a"}, set()])
    with pytest.raises(TypeError, match="y lists labels of several types"):
        read_targets([{"a"}, {1, 2}])


@pytest.mark.parametrize("rows", [["no", "yes"], ["-1", "1"], ["False", "True"], ["0", "2"]])
def test_lists_of_marks_in_any_words_are_refused(rows: list[str]) -> None:
    no, yes = rows
    with pytest.raises(ValueError, match="an indicator written as text"):
        read_targets([[no, yes, no], [yes, no, no], None], unknown="take")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([["a", "b"], ["none"], ["a"]], "a word for no label"),
        ([["a:0.9", "b:0.1"], ["a:0.2"]], "a number after each"),
        ([["a x3", "b x1"], ["a x2"]], "beside numbers or brackets"),
        ([["__label__a", "__label__b"], ["__label__a"]], "a mark in front"),
        ([["a&amp;b", "c"], ["c"]], "HTML character references"),
        ([["a", "not b"], ["not a", "b"]], "other names with a mark"),
        ([["a,b"], ["a"], ["b"]], "is ',' a separator as well"),
        ([list("red,sea"), list("sea")], "a word for no label"),
        (
            [*[["a", "b"], ["b", "c"], ["a"], ["keine"]] * 9],
            "'keine', never together with another name",
        ),
    ],
)
def test_names_in_lists_that_are_more_than_names_are_told(rows: Any, told: str) -> None:
    with pytest.warns(UserWarning, match=f"y has .*{told}"):
        assert read_targets(rows).multilabel


def string_dtype(rows: list[Any]) -> Any:
    return np.array(rows, dtype=np.dtypes.StringDType(na_object=rows[2]))


FORMS = {
    "list": list,
    "StringDType": string_dtype,
    "tuple": tuple,
    "objects": lambda rows: np.array(rows, dtype=object),
    "one column": lambda rows: np.array(rows, dtype=object)[:, None],
    "Series": lambda rows: pd.Series(rows, dtype=object),
    "string": lambda rows: pd.Series(rows, dtype="string"),
    "category": lambda rows: pd.Series(rows, dtype="category"),
    "frame": lambda rows: pd.DataFrame({"y": rows}),
    "lists": lambda rows: [[row, "z"] for row in rows],
    "sets": lambda rows: [{row, "z"} for row in rows],
    "column of lists": lambda rows: pd.Series([[row, "z"] for row in rows]),
}


@pytest.mark.filterwarnings("ignore:A column-vector")
@pytest.mark.parametrize("form", FORMS)
def test_a_missing_class_or_label_is_named_with_its_row(form: str) -> None:
    expected = r"y (has no class|lists a missing label).* in row 2"
    for missing in (None, np.nan, np.float32("nan"), pd.NA, pd.NaT):
        with case(missing), pytest.raises(ValueError, match=expected):
            read_targets(FORMS[form](["b", "a", missing, "a"]))


@pytest.mark.filterwarnings("ignore:A column-vector")
@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("string", "StringDType")])
def test_classes_of_several_types_are_refused(form: str) -> None:
    # NumPy would make a text of the other in a list.
    # A list among texts is refused for its length.
    expected = r"y .* (several types|different lengths|lists of lists)"
    for other in (7, True, 1.5, b"x", (1,)):
        with case(other), pytest.raises((TypeError, ValueError), match=expected):
            read_targets(FORMS[form](["b", "a", other, "a"]))


def test_classes_and_indicators_are_no_lists_of_names() -> None:
    for Y in (["a", "b", "a"], [2, 0, 1], [[0, 1], [1, 0]], [(1, 0), (0, 1)]):
        assert read_targets(Y).indicator.shape[0] == len(Y)
    texts = string_dtype(["b", "a", None, "a"])[[0, 1, 3]]
    assert read_targets(texts).indicator.tolist() == [[0, 1], [1, 0], [1, 0]]


def test_names_that_occur_twice_are_refused() -> None:
    frame = pd.DataFrame([[0, 1, 1], [1, 0, 1]], columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="y has several columns named 'a'"):
        read_targets(frame)


def test_texts_that_list_labels_are_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"each is read as a class; .* y\.str\.split\('\|'\)"):
        read_targets(np.array(["a|b", "b|c", "a|c", "b"] * 3, dtype=object))
    # Few classes of many rows may have any name.
    read_targets(np.array(["a|b", "b|c"] * 5, dtype=object))
    read_targets(np.array(["a", "b", "c"], dtype=object))


# A search over several C warns when the best one is an end of the grid.
@pytest.mark.parametrize("method", [RankSVM(), MLRL(), SSMLRL(), LabelRankerCV(Cs=[1.0])])
def test_nan_in_y_is_warned_of_unless_that_is_ignored(method: Any) -> None:
    X, Y = unrelated_problem(0, 30, 3, 3)
    Y = Y.astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", EmptyRowsWarning)
        method.fit(X, Y)
        Y[2, 1] = Y[4, 0] = np.nan
        with pytest.raises(UnknownLabelsWarning, match="y has NaN in 2 of 90 places"):
            method.fit(X, Y)
        warnings.simplefilter("ignore", UnknownLabelsWarning)
        method.fit(X, Y)


@pytest.mark.parametrize(
    "of_folds",
    [
        LabelRankerCV(Cs=[1.0, 10.0], cv=3),
        ThresholdedClassifier(RankSVM(), cv=3),
        CalibratedClassifier(RankSVM(), cv=3),
    ],
)
def test_what_fits_folds_warns_of_nan_in_y_once(of_folds: Any) -> None:
    X, Y = unrelated_problem(0, 30, 3, 3)
    Y = Y.astype(float)
    Y[2, 1] = Y[4, 0] = np.nan
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        of_folds.fit(X, Y)
    found = [str(one.message) for one in caught if one.category is UnknownLabelsWarning]
    assert len(found) == 1
    assert "in 2 of 90 places" in found[0]


NAMED = pd.DataFrame([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]], columns=["a", "b", "c"])
LISTED = [["c", "a"], ["b"], ["a", "b"], ["c"]]


def fitted(kind: str) -> Any:
    """A model that predicts the labels of its four training rows."""
    model: Any = RankSVM(C=1000.0, random_state=0)
    if kind == "calibrated":
        model = CalibratedClassifier(model, cv=2)
    if kind == "threshold":
        model = ThresholdedClassifier(model, cv=2)
    if kind == "ranker":
        model = LabelRankerCV(Cs=[1000.0], stack=None, cv=2, random_state=0, calibration=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(np.tile(np.eye(4), (3, 1)), pd.concat([NAMED] * 3))


@pytest.mark.parametrize("kind", ["method", "ranker", "calibrated", "threshold"])
def test_labels_are_scored_by_name_whatever_names_them(kind: str) -> None:
    model, X = fitted(kind), np.eye(4)
    expected = model.score(X, NAMED.to_numpy())
    for y in (NAMED, NAMED[["c", "a", "b"]], LISTED, [set(row) for row in LISTED]):
        with case(y):
            assert model.score(X, y) == expected
    with pytest.raises(ValueError, match=r"y has 1 label\(s\) that the model does not know: 'z'"):
        model.score(X, NAMED.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="y lacks 1 of the 3 labels of the model: 'b'"):
        model.score(X, NAMED[["a", "c"]])
    with pytest.raises(ValueError, match="y lacks 2 of the 3 labels of the model: 'b', 'c'"):
        model.score(X, NAMED[["a"]])
    with pytest.raises(ValueError, match="y has 2 labels; expected 3 as in fit"):
        model.score(X, NAMED.to_numpy()[:, :2])
    with pytest.raises(ValueError, match="y has one class in each row; expected labels"):
        model.score(X, ["a", "b", "a", "c"])


def test_names_that_look_the_same_are_the_same_in_fit_and_score() -> None:
    named = NAMED.rename(columns={"a": "cafe\u0301", "b": " b"})
    model = RankSVM(C=1000.0, random_state=0).fit(np.eye(4), named)
    rows = [["c", "caf\u00e9"], ["b"], ["caf\u00e9", " b"], ["c"]]
    others = named.rename(columns={"cafe\u0301": "caf\u00e9"})
    assert model.score(np.eye(4), rows) == model.score(np.eye(4), others) == 1.0


def test_a_name_that_the_model_lacks_is_met_by_no_prediction() -> None:
    model, X = fitted("method"), np.eye(4)
    assert model.score(X, LISTED) == 1.0
    assert model.score(X, [["c", "a", "z"], *LISTED[1:]]) == 0.75
    ranker = fitted("ranker")
    with pytest.warns(UserWarning, match="y has names that the model does not know, 'z'; they are"):
        assert ranker.score(X, [["c", "a", "z"], *LISTED[1:]]) == ranker.score(X, LISTED)


def test_classes_are_scored_as_classes() -> None:
    X, y = np.eye(6), np.array(["u", "v", "w"] * 2)
    model = RankSVM(C=1000.0, random_state=0).fit(X, y)
    assert model.score(X, y.tolist()) == model.score(X, pd.Series(y)) == 1.0
    assert model.score(X, ["v", "v", "other", "u", "v", "w"]) == 4 / 6
    assert model.score(X[:1], ["u"], sample_weight=[2.0]) == 1.0
    for wrong in (np.eye(6, 3, dtype=int), [["u"], ["v"], ["w"]] * 2):
        with pytest.raises(ValueError, match=r"y has labels, .*; expected one class in each row"):
            model.score(X, wrong)
