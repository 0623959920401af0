"""Names of data sets that need no path, known without NumPy or scikit-learn."""

import os
from pathlib import Path

from multimargin.checks.names import did_you_mean

FOLDER_VARIABLE = "MULTIMARGIN_DATA"
"""Environment variable with the folder that is looked into first."""


# The MULAN data sets that the benchmark of the R package mlr put on OpenML: number, rows, labels.
OPENML = {
    "birds": (40588, 645, 19),
    "emotions": (40589, 593, 6),
    "enron": (40590, 1702, 53),
    "genbase": (40591, 662, 27),
    "image": (40592, 2000, 5),
    "langlog": (40593, 1460, 75),
    "reuters": (40594, 2000, 7),
    "scene": (40595, 2407, 6),
    "slashdot": (40596, 3782, 22),
    "yeast": (40597, 2417, 14),
}


# Data that come with the package, or with scikit-learn.
OWN = ("debian-tags", "digits")


def available() -> tuple[str, ...]:
    """Return the names of public data sets that `load` accepts.

    Returns
    -------
    tuple of str
        Sorted: the folders in the one that ``MULTIMARGIN_DATA`` names, and what OpenML has.
    """
    home = os.environ.get(FOLDER_VARIABLE)
    local = (
        {folder.name for folder in Path(home).iterdir() if folder.is_dir()}
        if home and Path(home).is_dir()
        else set()
    )
    return tuple(sorted(local | set(OPENML)))


def is_known(name: str) -> bool:
    """Return whether there is a data set of a name."""
    plain = name.strip().lower()
    return plain.replace("_", "-") in OWN or plain in {known.lower() for known in available()}


def unknown_name(name: str, others: tuple[str, ...] = ()) -> str:
    """Say that there is no data set of a name, with the nearest one and all there are."""
    names = (*others, *available())
    hint = did_you_mean(name, names)
    return f"there is no data set or file {name!r}{hint}; expected one of {', '.join(names)}"


def local_folder(name: str) -> Path | None:
    """Return the folder of a data set in the one that ``MULTIMARGIN_DATA`` names."""
    home = os.environ.get(FOLDER_VARIABLE)
    if not home or Path(name).name != name or name in ("", ".."):
        return None
    folder = Path(home) / name
    return folder if folder.is_dir() else None
