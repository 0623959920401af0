"""Readers of tables: what each makes of awkward files, and seconds and memory at 200,000 rows.

The readers are pandas, polars and pyarrow as they come, with all cells as text; DuckDB with its own
guess at the dialect; and multimargin, which decides the dialect and reads strictly. DuckDB is in no
extra, and left out where it is not installed: pip install duckdb.
"""

import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory
from typing import Any

Columns = dict[str, list[str]]

INPUTS: dict[str, tuple[str, str, Columns | None]] = {
    # What it is: the ending, the text, and its columns; None where it must be refused.
    "a delimiter after each row": (".csv", "a,x\n1,0,\n2,1,\n", {"a": ["1", "2"], "x": ["0", "1"]}),
    "a comma without quotes": (".csv", "id,t,y\n1,red, fish,a\n2,sea,b\n3,sky,a\n", None),
    "a row too short": (".csv", "a,x,y\n1,0,1\n2,0\n3,1,1\n", None),
    "names of rows, as R writes": (
        ".tsv",
        "a\tx\nr1\t1\t0\nr2\t2\t1\n",
        {"a": ["1", "2"], "x": ["0", "1"]},
    ),
    "two lone quotes": (
        ".tsv",
        't\ty\n"red is\ta\nsea\tb\nhe said "yes\ta\n',
        {"t": ['"red is', "sea", 'he said "yes'], "y": ["a", "b", "a"]},
    ),
    "a text between lone quotes": (
        ".tsv",
        't\ty\n"red\ta\nsea\tb\nyes"\ta\n',
        {"t": ['"red', "sea", 'yes"'], "y": ["a", "b", "a"]},
    ),
    "a backslash before quotes": (
        ".csv",
        'id,t\n1,"he said \\"hi\\", so"\n2,"x"\n',
        {"id": ["1", "2"], "t": ['he said "hi", so', "x"]},
    ),
    "one column with a blank line": (
        ".csv",
        "t\nred, fish\n\nblue, sea\n",
        {"t": ["red, fish", "", "blue, sea"]},
    ),
    "a delimiter in texts alone": (
        ".csv",
        't,y\n"red; fish",a;b\nsea,b;c\n',
        {"t": ["red; fish", "sea"], "y": ["a;b", "b;c"]},
    ),
    "semicolons, decimal commas": (
        ".csv",
        "a;y\n1,5;p,q\n2,5;q\n",
        {"a": ["1,5", "2,5"], "y": ["p,q", "q"]},
    ),
    "tabs in a .csv": (".csv", "a\tx\n1\t0\n2\t1\n", {"a": ["1", "2"], "x": ["0", "1"]}),
    "blanks around names": (".csv", "a, x \n1,0\n", {"a": ["1"], "x": ["0"]}),
    "an empty column at the end": (
        ".csv",
        "a,x,\n1,0,\n2,1,\n",
        {"a": ["1", "2"], "x": ["0", "1"]},
    ),
    "no line of names": (
        ".csv",
        "5.1,0\n4.9,1\n",
        {"column1": ["5.1", "4.9"], "column2": ["0", "1"]},
    ),
    "lines that end in two ways": (
        ".csv",
        "a,x\r\n1,0\n2,1\r\n",
        {"a": ["1", "2"], "x": ["0", "1"]},
    ),
    "zeros in front": (".csv", "a,x\n007,0\n010,1\n", {"a": ["007", "010"], "x": ["0", "1"]}),
}


def by_pandas(file: Path) -> Any:
    """Read with pandas."""
    import pandas as pd

    separator = "\t" if file.suffix == ".tsv" else ","
    return pd.read_csv(file, sep=separator, dtype=str, keep_default_na=False, na_filter=False)


def by_polars(file: Path) -> Any:
    """Read with polars."""
    import polars as pl

    separator = "\t" if file.suffix == ".tsv" else ","
    return pl.read_csv(file, separator=separator, infer_schema=False).to_pandas()


def by_pyarrow(file: Path) -> Any:
    """Read with pyarrow."""
    from pyarrow import csv, string

    separator = "\t" if file.suffix == ".tsv" else ","
    parse = csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    names = csv.read_csv(file, parse_options=parse).column_names
    convert = csv.ConvertOptions(column_types=dict.fromkeys(names, string()))
    return csv.read_csv(file, parse_options=parse, convert_options=convert).to_pandas()


def by_duckdb(file: Path) -> Any:
    """Read with DuckDB and its guess."""
    import duckdb

    return duckdb.connect().execute("FROM read_csv(?, all_varchar=true)", [str(file)]).df()


def by_multimargin(file: Path) -> Any:
    """Read with multimargin."""
    from multimargin.datasets.table_files import read_frame

    return read_frame(file)


def by_pandas_types(file: Path) -> Any:
    """Read with pandas and the types that it finds."""
    import pandas as pd

    return pd.read_csv(file)


READERS: dict[str, Callable[[Path], Any]] = {
    "pandas": by_pandas,
    "polars": by_polars,
    "pyarrow": by_pyarrow,
    "DuckDB": by_duckdb,
    "multimargin": by_multimargin,
}
if find_spec("duckdb") is None:
    del READERS["DuckDB"]


# Without a verdict: cells are no texts then.
TIMED: dict[str, Callable[[Path], Any]] = {"pandas, types": by_pandas_types}


def verdict(reader: Callable[[Path], Any], file: Path, expected: Columns | None) -> str:
    """Say whether a file is read right, refused, or wrong in silence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = reader(file).fillna("").to_dict("list")
        except Exception:
            return "right" if expected is None else "refused"
    return "right" if found == expected else "WRONG"


def large(file: Path, kind: str) -> None:
    """Write 200,000 texts with tags, or 160,000 with six columns of 0 and 1."""
    import numpy as np
    import pandas as pd

    from common import sized

    random = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in random.integers(0, 50_000, 20_000)])
    n = sized(200_000 if kind == "tags" else 160_000)
    texts = [" ".join(words[random.integers(0, 20_000, m)]) for m in random.integers(5, 60, n)]
    if kind == "tags":
        names = [f"tag{k}" for k in range(100)]
        sizes = random.integers(0, 5, n)
        tags = ["; ".join(random.choice(names, m, replace=False)) for m in sizes]
        pd.DataFrame({"text": texts, "tags": tags}).to_csv(file, index=False)
        return
    texts = [f'{text}, "quoted"\n line' if k % 3 == 0 else text for k, text in enumerate(texts)]
    frame = pd.DataFrame({"id": [f"{k:016x}" for k in range(n)], "text": texts})
    for name in "abcdef":
        frame[name] = (random.random(n) < 0.05).astype(int)
    frame.to_csv(file, index=False)


def read_once(reader: str, file: str) -> None:
    """Print processor seconds of the second reading, and the most memory in MB."""
    import resource

    for _ in range(2):
        began = time.process_time()
        if reader == "labels too":
            from multimargin.datasets.table_columns import TableColumns
            from multimargin.datasets.tables import read_table

            columns = TableColumns(tags_column="tags", separator=";", text="text")
            if "marks" in file:
                columns = TableColumns(labels="last:6", drop="id", text="text")
            read_table({"train": Path(file)}, columns)
        else:
            (READERS | TIMED)[reader](Path(file))
        seconds = time.process_time() - began
    print(f"{seconds:.2f} s, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


def main() -> None:
    """Print both tables."""
    with TemporaryDirectory() as folder:
        print(f"{'':30}" + "".join(f"{name:>13}" for name in READERS))
        for number, (what, (ending, text, expected)) in enumerate(INPUTS.items()):
            file = Path(folder, f"t{number}{ending}")
            file.write_bytes(text.encode())
            found = [verdict(reader, file, expected) for reader in READERS.values()]
            print(f"{what:30}" + "".join(f"{one:>13}" for one in found))
        print()
        for kind in ("tags", "marks"):
            file = Path(folder, f"{kind}.csv")
            # In a process of its own, whose memory the others do not inherit.
            run([sys.executable, __file__, "write", str(file)], check=True)
            for reader in (*READERS, *TIMED, "labels too"):
                command = [sys.executable, __file__, reader, str(file)]
                answer = run(command, capture_output=True, text=True, check=True)
                print(f"{kind:8}{reader:14}{answer.stdout.strip()}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        large(Path(sys.argv[2]), Path(sys.argv[2]).stem)
    elif len(sys.argv) == 3:
        read_once(*sys.argv[1:])
    else:
        main()
