"""What can be parts, and what is said of what cannot."""

from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from multimargin.dask.inputs import read_inputs
from multimargin.dask.parts import Pairs, aligned, describe, make_part

X = np.arange(12.0).reshape(6, 2) / 8.0
Y = np.array([[1, 0], [0, 1]] * 3, dtype=np.uint8)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("folder", None, [1.0], None), ValueError, "sample_weight is given for paths of parts"),
        (("folder", [[1.0]], None, None), ValueError, "y is given for paths of parts"),
        (("array", "array", None, print), ValueError, "read is given, but X is not a path"),
        (("empty", None, None, None), FileNotFoundError, "expected a folder of parts, or"),
    ],
)
def test_what_is_wrong_is_named(
    tmp_path: Path, arguments: Any, error: type[Exception], message: str
) -> None:
    for name in ("folder", "empty"):
        (tmp_path / name).mkdir()
    (tmp_path / "folder" / "part.npz").touch()
    named = {"folder": tmp_path / "folder", "empty": tmp_path / "empty", "array": da.from_array(X)}
    first, second, weight, read = arguments
    second = named.get(second, second) if isinstance(second, str) else second
    with pytest.raises(error, match=message):
        read_inputs(named[first], second, weight, Pairs(), read)


def test_repeated_entries_of_a_part_are_added_once_and_for_all() -> None:
    given = sparse.csr_array(
        (np.arange(1.0, 7.0), [1, 0, 1, 0, 1, 0], [0, 3, 4, 4, 5, 5, 6]), shape=(6, 2)
    )
    part = make_part(0, given, Y, None, Pairs())
    whole = make_part(0, given.toarray(), Y, None, Pairs())
    assert part.X.has_canonical_format
    assert aligned(part).X.has_canonical_format
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


@pytest.mark.parametrize("kind", [".npz", ".txt"])
def test_parts_in_files(tmp_path: Path, kind: str) -> None:
    def read(path: str) -> Any:
        table = np.loadtxt(path)
        return table[:, :2], table[:, 2:]

    for k in range(2):
        rows = slice(3 * k, 3 * k + 3)
        if kind == ".npz":
            np.savez(tmp_path / f"{k}.npz", X=X[rows], Y=Y[rows])
        else:
            np.savetxt(tmp_path / f"{k}.txt", np.hstack([X[rows], Y[rows]]))
    given = None if kind == ".npz" else read
    for paths in (tmp_path, sorted(tmp_path.iterdir())):
        part = read_inputs(paths, None, None, Pairs(2.0), given).sources[1].load()
        np.testing.assert_allclose(part.X, X[3:])
        np.testing.assert_array_equal(part.indicator, Y[3:])
        np.testing.assert_array_equal(part.pair_weights, [2.0, 2.0, 2.0])
