"""Checks of the paths that readers and writers are given."""

import os
from pathlib import Path

MAGIC = b"multimargin model\n"
"""What files of models begin with."""


def existing_file(path: object, argument: str) -> Path:
    """Return what the caller passed as `argument` as a `Path`, if there is such a file."""
    found = as_path(path, argument)
    if found.exists() and not (found.is_file() or found.is_dir()):
        # Opening a pipe without a writer would block forever.
        raise FileNotFoundError(
            f"{argument}: {str(found)!r} is a pipe or a device; expected a file: write what it "
            "gives to one first"
        )
    if found.is_dir():
        raise FileNotFoundError(f"{argument}: {str(found)!r} is a folder; expected a file")
    if not found.is_file():
        raise FileNotFoundError(f"{argument}: there is no file {str(found)!r}")
    return found


def check_model(path: object, argument: str) -> None:
    """Refuse a file without the first line of a model."""
    file = existing_file(path, argument)
    with file.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise ValueError(
                f"{argument}: {file} is not a multimargin model; expected a file that multimargin "
                "fit wrote"
            )


def as_path(path: object, argument: str) -> Path:
    """Return what the caller passed as `argument` as a `Path`; raise TypeError if it is none."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{argument} is a {type(path).__name__}; expected a path to a file")
    return Path(path)
