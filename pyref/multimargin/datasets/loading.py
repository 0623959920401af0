"""One function that loads every data set, and one for tables."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from multimargin.checks.paths import existing_file
from multimargin.datasets._reading import check_label_cells, reading, uncompressed
from multimargin.datasets.arff import load_arff
from multimargin.datasets.debian import load_debian_tags
from multimargin.datasets.digits import load_digit_attributes
from multimargin.datasets.multilabel_data import MultilabelData
from multimargin.datasets.npz import load_npz
from multimargin.datasets.sources import (
    KINDS,
    OWN,
    SVMLIGHT,
    check_source,
    is_table,
    kind_of,
    own_name,
    parts_of,
)
from multimargin.datasets.svmlight import load_extreme, load_svmlight
from multimargin.datasets.table_columns import ColumnRoles, Columns, columns_of
from multimargin.datasets.tables import naming_parts, read_table

_LOADERS = dict(zip(OWN, (load_debian_tags, load_digit_attributes), strict=True))
# Of an ARFF file the file that names them, too.
Labels = Columns | os.PathLike[str] | int | None

_OF_SVMLIGHT = ("zero_based", "labels_zero_based", "n_features", "n_labels")
_OF_TABLES = ColumnRoles.__annotations__.keys() - {"drop"}
# In a folder, a text need not be data.
_READ = (*KINDS, ".txt")


def load(
    source: str | os.PathLike[str],
    *,
    labels: Labels = None,
    test: str | os.PathLike[str] | None = None,
    name: str | None = None,
    **options: Any,
) -> MultilabelData:
    """Load a data set by its path or its name.

    Parameters
    ----------
    source : str or path-like
        A table, see `load_table`; a file that ends in .arff, .npz, .svm, .svmlight, .libsvm or .txt
        (of the Extreme Classification Repository), the texts also compressed; a folder, see Notes;
        or "debian-tags" or "digits", which need no file.
    labels : str, path-like, int or None, default=None
        Attributes of an ARFF file that are labels, see `load_arff`. None looks for an XML file
        beside it: one of the same name, with or without "-train" and "-test"; the header of the
        file (MEKA); the only XML file there is. Which columns of a table are, see `load_table`.
    test : str, path-like or None, default=None
        The file of the test part, of the same kind. The result then has the splits "train" and
        "test".
    name : str or None, default=None
        Name of the data set; None takes that of the file, the folder or the source.
    **options
        Further arguments of `load_arff`, `load_svmlight` or `load_table`; other kinds of files do
        not need them.

    Returns
    -------
    MultilabelData
        The data.

    Raises
    ------
    FileNotFoundError
        If there is no such file, folder or data set.
    TypeError, ValueError
        If it is not clear which files or labels to take.

    Notes
    -----
    A folder holds two files whose names end in "train" and "test", as MULAN's do, or one data file,
    or several of which one is named like the folder, or the numbered parts of one table.

    Examples
    --------
    >>> from multimargin.datasets import load
    >>> load("digits").n_labels
    7
    """
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"source is a {type(source).__name__}; expected a path or a name")
    check_source(source)
    path = Path(source)
    own = None if path.exists() else own_name(source)
    if test is not None and (own is not None or path.is_dir()):
        raise ValueError(f"test is {str(test)!r} for {str(source)!r}; expected it for a file")
    if labels is not None and own is not None:
        raise ValueError(
            f"labels is {labels!r} for {own!r}; expected it for ARFF files and tables only"
        )
    if own is not None:
        return _LOADERS[own]()
    parts = parts_of(source)
    if test is not None:
        parts["test"] = existing_file(test, "test")
    if path.is_dir() and name is None:
        name = path.resolve().name
    return _load_parts(parts, labels=labels, name=name, **options)


def load_table(
    path: str | os.PathLike[str],
    *,
    labels: Labels = None,
    test: str | os.PathLike[str] | None = None,
    name: str | None = None,
    **roles: Unpack[ColumnRoles],
) -> MultilabelData:
    """Load a multi-label data set from a table in a file.

    Parameters
    ----------
    path : str or path-like
        The file: .csv, .tsv, .tab, .psv, .txt, .json, .jsonl, .parquet, .xlsx, .xls or .ods, also
        compressed as .gz, .bz2, .xz, .zst or .zip; a folder of numbered parts of one table, or a
        pattern such as ``"out/part-*"``; or ``"-"`` for standard input. The first row of text names
        the columns; a line of JSON lines is an object.
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
    columns = columns_of(labels, roles)  # type: ignore[arg-type]
    parts = parts_of(path) | ({} if test is None else {"test": Path(test)})
    table = read_table(parts, columns, name=name)
    with naming_parts(parts):
        return MultilabelData(**table.numbers())


def _load_parts(
    parts: Mapping[str, Path], *, labels: Labels = None, name: str | None = None, **options: Any
) -> MultilabelData:
    """Load a data set from its files by part, in the format of the first."""
    file, test = parts["train"], parts.get("test")
    kind = kind_of(file)
    # An ARFF file is read as a table where its texts or tags are asked for.
    if _OF_TABLES & {*options} if kind == ".arff" else is_table(file):
        if isinstance(labels, os.PathLike) and kind != ".arff":
            raise TypeError(f"labels is the path {labels}; expected columns of the table {file}")
        return load_table(file, labels=labels, test=test, name=name, **options)
    existing_file(file, "path")
    if kind not in _READ:
        raise ValueError(
            f"path: {file} ends in {kind or file.suffix!r}; expected one of {', '.join(_READ)}, or "
            "a folder"
        )
    if labels is not None and kind != ".arff":
        raise ValueError(
            f"labels is {labels!r} for {file}; expected it for ARFF files and tables only"
        )
    for part, argument in (("train", "path"), ("test", "test")):
        if part in parts and parts[part].stat().st_size == 0:
            raise ValueError(f"{argument}: the file {str(parts[part])!r} is empty")
    if kind == ".arff":
        # Models pass the options for svmlight with every file, whatever its kind.
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
