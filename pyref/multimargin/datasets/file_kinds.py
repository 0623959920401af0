"""Kinds of data that paths and names stand for, known without NumPy or scikit-learn."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from multimargin.checks.names import did_you_mean
from multimargin.datasets._reading import uncompressed

DELIMITERS = {".csv": ",;\t|", ".tsv": "\t,;|", ".tab": "\t,;|", ".txt": "\t|;,", ".psv": "|\t;,"}
"""What may stand between the cells of a text, by the ending of its name; the most common first."""
TEXTS = tuple(DELIMITERS)
LINES = (".jsonl", ".ndjson")
OBJECTS = (".json", *LINES)
TABLE_KINDS = (*TEXTS, *OBJECTS, ".parquet", ".xlsx")
"""Tables, all of which may be compressed."""
SVMLIGHT = (".svm", ".svmlight", ".libsvm")
KINDS = (".arff", ".npz", *SVMLIGHT, *(kind for kind in TABLE_KINDS if kind != ".txt"))
"""What is data wherever it lies."""
OWN = ("debian-tags", "digits")
"""Names of data that come with the package, or with scikit-learn."""
STANDARD_INPUT = ("-", "/dev/stdin")


def own_name(source: str | os.PathLike[str]) -> str | None:
    """Return which of the names in `OWN` is meant."""
    name = str(source).strip().lower().replace("_", "-")
    return name if name in OWN else None


def matching(path: Path) -> list[Path]:
    """Return the files that a pattern such as ``part-*.csv`` finds, in the order of their numbers.

    What exists is no pattern, whatever its name.
    """
    if path.exists() or not re.search(r"[*?[]", path.name):
        return []
    found = (file for file in path.parent.glob(path.name) if not file.name.startswith((".", "_")))
    return in_order(file for file in found if file.is_file())


def in_order(files: Iterable[Path]) -> list[Path]:
    """Sort files by name, "part-2" before "part-10"."""
    return sorted(
        files,
        key=lambda file: [
            (piece.zfill(20) if piece.isdecimal() else piece)
            for piece in re.split("([0-9]+)", file.name)
        ],
    )


def check_source(source: str | os.PathLike[str]) -> None:
    """Refuse what is no file, folder, pattern of files, standard input or name of data."""
    path, text = Path(source), str(source).strip()
    if not (path.exists() or text in STANDARD_INPUT or own_name(text) or matching(path)):
        raise FileNotFoundError(
            f"there is no file or folder {text!r}{did_you_mean(text, OWN)}; expected one, a "
            f"pattern of files, or one of {', '.join(OWN)}"
        )


def files_of(source: str) -> list[Path]:
    """Return the files that `load` may read for a path or a name, XML files beside them too."""
    path = Path(source)
    if path.is_dir():
        kinds = (*KINDS, ".txt", ".xml")
        return [file for file in path.iterdir() if uncompressed(file).suffix.lower() in kinds]
    return [path, *path.parent.glob("*.xml")] if path.exists() else matching(path)
