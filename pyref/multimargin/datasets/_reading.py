"""Errors of damaged files: one kind for all readers, which names the file."""

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EINVAL
from pathlib import Path
from typing import IO, Any

MAX_FEATURES = 10_000_000
"""The widest matrix of features that a reader takes unasked."""
MIN_LABEL_CELLS = 2**25
"""Label indicators of fewer entries are always taken."""


_OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}


def opened(file: Path, mode: str = "rb", **options: Any) -> IO[Any]:
    """Open a file to read, as it is or compressed; its name says which."""
    stream: IO[Any] = _OPENERS.get(file.suffix.lower(), open)(file, mode, **options)
    return stream


def uncompressed(file: Path) -> Path:
    """Return a path without the ending that says how the file is compressed."""
    return file.with_suffix("") if file.suffix.lower() in _OPENERS else file


@contextmanager
def reading(file: Path, argument: str) -> Iterator[None]:
    """Turn whatever a parser raises for a damaged file into a ValueError that names the file.

    ImportError and OSError pass as they are; a MemoryError names the file. A message that names it
    already is kept.
    """
    try:
        yield
    except ImportError:
        raise
    except MemoryError as error:
        raise MemoryError(f"{argument}: {file} does not fit in memory: {error}") from error
    except Exception as error:
        # Parsers also use OSError for content, and seek to places that do not exist; the other
        # errors of the system have a number.
        if isinstance(error, OSError) and error.errno not in (None, EINVAL):
            raise
        if type(error) is ValueError and str(file) in str(error):
            raise
        if isinstance(error, ValueError | TypeError):
            reason = str(error)
        else:
            reason = f"the file is damaged ({type(error).__name__}: {error})"
        raise ValueError(f"{argument}: {file}: {reason}") from error


def check_width(n_features: int, file: Path, argument: str, remedy: str, limit: int) -> None:
    """Raise ValueError for a number of features that is more likely damage than data.

    `remedy` is the argument that lets one go on, `limit` the largest number that is taken.
    """
    if n_features > limit:
        raise ValueError(
            f"{argument}: {file} claims {n_features:,} features; expected at most {limit:,}; if "
            f"that is no damage, give {remedy}"
        )


def check_label_cells(
    n_samples: int, n_labels: int, n_relevant: int, file: Path, argument: str, remedy: str
) -> None:
    """Raise ValueError for a number of labels that is more likely damage than data.

    These are `MIN_LABEL_CELLS` entries or more, of which less than one in 10,000 is 1. `remedy` is
    what lets one go on.
    """
    cells = n_samples * n_labels
    if cells > MIN_LABEL_CELLS and cells > 10_000 * n_relevant:
        raise ValueError(
            f"{argument}: {file} claims {n_labels:,} labels of which {n_samples:,} rows have "
            f"{n_relevant:,} in all; expected more of so many; if that is no damage, {remedy}"
        )
