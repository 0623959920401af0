"""The checks that readers and writers make of the paths they are given."""

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
    found = _as_path(path, argument)
    if not found.is_file():
        raise FileNotFoundError(f"{argument}: there is no file {str(found)!r}")
    return found


def path_to_write(path: object, argument: str) -> Path:
    """Return `path` as a `Path` after checking that a file can be written there.

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
        If its folder does not exist.
    IsADirectoryError
        If it is a folder.
    PermissionError
        If the file, or its folder where there is none yet, is write-protected.
    """
    file = _as_path(path, argument)
    if file.is_dir():
        raise IsADirectoryError(f"{argument}: {str(file)!r} is a folder, expected a file to write")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"{argument}: there is no folder {str(file.parent)!r} to write in")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise PermissionError(f"{argument}: {str(file)!r} is write-protected")
    return file


def _as_path(path: object, argument: str) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{argument}: found {type(path).__name__}, expected a path to a file")
    return Path(path)
