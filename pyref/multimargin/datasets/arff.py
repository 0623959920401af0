"""Reader of multi-label ARFF files as MULAN and MEKA write them."""

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin.checks.names import listed, places_of
from multimargin.checks.paths import existing_file
from multimargin.datasets._reading import reading, uncompressed
from multimargin.datasets.arff_rows import ArffTable, Attribute, places_of_labels, read_arff
from multimargin.datasets.multilabel_data import MultilabelData
from multimargin.datasets.table_columns import Columns, named_columns
from multimargin.typing import Features, is_sparse

# Features with a smaller share of nonzero values are better stored as CSR.
_SPARSE_DENSITY = 0.1
# Missing values fill all columns of their attribute; more of them are refused.
_MAX_MISSING_ENTRIES = 10_000_000


def load_arff(
    path: str | os.PathLike[str],
    labels: Columns | os.PathLike[str] | int | None = None,
    *,
    drop: str | Sequence[str] = (),
    test: str | os.PathLike[str] | None = None,
    name: str | None = None,
    encoding: str = "utf-8-sig",
) -> MultilabelData:
    """Load a multi-label ARFF file, dense or sparse, in the conventions of MULAN or MEKA.

    Parameters
    ----------
    path : str or path-like
        The ARFF file; the training part if `test` is given. One that ends in .gz, .bz2 or .xz is
        decompressed.
    labels : str, path-like, sequence of str, int or None, default=None
        Attributes that are labels. A path: the XML file of MULAN, which names them. Other texts:
        their names, patterns or places, as for `load_table`. A positive integer k: the first k
        attributes; a negative one: the last k, as in MEKA's option ``-C``. (MULAN's own files have
        the labels last.) None looks for an XML file beside it: one of the same name, with or
        without "-train" and "-test"; then the option ``-C k`` in the file's ``@relation``; then the
        only XML file there is.
    drop : str or sequence of str, default=()
        Attributes to leave out, named as labels are, such as texts and dates, which no feature can
        be made of. `labels` counts them nevertheless.
    test : str, path-like or None, default=None
        The ARFF file of the official test part, with the same attributes. The result then has the
        splits "train" and "test".
    name : str or None, default=None
        Name of the data set; None takes the file's name, without "-train" if `test` is given.
    encoding : str, default="utf-8-sig"
        Text encoding; the default is UTF-8 with or without a byte order mark.

    Returns
    -------
    MultilabelData
        The columns of Y are in the order of the ARFF file, whatever the order in the XML file. X is
        stored as CSR if a file is in sparse format, or if fewer than a tenth of its values are
        nonzero.

    Raises
    ------
    ValueError
        If a file is damaged or truncated, a label is not an attribute or not of two values as in
        the Notes, an attribute cannot be a feature, or the attributes of the two files differ. A
        file truncated exactly between two rows cannot be told from a shorter one.

    Notes
    -----
    Labels are 0 and 1, also written 0.0 and 1.0 or -1 and 1, or declared as TRUE and FALSE, yes and
    no, on and off or their first letters.

    Nominal features become numbers: 0 and 1 where the declared values are those, otherwise one
    column that is 1 for the second of two declared values, otherwise one 0/1 column a value, named
    ``attribute=value``. As ARFF defines it, a value that a sparse row leaves out is 0, or the first
    declared value of a nominal attribute.

    Missing feature values (``?``) become NaN, explicitly stored when sparse, in all columns of the
    attribute; estimators refuse them, so impute first. A missing label is an unknown one, NaN in Y.
    A hierarchy of labels in the XML file is flattened.

    Values may be separated by blanks or tabs instead of commas, and a row may end with a comma. The
    weight of an instance, ``{2.5}`` at the end of its row, is left out with a warning.
    """
    file = existing_file(path, "path")
    test_file = None if test is None else existing_file(test, "test")
    table = read_arff(file, "path", encoding)
    columns = places_of_labels(labels, table.relation, table.attributes, file)
    kept = _kept(table, drop, file)
    data = _as_data(table, columns, kept, file)
    stem = uncompressed(file).stem
    if test_file is not None:
        test_table = read_arff(test_file, "test", encoding)
        _check_same_attributes(table, test_table, test_file)
        parts = {"train": data, "test": _as_data(test_table, columns, kept, test_file, "test")}
        data = MultilabelData.concatenate(parts)
        stem = stem.removesuffix("-train")
    X = data.X
    if sparse.issparse(X) or np.count_nonzero(X) < _SPARSE_DENSITY * X.size:
        X = sparse.csr_array(X)
    return replace(data, X=X, name=stem if name is None else name)


def load_arff_features(
    path: str | os.PathLike[str], feature_names: Sequence[str], *, encoding: str = "utf-8-sig"
) -> Features:
    """Load given features of an ARFF file, with or without labels in it."""
    file = existing_file(path, "path")
    table = read_arff(file, "path", encoding)
    with reading(file, "path"):
        read = [k for k, attribute in enumerate(table.attributes) if not attribute.other]
        X, names = feature_matrix(table.values[:, read], [table.attributes[k] for k in read])
    return X[:, places_of(feature_names, names, f"path: {file}", "features that are expected")]


def _check_same_attributes(table: ArffTable, test_table: ArffTable, test_file: Path) -> None:
    pairs = zip_longest(table.attributes, test_table.attributes)
    for number, (expected, found) in enumerate(pairs, start=1):
        if expected != found:
            raise ValueError(
                f"test: attribute {number} of {test_file} is {found}; expected that of path, "
                f"{expected}"
            )


def _kept(table: ArffTable, drop: str | Sequence[str], file: Path) -> NDArray[np.bool_]:
    """Return which attributes are kept; those that cannot become features must be dropped."""
    names = [attribute.name for attribute in table.attributes]
    kept = np.isin(names, named_columns(names, drop, "drop"), invert=True)
    texts = [a.name for a, keep in zip(table.attributes, kept, strict=True) if a.other and keep]
    if texts:
        raise ValueError(
            f"path: {file} has attributes that are text or dates, {listed(texts)}; expected "
            f"numbers and nominal ones: leave them out, drop={texts}, or read the file as a table, "
            "whose text has words: load_table(..., text=...)"
        )
    return kept


def _as_data(
    table: ArffTable,
    label_columns: Sequence[int],
    kept: NDArray[np.bool_],
    file: Path,
    argument: str = "path",
) -> MultilabelData:
    is_label = np.zeros(len(table.attributes), dtype=bool)
    is_label[label_columns] = True
    features = np.flatnonzero(~is_label & kept)
    if features.size == 0:
        raise ValueError(f"labels: {file} has no other attribute; expected at least one feature")
    label_columns = [column for column in label_columns if kept[column]]
    with reading(file, argument):
        X, feature_names = feature_matrix(
            table.values[:, features], [table.attributes[column] for column in features]
        )
        return MultilabelData(
            X=X,
            Y=_indicator(table, label_columns, file),
            feature_names=feature_names,
            label_names=[table.attributes[column].name for column in label_columns],
        )


def _indicator(
    table: ArffTable, columns: Sequence[int], file: Path
) -> NDArray[np.int64] | NDArray[np.float64]:
    """Return the labels, with NaN for unknown ones, if there are any."""
    block = table.values[:, columns]
    Y: NDArray[np.float64] = block.toarray(order="C") if sparse.issparse(block) else block
    for column, values in zip(columns, Y.T, strict=True):
        attribute, known = table.attributes[column], ~np.isnan(values)
        if attribute.values is not None:
            if attribute.relevant_codes is None:
                raise ValueError(
                    f"labels: the label {attribute.name!r} of {file} has the values "
                    f"{attribute.values[:5]}; expected 0 and 1, -1 and 1, or words for yes and no"
                )
            codes = np.asarray(attribute.relevant_codes)
            values[known] = codes[values[known].astype(np.intp)]
        elif np.isin(values[known], (-1.0, 1.0)).all():
            values[values == -1.0] = 0.0
        wrong = np.flatnonzero(known & (values != 0) & (values != 1))
        if wrong.size:
            raise ValueError(
                f"labels: the label {attribute.name!r} of {file} is {values[wrong[0]]:g} in row "
                f"{wrong[0]}; expected 0, 1 or ?"
            )
    return Y if np.isnan(Y).any() else Y.astype(np.int64)


def feature_matrix(values: Features, attributes: Sequence[Attribute]) -> tuple[Features, list[str]]:
    """Turn the values of attributes into numbers, nominal ones as `load_arff` describes."""
    names_of = [_feature_names(attribute) for attribute in attributes]
    names = [name for one in names_of for name in one]
    widths = np.array([len(one) for one in names_of], dtype=np.int32)
    firsts = np.cumsum(widths, dtype=np.int32) - widths
    plain = np.array([attribute.is_plain for attribute in attributes], dtype=bool)
    numbers, codes = values[:, plain], values[:, ~plain]
    codes = codes.toarray() if is_sparse(codes) else codes
    nominal = [attribute for attribute in attributes if not attribute.is_plain]
    found = [
        _entries(column, attribute, first)
        for column, attribute, first in zip(codes.T, nominal, firsts[~plain], strict=True)
    ]
    numbers = sparse.coo_array(numbers)
    found.append((numbers.row, firsts[plain][numbers.col], numbers.data))
    rows, columns, entries = (np.concatenate(part) for part in zip(*found, strict=True))
    X = sparse.csr_array((entries, (rows, columns)), shape=(values.shape[0], len(names)))
    X.eliminate_zeros()
    is_dense = not is_sparse(values) and len(attributes) >= _SPARSE_DENSITY * len(names)
    return (X.toarray() if is_dense else X), names


def _feature_names(attribute: Attribute) -> list[str]:
    if attribute.is_plain or attribute.is_binary_number:
        return [attribute.name]
    return [f"{attribute.name}={value}" for value in attribute.values or ()]


def _entries(codes: Any, attribute: Attribute, first: int) -> tuple[Any, Any, Any]:
    """Return rows, columns from `first` on, and values of a nominal attribute that are not 0.

    They are NaN in all of its columns where its value is missing.
    """
    places = np.arange(codes.size, dtype=np.int32)
    if attribute.is_binary_number:
        # 0 stands for the number 1, and 1 for 0.
        return places, np.full(codes.size, first), 1.0 - codes
    is_missing, width = np.isnan(codes), len(attribute.values or ())
    known, missing = places[~is_missing], places[is_missing]
    if missing.size * width > _MAX_MISSING_ENTRIES:
        raise ValueError(
            f"the attribute {attribute.name!r} has {width:,} values and is missing in "
            f"{missing.size:,} rows; expected fewer of either: each would fill all of its columns"
        )
    rows = np.concatenate([known, np.repeat(missing, width)])
    every = np.arange(width, dtype=np.int32)
    columns = np.concatenate([codes[known].astype(np.int32), np.tile(every, missing.size)])
    return rows, first + columns, np.repeat([1.0, np.nan], [known.size, rows.size - known.size])
