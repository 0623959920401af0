"""X and y of a fit, as one source per part."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from multimargin.dask.parts import Pairs, Part, make_part, names_of
from multimargin.datasets.npz import load_npz
from multimargin.typing import LabelsLike, MatrixLike

if TYPE_CHECKING:
    from dask.array import Array
    from dask.dataframe import DataFrame
    from dask.delayed import Delayed
    from distributed import Future

Read: TypeAlias = Callable[[str], tuple[MatrixLike, LabelsLike]]
# A collection, or one object or path per part.
Distributed: TypeAlias = "Array | DataFrame | Sequence[Delayed | Future | str | os.PathLike[str]]"


@dataclass(frozen=True)
class FileSource:
    """Rows in a file, which is read by the worker of the part."""

    index: int  # Number of the part
    path: str  # The file, under a path that all workers see
    read: Read | None = None  # What returns features and labels of a path; None reads .npz
    pairs: Pairs = field(default_factory=Pairs)  # The label pairs

    def load(self) -> Part:
        """Read and check the rows."""
        if self.read is not None:
            return make_part(self.index, *self.read(self.path), None, self.pairs)
        data = load_npz(self.path)
        names = data.feature_names, data.label_names
        return make_part(self.index, data.X, data.Y, None, self.pairs, names)


@dataclass(frozen=True)
class Inputs:
    """The parts of a fit, before they have been read."""

    sources: list[Any]  # One `FileSource` a part, or one triple of delayed X, y and weights
    pairs: Pairs = field(default_factory=Pairs)  # The label pairs
    feature_names: Any = None  # Column names of data frames
    label_names: Any = None

    @property
    def files(self) -> bool:
        """True if the parts are files."""
        return isinstance(self.sources[0], FileSource)


def read_inputs(
    X: Distributed,
    y: "Distributed | None",
    sample_weight: "Distributed | None",
    pairs: Pairs,
    read: Read | None,
) -> Inputs:
    """Find the parts of X, y and the weights."""
    paths = _paths(X)
    if paths is not None:
        for name, given in (("y", y), ("sample_weight", sample_weight)):
            if given is not None:
                raise ValueError(f"{name} is given for paths of parts; expected None.")
        return Inputs(
            [FileSource(k, str(path.absolute()), read, pairs) for k, path in enumerate(paths)],
            pairs,
        )
    if read is not None:
        raise ValueError("read is given, but X is not a path; expected None.")
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


def _paths(X: Any) -> list[Path] | None:
    """Return the files that X names, one by one or by their folder; None if it names none."""
    if isinstance(X, str | os.PathLike):
        paths = sorted(p for p in Path(X).iterdir() if p.is_file()) if Path(X).is_dir() else []
        if not paths:
            raise FileNotFoundError(f"X is {str(X)!r}; expected a folder of parts, or their paths.")
        return paths
    if isinstance(X, Sequence) and len(X) > 0 and isinstance(X[0], str | os.PathLike):
        return [Path(p) for p in X]
    return None


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
    names = names_of(data)
    return None if names is None else np.asarray(names, dtype=object)
