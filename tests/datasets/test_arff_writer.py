"""What is written is read back: values, names, order, missing values."""

import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from scipy import sparse

from multimargin.datasets import MultilabelData, dump_arff, load_arff, load_digit_attributes


def dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


def assert_same(found: MultilabelData, expected: MultilabelData) -> None:
    assert found.feature_names == expected.feature_names
    assert found.label_names == expected.label_names
    assert_array_equal(dense(found.X), dense(expected.X))
    assert_array_equal(found.Y, expected.Y)
    assert found.Y.dtype == expected.Y.dtype


def test_the_layout_is_that_of_mulan(tmp_path: Path) -> None:
    data = MultilabelData([[0.5, 0.0]], [[1, 0]], ["f 1", "g"], ["p", "it's"], name="tiny")
    xml = dump_arff(data, tmp_path / "tiny.arff")
    assert (tmp_path / "tiny.arff").read_text(encoding="utf-8") == (
        "@relation tiny\n\n@attribute 'f 1' numeric\n@attribute g numeric\n"
        "@attribute p {0,1}\n@attribute 'it\\'s' {0,1}\n\n@data\n0.5,0.0,1,0\n"
    )
    root = ElementTree.parse(xml).getroot()
    assert root.tag == "{http://mulan.sourceforge.net/labels}labels"
    assert [label.get("name") for label in root] == ["p", "it's"]

    dump_arff(MultilabelData(sparse.csr_array(data.X), data.Y), tmp_path / "tiny.arff")
    rows = (tmp_path / "tiny.arff").read_text(encoding="utf-8").split("@data\n")[1]
    assert rows == "{ 0 0.5,2 1 }\n"


def test_parts_share_one_xml_file(tmp_path: Path) -> None:
    data = load_digit_attributes()
    train, test = tmp_path / "digits-train.arff", tmp_path / "digits-test.arff"
    xml = dump_arff(data, train, split="train")
    assert xml == tmp_path / "digits.xml"
    assert dump_arff(data, test, split="test") == xml
    found = load_arff(train, xml, test=test)
    assert_same(found, data)
    assert [len(rows) for rows in found.splits.values()] == [1198, 599]


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    X=hnp.arrays(
        np.float64,
        (3, 2),
        elements=st.floats(allow_infinity=False, allow_nan=True),
    ),
    names=st.lists(
        st.text(st.characters(exclude_categories=["C", "Zl", "Zp"])),
        min_size=4,
        max_size=4,
        unique=True,
    ),
    is_sparse=st.booleans(),
)
def test_any_value_and_name(tmp_path: Path, X: Any, names: list[str], is_sparse: bool) -> None:
    Y = [[0, 1], [1, 1], [0, 0]]
    data = MultilabelData(sparse.csr_array(X) if is_sparse else X, Y, names[:2], names[2:])
    file = tmp_path / "any.arff"
    assert_same(load_arff(file, dump_arff(data, file)), data)


@pytest.mark.parametrize("name", ["two\nlines", "tab\t", "nul\0", "next\x85line"])
def test_control_characters_are_refused(tmp_path: Path, name: str) -> None:
    data = MultilabelData([[1.0]], [[1]], [name])
    with pytest.raises(ValueError, match="line break or control character"):
        dump_arff(data, tmp_path / "x.arff")
    assert not list(tmp_path.iterdir())


def test_a_name_of_two_attributes_is_refused(tmp_path: Path) -> None:
    data = MultilabelData([[1.0]], [[1]], ["same"], ["same"])
    with pytest.raises(ValueError, match="two attributes are named 'same'"):
        dump_arff(data, tmp_path / "x.arff")


def test_bad_paths(tmp_path: Path) -> None:
    data = MultilabelData([[1.0]], [[1]])
    with pytest.raises(FileNotFoundError, match="path: there is no folder"):
        dump_arff(data, tmp_path / "no" / "x.arff")
    with pytest.raises(IsADirectoryError, match=r"path: .* is a folder"):
        dump_arff(data, tmp_path)
    with pytest.raises(TypeError, match="path: found int"):
        dump_arff(data, 3)  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="found 'train'"):
        dump_arff(data, tmp_path / "x.arff", split="train")


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arff", None)
    with pytest.raises(ImportError, match=r"dump_arff needs liac-arff.*multimargin\[data\]"):
        dump_arff(MultilabelData([[1.0]], [[1]]), tmp_path / "x.arff")
