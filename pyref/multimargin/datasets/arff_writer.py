"""Writer of multi-label ARFF files in MULAN's layout."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from math import isnan
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin.datasets.arff import import_liac_arff
from multimargin.datasets.multilabel_data import MultilabelData
from multimargin.files import path_to_write, replacing

_MULAN_NAMESPACE = "http://mulan.sourceforge.net/labels"
_NEEDS_NO_QUOTES = re.compile(r"[\w.:=/+-]+", re.ASCII)
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def dump_arff(
    data: MultilabelData,
    path: str | os.PathLike[str],
    *,
    xml: str | os.PathLike[str] | None = None,
    split: str | None = None,
) -> Path:
    """Write an ARFF file and the XML file that names its labels, as MULAN reads them.

    Parameters
    ----------
    data : MultilabelData
        The data set.
    path : str or path-like
        The ARFF file, which is replaced where it exists. Its features come first, then the labels
        with the values ``{0,1}``; it is in sparse format if X is sparse.
    xml : str, path-like or None, default=None
        The XML file; None puts it beside the ARFF file, under its name without "-train" or "-test".
    split : str or None, default=None
        The split whose rows are written; None writes all.

    Returns
    -------
    pathlib.Path
        The XML file.

    Raises
    ------
    ValueError
        If two attributes have the same name, or a name holds a line break or another control
        character, which neither format can hold.

    Notes
    -----
    `load_arff` reads back the same values, names and order; missing values and unknown labels are
    written as ``?``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from multimargin.datasets import dump_arff, load_arff, load_digit_attributes
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "digits.arff"
    ...     xml = dump_arff(load_digit_attributes(), file)
    ...     load_arff(file, labels=xml)
    MultilabelData('digits', 1797 samples, 64 dense features, 7 labels, splits={})
    """
    arff = import_liac_arff("dump_arff")
    file = path_to_write(path, "path")
    stem = file.stem.removesuffix("-train").removesuffix("-test")
    xml_file = path_to_write(file.with_name(f"{stem}.xml") if xml is None else xml, "xml")
    X, Y = (data.X, data.Y) if split is None else data.split(split)
    names = [*data.feature_names, *data.label_names]
    _check_names(names)
    # liac-arff does not escape quotes in names, so that the header is written here.
    neutral = [(f"a{i}", "NUMERIC") for i in range(len(names))]
    encoded = arff.ArffEncoder().iter_encode(
        {"relation": "r", "attributes": neutral, "data": _rows(X, Y)}
    )
    with replacing(file, newline="\n") as stream:
        stream.write(f"@relation {_quoted(data.name or stem)}\n\n")
        for name in data.feature_names:
            stream.write(f"@attribute {_quoted(name)} numeric\n")
        for name in data.label_names:
            stream.write(f"@attribute {_quoted(name)} {{0,1}}\n")
        stream.write("\n")
        for line in dropwhile(lambda line: not line.startswith("@DATA"), encoded):
            if line and not line.startswith("%"):
                stream.write(f"{line.replace('@DATA', '@data')}\n")
    _write_xml(data.label_names, xml_file)
    return xml_file


def _check_names(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if _CONTROL_CHARACTER.search(name):
            raise ValueError(
                f"data: the name {name!r} has a line break or control character, expected a name "
                "that fits on a line"
            )
        if name in seen:
            raise ValueError(f"data: two attributes are named {name!r}, expected different names")
        seen.add(name)


def _quoted(name: str) -> str:
    if _NEEDS_NO_QUOTES.fullmatch(name):
        return name
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _rows(X: Any, Y: NDArray[Any]) -> list[Any]:
    """Return the rows as liac-arff takes them: lists, or dicts of what is not 0."""
    if not sparse.issparse(X):
        return [[*x, *map(_label, y)] for x, y in zip(X.tolist(), Y.tolist(), strict=True)]
    return list(_sparse_rows(X, Y))


def _label(value: float) -> int | None:
    return None if isnan(value) else int(value)


def _sparse_rows(X: Any, Y: NDArray[Any]) -> Iterator[dict[int, float | None]]:
    d = X.shape[1]
    X = sparse.csr_array(X)
    for row, y in enumerate(Y):
        stored = slice(X.indptr[row], X.indptr[row + 1])
        values = zip(X.indices[stored].tolist(), X.data[stored].tolist(), strict=True)
        features = {column: value for column, value in values if value != 0.0}
        yield features | {d + int(label): _label(y[label]) for label in np.flatnonzero(y)}


def _write_xml(label_names: Sequence[str], file: Path) -> None:
    root = ElementTree.Element("labels", xmlns=_MULAN_NAMESPACE)
    for name in label_names:
        ElementTree.SubElement(root, "label", name=name)
    ElementTree.indent(root)
    with replacing(file, "wb") as stream:
        ElementTree.ElementTree(root).write(stream, encoding="utf-8", xml_declaration=True)
