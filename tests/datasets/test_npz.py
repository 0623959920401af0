import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from multimargin.datasets import load_npz
from tests.support.cases import case

X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, np.nan]])
Y = np.array([[1, 0], [0, 1]], dtype=np.int8)


def write(path, **arrays):
    np.savez(path, **arrays)
    return path


def test_sparse_with_names_and_splits(tmp_path):
    csr, features, labels = sparse.csr_array(X), ("a", "b", "c"), ("p", "q")
    arrays = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": csr.shape}
    names = {"feature_names": features, "label_names": labels}
    file = write(tmp_path / "tiny.npz", **arrays, **names, Y=Y, train_idx=[0], test_idx=[1])
    data = load_npz(file, name="other")
    assert isinstance(data.X, sparse.csr_array)
    assert_array_equal(data.X.toarray(), X)
    assert (data.name, data.feature_names, data.label_names) == ("other", features, labels)
    assert {name: [*rows] for name, rows in data.splits.items()} == {"train": [0], "test": [1]}


def test_names_may_be_bytes(tmp_path):
    file = write(tmp_path / "t.npz", X=X, Y=Y, label_names=np.array(["rot", "grün".encode()], "S"))
    assert load_npz(file).label_names == ("rot", "grün")


def test_bad_content(tmp_path):
    csr = {"data": [1.0, 1.0], "indices": [0, 1], "indptr": [0, 1, 2], "shape": [2, 2], "Y": Y}
    one_dimension = "indices and indptr: expected one dimension of integers"
    for arrays, message in (
        ({"X": X}, r"has the arrays \['X'\]; expected Y and either X or data, indices"),
        ({"Y": Y, "data": X}, r"has the arrays \['Y', 'data'\]"),
        ({"X": X, "Y": Y + 1}, "values other than 0 and 1"),
        ({"X": X, "Y": Y[:1]}, "has 1 rows; expected 2"),
        ({"X": X, "Y": Y, "test_idx": [7]}, "has indices 7..7"),
        ({"X": X[0], "Y": Y}, r"has 1 dimension\(s\); expected 2"),
        ({"X": np.array([["a"], ["b"]]), "Y": Y}, r"tiny\.npz: "),
        (csr | {"indices": [0, 9]}, r"tiny\.npz: .*(indices|index)"),
        (csr | {"indices": np.eye(2, dtype=int)}, one_dimension),
        (csr | {"indptr": np.ones(3)}, one_dimension),
        ({"X": np.array([[None], [{}]], dtype=object), "Y": Y}, "X.npy has dtype object"),
    ):
        file = write(tmp_path / "tiny.npz", **arrays)
        with case(arrays), pytest.raises(ValueError, match=message):
            load_npz(file)


def test_no_archive(tmp_path):
    file = tmp_path / "junk.npz"
    for content in (b"", b"no archive", b"\x93NUMPY\x01\x00"):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"junk\.npz is not \.npz"):
            load_npz(file)
    write(file, X=X, Y=Y)
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(ValueError, match="path: "):
        load_npz(file)
