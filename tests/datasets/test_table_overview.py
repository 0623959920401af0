"""Likely contents of columns, and the options that name them."""

import shlex

import numpy as np
import pandas as pd
import pytest

from multimargin.datasets import load_table
from multimargin.datasets.table_overview import overview

N = 120


def frame_of(**columns):
    """A table of columns that are told apart, and others."""
    rng = np.random.default_rng(0)
    pick = lambda values: rng.choice(values, size=N).tolist()  # noqa: E731
    found = {
        "row": [str(k) for k in range(N)],
        "the key": [f"a-{k * 7919 % 10007}" for k in range(N)],
        "size, in cm": [f"{value:.2f}" for value in rng.random(N)],
        "country": pick(["DE", "FR", ""]),
        "said": [" ".join(pick(["one", "two", "three"])[:6]) + str(k) for k in range(N)],
        "opened": [f"2024-01-{1 + k % 28:02}" for k in range(N)],
        "same": ["x"] * N,
        "empty": [""] * N,
        "old": pick(["0", "1"]),
        "tags": pick(["red;blue", "red", "blue;green", "", "green;red"]),
    }
    return pd.DataFrame(found | columns)


KINDS = {
    "row": "row numbers",
    "the key": "keys",
    "size, in cm": "numbers",
    "country": "names",
    "said": "text",
    "opened": "dates or times",
    "same": "one value",
    "empty": "nothing",
    "old": "0 and 1",
    "tags": "lists of tags",
}


def test_kinds_and_options():
    found = overview(frame_of(), "t", as_text=True)
    assert {column.name: column.holds for column in found.columns} == KINDS
    assert found.labels == "--tags-column tags --separator ';'"
    assert {name for name, _ in found.label_counts} == {"red", "blue", "green"}
    counts = [count for _, count in found.label_counts]
    assert counts == sorted(counts, reverse=True)
    dropped = "row,the key,same,empty"
    assert shlex.split(found.options) == ["--text", "said", "--drop", dropped]


def test_the_proposed_options_read_the_table(tmp_path):
    path = tmp_path / "t.csv"
    frame_of().rename(columns={"the key": "key, of it"}).to_csv(path, index=False)
    found = overview(pd.read_csv(path, dtype=str, keep_default_na=False), "t", as_text=True)
    words = shlex.split(f"{found.labels} {found.options}")
    given = {words[k].lstrip("-").replace("-", "_"): words[k + 1] for k in range(0, len(words), 2)}
    data = load_table(path, **given)
    assert data.label_names == ("blue", "green", "red")
    assert not any(name.startswith(("key", "row")) for name in data.feature_names)


def test_labels_at_the_end_come_first():
    rng = np.random.default_rng(1)
    marks = {f"label {k}": rng.choice(["yes", "no"], N).tolist() for k in range(3)}
    found = overview(frame_of(**marks), "t", as_text=True)
    assert found.labels == "--labels last:3"
    expected = {name: cells.count("yes") for name, cells in marks.items()}
    assert dict(found.label_counts) == expected


@pytest.mark.parametrize(
    "cells",
    [
        ["1,5", "2,25", "1,75"] * 40,
        ["12/05/2024", "13/05/2024"] * 60,
        ["New York", "Los Angeles", "San Francisco"] * 40,
        ["a long, winding text, with many commas", "of words, and so on, and on"] * 60,
    ],
)
def test_what_is_no_list_of_tags(cells):
    frame = pd.DataFrame({"x": cells})
    assert overview(frame, "t", as_text=True).columns[0].holds != "lists of tags"
    assert overview(frame, "t", as_text=True).labels == ""


@pytest.mark.parametrize(
    "cells",
    [
        [["red"], ["blue", "red"], None, []] * 30,
        ['["red"]', '["blue", "red"]', "[]", ""] * 30,
        ["red|blue", "red", "blue|green", "green"] * 30,
        ["red, blue", "red", "blue, green", "green"] * 30,
    ],
)
def test_lists_of_tags(cells):
    frame = pd.DataFrame({"x": np.arange(120) ** 2 % 17, "t": pd.Series(cells, dtype=object)})
    found = overview(frame, "t", as_text=False)
    assert found.labels.startswith("--tags-column t")
    assert found.label_counts[0][0] in ("red", "blue")
