from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from multimargin.datasets import load_npz

X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, np.nan]])
Y = np.array([[1, 0], [0, 1]], dtype=np.int8)


def write(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def test_dense(tmp_path: Path) -> None:
    data = load_npz(write(tmp_path / "tiny.npz", X=X, Y=Y))
    assert_array_equal(data.X, X)
    assert_array_equal(data.Y, Y)
    assert (data.name, data.label_names, data.splits) == ("tiny", ("y0", "y1"), {})


def test_sparse_with_names_and_splits(tmp_path: Path) -> None:
    csr = sparse.csr_array(X)
    file = write(
        tmp_path / "tiny.npz",
        data=csr.data,
        indices=csr.indices,
        indptr=csr.indptr,
        shape=np.array(csr.shape),
        Y=Y,
        feature_names=["a", "b", "c"],
        label_names=["p", "q"],
        train_idx=[0],
        test_idx=[1],
    )
    data = load_npz(file, name="other")
    assert isinstance(data.X, sparse.csr_array)
    assert_array_equal(data.X.toarray(), X)
    assert (data.name, data.feature_names, data.label_names) == (
        "other",
        ("a", "b", "c"),
        ("p", "q"),
    )
    assert {name: rows.tolist() for name, rows in data.splits.items()} == {
        "train": [0],
        "test": [1],
    }


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": X}, r"has the arrays \['X'\], expected Y and either X or data, indices"),
        ({"Y": Y, "data": X}, r"has the arrays \['Y', 'data'\]"),
        ({"X": X, "Y": Y + 1}, "expected 0 or 1"),
        ({"X": X, "Y": Y[:1]}, "found 1 rows, expected 2"),
        ({"X": X, "Y": Y, "test_idx": [7]}, "found indices 7..7"),
        ({"X": X[0], "Y": Y}, r"found 1 dimension\(s\), expected 2"),
        ({"X": np.array([["a"], ["b"]]), "Y": Y}, r"tiny\.npz: "),
        (
            {"data": [1.0], "indices": [9], "indptr": [0, 1, 1], "shape": [2, 3], "Y": Y},
            r"tiny\.npz: .*(indices|index)",
        ),
        ({"X": np.array([[None], [{}]], dtype=object), "Y": Y}, "X.npy has dtype object"),
    ],
)
def test_bad_content(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    file = write(tmp_path / "tiny.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        load_npz(file)


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x93NUMPY\x01\x00"])
def test_no_archive(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "junk.npz"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"junk\.npz is not \.npz"):
        load_npz(file)


def test_cut_short(tmp_path: Path) -> None:
    file = write(tmp_path / "tiny.npz", X=X, Y=Y)
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(ValueError, match="path: "):
        load_npz(file)


@pytest.mark.parametrize("changes", [{"indices": np.eye(2, dtype=int)}, {"indptr": np.ones(3)}])
def test_malformed_sparse_features(tmp_path: Path, changes: dict[str, Any]) -> None:
    csr = sparse.csr_array(np.eye(2))
    arrays = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": (2, 2)}
    with pytest.raises(ValueError, match="indices and indptr: expected one dimension of integers"):
        load_npz(write(tmp_path / "tiny.npz", Y=Y, **arrays | changes))
