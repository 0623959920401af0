"""Features that give labels away or repeat: what is told, and what is not."""

import warnings

import numpy as np
import pandas as pd
import pytest

from multimargin.datasets.table_columns import TableColumns
from multimargin.datasets.tables import table_of

RANDOM = np.random.default_rng(0)
Y = RANDOM.integers(0, 2, (40, 3))
NAMES = ["red", "dark blue", "sea"]
TAGS = ["|".join(name for name, applies in zip(NAMES, row, strict=True) if applies) for row in Y]
SIZES = RANDOM.random(40).round(3).astype(str)


def told(columns, **roles):
    """What is told of a table with columns of text."""
    frame = pd.DataFrame({"size": SIZES, **columns}).astype(str)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table_of(frame, TableColumns(**roles), as_text=True)
    return [str(warning.message) for warning in caught if "features" in str(warning.message)]


OF_LABELS = dict(zip(NAMES, Y.T, strict=True))
BY_TAGS = {"tags_column": "tags", "separator": "|"}
BY_LABELS = {"labels": NAMES}


@pytest.mark.parametrize("prefix", ["", "tags/", "genre_", "Q1[", "x"])
def test_columns_that_are_labels_are_told(prefix):
    same = {f"{prefix}{name}": column for name, column in OF_LABELS.items()}
    (message,) = told({"tags": TAGS, **same}, **BY_TAGS)
    assert "the features say which labels apply, or how many, in " in message
    assert all(repr(column) in message for column in same)


def test_columns_named_like_tags_with_other_values_are_told():
    other = {name: np.roll(column, 1) for name, column in OF_LABELS.items()}
    (message,) = told({"tags": TAGS, **other}, **BY_TAGS)
    assert message.startswith("the features have columns named like tags, 'dark blue', 'red', 'se")


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.1, 0.9), (-1, 1), (1, 0)])
def test_numbers_that_tell_a_label_or_whether_there_is_any_are_told(low, high):
    for of in (Y[:, 1], Y.any(axis=1)):
        (message,) = told({"tags": TAGS, "n": np.where(of == 1, high, low)}, **BY_TAGS)
        assert "or how many, in 'n'; leave out" in message


def test_the_number_of_labels_is_told():
    for columns, roles in (({"tags": TAGS}, BY_TAGS), (OF_LABELS, BY_LABELS)):
        (message,) = told({**columns, "n": Y.sum(axis=1)}, **roles)
        assert "or how many, in 'n'; leave out" in message


@pytest.mark.parametrize("joined", ["|".join, ", ".join, repr, lambda tags: "".join(tags[:1])])
def test_names_of_labels_in_a_feature_are_told(joined):
    rows = [[name for name, of in zip(NAMES, row, strict=True) if of] for row in Y]
    (message,) = told({**OF_LABELS, "tags": [joined(row) for row in rows]}, **BY_LABELS)
    assert "which labels apply, or how many, in 'tags'; leave out" in message


def test_what_another_person_labelled_is_told():
    """In columns with another number, or named in another column, the same in most rows."""
    almost = Y.copy()
    almost[::9, 0] = 1 - almost[::9, 0]
    first = {f"{name}_1": column for name, column in OF_LABELS.items()}
    second = {f"{name}_2": column for name, column in zip(NAMES, almost.T, strict=True)}
    message, *_ = told({**first, **second}, labels=[*first])
    assert message.startswith("the features have columns named like tags, 'red_2', 'dark blue_2'")
    assert told({"q_1": Y[:, 0], "q_2": Y[:, 1], "q_3": SIZES}, labels="q_1,q_2") == []
    other = ["|".join(np.array(NAMES)[row == 1]) for row in almost]
    (message,) = told({"tags": TAGS, "other": other}, **BY_TAGS)
    assert "or how many, in 'other'; leave out" in message


def test_features_like_labels_in_most_rows_are_not_told():
    almost = Y[:, 0].copy()
    almost[-1] = 1 - almost[-1]
    colour = np.where(Y[:, 0] == 1, "red", "sea")
    assert told({"tags": TAGS, "a": almost, "n": Y.sum(axis=1) + (Y[:, 0] > 0)}, **BY_TAGS) == []
    assert told({**OF_LABELS, "colour": colour}, **BY_LABELS) == []
    # A feature that is the same by chance.
    rare = np.arange(40) == 3
    assert told({**OF_LABELS, "rare": 1 * rare, "b": 1 * rare}, labels=[*NAMES, "rare"]) == []


def test_rows_of_one_tag_that_repeat_others_are_told():
    texts = [f"text number {k // 2}" for k in range(40)]
    tags = [NAMES[k % 3] for k in range(40)]
    frame = pd.DataFrame({"text": texts, "tags": tags})
    roles = TableColumns(tags_column="tags", text="text")
    with pytest.warns(UserWarning, match="each row has one tag, and 20 of 40 repeat features of"):
        table_of(frame, roles, as_text=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table_of(frame.assign(text=[f"text number {k}" for k in range(40)]), roles, as_text=True)
        # Other rows, which are alike.
        alike = {"text": [f"text number {k % 6}" for k in range(40)]}
        table_of(frame.assign(**alike), roles, as_text=True)
