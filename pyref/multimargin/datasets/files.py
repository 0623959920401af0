"""Data sets from a file of any known kind, or from a folder of files."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from multimargin.datasets._reading import check_label_cells, reading, uncompressed
from multimargin.datasets.arff import load_arff
from multimargin.datasets.extreme import load_extreme
from multimargin.datasets.file_kinds import KINDS, SVMLIGHT
from multimargin.datasets.multilabel_data import MultilabelData
from multimargin.datasets.npz import load_npz
from multimargin.datasets.svmlight import load_svmlight
from multimargin.datasets.table_columns import ColumnRoles, columns_of
from multimargin.datasets.table_files import files_in, table_files
from multimargin.datasets.tables import naming_parts, read_table

Labels = str | os.PathLike[str] | int | None

_OF_SVMLIGHT = ("zero_based", "labels_zero_based", "n_features", "n_labels")
# In a folder, a text need not be data.
_READ = (*KINDS, ".txt")


def load_table(
    path: str | os.PathLike[str],
    *,
    labels: Any = None,
    test: str | os.PathLike[str] | None = None,
    name: str | None = None,
    **roles: Unpack[ColumnRoles],
) -> MultilabelData:
    """Load a multi-label data set from a table in a file.

    Parameters
    ----------
    path : str or path-like
        The file: .csv, .tsv, .tab, .psv, .txt, .json, .jsonl, .parquet or .xlsx, also compressed as
        .gz, .bz2, .xz, .zst or .zip; a folder of numbered parts of one table, or a pattern such as
        ``"out/part-*"``; or ``"-"`` for standard input. The first row of text names the columns; a
        line of JSON lines is an object.
    labels : str, sequence of str or None, default=None
        Columns of 0 and 1, one a label, see `MultilabelData.from_frame`.
    test : str, path-like or None, default=None
        The file of the test part, with the same columns.
    name : str or None, default=None
        Name of the data set; None takes the file's name.
    **roles : object
        Roles of other columns, such as ``tags_column``, see `MultilabelData.from_frame`.

    Returns
    -------
    MultilabelData
        The data as numbers, see `MultilabelData.from_frame`.

    Raises
    ------
    ValueError
        If it is malformed, or it is not clear which columns are labels, or what a column holds. The
        message names the file and the line, and what it holds.
    MemoryError
        If a file, unpacked, is larger than half the memory.

    Notes
    -----
    Cells of text are read as they are written. A column is numbers if each cell of the training
    part is a number or an amount, and none has zeros in front, as codes have. What separates the
    columns is found by the ending of the file and the line of names; rows that do not fit are
    errors.
    """
    columns = columns_of(labels, roles)
    parts = dict(table_files(path) or {"train": Path(path)})
    parts |= {} if test is None else {"test": Path(test)}
    table = read_table(parts, columns, name=name)
    with naming_parts(parts):
        return MultilabelData(**table.numbers())


def load_file(
    file: Path,
    *,
    labels: Labels = None,
    test: Path | None = None,
    name: str | None = None,
    **options: Any,
) -> MultilabelData:
    """Load a data file by the kind that its name ends in."""
    kind = uncompressed(file).suffix.lower()
    if kind not in _READ:
        raise ValueError(
            f"path: {file} ends in {kind or file.suffix!r}; expected one of {', '.join(_READ)}, or "
            "a folder"
        )
    for argument, read in (("path", file), ("test", test)):
        if read is not None and read.stat().st_size == 0:
            raise ValueError(f"{argument}: the file {str(read)!r} is empty")
    is_table = table_files(file) is not None
    if labels is not None and kind != ".arff" and not is_table:
        raise ValueError(
            f"labels is {labels!r} for {file}; expected it for ARFF files and tables only"
        )
    if is_table:
        return load_table(file, labels=labels, test=test, name=name, **options)
    return _read(file, kind, labels, test, name, options)


def load_folder(
    folder: Path, *, labels: Labels = None, name: str | None = None, **options: Any
) -> MultilabelData:
    """Load the data set in a folder."""
    name = folder.resolve().name if name is None else name
    files, parts = files_in(folder, KINDS)
    if parts is not None:
        train, test = parts.values()
        return load_file(train, labels=labels, test=test, name=name, **options)
    own = folder.resolve().name
    candidates = [file for file in files if uncompressed(file).stem == own] or files
    if len(candidates) != 1:
        if table_files(folder) is not None:
            return load_table(folder, labels=labels, name=name, **options)
        found = ", ".join(file.name for file in candidates) if candidates else "no such file"
        raise ValueError(
            f"path: expected the folder {folder} to hold NAME-train and NAME-test, or one file, "
            f"that end in {', '.join(KINDS)}; found {found}"
        )
    return load_file(candidates[0], labels=labels, name=name, **options)


def _read(
    file: Path, kind: str, labels: Any, test: Path | None, name: str | None, options: dict[str, Any]
) -> MultilabelData:
    if kind == ".arff":
        # How svmlight is to be read is said of every file of a model, whatever its kind.
        of_arff = {key: value for key, value in options.items() if key not in _OF_SVMLIGHT}
        return load_arff(file, labels, test=test, name=name, **of_arff)
    if kind in SVMLIGHT:
        return load_svmlight(file, test=test, name=name, **options)
    read = load_npz if kind == ".npz" else _of_extreme
    data = read(file)
    if test is not None:
        data = MultilabelData.concatenate({"train": data, "test": read(test)}, name=data.name)
    return data if name is None else replace(data, name=name)


def _of_extreme(file: Path) -> MultilabelData:
    X, Y = load_extreme(file)
    with reading(file, "path"):
        n, q = Y.shape
        check_label_cells(n, q, Y.nnz, file, "path", "load_extreme keeps them sparse")
        numbers = [[str(k) for k in range(matrix.shape[1])] for matrix in (X, Y)]
        name = uncompressed(file).stem
        return MultilabelData(X, Y.toarray(), numbers[0], numbers[1], name=name)
