"""Checks of the paths that readers and writers are given."""

import os
from pathlib import Path


def existing_file(path: object, argument: str) -> Path:
    """Return `path` as a `Path` after checking that it names a file that exists.

    Parameters
    ----------
    path : str or os.PathLike
        The path the caller passed in.
    argument : str
        The caller's name for it, used in the error messages.

    Returns
    -------
    pathlib.Path
        The same path.

    Raises
    ------
    TypeError
        If `path` is neither a string nor path-like.
    FileNotFoundError
        If there is no file of that name.
    """
    found = as_path(path, argument)
    if not found.is_file():
        raise FileNotFoundError(f"{argument}: there is no file {str(found)!r}")
    return found


def as_path(path: object, argument: str) -> Path:
    """Return `path` as a `Path`.

    Parameters
    ----------
    path : str or os.PathLike
        The path the caller passed in.
    argument : str
        The caller's name for it, used in the error message.

    Returns
    -------
    pathlib.Path
        The same path.

    Raises
    ------
    TypeError
        If `path` is neither a string nor path-like.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{argument}: found {type(path).__name__}, expected a path to a file")
    return Path(path)
