"""Models in files: what is kept, and what is refused."""

import json
import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from multimargin import __version__
from multimargin.datasets import MultilabelData, load_digit_attributes
from multimargin.methods import METHODS
from multimargin.model_files import ModelInfo, load_model, save_model
from multimargin.scaling import with_scaler

DATA = load_digit_attributes()
INFO = ModelInfo(
    method="rank-svm",
    feature_names=tuple(DATA.feature_names),
    label_names=tuple(DATA.label_names),
    sparse=False,
    data_name=DATA.name,
    split="train",
    version=__version__,
)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_every_method_comes_back(tmp_path: Path, name: str, is_sparse: bool) -> None:
    X, X_test, Y, _ = DATA.train_test()
    X, X_test, Y = X[:80], X_test[:20], Y[:80]
    if is_sparse:
        X, X_test = sparse.csr_array(X), sparse.csr_array(X_test)
    model = with_scaler(METHODS[name].make(), "minmax", sparse=is_sparse).fit(X, Y)
    info = replace(INFO, method=name, sparse=is_sparse)
    file = tmp_path / "a model"
    save_model(model, info, file)
    found, found_info = load_model(file)
    assert found_info == info
    assert_array_equal(found.decision_function(X_test), model.decision_function(X_test))
    assert [path.name for path in tmp_path.iterdir()] == ["a model"]


def test_features_and_labels_are_found_by_name() -> None:
    info = replace(INFO, feature_names=("a", "b", "c"), label_names=("p", "q"))
    data = MultilabelData(
        [[3.0, 0.0, 1.0, 2.0]], [[0, 1]], ["c", "other", "a", "b"], ["q", "p"], name="new"
    )
    assert_array_equal(info.features_of(data), [[1.0, 2.0, 3.0]])
    assert_array_equal(info.labels_of(data), [[1, 0]])
    stored = replace(info, sparse=True).features_of(data)
    assert isinstance(stored, sparse.csr_array)
    assert_array_equal(info.stored(stored), [[1.0, 2.0, 3.0]])


def test_names_that_occur_twice_are_taken_in_order() -> None:
    info = replace(INFO, feature_names=("a", "a"))
    data = MultilabelData([[1.0, 2.0]], [[1]], ["a", "a"])
    assert_array_equal(info.features_of(data), [[1.0, 2.0]])


def test_what_is_missing_is_named() -> None:
    info = replace(INFO, feature_names=("a", "b"), label_names=("p", "q"))
    data = MultilabelData([[1.0]], [[1]], ["a"], ["p"], name="new")
    with pytest.raises(ValueError, match="new lacks 1 of the 2 features of the model: 'b'"):
        info.features_of(data)
    with pytest.raises(ValueError, match="new lacks 1 of the 2 labels of the model: 'q'"):
        info.labels_of(data)
    with pytest.raises(ValueError, match=r"1 label\(s\) that the model does not know: 'z'"):
        info.labels_of(replace(data, label_names=("z",)))


class Trap:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.folder),)

    folder: Path


def test_foreign_pickles_are_not_even_opened(tmp_path: Path) -> None:
    trap = Trap()
    trap.folder = tmp_path / "sprung"
    file = tmp_path / "foreign"
    file.write_bytes(pickle.dumps(trap))
    with pytest.raises(ValueError, match=r"foreign is no model of multimargin, expected a file"):
        load_model(file)
    assert not trap.folder.exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"multimargin mod"])
def test_other_files(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x"
    file.write_bytes(content)
    with pytest.raises(ValueError, match="is no model of multimargin"):
        load_model(file)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    save_model({"any": np.arange(1000)}, INFO, path)
    return path


def test_cut_short(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:60])
    with pytest.raises(ValueError, match=r"the header of .* is damaged or cut short"):
        load_model(file)
    file.write_bytes(content[:-100])
    with pytest.raises(ValueError, match=r"the model in .* cannot be loaded; it is damaged, or"):
        load_model(file)


def change_header(file: Path, **changes: Any) -> None:
    magic, header, rest = file.read_bytes().split(b"\n", 2)
    changed = json.dumps(json.loads(header) | changes).encode()
    file.write_bytes(b"\n".join([magic, changed, rest]))


def test_a_later_format(file: Path) -> None:
    change_header(file, format=2, version="9.9")
    with pytest.raises(ValueError, match=r"has format 2, expected 1: .* by multimargin 9\.9"):
        load_model(file)


def test_another_version_is_told(file: Path) -> None:
    change_header(file, version="0.0.1")
    with pytest.warns(UserWarning, match=r"was written by multimargin 0\.0\.1, this is"):
        _, info = load_model(file)
    assert info.version == "0.0.1"


def test_an_incomplete_header(file: Path) -> None:
    magic, header, rest = file.read_bytes().split(b"\n", 2)
    for broken in (b"[]", b"{}", b'{"format": 1}', header.replace(b'"sparse"', b'"dense"')):
        file.write_bytes(b"\n".join([magic, broken, rest]))
        with pytest.raises(ValueError, match=r"the header of .* is damaged"):
            load_model(file)


def test_a_failure_leaves_nothing_behind(file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(Exception, match="pickle"):
        save_model(lambda: None, INFO, file)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["model"]


def test_bad_paths(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load_model(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        save_model({}, INFO, tmp_path / "no" / "model")
