"""Checkpoints of a fit over parts: which problem a folder is of, and the dual rows in it.

What such files say is a claim. They are refused where they are damaged or of another problem; dual
terms, the weights and the certificate are computed from the rows of the data (`parts.revisited`).
"""

import hashlib
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from multimargin.datasets.npz import check_size_of_array
from multimargin.estimators.shared.problem import Matrix
from multimargin.files import replacing, write_text

_PROBLEM = "problem.json"
_BIAS = "bias.npy"
_ARRAYS = ("belongs_to", "rows", "labels", "values")

# What reading an archive raises where single bits of it are wrong.
_OF_DAMAGED = (
    *(ArithmeticError, EOFError, KeyError, OSError, RuntimeError, ValueError),
    *(struct.error, zipfile.BadZipFile, zlib.error),
)

# Bytes of a header, and of the text that says what a file belongs to.
_HEADER = 2000


@dataclass(frozen=True)
class RowsFile:
    """The file with the dual rows of a part."""

    path: str
    belongs_to: str  # The problem, the view of its data and the part that its rows are of

    def write(self, dual: Matrix) -> None:
        """Write dual rows of shape (n, q): whole or not at all."""
        rows, labels = np.nonzero(dual)
        # Unicode would take four bytes a character.
        belongs_to = np.frombuffer(self.belongs_to.encode(), dtype=np.uint8)
        values = dual[rows, labels]
        with replacing(self.path, "wb") as stream:
            np.savez(stream, belongs_to=belongs_to, rows=rows, labels=labels, values=values)

    def read(self, shape: tuple[int, int]) -> Matrix:
        """Return the dual rows; raise ValueError where they are not such rows of that shape."""
        with _naming(self.path):
            arrays = _arrays(Path(self.path), _HEADER + 8 * shape[0] * shape[1])
            found = arrays["belongs_to"].tobytes().decode(errors="replace")
            if found != self.belongs_to:
                raise ValueError("it is of another part or of another fit")
            rows, labels, values = (arrays[name] for name in _ARRAYS[1:])
            _check_entries(rows, labels, values, shape)
            dual = np.zeros(shape)
            dual[rows, labels] = values
            return dual


@dataclass(frozen=True)
class Checkpoint:
    """A folder of the dual rows of one problem."""

    path: Path
    problem: str = ""  # Hash of what the problem is

    def view(self, number: int) -> "Checkpoint":
        """Return the folder for a view of the same parts."""
        name = f"view-{number}"
        return Checkpoint(self.path / name, f"{self.problem}/{name}")

    def rows_of(self, part: int) -> RowsFile:
        """Return the file of a part."""
        name = f"part-{part:05d}"
        return RowsFile(str(self.path / f"{name}.npz"), f"{self.problem}/{name}")

    def write_bias(self, bias: Matrix) -> None:
        """Write the bias in the scores that the dual rows belong to."""
        with replacing(self.path / _BIAS, "wb") as stream:
            np.save(stream, bias)

    def bias(self, q: int) -> Matrix | None:
        """Return that bias of q labels; None if there is none."""
        file = self.path / _BIAS
        if not file.is_file():
            return None
        with _naming(file):
            if file.stat().st_size > _HEADER + 8 * q:
                raise ValueError("it is larger than a bias")
            bias: Matrix = np.load(file, allow_pickle=False)
            if bias.shape != (q,) or bias.dtype != np.float64 or not np.isfinite(bias).all():
                raise ValueError(f"it does not hold {q} finite numbers")
            return bias


def opened(folder: Path, problem: dict[str, Any]) -> Checkpoint:
    """Return the checkpoint of a problem in a folder, which is made if it does not exist."""
    file = folder / _PROBLEM
    text = json.dumps(problem, indent=1, sort_keys=True)
    if not file.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ValueError(
                f"checkpoint is {str(folder)!r}, which holds other files; expected an empty folder."
            )
        write_text(file, text)
    elif differences := _differences(_read(file), problem):
        raise ValueError(
            f"checkpoint is {str(folder)!r}, which holds another problem (it differs in "
            f"{', '.join(differences)}); expected an empty folder or one of the same problem."
        )
    return Checkpoint(folder, hashlib.blake2b(text.encode(), digest_size=16).hexdigest())


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise TypeError(f"it holds a {type(found).__name__}")
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(
            f"checkpoint: {file} is damaged ({error}), so that nobody can say which problem its "
            "folder is of; expected what a fit wrote there. Fit with an empty folder."
        ) from error
    return found


def _differences(found: dict[str, Any], problem: dict[str, Any]) -> list[str]:
    names = [name for name in problem if name != "data" and found.get(name) != problem[name]]
    old, new = found.get("data"), problem["data"]
    if names or old == new:
        return names
    if not isinstance(old, list) or len(old) != len(new):
        return ["data"]
    return [
        f"{name} of part {index}"
        for index, hashes in enumerate(new)
        for name in hashes
        if not isinstance(old[index], dict) or old[index].get(name) != hashes[name]
    ][:5]


@contextmanager
def _naming(file: str | Path) -> Iterator[None]:
    """Name a damaged file, and say what helps."""
    try:
        yield
    except _OF_DAMAGED as error:
        raise ValueError(
            f"checkpoint: {file} is damaged or mixed up ({error}); expected what this fit wrote "
            "there. Remove it, and what it held starts anew, or fit with an empty folder."
        ) from error


def _arrays(file: Path, most: int) -> dict[str, Any]:
    """Return the arrays of a file, none of which may take more than so many bytes."""
    with zipfile.ZipFile(file) as archive:
        members = {member.filename: member for member in archive.infolist()}
        missing = [name for name in _ARRAYS if f"{name}.npy" not in members]
        if missing:
            raise ValueError(f"it lacks {', '.join(missing)}")
        for member in members.values():
            if member.file_size > most:
                raise ValueError(f"{member.filename} claims {member.file_size:,} bytes")
            check_size_of_array(archive, member)
    with np.load(file, allow_pickle=False) as stored:
        return {name: stored[name] for name in _ARRAYS}


def _check_entries(rows: Any, labels: Any, values: Any, shape: tuple[int, int]) -> None:
    same = rows.ndim == labels.ndim == values.ndim == 1 and rows.size == labels.size == values.size
    if not same or rows.dtype.kind != "i" or labels.dtype.kind != "i" or values.dtype.kind != "f":
        raise ValueError("its arrays do not fit together")
    for name, indices, size in (("rows", rows, shape[0]), ("labels", labels, shape[1])):
        if indices.size and not (indices.min() >= 0 and indices.max() < size):
            raise ValueError(f"its {name} are not from 0 to {size - 1}")
    if not np.isfinite(values).all():
        raise ValueError("its values are not finite")
