"""Checks of the paths that readers and writers are given."""

import os
from pathlib import Path

MAGIC = b"multimargin model\n"
"""What files of models begin with."""


def existing_file(path: object, argument: str) -> Path:
    """Return what the caller passed as `argument` as a `Path`, if there is such a file."""
    found = as_path(path, argument)
    if found.is_file():
        return found
    told = f"there is no file {str(found)!r}"
    if found.is_dir():
        told = f"{str(found)!r} is a folder; expected a file"
    elif found.exists():
        # Opening a pipe without a writer would block forever.
        told = f"{str(found)!r} is a pipe or a device; expected a file: write its content to one"
    raise FileNotFoundError(f"{argument}: {told}")


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
