"""Folders of a fit over parts: other problems are refused, damage is named, claims are checked."""

import contextlib
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import multimargin.dask
from multimargin import MLODM, RankCVM, RankSVM, RankSVMz
from multimargin.dask import tasks
from multimargin.dask.checkpoints import Checkpoint, RowsFile, opened
from multimargin.dask.parts import Pairs, fingerprint, make_part, state_of
from multimargin.dask.rounds import relative_gap
from tests.support.rounds import objective


def fit(client: Any, data: Any, model: Any, folder: Path | None, weight: Any = None) -> Any:
    blocks = [da.from_array(array, chunks=(24, array.shape[1])) for array in data]
    weights = None if weight is None else da.from_array(weight, chunks=24)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return multimargin.dask.fit(
            model, *blocks, client, sample_weight=weights, checkpoint=folder, checkpoint_every=2
        )


def rank_svm(bias: str = "none", max_iter: int = 4, **options: Any) -> RankSVM:
    settings = {"kernel": "linear", "C": 10.0, "tol": 1e-9, "random_state": 0} | options
    return RankSVM(bias=bias, max_iter=max_iter, **settings)


@pytest.mark.parametrize("bias", ["penalized", "free"])
def test_a_fit_goes_on_from_its_folder(client: Any, data: Any, tmp_path: Path, bias: str) -> None:
    folder = tmp_path / "kept"
    first = fit(client, data, rank_svm(bias), folder)
    again = fit(client, data, rank_svm(bias), folder)
    fresh_start = fit(client, data, rank_svm(bias), None)
    np.testing.assert_array_equal(fresh_start.coef_, first.coef_)
    assert again.history_["primal"][0] < first.history_["primal"][0]
    assert again.objective_ == pytest.approx(objective(again, *data), rel=1e-9)
    with pytest.raises(ValueError, match=r"holds another problem \(it differs in C\)"):
        fit(client, data, rank_svm(bias, C=1.0), folder)
    problem = json.loads((folder / "problem.json").read_text())
    assert (problem["C"], problem["parts"], problem["shape"]) == (10.0, 2, [48, 60, 5])


def test_a_folder_of_something_else_is_left_alone(client: Any, data: Any, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds other files; expected an empty folder"):
        fit(client, data, rank_svm(), tmp_path)
    assert os.listdir(tmp_path) == ["letter.txt"]


def test_a_folder_of_other_rows_is_refused(client: Any, data: Any, tmp_path: Path) -> None:
    (X, Y), weight = data, np.linspace(0.5, 2.0, 48)
    fit(client, data, rank_svm(max_iter=1), tmp_path / "kept", weight)
    corrected, moved = Y.copy(), X.copy()
    corrected[30, 0] = 1 - corrected[30, 0]
    moved[[0, 1]] = moved[[1, 0]]
    for other, other_weight, name in (
        ((X, corrected), weight, "y of part 1"),
        ((X, Y[:, ::-1]), weight, "y of part 0, y of part 1"),
        ((moved, Y), weight, "X of part 0"),
        ((X, Y), weight[::-1], "sample_weight of part 0, sample_weight of part 1"),
        ((X, Y), None, "sample_weight of part 0, sample_weight of part 1"),
    ):
        with pytest.raises(ValueError, match=rf"another problem \(it differs in {name}\)"):
            fit(client, other, rank_svm(max_iter=1), tmp_path / "kept", other_weight)


def test_hashes_do_not_depend_on_how_rows_are_stored(data: Any) -> None:
    from scipy import sparse

    X, Y = np.where(data[0] > 0.1, data[0], 0.0), data[1]
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    found = [
        fingerprint(make_part(0, features, labels, None, Pairs()))
        for features, labels in ((sparse.csr_array(X), Y), (wide, Y.astype(float)))
    ]
    assert found[0] == found[1]


def claim(folder: Path, change: Callable[[Any], Any]) -> None:
    """Change the dual rows in all files of a folder, as if this fit had written them so."""
    for file in folder.rglob("part-*.npz"):
        with np.load(file) as stored:
            arrays = dict(stored)
        arrays["values"] = change(arrays["values"])
        np.savez(file, **arrays)


CLAIMS: dict[str, Callable[[Any], Any]] = {
    "too large": lambda values: 1.5 * values,
    "far outside": lambda values: 1e6 * values,
    "of the other sign": lambda values: -values,
    "none": lambda values: 0.0 * values,
}


@pytest.mark.parametrize(
    ("model", "claimed"),
    [
        *zip(map(rank_svm, ("none", "penalized", "free", "free")), CLAIMS, strict=True),
        *((kind(kernel="linear"), "too large") for kind in (RankSVMz, RankCVM, MLODM)),
    ],
    ids=str,
)
def test_what_a_file_says_is_no_certificate(
    client: Any, data: Any, tmp_path: Path, model: Any, claimed: str
) -> None:
    folder = tmp_path / "kept"
    model = clone(model).set_params(tol=1e-3, random_state=0)
    fit(client, data, model.set_params(max_iter=4), folder)
    claim(folder, CLAIMS[claimed])
    found = fit(client, data, model.set_params(max_iter=400), folder)
    kind = type(model)
    exact = kind(**model.get_params()).set_params(tol=1e-9, max_iter=10_000).fit(*data)
    assert found.status_ == "converged"
    assert 0.0 <= found.dual_gap_ <= 1e-3
    bound = found.objective_ * (1.0 - found.dual_gap_)
    assert bound <= exact.objective_ * (1 + 1e-8)
    assert found.objective_ >= exact.objective_ * (1 - 1e-8)
    assert found.history_["dual"].max() <= exact.objective_ * (1 + 1e-8)


def test_rows_that_are_where_they_were_gain(client: Any, data: Any, tmp_path: Path) -> None:
    """Dual terms are computed without losing what the rows had reached."""
    first = fit(client, data, rank_svm(max_iter=8), tmp_path)
    again = fit(client, data, rank_svm(max_iter=1), tmp_path)
    # Rows are written at the end of every other round but the last.
    assert again.history_["dual"][0] > first.history_["dual"][6] > 0.0
    for name in ("part-00001.npz", "bias.npy"):
        (tmp_path / name).unlink()
    half = fit(client, data, rank_svm(max_iter=1), tmp_path)
    assert 0.0 < half.history_["dual"][0] < first.history_["dual"][6]


@pytest.mark.parametrize(("kind", "columns"), [("balanced", 5), ("zero label", 6)])
def test_dual_rows_in_a_file(data: Any, tmp_path: Path, kind: str, columns: int) -> None:
    X, Y = data
    part = make_part(0, X, Y, None, Pairs(1.0, kind))
    file = RowsFile(str(tmp_path / "part.npz"), "a fit/part 0")
    dual = np.zeros((48, columns))
    row = np.flatnonzero(part.pair_weights)[-1]
    dual[row, :2] = 0.5, -0.5
    tasks.write(file, part, [], 0.0, state_of(dual, np.arange(48.0)))
    assert os.listdir(tmp_path) == ["part.npz"]
    read = tasks.of_state(lambda part, state: state, part, [], (), file)
    np.testing.assert_array_equal(np.asarray(read.dual.todense()), dual)
    np.testing.assert_array_equal(np.isnan(read.terms), part.pair_weights > 0.0)


def whole(folder: Path) -> tuple[RowsFile, Any]:
    file = Checkpoint(folder, "a fit").rows_of(3)
    dual = np.random.default_rng(0).normal(size=(9, 4))
    file.write(dual)
    return file, dual


def test_every_cut_of_a_file_is_named(tmp_path: Path) -> None:
    file, dual = whole(tmp_path)
    np.testing.assert_array_equal(file.read((9, 4)), dual)
    content = Path(file.path).read_bytes()
    for length in range(0, len(content), 7):
        Path(file.path).write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"part-00003\.npz is damaged .*Remove it"):
            file.read((9, 4))


class Named(Exception):
    """The file is refused by its name."""


def read(file: RowsFile) -> Any:
    try:
        return file.read((9, 4))
    except ValueError as error:
        raise (Named if "part-00003.npz is damaged" in str(error) else error) from error


def test_any_bit_of_a_file_may_be_wrong(tmp_path: Path) -> None:
    file, dual = whole(tmp_path)
    content = Path(file.path).read_bytes()
    random = np.random.default_rng(1)
    for place in random.integers(len(content), size=300):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(random.integers(8))
        Path(file.path).write_bytes(damaged)
        with contextlib.suppress(Named):
            # The archive has sums of what it holds: a bit of what nobody reads.
            np.testing.assert_array_equal(read(file), dual)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": None}, "it lacks values"),
        ({"rows": [99]}, "its arrays do not fit together"),
        ({"rows": [-1], "labels": [0], "values": [1.0]}, "rows are not from 0 to 8"),
        ({"rows": [0], "labels": [4], "values": [1.0]}, "labels are not from 0 to 3"),
        ({"rows": [0], "labels": [0], "values": [np.nan]}, "values are not finite"),
        ({"rows": [0.0], "labels": [0], "values": [1.0]}, "do not fit together"),
        ({"values": np.zeros(10_000)}, "values.npy claims 80,128 bytes"),
        ({"values": np.array([{}])}, "has dtype object"),
    ],
    ids=str,
)
def test_files_with_other_arrays(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    file, _ = whole(tmp_path)
    with np.load(file.path) as stored:
        arrays = {name: changes.get(name, array) for name, array in stored.items()}
    np.savez(file.path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(ValueError, match=rf"part-00003\.npz is damaged .*{message}"):
        file.read((9, 4))


def test_files_of_other_parts_views_or_fits_are_refused(tmp_path: Path) -> None:
    file, _ = whole(tmp_path)
    here = Checkpoint(tmp_path, "a fit")
    for other in (here.rows_of(2), here.view(1).rows_of(3), Checkpoint(tmp_path, "b").rows_of(3)):
        with pytest.raises(ValueError, match="it is of another part or of another fit"):
            RowsFile(file.path, other.belongs_to).read((9, 4))


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"garbage", b"\x93NUMPY" + bytes(5000)])
def test_a_damaged_bias_is_named(tmp_path: Path, content: bytes) -> None:
    checkpoint = Checkpoint(tmp_path)
    assert checkpoint.bias(3) is None
    checkpoint.write_bias(np.arange(3.0))
    np.testing.assert_array_equal(checkpoint.bias(3), np.arange(3.0))
    with pytest.raises(ValueError, match=r"bias\.npy is damaged .*does not hold 4 finite"):
        checkpoint.bias(4)
    (tmp_path / "bias.npy").write_bytes(content)
    with pytest.raises(ValueError, match=r"bias\.npy is damaged"):
        checkpoint.bias(3)


@pytest.mark.parametrize("content", [b"", b'{"loss": "hi', b"[]", b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_description_is_named(tmp_path: Path, content: bytes) -> None:
    problem = {"C": 1.0, "data": [{"X": "a", "y": "b"}]}
    opened(tmp_path / "kept", problem)
    assert opened(tmp_path / "kept", problem) == opened(tmp_path / "kept", problem)
    (tmp_path / "kept" / "problem.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"problem\.json is damaged .*Fit with an empty folder"):
        opened(tmp_path / "kept", problem)


@pytest.mark.parametrize("data", [None, [], [1], [{"X": "a"}], [{"X": "a", "y": 3}]], ids=str)
def test_a_description_that_lacks_hashes_is_another_problem(tmp_path: Path, data: Any) -> None:
    opened(tmp_path / "kept", {"C": 1.0, "data": data})
    with pytest.raises(ValueError, match=r"another problem \(it differs in "):
        opened(tmp_path / "kept", {"C": 1.0, "data": [{"X": "a", "y": "b"}]})


def test_a_bound_above_the_objective_certifies_nothing() -> None:
    assert relative_gap(29.17, 48.65) == np.inf
    assert relative_gap(1.0, np.nan) == np.inf
    assert -1e-9 <= relative_gap(1.0, 1.0 + 1e-12) < 0.0
    assert relative_gap(0.0, 0.0) == 0.0
