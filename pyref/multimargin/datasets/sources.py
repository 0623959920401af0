"""Kinds and parts of the data behind paths and names, without NumPy or scikit-learn."""

import atexit
import os
import re
import shutil
import sys
from codecs import BOM_UTF8
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, takewhile
from pathlib import Path
from tempfile import mkdtemp
from zipfile import ZipFile, is_zipfile

from multimargin.checks.names import did_you_mean, listed
from multimargin.datasets._reading import MAGIC, opened, reading, uncompressed
from multimargin.notices import warn

DELIMITERS = {".csv": ",;\t|", ".tsv": "\t,;|", ".tab": "\t,;|", ".txt": "\t|;,", ".psv": "|\t;,"}
"""What may stand between the cells of a text, by the ending of its name; the most common first."""
BETWEEN_QUOTES = re.compile(rb'"[^"]*" "')
"""Names with blanks between, as R writes a table unless it is told otherwise."""
LINES = (".jsonl", ".ndjson")
OBJECTS = (".json", *LINES)
WORKBOOKS = (".xlsx", ".xls", ".xlsb", ".ods")
TABLE_KINDS = (*DELIMITERS, *OBJECTS, ".parquet", *WORKBOOKS)
"""Tables, all of which may be compressed."""
SVMLIGHT = (".svm", ".svmlight", ".libsvm")
KINDS = (".arff", ".npz", *SVMLIGHT, *(kind for kind in TABLE_KINDS if kind != ".txt"))
"""What is data wherever it lies."""
OWN = ("debian-tags", "digits")
"""Names of data that come with the package, or with scikit-learn."""
PARTS = ("train", "test")
_STANDARD_INPUT = ("-", "/dev/stdin")
_OF_TEXT = {b"{": ".jsonl", b"[": ".json"}
_DATA = re.compile(rb"\s*@data", re.IGNORECASE)
_TEXT = re.compile(rb"\s*@attribute\s.*\s(?:string|date)\b[^'}]*$", re.IGNORECASE)
# "part-00003-4f2a-c000", "3.part": what the files of one table do not have in common.
_NUMBER = re.compile(
    r"^[0-9]+[.]|[-_. ]*[0-9]+(-of-[0-9]+)?([-_.][0-9a-f]{2,}|[-_.]c[0-9]+)*$", re.IGNORECASE
)


def check_source(source: str | os.PathLike[str]) -> None:
    """Refuse anything but a file, folder, pattern, standard input or name of data."""
    path, text = Path(source), str(source).strip()
    if not (path.exists() or text in _STANDARD_INPUT or own_name(text) or _matching(path)):
        raise FileNotFoundError(
            f"there is no file or folder {text!r}{did_you_mean(text, OWN)}; expected one, a "
            f"pattern of files, or one of {', '.join(OWN)}"
        )


def own_name(source: str | os.PathLike[str]) -> str | None:
    """Return the name in `OWN` that a source refers to."""
    name = str(source).strip().lower().replace("_", "-")
    return name if name in OWN else None


def kind_of(path: Path) -> str:
    """Return what the name of a file ends in, in small letters, without that of its compression.

    Of a folder of tables, or a pattern, it is that of the first.
    """
    return uncompressed(next(iter(tables_at(path)), path)).suffix.lower()


def stem_of(source: str | os.PathLike[str]) -> str:
    """Return the name of a file without its suffix."""
    standard = str(source) in _STANDARD_INPUT
    return "stdin" if standard else uncompressed(Path(source).resolve()).stem


def parts_of(source: str | os.PathLike[str]) -> dict[str, Path]:
    """Return the files of data by part: "train" alone, or "train" and "test".

    A folder has two files whose names end so, or one file, or one of its own name, or the numbered
    parts of one table, as a pattern such as ``part-*.csv`` has: these are one path. ``-`` is
    standard input.
    """
    if str(source) in _STANDARD_INPUT:
        return {"train": standard_input()}
    path = Path(source)
    if not path.is_dir():
        return {"train": path}
    files = _data_in(path)
    ends = {p: [f for f in files if uncompressed(f).stem.lower().endswith(p)] for p in PARTS}
    if all(len(found) == 1 for found in ends.values()):
        parts = {part: found[0] for part, found in ends.items()}
        read = [file.name for file in parts.values()]
        others = [f.name for f in files if not any(name.startswith(f.stem) for name in read)]
        if others:
            warn(f"{path} has {listed(read)}, which are read, and {listed(others)}, left out")
        return parts
    named = [file for file in files if uncompressed(file).stem == path.resolve().name] or files
    if len(named) == 1:
        return {"train": named[0]}
    if len({file.suffix for file in files}) == 1 and _ending(files[0]) in TABLE_KINDS:
        stems = {_NUMBER.sub("", uncompressed(file).stem) for file in files}
        if len(stems) == 1:
            return {"train": path}
        if stems == set(PARTS):
            return {part: path / f"{part}*{files[0].suffix}" for part in PARTS}
    found = ", ".join(file.name for file in named) if named else "no such file"
    raise ValueError(
        f"path: expected the folder {path} to hold NAME-train and NAME-test, or one file, that end "
        f"in {', '.join(KINDS)}; found {found}"
    )


def table_files(source: str | os.PathLike[str]) -> dict[str, Path] | None:
    """Return the tables behind a path, by part; None if these are not tables."""
    try:
        parts = parts_of(source)
    except ValueError:
        return None
    return parts if all(map(is_table, parts.values())) else None


def is_table(path: Path) -> bool:
    """Return whether a path leads to a table: a .txt may be none, an .arff with texts is one."""
    files = tables_at(path)
    if not files or _ending(files[0]) not in (".arff", ".txt"):
        return bool(files)
    if not files[0].is_file():
        # Reading a pipe would block.
        return False
    with reading(files[0], "path"), opened(files[0]) as stream:
        first = stream.readline(2**16)
        if _ending(files[0]) == ".arff":
            header = takewhile(lambda line: not _DATA.match(line), chain([first], stream))
            return any(map(_TEXT.match, header))
    # Names of columns, or the name of the only one.
    is_named = re.search(rb"[\t|;,]|^\W*\w+\W*$", first) or BETWEEN_QUOTES.match(first)
    return b"__label__" not in first and is_named is not None


def tables_at(path: Path) -> list[Path]:
    """Return the files of a table: itself, those in a folder, or those that a pattern finds."""
    files = _data_in(path) if path.is_dir() else _matching(path) or [path]
    return [file for file in files if file.exists() and _ending(file) in (*TABLE_KINDS, ".arff")]


def files_of(source: str) -> list[Path]:
    """Return the files that `load` may read for a path or a name, XML files beside them too."""
    path = Path(source)
    if path.is_dir():
        return [file for file in path.iterdir() if _ending(file) in (*KINDS, ".txt", ".xml")]
    return [path, *path.parent.glob("*.xml")] if path.exists() else _matching(path)


def _ending(file: Path) -> str:
    return uncompressed(file).suffix.lower()


def _data_in(folder: Path) -> list[Path]:
    files = [file for file in _visible(folder.iterdir()) if _ending(file) in KINDS]
    # A .json file beside data describes them.
    return [file for file in files if _ending(file) != ".json"] or files


def _matching(path: Path) -> list[Path]:
    """Return the files that match a pattern; an existing path is not a pattern."""
    is_pattern = re.search(r"[*?[]", path.name) and not path.exists()
    return _visible(path.parent.glob(path.name)) if is_pattern else []


def _visible(files: Iterable[Path]) -> list[Path]:
    """Return files that are not hidden by their names, sorted: "part-2" before "part-10"."""
    return sorted(
        (file for file in files if file.is_file() and not file.name.startswith((".", "_"))),
        key=lambda file: re.sub("[0-9]+", lambda number: number[0].zfill(20), file.name),
    )


@lru_cache
def standard_input() -> Path:
    """Store standard input in a file of its kind until the process ends."""
    folder = mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = Path(folder, "stdin")
    with file.open("wb") as to:
        shutil.copyfileobj(sys.stdin.buffer, to, 2**20)
    named = file.rename(file.with_suffix(_kind_by_content(file)))
    if uncompressed(named) != named:
        with opened(named) as stream, file.open("wb") as to:
            shutil.copyfileobj(stream, to, 2**20)
        named = file.rename(file.with_suffix(_kind_by_content(file)))
    return named


def _kind_by_content(file: Path) -> str:
    """Return the suffix that a file should have."""
    if is_zipfile(file):
        return ".xlsx" if any(n.startswith("xl/") for n in ZipFile(file).namelist()) else ".zip"
    with file.open("rb") as stream:
        head = stream.read(16).removeprefix(BOM_UTF8).lstrip()
    found = (ending for mark, ending in (MAGIC | _OF_TEXT).items() if head.startswith(mark))
    return next(found, ".csv")


def is_standard_input(path: Path) -> bool:
    """Return whether a file holds the stored standard input."""
    return standard_input.cache_info().currsize > 0 and path == standard_input()
