"""``multimargin info``."""

from typing import TYPE_CHECKING, Any

from multimargin.cli.options import Data, Json, by_subject
from multimargin.cli.table_options import ColumnOptions

if TYPE_CHECKING:
    from rich.table import Table

    from multimargin.datasets import Description

# Enough to recognise them; --json has all.
_MAX_NAMES = 8


@by_subject
def command(source: Data, *, columns: ColumnOptions, as_json: Json = False) -> None:
    """Describe a data set: sizes, labels, signs of damage.

    Warns of labels with one value, of missing values by column, and when the label columns of train
    and test do not seem to be the same.

    \b
    Examples:
      multimargin info digits
      multimargin info emotions/
      multimargin info my.arff --labels my.xml
    """
    from multimargin.cli.output import console, print_json
    from multimargin.cli.table_options import is_table, load_table_or_data
    from multimargin.datasets.description import describe, describe_table

    data: Any = load_table_or_data(source, columns.columns())
    description = describe_table(data) if is_table(data) else describe(data)
    if as_json:
        print_json(description)
        return
    out = console()
    out.print(f"{description.name}\n", style="bold", markup=False)
    out.print(_table(description))
    for part in (description, *description.splits.values()):
        if part.absent_labels:
            shown = ", ".join(part.absent_labels[:_MAX_NAMES])
            more = ", ..." if len(part.absent_labels) > _MAX_NAMES else ""
            out.print(f"\nabsent from {part.name}: {shown}{more}", markup=False)
    for warning in description.warnings:
        out.print(f"\nwarning: {warning}", style="yellow", markup=False, soft_wrap=True)


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
