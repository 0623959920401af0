"""``multimargin info``."""

from typing import TYPE_CHECKING, Any

from multimargin.checks.names import first_of
from multimargin.cli.options import Data, Json, by_subject
from multimargin.cli.table_options import ColumnOptions
from multimargin.notices import warn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from multimargin.datasets import Description
    from multimargin.datasets.table_kinds import Kind

# Enough to recognise them; --json has all.
_MAX_WIDTH = 28


@by_subject
def command(source: Data, *, columns: ColumnOptions, as_json: Json = False) -> None:
    """Describe a data set: columns, sizes, labels, signs of damage.

    Of a table whose labels are not named yet, it shows what each column seems to hold, and the
    command that says so. Warns of labels with one value, of missing values by column, and when the
    label columns of train and test do not seem to be the same.

    \b
    Examples:
      multimargin info digits
      multimargin info songs.csv
      multimargin info emotions/
      multimargin info my.arff --labels my.xml
    """
    columns.check_names(source)
    from multimargin.cli.output import print_json
    from multimargin.cli.table_options import is_table, lacks_labels, load_table_or_data
    from multimargin.datasets.description import describe, describe_table
    from multimargin.datasets.feature_columns import UndecidedColumns
    from multimargin.datasets.sources import table_files

    wanted, tables = columns.columns(), table_files(source)
    if tables and lacks_labels(wanted, tables):
        _show_columns(source, tables, as_json=as_json)
        return
    try:
        data: Any = load_table_or_data(source, wanted)
    except UndecidedColumns as error:
        warn(str(error))
        _show_columns(source, tables or {}, as_json=as_json)
        return
    description = describe_table(data) if is_table(data) else describe(data)
    decisions = data.columns.kinds if is_table(data) else {}
    if as_json:
        held = [
            {"name": name, "kind": kind.name, "reason": kind.reason}
            for name, kind in decisions.items()
        ]
        print_json({**vars(description), **({"columns": held} if held else {})})
    else:
        _show(description)
        _show_decisions(decisions)


def _show(description: "Description") -> None:
    from multimargin.cli.output import console

    out = console()
    out.print(f"{description.name}\n", style="bold")
    out.print(_table(description))
    _print_frequent(out, description.frequent_labels)
    for part in (description, *description.splits.values()):
        if part.absent_labels:
            out.print(f"\nabsent from {part.name}: {first_of(part.absent_labels)}")
    for warning in description.warnings:
        out.print(f"\nwarning: {warning}", style="yellow", soft_wrap=True)


def _show_decisions(decisions: "Mapping[str, Kind]") -> None:
    """Show what each column of features is read as, and why."""
    from multimargin.cli.output import console, plain_table

    if not decisions:
        return
    table = plain_table("column", "read as", "because")
    for column in table.columns[1:]:
        column.justify = "left"
    for name, kind in decisions.items():
        table.add_row(_cut(name), kind.name, kind.reason)
    console().print()
    console().print(table)


def _show_columns(source: str, tables: "Mapping[str, Path]", *, as_json: bool) -> None:
    """Show the likely contents of the columns of a table, and how to name its labels."""
    from shlex import quote

    from multimargin.cli.output import console, counted, number, plain_table, print_json
    from multimargin.datasets.sources import DELIMITERS, kind_of, stem_of
    from multimargin.datasets.table_overview import overview
    from multimargin.datasets.tables import read_parts

    frame, _ = read_parts(tables)
    name = stem_of(source)
    found = overview(frame, name, as_text=kind_of(next(iter(tables.values()))) in DELIMITERS)
    if as_json:
        print_json(found)
        return
    out = console()
    size = f"{counted(found.n_rows, 'row')}, {counted(len(found.columns), 'column')}"
    out.print(f"{name}: {size}\n")
    table = plain_table("column", "read as", "different", "missing", "because it holds")
    for place in (1, 4):
        table.columns[place].justify = "left"
    for column in found.columns:
        counts = number(column.n_different), number(column.n_missing)
        table.add_row(_cut(column.name), column.holds, *counts, column.reason)
    out.print(table)
    _print_frequent(out, found.label_counts)
    options = f"{quote(source)} {found.labels or '--tags-column ...'} {found.options}".rstrip()
    seem = "These columns seem to be labels" if found.labels else "No column looks like labels"
    out.print(f"\n{seem}; say which are, for example:")
    for what in ("info", "fit"):
        out.print(f"  multimargin {what} {options}", soft_wrap=True)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_WIDTH else f"{line[: _MAX_WIDTH - 3]}..."


def _print_frequent(out: "Console", counts: "Sequence[tuple[str, int]]") -> None:
    named = [f"{_cut(name)} ({count:,})" for name, count in counts]
    if named:
        out.print(f"\nmost frequent labels: {first_of(named)}")


def _table(description: "Description") -> "Table":
    from multimargin.cli.output import number, plain_table

    parts = {"all": description, **description.splits}
    table = plain_table("", *parts)
    for label, attribute in _ROWS:
        if attribute == "n_unknown_labels" and not description.n_unknown_labels:
            continue
        values = [getattr(part, attribute) for part in parts.values()]
        cells = [number(len(v) if isinstance(v, tuple) else v) for v in values]
        table.add_row(label, *cells)
    table.add_row("correlation of label frequencies", number(description.frequency_correlation))
    return table


_ROWS = (
    ("rows", "n_samples"),
    ("features", "n_features"),
    ("labels", "n_labels"),
    ("labels per row (cardinality)", "label_cardinality"),
    ("share of labels per row (density)", "label_density"),
    ("different label sets", "n_label_sets"),
    ("label sets per row", "label_set_proportion"),
    ("label pairs (relevant, irrelevant)", "n_pairs"),
    ("rows without a label", "n_rows_without_labels"),
    ("rows with all labels", "n_rows_with_all_labels"),
    ("labels that never occur", "absent_labels"),
    ("share of values that are not 0", "feature_density"),
    ("unknown labels", "n_unknown_labels"),
    ("missing values", "n_missing_values"),
    ("constant features", "n_constant_features"),
    ("duplicate rows", "n_duplicate_rows"),
)
