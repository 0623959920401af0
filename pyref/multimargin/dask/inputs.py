"""What a fit takes as X and y, as one source a part."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from multimargin.dask.parts import Pairs, Part, make_part
from multimargin.datasets.npz import load_npz
from multimargin.datasets.svmlight import load_svmlight

_SVMLIGHT = (".svm", ".svmlight", ".libsvm")
_SUFFIXES = (".npz", *_SVMLIGHT, ".parquet")


@dataclass(frozen=True)
class FileSource:
    """Rows in a file, which whoever works on the part reads."""

    index: int  # Number of the part
    path: str  # The file, under a path that all workers see
    labels: tuple[str, ...] | None  # Label columns of a parquet file
    options: dict[str, Any] = field(default_factory=dict)  # Further arguments of `load_svmlight`
    pairs: Pairs = field(default_factory=Pairs)  # The label pairs
    # Feature columns of a parquet file, in their order in the first part
    features: tuple[str, ...] = ()

    def load(self) -> Part:
        """Read and check the rows."""
        X, Y = self.rows()
        return make_part(self.index, X, Y, None, self.pairs)

    def rows(self) -> tuple[Any, Any]:
        """Read features and labels."""
        path = Path(self.path)
        if path.suffix == ".npz":
            data = load_npz(path)
            return data.X, data.Y
        if path.suffix in _SVMLIGHT:
            data = load_svmlight(path, **self.options)
            return data.X, data.Y
        import pandas as pd

        frame = pd.read_parquet(path)
        labels, features = list(self.labels or ()), list(self.features)
        _check_labels(labels, frame.columns, path)
        others = frame.columns.drop(labels)
        differing = sorted(set(others) ^ set(features))
        if differing:
            raise ValueError(
                f"{path} and the first part differ in the columns {differing[:8]}; expected the "
                "same features in all parts."
            )
        # Parts may have their columns in different orders.
        return frame[features], frame[labels]


@dataclass(frozen=True)
class Inputs:
    """The parts of a fit, before anybody looked at them."""

    sources: list[Any]  # One `FileSource` a part, or one triple of delayed X, y and weights
    pairs: Pairs = field(default_factory=Pairs)  # The label pairs
    feature_names: Any = None  # Column names of data frames
    label_names: Any = None

    @property
    def files(self) -> bool:
        """Whether the parts are files."""
        return isinstance(self.sources[0], FileSource)


def read_inputs(
    X: Any, y: Any, sample_weight: Any, pairs: Pairs, read_options: dict[str, Any] | None
) -> Inputs:
    """Find the parts of X, y and the weights."""
    if _are_paths(X):
        if sample_weight is not None:
            raise ValueError("sample_weight is given for paths of parts; expected None.")
        return _files(X, y, pairs, read_options or {})
    if read_options:
        raise ValueError("read_options are given, but X is no path; expected None.")
    columns = _blocks("X", X)
    targets = _blocks("y", y)
    weights = [None] * len(columns) if sample_weight is None else None
    weights = _blocks("sample_weight", sample_weight) if weights is None else weights
    for name, argument, blocks in (("y", y, targets), ("sample_weight", sample_weight, weights)):
        rows, expected = _row_chunks(argument), _row_chunks(X)
        differ = rows is not None and expected is not None and rows != expected
        if len(blocks) != len(columns) or differ:
            raise ValueError(
                f"{name} has {len(blocks)} parts with rows {rows}, X has {len(columns)} with rows "
                f"{expected}; expected the same parts (rechunk or repartition {name} like X)."
            )
    sources = list(zip(columns, targets, weights, strict=True))
    return Inputs(sources, pairs, _names(X), _names(y))


def _are_paths(X: Any) -> bool:
    if isinstance(X, str | os.PathLike):
        return True
    return isinstance(X, Sequence) and len(X) > 0 and isinstance(X[0], str | os.PathLike)


def _files(X: Any, y: Any, pairs: Pairs, options: dict[str, Any]) -> Inputs:
    if isinstance(X, str | os.PathLike):
        folder = Path(X)
        if not folder.is_dir():
            raise FileNotFoundError(f"X is {str(X)!r}; expected a folder of parts, or their paths.")
        paths = part_paths(folder)
    else:
        paths = [Path(p) for p in X]
    for path in paths:
        if path.suffix not in _SUFFIXES:
            raise ValueError(f"X has the path {path}; expected one that ends in {_SUFFIXES}.")
    suffixes = {path.suffix for path in paths}
    labels = None
    features: tuple[str, ...] = ()
    if ".parquet" in suffixes:
        if (
            isinstance(y, str)
            or not isinstance(y, Sequence)
            or not all(isinstance(n, str) for n in y)
        ):
            raise TypeError(
                "y is not a list of column names; expected the labels of the parquet files."
            )
        labels = tuple(y)
        first = next(path for path in paths if path.suffix == ".parquet")
        columns = parquet_columns(first)
        _check_labels(labels, columns, first)
        features = tuple(name for name in columns if name not in labels)
    elif y is not None:
        raise ValueError("y is given for files that hold their labels; expected None.")
    if suffixes & set(_SVMLIGHT):
        if not {"n_features", "n_labels"} <= set(options):
            raise ValueError(
                "read_options names no n_features and n_labels; expected both for svmlight files, "
                "since a part need not have all of them."
            )
        # A part alone cannot tell where the numbers start.
        options = {"zero_based": False, "labels_zero_based": False, **options}
    sources = [
        FileSource(k, str(path.absolute()), labels, options, pairs, features)
        for k, path in enumerate(paths)
    ]
    if labels is None:
        return Inputs(sources, pairs)
    # Where not all parts are tables, what is asked later may be none, too.
    named = np.asarray(features, dtype=object) if suffixes == {".parquet"} else None
    return Inputs(sources, pairs, named, np.asarray(labels, dtype=object))


def part_paths(folder: Path) -> list[Path]:
    """Return the parts in a folder."""
    paths = sorted(p for p in folder.iterdir() if p.suffix in _SUFFIXES and p.is_file())
    if not paths:
        raise FileNotFoundError(f"{folder} has no file that ends in {', '.join(_SUFFIXES)}.")
    return paths


def parquet_columns(path: Path) -> list[str]:
    """Return the columns of a parquet file without reading its rows."""
    from pyarrow import parquet

    return list(parquet.read_schema(path).empty_table().to_pandas().columns)


def _check_labels(labels: Sequence[str], columns: Any, path: Path) -> None:
    missing = [name for name in labels if name not in columns]
    if missing:
        raise ValueError(
            f"y names the label columns {missing}, which {path} does not have; expected columns of "
            "the files."
        )


def _blocks(name: str, data: Any) -> list[Any]:
    """Return the row blocks of a dask collection or a list, as delayed objects."""
    if isinstance(data, list | tuple) and data and all(_is_delayed(block) for block in data):
        return list(data)
    if not hasattr(data, "to_delayed"):
        raise TypeError(
            f"{name} is {type(data).__name__}; expected a dask array or data frame, a list of "
            "delayed or futures, or (X only) paths of parts."
        )
    chunks = getattr(data, "chunks", None)
    if chunks is not None and data.ndim == 2 and len(chunks[1]) != 1:
        raise ValueError(
            f"{name} has chunks of {chunks[1]} columns; expected whole rows (rechunk({{1: -1}}))."
        )
    return list(np.asarray(data.to_delayed(), dtype=object).ravel())


def _is_delayed(block: Any) -> bool:
    from dask.delayed import Delayed
    from distributed import Future

    return isinstance(block, Delayed | Future)


def _row_chunks(data: Any) -> tuple[int, ...] | None:
    chunks = getattr(data, "chunks", None)
    if chunks is None or np.isnan(chunks[0]).any():
        return None
    return tuple(chunks[0])


def _names(data: Any) -> Any:
    columns = getattr(data, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return np.asarray(list(columns), dtype=object)
