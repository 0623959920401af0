"""What can be parts, and what is said of what cannot."""

from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from multimargin.dask.inputs import FileSource, read_inputs
from multimargin.dask.parts import Pairs, aligned_part, describe, make_part
from multimargin.datasets import MultilabelData
from tests.support.files import write_svmlight

X = np.arange(12.0).reshape(6, 2) / 8.0
Y = np.array([[1, 0], [0, 1]] * 3, dtype=np.uint8)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("folder", None, [1.0], None), ValueError, "sample_weight is given for paths of parts"),
        (("array", "array", None, {"n_labels": 2}), ValueError, "read_options are given"),
        ((["part.csv"], None, None, None), ValueError, r"part\.csv; expected one that ends in"),
        ((["part.parquet"], "y", None, None), TypeError, "y is not a list of column names"),
        ((["part.parquet"], [1], None, None), TypeError, "y is not a list of column names"),
        ((["part.parquet"], ["y", "z"], None, None), ValueError, r"columns \['z'\], which .*part"),
        ((["part.npz"], ["y"], None, None), ValueError, "y is given for files that hold their"),
        (("folder", None, None, None), FileNotFoundError, "has no file that ends in"),
    ],
)
def test_what_is_wrong_is_named(
    tmp_path: Path, arguments: Any, error: type[Exception], message: str
) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame({"x": [1.0], "y": [1]}).to_parquet(tmp_path / "part.parquet")
    (tmp_path / "folder").mkdir()
    named = {"folder": tmp_path / "folder", "array": da.from_array(X)}
    first, second, weight, options = arguments
    first = [tmp_path / name for name in first] if isinstance(first, list) else named[first]
    second = named.get(second, second) if isinstance(second, str) else second
    with pytest.raises(error, match=message):
        read_inputs(first, second, weight, Pairs(), options)


def test_repeated_entries_of_a_part_are_added_once_and_for_all() -> None:
    given = sparse.csr_array(
        (np.arange(1.0, 7.0), [1, 0, 1, 0, 1, 0], [0, 3, 4, 4, 5, 5, 6]), shape=(6, 2)
    )
    part = make_part(0, given, Y, None, Pairs())
    whole = make_part(0, given.toarray(), Y, None, Pairs())
    assert part.X.has_canonical_format
    assert aligned_part(part).X.has_canonical_format
    assert describe(part)["squared_norms"] == describe(whole)["squared_norms"]
    # The caller's matrix stays as it is.
    assert given.nnz == 6


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(5), r"sample_weight has shape \(5,\); expected \(6,\)"),
        (np.full(6, -1.0), "negative or not finite"),
        (np.full(6, np.inf), "negative or not finite"),
    ],
)
def test_weights_of_a_part(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        make_part(7, X, Y, weights, Pairs())
    assert caught.value.__notes__ == ["This is about part 7 of the rows."]


@pytest.mark.parametrize("kind", [".npz", ".svm", ".parquet"])
def test_parts_in_files(tmp_path: Path, kind: str) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    paths = [tmp_path / f"{k}{kind}" for k in range(2)]
    for k, path in enumerate(paths):
        rows = slice(3 * k, 3 * k + 3)
        if kind == ".npz":
            np.savez(path, X=X[rows], Y=Y[rows])
        elif kind == ".svm":
            write_svmlight(MultilabelData(X=X[rows], Y=Y[rows]), path)
        else:
            columns = {"x": X[rows, 0], "y": X[rows, 1], "a": Y[rows, 0], "b": Y[rows, 1]}
            frame = pd.DataFrame(columns)
            frame[frame.columns[::-1] if k else frame.columns].to_parquet(path)
    labels = ["a", "b"] if kind == ".parquet" else None
    options = {"n_features": 2, "n_labels": 2} if kind == ".svm" else None
    # Labels of a parquet file are no features, whatever the order of its columns.
    part = read_inputs(paths, labels, None, Pairs(2.0), options).sources[1].load()
    np.testing.assert_allclose(part.X.toarray() if kind == ".svm" else part.X, X[3:])
    np.testing.assert_array_equal(part.indicator, Y[3:])
    np.testing.assert_array_equal(part.pair_weights, [2.0, 2.0, 2.0])


def test_a_parquet_part_with_other_columns(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame({"x": [1.0], "z": [2.0], "a": [1]}).to_parquet(tmp_path / "part.parquet")
    source = FileSource(0, str(tmp_path / "part.parquet"), ("a",), {}, Pairs(), ("x", "y"))
    with pytest.raises(ValueError, match=r"\['y', 'z'\]"):
        source.load()
