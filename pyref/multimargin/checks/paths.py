"""Checks of the paths that readers and writers are given."""

import os
from pathlib import Path


def existing_file(path: object, argument: str) -> Path:
    """Return what the caller passed as `argument` as a `Path`, if there is such a file.

    Raises TypeError if it is neither a string nor path-like, and FileNotFoundError if there is no
    file of that name.
    """
    found = as_path(path, argument)
    if not found.is_file():
        raise FileNotFoundError(f"{argument}: there is no file {str(found)!r}")
    return found


def as_path(path: object, argument: str) -> Path:
    """Return what the caller passed as `argument` as a `Path`; raise TypeError if it is none."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{argument}: found {type(path).__name__}, expected a path to a file")
    return Path(path)
