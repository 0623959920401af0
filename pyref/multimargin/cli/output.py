"""Output of commands: one JSON object, or tables."""

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Wider than any table.
_WIDE = 100_000

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def print_json(content: object) -> None:
    """Print mappings, sequences, dataclasses, arrays and numbers as a JSON object.

    Numbers that JSON does not have (NaN and the infinities) become null.
    """
    print(json.dumps(_plain(content), indent=2, ensure_ascii=False, allow_nan=False))


def check_outputs(
    outputs: Mapping[str, str | None],
    sources: Sequence[str],
    *others: str | None,
    streams: bool = True,
) -> None:
    """Refuse, before any computation, outputs that cannot be written or would overwrite an input.

    `outputs` are files by the option that names them, pipes and devices too with `streams`;
    `sources` are data sets, `others` may name further files that are read.
    """
    from multimargin.datasets.sources import files_of
    from multimargin.files import check_not_read, path_to_write

    inputs = [file for source in sources for file in files_of(source)]
    inputs += [Path(other) for other in others if other is not None]
    written: set[Path] = set()
    for option, path in outputs.items():
        if path is not None:
            path_to_write(path, option, streams=streams)
            check_not_read(path, option, inputs)
            if Path(path).resolve() in written:
                raise ValueError(f"{option}: {path!r} is written twice; expected another file")
            written.add(Path(path).resolve())


_FORM_OF_ENDING = {
    ".arff": "ARFF",
    ".csv": "CSV",
    ".tsv": "TSV",
    ".json": "JSON",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".md": "Markdown",
    ".onnx": "ONNX",
    ".parquet": "Parquet",
    ".xls": "a spreadsheet",
    ".xlsx": "a spreadsheet",
    **dict.fromkeys((".bz2", ".gz", ".xz", ".zip"), "a compressed file"),
}


def check_ending(option: str, path: str | None, form: str, remedy: str = "another name") -> None:
    """Raise ValueError if the suffix of a file contradicts the format written."""
    said = _FORM_OF_ENDING.get(Path(path or "").suffix.lower(), form)
    if said != form:
        raise ValueError(
            f"{option}: {path!r} is the name of {said}, and {form} is written; expected {remedy}"
        )


def console(*, stderr: bool = False) -> "Console":
    """Return a console that prints text as it is, without colouring numbers in it.

    Names of files and labels may hold square brackets, which are no markup, and colons.
    """
    import sys

    from rich.console import Console

    # Piped output is for programs: names are never cut.
    piped = not stderr and not sys.stdout.isatty() and "COLUMNS" not in os.environ
    width = _WIDE if piped else None
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=width)


def tell(message: str, style: str = "") -> None:
    """Print a line on standard error verbatim."""
    console(stderr=True).print(message, style=style, soft_wrap=True)


def pairs_table(rows: Sequence[tuple[str, ...]]) -> "Table":
    """Lay out rows of a name, its value, and any remarks."""
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    for _ in range(max(len(row) for row in rows) - 1):
        table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def plain_table(first: str, *others: str) -> "Table":
    """Return an empty table without lines: the first column to the left, others to the right."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def number(value: float | None) -> str:
    """Write whole numbers with commas, others with four decimals, and a dash for None."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4f}"


def counted(count: int, noun: str) -> str:
    """Write a number of things, as in "1 row" and "2 rows"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _plain(content: Any) -> Any:
    # Estimators are dataclasses, too.
    values = not isinstance(content, type) and not hasattr(content, "get_params")
    if dataclasses.is_dataclass(content) and values:
        content = {
            field.name: getattr(content, field.name) for field in dataclasses.fields(content)
        }
    if isinstance(content, Mapping):
        return {str(key): _plain(value) for key, value in content.items()}
    if hasattr(content, "tolist"):
        content = content.tolist()
    if isinstance(content, Sequence) and not isinstance(content, str):
        return [_plain(value) for value in content]
    if isinstance(content, float) and not abs(content) < float("inf"):
        return None
    if content is None or isinstance(content, str | bool | int | float):
        return content
    return str(content)
