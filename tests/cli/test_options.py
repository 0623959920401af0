"""What commands share: parameters of methods, splits, missing values."""

import inspect
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pytest
import typer
from scipy import sparse

from multimargin.cli.options import (
    MethodName,
    Scale,
    WrongUsage,
    by_subject,
    check_complete,
    choose_split,
    load_data,
    method_parameters,
    warn_of_one_value,
)
from multimargin.datasets import MultilabelData
from multimargin.methods import METHODS
from multimargin.scaling import SCALINGS
from tests.support.files import write_arff


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


DATA = MultilabelData(
    np.ones((4, 1)), np.ones((4, 1), dtype=int), splits={"train": [2, 0], "x": []}
)


def test_splits():
    def rows(wanted, default):
        name, found = choose_split(DATA, wanted, default)
        return name, found.tolist()

    assert rows(None, "train") == ("train", [2, 0])
    assert rows(None, "test") == ("all", [0, 1, 2, 3])
    assert rows("all", "train") == ("all", [0, 1, 2, 3])
    with pytest.raises(WrongUsage, match="--split is 'test'; expected one of train, x, all"):
        choose_split(DATA, "test", "train")
    with pytest.raises(WrongUsage, match="--split x of  has no rows"):
        choose_split(DATA, "x", "train")


def test_missing_values_are_named():
    X = np.array([[1.0, 2.0], [np.nan, np.nan], [0.0, np.nan]])
    message = r"mine has missing values, 3 in all, .* feature 'first'; expected"
    for stored in (X, sparse.csr_array(X)):
        data = MultilabelData(stored, [[1], [0], [1]], ["first", "second"], name="mine")
        with pytest.raises(ValueError, match=message):
            check_complete(data, np.arange(3))
        check_complete(data, np.arange(1))


def test_numbers_of_labels(tmp_path):
    data = MultilabelData([[1.0]], [[1, 0]], ["f"], ["p", "q"])
    file = tmp_path / "a.arff"
    xml = write_arff(data, file)
    assert load_data(str(file), "-1").label_names == ("q",)
    assert load_data(str(file), str(xml)).label_names == ("p", "q")
    assert load_data(str(file), None).label_names == ("p", "q")


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


def test_fields_of_a_subject_are_options():
    @dataclass(frozen=True)
    class Subject:
        count: Annotated[int, typer.Option("--count")] = 2
        name: Annotated[str | None, typer.Option("--name")] = None

    given: list[Any] = []

    @by_subject
    def command(source: str, *, subject: Subject, as_json: bool = False):
        """What it does."""
        given.append((source, subject, as_json))

    parameters = inspect.signature(command).parameters
    assert list(parameters) == ["source", "count", "name", "as_json"]
    assert parameters["count"].default == 2
    assert command.__doc__ == "What it does."
    command(source="data", count=3, name=None, as_json=True)
    assert given == [("data", Subject(3), True)]
