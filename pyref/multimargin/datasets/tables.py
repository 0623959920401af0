"""Tables: columns of numbers, names and text, and columns or lists of labels."""

from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multimargin.checks.names import places_of
from multimargin.checks.parameters import check_integer
from multimargin.datasets._reading import imported
from multimargin.datasets.arff_rows import labels_of_arff
from multimargin.datasets.feature_columns import (
    UndecidedColumns,
    feature_kinds,
    features_of_columns,
)
from multimargin.datasets.label_columns import indicator_of_columns
from multimargin.datasets.sources import DELIMITERS, is_standard_input, kind_of, stem_of
from multimargin.datasets.table_cells import Cells, numbered_keys
from multimargin.datasets.table_columns import TableColumns, uses_of_columns
from multimargin.datasets.table_encoder import make_encoder
from multimargin.datasets.table_files import frame_of, read_frame, stacked, with_plain_names
from multimargin.datasets.table_leaks import warn_of_leaks, warn_of_repeated_rows
from multimargin.datasets.table_tags import (
    Labels,
    frequent,
    indicator_of_tags,
    tags_of_long_table,
)
from multimargin.targets.names import warn_of_lookalikes
from multimargin.typing import Frame


@dataclass(frozen=True, eq=False)
class Table:
    """A table of n rows, its columns sorted into features and labels."""

    X: Any  # (n, d): The features as they are: numbers as float64, names and text as objects
    Y: NDArray[Any]  # (n, q): Label indicator of uint8; of float32 with NaN if labels are unknown
    label_names: Sequence[str]  # Names of the q labels
    columns: TableColumns  # What its columns are read as, new rows too
    name: str = ""  # Name of the data set
    splits: Mapping[str, NDArray[np.intp]] = field(default_factory=dict)  # Rows of named subsets
    groups: NDArray[Any] | None = None  # (n,): Rows of the same value belong together
    unknown_tags: Mapping[str, int] = field(default_factory=dict)  # Rows of tags not looked for
    n_rare: int = 0  # Number of labels that are left out, with fewer rows than asked for

    @property
    def n_samples(self) -> int:
        """Number of rows n."""
        return int(self.Y.shape[0])

    @property
    def n_labels(self) -> int:
        """Number of labels q."""
        return int(self.Y.shape[1])

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each feature, one of `table_kinds.KINDS`."""
        return self.columns.features

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(self.kinds)

    def missing(self, rows: NDArray[np.intp]) -> dict[str, int]:
        """Count the missing values of some rows in columns that have some; of text, empty ones."""
        values = self.X.iloc[rows]
        counts = (values.isna() | (values == "")).sum()
        found = {
            column: int(counts[kind.features(column)].max())
            for column, kind in self.columns.kinds.items()
        }
        return {column: count for column, count in found.items() if count}

    def numbers(self) -> dict[str, Any]:
        """Return the fields of a `MultilabelData`, by an encoder fitted to the training part."""
        encoder = make_encoder(self.kinds, scaling="none", impute=False, n_rows=self.n_samples)
        train = self.splits.get("train", np.arange(self.n_samples))
        encoder.fit(self.X.iloc[train])
        X = encoder.transform(self.X)
        for rows in self.splits.values():
            encoder.warn_of_new(self.X.iloc[rows], X[rows])
        return {
            "X": X,
            "Y": self.Y,
            "feature_names": encoder.get_feature_names_out().tolist(),
            "label_names": self.label_names,
            "name": self.name,
            "splits": self.splits,
        }


def read_table(
    parts: Mapping[str, Path],
    columns: TableColumns,
    *,
    name: str | None = None,
    known_labels: Sequence[str] | None = None,
) -> Table:
    """Read tables and sort their columns."""
    first = next(iter(parts.values()))
    if kind_of(first) == ".arff" and columns.tags_column is None and known_labels is None:
        columns = replace(columns, labels=labels_of_arff(first, columns.labels))
    with naming_parts(parts):
        frame, splits = read_parts(parts, columns)
        table = table_of(
            frame,
            columns,
            name=stem_of(first) if name is None else name,
            known_labels=known_labels,
            as_text=kind_of(first) in DELIMITERS,
            # The test part has no influence.
            rows=splits.get("train"),
        )
    return replace(table, splits=splits)


@contextmanager
def naming_parts(parts: Mapping[str, Path]) -> Iterator[None]:
    """Add the files to errors about the table that was read from them."""
    try:
        yield
    except ValueError as error:
        kind = UndecidedColumns if isinstance(error, UndecidedColumns) else ValueError
        files, message = " and ".join(map(str, parts.values())), str(error)
        if files not in message and not message.startswith("path: "):
            message = f"{message.removesuffix('.')} (in {files})"
        for file in filter(is_standard_input, parts.values()):
            message = message.replace(str(file), "standard input")
        if message == str(error):
            raise
        raise kind(message) from error


def read_parts(
    parts: Mapping[str, Path], columns: TableColumns | None = None, *, blank_rows: bool = False
) -> tuple[Frame, dict[str, NDArray[np.intp]]]:
    """Read tables with the same columns into one, and the rows of each part of several."""
    frames = {part: read_frame(file, blank_rows=blank_rows) for part, file in parts.items()}
    if columns is not None:
        frames = {part: tags_of_long_table(frame, columns) for part, frame in frames.items()}
    ends = np.cumsum([len(frame) for frame in frames.values()])[:-1]
    frame = stacked(frames)
    rows = dict(zip(frames, np.split(np.arange(len(frame)), ends), strict=True))
    return frame, rows if len(frames) > 1 else {}


def table_of(
    frame: Frame,
    columns: TableColumns,
    *,
    name: str = "",
    known_labels: Sequence[str] | None = None,
    as_text: bool = False,
    rows: NDArray[np.intp] | None = None,
) -> Table:
    """Divide the columns of a data frame into features and labels.

    `known_labels` are those of a fit, where `columns` are. `as_text` says that cells are texts of a
    file without types, `rows` which of them decide what a column holds, by default all.
    """
    if known_labels is not None and columns.tags_column is None:
        columns = replace(columns, labels=list(known_labels))
    uses = uses_of_columns(frame, columns)
    if frame.shape[0] == 0:
        raise ValueError("the table has no rows; expected some")
    groups = None if columns.group is None else numbered_keys(frame[uses["group"][0]], "group")
    labels = _labels_of(frame, columns, uses, known_labels, rows)
    if columns.kinds:
        X = features_of(frame, columns, name)
    else:
        columns, X = _decided(frame, columns, uses, labels, as_text=as_text, rows=rows)
    n_rare, unknown = labels.n_rare, labels.unknown
    return Table(X, labels.Y, tuple(labels.names), columns, name, {}, groups, unknown, n_rare)


def _labels_of(
    frame: Any,
    columns: TableColumns,
    uses: Mapping[str, list[str]],
    known: Sequence[str] | None,
    rows: NDArray[np.intp] | None,
) -> Labels:
    """Read the labels of a table, without those that are rare."""
    least = check_integer("min_count", columns.min_count, at_least=1)
    if columns.tags_column is not None:
        tags = frame[uses["tags_column"]]
        return indicator_of_tags(tags, columns.separator, known, min_count=least, rows=rows)
    Y, blank = indicator_of_columns(frame, uses["labels"], columns.blank, rows)
    counts = np.count_nonzero((Y if rows is None else Y[rows]) == 1, axis=0)
    kept = frequent(counts.tolist(), least)
    names = [uses["labels"][k] for k in kept]
    warn_of_lookalikes(names, "labels has")
    return Labels(names, Y[:, kept], counts.size - len(kept), blank=blank)


def _decided(
    frame: Any,
    columns: TableColumns,
    uses: Mapping[str, list[str]],
    labels: Labels,
    *,
    as_text: bool,
    rows: NDArray[np.intp] | None,
) -> tuple[TableColumns, Frame]:
    """Decide what the other columns hold, and return that and the features."""
    others = [uses[use] for use in ("labels", "tags_column", "group", "drop") if use in uses]
    features = frame.drop(columns=[column for used in others for column in used])
    if features.shape[1] == 0:
        raise ValueError("no column is left for the features; expected at least one")
    deciding = features if rows is None else features.iloc[rows]
    cells = {name: Cells(name, deciding[name], as_text) for name in features.columns}
    kinds, mark = feature_kinds(cells, uses, columns)
    decided = TableColumns(
        tags_column=columns.tags_column,
        one_tag_a_row=columns.one_tag_a_row,
        separator=labels.separator,
        blank=labels.blank,
        decimal=mark,
        kinds=kinds,
    )
    X = _features(frame, decided, cells if rows is None else {})
    warn_of_leaks(X, labels.Y, labels.names, kinds)
    if columns.tags_column is not None and columns.one_tag_a_row is None:
        warn_of_repeated_rows(X, labels.Y)
    return decided, X


def features_of(frame: Frame, columns: TableColumns, name: str) -> Frame:
    """Return the features of new rows, whose columns are known from a fit."""
    places_of(list(columns.kinds), frame.columns, name, "columns of features")
    return _features(frame, columns, {})


def _features(frame: Any, columns: TableColumns, read: Mapping[str, Cells]) -> Frame:
    """Return the features of a table, some of whose cells may be read already."""
    found = features_of_columns(columns, lambda name: read.get(name) or Cells(name, frame[name]))
    return frame_of(found, frame.index)


def to_pandas(frame: "Frame | Mapping[str, ArrayLike]") -> Frame:
    """Return a data frame as one of pandas, itself if it is one, with texts as column names."""
    pandas = imported("pandas", "data frames")
    if isinstance(frame, pandas.DataFrame):
        result = frame.copy(deep=False)
    elif hasattr(frame, "get_column") and hasattr(frame, "columns"):
        # polars, by lists: its own conversion needs pyarrow.
        result = pandas.DataFrame({c: frame.get_column(c).to_list() for c in frame.columns})
    elif isinstance(frame, Mapping):
        lengths = {
            name: len(cells) if isinstance(cells, Sized) and not isinstance(cells, str) else None
            for name, cells in frame.items()
        }
        if None in lengths.values() or len({*lengths.values()}) > 1:
            raise ValueError(
                f"frame has columns of the lengths {lengths}; expected a sequence for each column, "
                "all of one length"
            )
        result = pandas.DataFrame(dict(frame))
    else:
        raise TypeError(
            f"frame is a {type(frame).__name__}; expected a data frame of pandas or polars"
        )
    return with_plain_names(result, "frame")
