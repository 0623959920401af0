"""Options for the roles of columns of a table, and the resulting data."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeGuard

from multimargin.cli.options import Labels, WrongUsage, as_number, flag, inside, one_of, option
from multimargin.datasets.sources import DELIMITERS
from multimargin.notices import warn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from multimargin.datasets import MultilabelData
    from multimargin.datasets.table_columns import TableColumns
    from multimargin.datasets.tables import Table
    from multimargin.model_files import ModelInfo

Data: TypeAlias = "MultilabelData | Table"

Holdout = Annotated[
    float | None,
    inside(
        "--holdout SHARE",
        "Put this share of the rows aside as the part test, 0.25 say, the same rows each "
        "time: every label keeps its share of both parts.",
        ...,
        highest=1.0,
    ),
]
Group = Annotated[
    str | None,
    option(
        "--group COLUMN",
        "For tables: rows with the same value in this column, which is not a feature, stay "
        "together: in one part of --holdout and in one fold.",
        ...,
    ),
]


# Options that name columns.
_OF_NAMES = (
    *("labels", "tags_column", "drop", "text", "nominal", "number", "group", "keep"),
    "one_tag_a_row",
)


@dataclass(frozen=True)
class ColumnOptions:
    """Roles of the columns of a table."""

    labels: Labels = None
    tags_column: str | None = option(
        "--tags-column COLUMN,...",
        "For tables: the column that lists the labels of each row, instead of --labels, or "
        "columns with a label each (tag1,tag2 or 'tag*').",
    )
    separator: str | None = option(
        "--separator TEXT",
        "Separator of the tags in that column; by default a comma, or whatever else "
        "separates recurring tags.",
    )
    drop: str | None = option(
        "--drop COLUMN,...",
        "For tables: columns that are neither features nor labels, such as an id, even if "
        "the pattern of another option matches them.",
    )
    text: str | None = option(
        "--text COLUMN,...", "For tables: columns of text, whose words become features (tf-idf)."
    )
    nominal: str | None = option(
        "--nominal COLUMN,...", "For tables: columns of names, even if these look like numbers."
    )
    number: str | None = option(
        "--number COLUMN,...", "For tables: columns of numbers, even if these look like codes."
    )
    one_tag_a_row: str | None = option(
        "--one-tag-a-row COLUMN",
        "For tables with a row for each tag: rows with the same value in this column are "
        "merged, and --tags-column has one tag of each.",
    )
    analyzer: str = one_of(
        "--analyzer word|char",
        "Features of text: words, or runs of characters (for text without blanks, for example).",
        "word",
    )
    blank: str | None = one_of(
        "--blank 0|unknown",
        "Meaning of an empty cell of a label; by default unknown, but 0 where no label is 0.",
    )
    decimal: str | None = one_of(
        "--decimal .|,", "The decimal mark of the numbers of a table; found by default."
    )
    min_count: int = option(
        "--min-count N", "For tables: drop labels that are relevant in fewer rows.", 1, min=1
    )

    def check(self) -> None:
        """Raise WrongUsage if the options contradict each other."""
        if self.labels is not None and self.tags_column is not None:
            raise WrongUsage("--labels and --tags-column are both given; expected one of them")
        for name in ("separator", "one_tag_a_row"):
            if getattr(self, name) is not None and self.tags_column is None:
                raise WrongUsage(
                    f"{flag(name)} is given without --tags-column, the column of the tags"
                )

    def check_names(self, source: str, group: str | None = None) -> None:
        """Raise ValueError for columns that a text does not have, before libraries are imported."""
        check_names(source, {**vars(self), "group": group})

    def columns(self, group: str | None = None) -> "TableColumns":
        """Say which columns are what; raises WrongUsage if the options contradict each other."""
        self.check()
        from multimargin.datasets.table_columns import TableColumns

        given = {name: value for name, value in vars(self).items() if value not in (None, "")}
        if self.separator is not None:
            given["separator"] = self.separator.replace("\\t", "\t").replace("\\n", "\n")
        return TableColumns(**given | {"labels": as_number(self.labels), "group": group})


def check_names(source: str, wanted: Mapping[str, Any]) -> None:
    """Raise ValueError for a column that a text lacks; other files are checked as they are read."""
    path, ending = Path(source), Path(source).suffix.lower()
    # A .txt may be no table.
    if ending not in DELIMITERS or ending == ".txt" or not path.is_file():
        return
    from types import SimpleNamespace

    from multimargin.datasets.delimited import names_at_the_top
    from multimargin.datasets.table_columns import chosen_columns

    given = {use: wanted[use] for use in _OF_NAMES if wanted.get(use)}
    if "labels" in given:
        given["labels"] = as_number(given["labels"])
    frame = SimpleNamespace(columns=names_at_the_top(path, ending) if given else [])
    try:
        for use, columns in given.items():
            chosen_columns(frame, columns, use)
    except ValueError as error:
        raise ValueError(f"{error} (in {source})") from error


@dataclass(frozen=True)
class PartsOfData:
    """Rows put aside, and rows that stay together."""

    holdout: Holdout = None
    group: Group = None


def load_table_or_data(
    source: str, columns: "TableColumns", holdout: float | None = None
) -> "MultilabelData | Table":
    """Load the data set of a command line; a table keeps its columns.

    `holdout` is the share of the rows that become the part test.
    """
    from multimargin.cli.output import counted, tell
    from multimargin.datasets import load
    from multimargin.datasets.sources import stem_of, table_files
    from multimargin.datasets.table_columns import TableColumns
    from multimargin.datasets.tables import read_table

    parts = table_files(source)
    if parts is None:
        for name, default in vars(TableColumns()).items():
            if name != "labels" and getattr(columns, name) != default:
                raise WrongUsage(
                    f"{flag(name)} is for tables (.csv, .tsv, .txt, .json, "
                    f".jsonl, .parquet, .xlsx, .xls, .ods), not for {source}"
                )
        labels: Any = columns.labels
        return _held_out(load(source, labels=labels), holdout)
    if lacks_labels(columns, parts):
        _ask_for_labels(parts)
    table = read_table(parts, columns, name=stem_of(source))
    if table.n_rare:
        rare = f"{counted(table.n_rare, 'label')} with fewer than {columns.min_count} rows"
        tell(f"{rare} left out, {table.n_labels} taken")
    return _held_out(table, holdout)


def _held_out(data: "MultilabelData | Table", share: float | None) -> "MultilabelData | Table":
    """Return data with the parts train and test, the latter of this share of the rows."""
    if share is None:
        return data
    from dataclasses import replace

    from multimargin.tuning.holdout import held_out_rows

    if data.splits:
        raise WrongUsage(
            f"--holdout is given, but {data.name} has the parts {', '.join(data.splits)} already"
        )
    try:
        train, test = held_out_rows(data.Y == 1, share, getattr(data, "groups", None))
    except ValueError as error:
        raise WrongUsage(str(error).replace("test_size", "--holdout", 1)) from error
    return replace(data, splits={"train": train, "test": test})


def groups_of(data: "Data", rows: "NDArray[np.intp]") -> "NDArray[np.generic] | None":
    """Return the groups of rows, None where the data have none."""
    groups = getattr(data, "groups", None)
    return None if groups is None else groups[rows]


def load_for_model(source: str, info: "ModelInfo", labels: str | None) -> "MultilabelData | Table":
    """Load data with labels as the data that a model was fitted to.

    A table has the features and labels of the model, in its order. `labels` are for other files.
    """
    from multimargin.cli.options import load_data, svmlight_options
    from multimargin.datasets.sources import stem_of, table_files
    from multimargin.datasets.tables import read_table

    parts = table_files(source)
    if info.table is not None and labels is not None:
        warn("--labels has no effect: the model was fitted to a table, and its labels have names.")
    if parts is None:
        return load_data(source, labels, **svmlight_options(info))
    check_kind(info, source, table=True)
    assert info.table is not None
    return read_table(parts, info.table, name=stem_of(source), known_labels=info.label_names)


def check_kind(info: "ModelInfo", name: str, *, table: bool) -> None:
    """Refuse data of another kind than those that a model was fitted to."""
    if not info.data_name:
        raise ValueError(
            "the model was saved from Python and does not describe the data that it takes; "
            "expected one that multimargin fit wrote: use this one in Python, by load_model"
        )
    if (info.table is not None) != table:
        found, expected = ("another kind of file", "a table, as the model was fitted to one")
        if info.table is None:
            found, expected = ("a table", "the kind of file that the model was fitted to")
        raise ValueError(f"{name} is {found}; expected {expected}")


def is_table(data: "Data") -> "TypeGuard[Table]":
    """Return whether data are a table whose columns are not numbers yet."""
    from multimargin.datasets.tables import Table

    return isinstance(data, Table)


def lacks_labels(columns: "TableColumns", parts: Mapping[str, Path]) -> bool:
    """Return whether neither options nor an ARFF file say which columns are labels."""
    from multimargin.datasets.sources import kind_of

    is_arff = kind_of(next(iter(parts.values()))) == ".arff"
    return columns.labels is None and columns.tags_column is None and not is_arff


def _ask_for_labels(parts: Any) -> None:
    """Refuse a table whose labels are not specified, and describe its columns."""
    from multimargin.datasets.table_columns import chosen_columns
    from multimargin.datasets.table_files import read_frame

    try:
        chosen_columns(read_frame(next(iter(parts.values()))), None, "labels")
    except ValueError as error:
        raise WrongUsage(str(error)) from error
