"""Tables: columns of numbers, names and text, and columns or lists of labels."""

import bz2
import codecs
import gzip
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.given import column_of
from multimargin.checks.names import listed, option
from multimargin.checks.parameters import check_integer
from multimargin.checks.paths import existing_file
from multimargin.datasets._names import first_repeated
from multimargin.datasets._reading import reading, uncompressed
from multimargin.datasets.table_cells import as_written, rise_by_one
from multimargin.datasets.table_columns import (
    UndecidedColumns,
    feature_kinds,
    indicator_of_columns,
    mark_of_numbers,
    typed,
    uses_of_columns,
)
from multimargin.datasets.table_encoder import make_encoder
from multimargin.datasets.table_tags import frequent, indicator_of_tags
from multimargin.notices import warn

_LINES = (".jsonl", ".ndjson")
_OBJECTS = (".json", *_LINES)
_PACKED = {".gz": "gzip", ".bz2": "bz2"}
_TEXTS = (".csv", ".tsv", *_OBJECTS)
_TOLD_SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)
TABLE_KINDS = (*_TEXTS, ".parquet")
"""Endings of files with tables; texts may be compressed."""
PARTS = ("train", "test")


@dataclass(frozen=True)
class TableColumns:
    """Roles of the columns of a table."""

    # Columns of 0 and 1, one a label: names, patterns such as ``"tag:*"``, ``"first:6"`` or
    # ``"last:6"``; a text holds several with commas between them
    labels: str | Sequence[str] | None = None
    # A column that lists the labels of each row instead, as text or as a list
    tags_column: str | None = None
    # What stands between the tags of that column; None takes what most cells have
    separator: str | None = None
    # Columns that are neither features nor labels; names and patterns, as for `labels`
    drop: str | Sequence[str] = ()
    text: str | Sequence[str] = ()  # Columns of text, whose words become features
    # A column that is no feature; rows with the same value in it belong together
    group: str | None = None
    nominal: str | Sequence[str] = ()  # Columns of names, even if these look like numbers
    analyzer: str = "word"  # What counts of text: "word", or "char" for runs of characters
    # What an empty cell of a label is, "0" or "unknown"; None takes 0 where no label is 0 otherwise
    blank: str | None = None
    decimal: str | None = None  # The decimal mark of numbers; None finds it
    min_count: int = 1  # Labels that are relevant in fewer rows are left out


@dataclass(frozen=True, eq=False)
class Table:
    """A table of n rows, its columns sorted into features and labels."""

    X: Any  # (n, d): The features as they are: numbers as float64, names and text as objects
    Y: NDArray[Any]  # (n, q): Label indicator of uint8; of float32 with NaN if labels are unknown
    label_names: Sequence[str]  # Names of the q labels
    kinds: Mapping[str, str]  # What each feature is, one of `table_encoder.KINDS`
    name: str = ""  # Name of the data set
    splits: Mapping[str, NDArray[np.intp]] = field(default_factory=dict)  # Rows of named subsets
    groups: NDArray[Any] | None = None  # (n,): Rows of the same value belong together
    separator: str | None = None  # What stood between the tags of a column; None for lists
    unknown_tags: Mapping[str, int] = field(default_factory=dict)  # Rows of tags not looked for
    blank: str = "unknown"  # What an empty cell of a label is
    decimal: str = "."  # The decimal mark of numbers
    n_rare: int = 0  # Number of labels that are left out, with fewer rows than asked for

    @property
    def n_samples(self) -> int:
        """Number of rows n."""
        return int(self.Y.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns d that are features."""
        return len(self.kinds)

    @property
    def n_labels(self) -> int:
        """Number of labels q."""
        return int(self.Y.shape[1])

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns that are features."""
        return tuple(self.kinds)

    def missing(self, rows: NDArray[np.intp]) -> dict[str, int]:
        """Count the missing values of some rows in columns that have some; of text, empty ones."""
        values = self.X.iloc[rows]
        counts = (values.isna() | (values == "")).sum()
        return {name: int(count) for name, count in counts.items() if count}

    def numbers(self) -> dict[str, Any]:
        """Return the fields of a `MultilabelData`, by an encoder fitted to the training part."""
        encoder = make_encoder(self.kinds, scaling="none", impute=False, n_rows=self.n_samples)
        train = self.splits.get("train", np.arange(self.n_samples))
        encoder.fit(self.X.iloc[train])
        return {
            "X": encoder.transform(self.X),
            "Y": self.Y,
            "feature_names": encoder.get_feature_names_out().tolist(),
            "label_names": self.label_names,
            "name": self.name,
            "splits": self.splits,
        }


def kind_of_file(path: Path) -> str:
    """Return what the name of a file ends in, in small letters, without that of its compression."""
    return uncompressed(path).suffix.lower()


def stem_of(path: Path) -> str:
    """Return the name of a file without what it ends in."""
    return uncompressed(path).stem


def table_files(source: str | os.PathLike[str]) -> dict[str, Path] | None:
    """Return the tables that a path stands for, by part; None if these are no tables.

    A folder has two files whose names end in "train" and "test", or one file, which is "train".
    """
    path = Path(source)
    if path.is_file():
        return {"train": path} if kind_of_file(path) in TABLE_KINDS else None
    if not path.is_dir():
        return None
    # What lies beside tables and ends in .json describes them.
    files, parts = files_in(path, set(TABLE_KINDS) - {".json"})
    if not files:
        files, parts = files_in(path, {".json"})
    if parts is None and len(files) == 1:
        return {"train": files[0]}
    return parts


def files_in(folder: Path, kinds: Collection[str]) -> tuple[list[Path], dict[str, Path] | None]:
    """Return the sorted files of some kinds in a folder, and the two whose names end in parts."""
    known = (f for f in folder.iterdir() if uncompressed(f).suffix.lower() in kinds)
    files = sorted(f for f in known if f.is_file())
    parts = {
        part: [f for f in files if uncompressed(f).stem.lower().endswith(part)] for part in PARTS
    }
    if any(len(found) != 1 for found in parts.values()):
        return files, None
    return files, {part: found[0] for part, found in parts.items()}


def read_table(
    parts: Mapping[str, Path],
    columns: TableColumns,
    *,
    name: str | None = None,
    kinds: Mapping[str, str] | None = None,
    known_labels: Collection[str] | None = None,
) -> Table:
    """Read tables and sort their columns."""
    first = next(iter(parts.values()))
    frame, splits = read_parts(parts)
    title = stem_of(first) if name is None else name
    with naming_parts(parts):
        table = table_of(
            frame,
            columns,
            name=title,
            kinds=kinds,
            known_labels=known_labels,
            as_text=is_text(first),
            # What the test part holds decides nothing.
            rows=splits.get("train"),
        )
    return replace(table, splits=splits)


def is_text(file: Path) -> bool:
    """Return whether a table comes from a file whose cells have no types."""
    return kind_of_file(file).startswith((".csv", ".tsv"))


@contextmanager
def naming_parts(parts: Mapping[str, Path]) -> Iterator[None]:
    """Add the files to errors about the table that was read from them."""
    try:
        yield
    except ValueError as error:
        kind = UndecidedColumns if isinstance(error, UndecidedColumns) else ValueError
        raise kind(
            f"{str(error).removesuffix('.')} (in {' and '.join(map(str, parts.values()))})"
        ) from error


def read_parts(parts: Mapping[str, Path]) -> tuple[Any, dict[str, NDArray[np.intp]]]:
    """Read tables with the same columns into one, and the rows of each part of several."""
    return _stacked({part: read_frame(file) for part, file in parts.items()})


def _check_different(names: Sequence[str], what: str) -> None:
    """Raise ValueError if two columns have one name."""
    repeated = first_repeated(names)
    if repeated is not None:
        raise ValueError(f"{what} has several columns named {repeated!r}; expected different names")


def read_frame(file: Path) -> Any:
    """Read a table; the names of its columns are texts, and so are cells of files without types."""
    existing_file(file, "path")
    pandas = _pandas(f"tables such as {file.name}")
    kind = kind_of_file(file)
    with reading(file, "path"):
        if kind == ".parquet":
            # Other types cannot hold whole numbers beside missing ones.
            frame = pandas.read_parquet(file, dtype_backend="numpy_nullable")
        elif kind.startswith(_OBJECTS):
            frame = _read_objects(file, pandas)
        else:
            frame = _read_text(file, "\t" if kind.startswith(".tsv") else ",", pandas)
        if frame.shape[0] == 0:
            raise ValueError(f"path: {file} has no rows below the names of its columns")
    frame.columns = [str(column) for column in frame.columns]
    _check_different(frame.columns, f"path: {file}")
    unnamed = [column for column in frame.columns if column.startswith("Unnamed: ")]
    for column in unnamed:
        if _is_index(frame[column]):
            # The index, which pandas writes unless told not to.
            frame = frame.drop(columns=column)
    return frame


def _is_index(values: Any) -> bool:
    """Return whether a column without a name counts the rows, from any number."""
    cells = values.astype(str)
    if not cells.str.fullmatch("[0-9]{1,15}").all():
        return False
    numbers = cells.astype(np.int64).to_numpy()
    return bool(np.unique(numbers).size == numbers.size)


def _read_text(file: Path, separator: str, pandas: Any) -> Any:
    """Read a file of cells without types, as they are written; an empty cell is the empty text."""
    read = partial(
        pandas.read_csv,
        file,
        encoding="utf-8-sig",
        dtype=str,
        keep_default_na=False,
        na_filter=False,
        compression=_PACKED.get(file.suffix.lower()),
    )
    read_head = partial(read, header=None, nrows=1)
    try:
        head = read_head(sep=separator)
        told = _TOLD_SEPARATOR.fullmatch(separator.join(map(str, head.iloc[0])))
        if told is not None:
            # The line above the names by which spreadsheets tell themselves what the separator is.
            separator, read = told[1], partial(read, skiprows=1)
            read_head = partial(read, header=None, nrows=1)
            head = read_head(sep=separator)
        elif separator == "," and head.shape[1] == 1 and ";" in str(head.iat[0, 0]):
            # As spreadsheets write where the comma is the decimal mark.
            separator = ";"
            head = read_head(sep=separator)
        frame = read(sep=separator, low_memory=False)
    except pandas.errors.EmptyDataError as error:
        raise ValueError(
            f"path: {file} is empty; expected names of columns in its first row"
        ) from error
    except UnicodeDecodeError as error:
        raise ValueError(
            f"path: {file} is no text in UTF-8 (byte {error.start}); save it as such, or "
            f"convert it: iconv -f {_likely_encoding(file)} -t UTF-8"
        ) from error
    except pandas.errors.ParserError as error:
        reason = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise ValueError(
            f"path: {file} has rows of different lengths: {reason}; is the separator "
            f"{separator!r}, are texts with it in quotes?"
        ) from error
    # pandas gives the second of two another name.
    _check_different([name for name in head.iloc[0] if name], f"path: {file}")
    return frame


def _read_objects(file: Path, pandas: Any) -> Any:
    """Read a file with a JSON object in each line, or a list of them, a row each."""
    opened: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(file.suffix.lower(), open)
    rows = []
    with opened(file, "rt", encoding="utf-8-sig") as stream:
        found = _lines_of(file, stream) if kind_of_file(file) in _LINES else _list_of(file, stream)
        for place, row in found:
            if not isinstance(row, dict):
                raise ValueError(f"path: {file}, {place} is no JSON object")
            nested = next((key for key, value in row.items() if isinstance(value, dict)), None)
            if nested is not None:
                raise ValueError(
                    f"path: {file}, {place} has an object in {nested!r}; expected numbers, "
                    "texts, or lists of names"
                )
            rows.append(row)
    names = list(dict.fromkeys(key for row in rows for key in row))
    cells = {name: column_of([row.get(name) for row in rows]) for name in names}
    return pandas.DataFrame(cells, columns=names)


def _lines_of(file: Path, stream: Any) -> Iterator[tuple[str, Any]]:
    """Yield what each line holds that is not blank, and its place."""
    for number, line in enumerate(stream, start=1):
        if line.strip():
            yield f"line {number}", _json(line, f"{file}, line {number}")


def _list_of(file: Path, stream: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a list holds, and its place."""
    objects = _json(stream.read(), str(file))
    if not isinstance(objects, list):
        raise ValueError(
            f"path: {file} holds no JSON list; expected one of objects, a row each, or, with an "
            "object in each line, a name that ends in .jsonl"
        )
    return ((f"element {number}", row) for number, row in enumerate(objects, start=1))


def _json(text: str, where: str) -> Any:
    """Parse a text, the numbers with all of their digits."""
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=float)
    except ValueError as error:
        hint = "; with an object in each line, end its name in .jsonl" if "\n{" in text else ""
        raise ValueError(f"path: {where} is no JSON: {error}{hint}") from error


def table_of(
    frame: Any,
    columns: TableColumns,
    *,
    name: str = "",
    kinds: Mapping[str, str] | None = None,
    known_labels: Collection[str] | None = None,
    as_text: bool = False,
    rows: NDArray[np.intp] | None = None,
) -> Table:
    """Sort the columns of a data frame into features and labels.

    `as_text` says that its cells are texts of a file without types, `rows` which of them decide
    what a column holds, by default all.
    """
    uses = uses_of_columns(frame, columns)
    groups = None if columns.group is None else _groups_of(frame, columns.group)
    found: dict[str, Any] = {}
    min_count = check_integer("min_count", columns.min_count, at_least=1)
    if columns.tags_column is not None:
        tags = indicator_of_tags(
            frame[columns.tags_column],
            columns.separator,
            known_labels,
            min_count=min_count,
            rows=rows,
        )
        names, Y = tags.names, tags.Y
        found = {"separator": tags.separator, "unknown_tags": tags.unknown, "n_rare": tags.n_rare}
    else:
        Y, found["blank"] = indicator_of_columns(frame, uses["labels"], columns.blank)
        counts = np.count_nonzero((Y if rows is None else Y[rows]) == 1, axis=0)
        kept = frequent(counts.tolist(), min_count)
        names, Y = [uses["labels"][k] for k in kept], Y[:, kept]
        found["n_rare"] = counts.size - len(kept)
    mark = "." if columns.decimal is None else columns.decimal
    if kinds is None:
        text, nominal = uses.pop("text"), uses.pop("nominal")
        features = frame.drop(columns=[column for used in uses.values() for column in used])
        if features.shape[1] == 0:
            raise ValueError("no column is left for the features; expected at least one")
        deciding = features if rows is None else features.iloc[rows]
        kinds, mark = feature_kinds(deciding, text, nominal, columns, as_text=as_text)
    else:
        mark = mark_of_numbers(_numbers_among(frame, kinds), mark)
    X = features_of(frame, kinds, name, mark)
    return Table(X, Y, tuple(names), dict(kinds), name, groups=groups, decimal=mark, **found)


def _numbers_among(frame: Any, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns of numbers that a table has as texts."""
    return {
        column: frame[column]
        for column, kind in kinds.items()
        if kind == "number" and column in frame.columns and frame[column].dtype.kind not in "buif"
    }


def _groups_of(frame: Any, column: str) -> NDArray[Any]:
    """Return a number for each row, the same for equal values of a column."""
    keys = frame[column].map(as_written, na_action="ignore")
    codes: NDArray[Any] = keys.mask(keys.astype(object) == "").factorize()[0]
    if (codes < 0).any():
        raise ValueError(
            f"group: the column {column!r} has no value in row {int(np.argmax(codes < 0))}; "
            "expected one in each"
        )
    return codes


def features_of(
    frame: Any, kinds: Mapping[str, str], name: str, mark: str | None = None, model_mark: str = "."
) -> Any:
    """Return the features of a table in the order and the types of their kinds.

    `mark` is the decimal mark; None finds it, `model_mark` where that is open.
    """
    missing = [column for column in kinds if column not in frame.columns]
    if missing:
        raise ValueError(
            f"{name} lacks {len(missing)} of the {len(kinds)} columns of features: "
            f"{listed(missing)}; it has {listed(list(frame.columns))}"
        )
    pandas = _pandas("tables")
    if mark is None:
        mark = mark_of_numbers(_numbers_among(frame, kinds), model_mark)
    typed_columns = {column: typed(frame[column], kind, mark) for column, kind in kinds.items()}
    return pandas.DataFrame(typed_columns, index=frame.index)


def to_pandas(frame: Any) -> Any:
    """Return a data frame as one of pandas, itself if it is one, with texts as column names."""
    pandas = _pandas("data frames")
    if isinstance(frame, pandas.DataFrame):
        result = frame.copy(deep=False)
    elif hasattr(frame, "columns") and hasattr(frame, "get_column"):
        # polars, by lists: its own conversion needs pyarrow.
        result = pandas.DataFrame({c: frame.get_column(c).to_list() for c in frame.columns})
    elif isinstance(frame, Mapping):
        result = pandas.DataFrame(dict(frame))
    else:
        raise TypeError(
            f"frame is a {type(frame).__name__}; expected a data frame of pandas or polars"
        )
    result.columns = [str(column) for column in result.columns]
    _check_different(result.columns, "frame")
    return result


def _pandas(what: str) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            f"{what} need pandas, which is not installed: pip install 'multimargin[tables]'"
        ) from error
    return pandas


def _likely_encoding(file: Path) -> str:
    """Return what a file that is no UTF-8 is likely to be in: spreadsheets write both."""
    with file.open("rb") as stream:
        head = stream.read(64)
    marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return "UTF-16" if marked or b"\0" in head else "LATIN1"


def _stacked(frames: Mapping[str, Any]) -> tuple[Any, dict[str, NDArray[np.intp]]]:
    (first_part, first), *others = frames.items()
    if not others:
        return first, {}
    for part, frame in others:
        if set(frame.columns) != set(first.columns):
            differing = sorted(set(frame.columns) ^ set(first.columns))
            raise ValueError(
                f"{first_part} and {part} have different columns: {listed(differing)} "
                "only in one of them"
            )
    # As objects: cells of different types stay what they are.
    frames = {
        part: frame.astype({c: object for c in first.columns if frame[c].dtype != first[c].dtype})
        for part, frame in frames.items()
    }
    stacked = _pandas("tables").concat(frames.values(), ignore_index=True)
    splits, start = {}, 0
    for part, frame in frames.items():
        splits[part] = np.arange(start, start + len(frame))
        start += len(frame)
    return stacked, splits


def warn_of_row_numbers(kinds: Mapping[str, str], X: Any) -> None:
    """Warn of a column that numbers the rows, which says nothing of other rows."""
    for column, kind in kinds.items():
        if kind == "number" and rise_by_one(X[column].to_numpy()):
            warn(
                f"the column {column!r} numbers the rows and is taken for a feature; drop it "
                f"({option('--drop', [column])}) if it is none"
            )
