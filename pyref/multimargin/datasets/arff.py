"""Reader of multi-label ARFF files as MULAN and MEKA write them."""

import os
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TextIO
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin.checks.paths import existing_file
from multimargin.datasets._names import first_repeated
from multimargin.datasets._nominal import SPARSE_DENSITY, Attribute, feature_matrix
from multimargin.datasets._reading import reading
from multimargin.datasets.multilabel_data import MultilabelData

_ATTRIBUTE = re.compile(
    r"""@attribute \s+
        (?: '(?P<single> (?:[^'\\]|\\.)* )' | "(?P<double> (?:[^"\\]|\\.)* )" | (?P<bare>[^\s{]++) )
        \s* (?P<type>.+)""",
    re.IGNORECASE | re.VERBOSE,
)
# Possessive: the time is linear, whether it is a declaration or not.
_VALUE = r"""(?>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[^,\s"'{}]++)\s*+"""
_NOMINAL = re.compile(rf"\{{\s*+{_VALUE}(?:,\s*+{_VALUE})*+\}}")
_MEKA_OPTION = re.compile(r"(?:^|[\s:])-C\s+(-?\d+)")


def load_arff(
    path: str | os.PathLike[str],
    labels: str | os.PathLike[str] | int | None = None,
    *,
    test: str | os.PathLike[str] | None = None,
    sparse: bool | Literal["auto"] = "auto",
    name: str | None = None,
    encoding: str = "utf-8-sig",
) -> MultilabelData:
    """Load a multi-label ARFF file, dense or sparse, in the conventions of MULAN or MEKA.

    Parameters
    ----------
    path : str or path-like
        The ARFF file; the training part if `test` is given.
    labels : str, path-like, int or None, default=None
        Which attributes are labels. A path: the XML file of MULAN, which names them. A positive
        integer k: the first k attributes; a negative one: the last k, as in MEKA's option ``-C``.
        (MULAN's own files have the labels last.) None: the option ``-C k`` in the file's
        ``@relation``.
    test : str, path-like or None, default=None
        The ARFF file of the official test part, with the same attributes. The result then has the
        splits "train" and "test".
    sparse : bool or "auto", default="auto"
        Whether X is stored as CSR. "auto": if a file is in sparse format, or if fewer than a tenth
        of the features' values are nonzero.
    name : str or None, default=None
        Name of the data set; None takes the file's name, without "-train" if `test` is given.
    encoding : str, default="utf-8-sig"
        Text encoding; the default is UTF-8 with or without a byte order mark.

    Returns
    -------
    MultilabelData
        The columns of Y are in the order of the ARFF file, whatever the order in the XML file.

    Raises
    ------
    ValueError
        If a file is damaged or truncated, a label is not an attribute or not 0, 1 or ``?``, an
        attribute cannot be a feature, or the attributes of the two files differ. A file truncated
        exactly between two rows cannot be told from a shorter one.

    Notes
    -----
    Nominal features become numbers: 0 and 1 where the declared values are those, otherwise one
    column that is 1 for the second of two declared values, otherwise one 0/1 column a value, named
    ``attribute=value``. As ARFF defines it, a value that a sparse row leaves out is 0, or the first
    declared value of a nominal attribute.

    Missing feature values (``?``) become NaN, explicitly stored when sparse, in all columns of the
    attribute; estimators refuse them, so impute first. A missing label is an unknown one, NaN in Y.
    A hierarchy of labels in the XML file is flattened.
    """
    if sparse != "auto" and not isinstance(sparse, bool):
        raise ValueError(f"sparse: found {sparse!r}, expected True, False or 'auto'")
    file = existing_file(path, "path")
    test_file = None if test is None else existing_file(test, "test")
    table = _read_table(file, "path", encoding)
    columns = _label_columns(labels, table, file)
    data = _as_data(table, columns, file)
    stem = file.stem
    if test_file is not None:
        test_table = _read_table(test_file, "test", encoding)
        _check_same_attributes(table, test_table, test_file)
        parts = {"train": data, "test": _as_data(test_table, columns, test_file, "test")}
        data = MultilabelData.concatenate(parts)
        stem = stem.removesuffix("-train")
    return MultilabelData(
        X=_stored(data.X, sparse),
        Y=data.Y,
        feature_names=data.feature_names,
        label_names=data.label_names,
        name=stem if name is None else name,
        splits=data.splits,
    )


def load_arff_features(
    path: str | os.PathLike[str],
    feature_names: Sequence[str],
    *,
    encoding: str = "utf-8-sig",
) -> Any:
    """Load given features of an ARFF file, with or without labels in it.

    Parameters
    ----------
    path : str or path-like
        The ARFF file. Attributes that are not asked for, labels among them, may have any values.
    feature_names : sequence of str of length d
        Names of the features, as in `MultilabelData.feature_names`, in the order wanted.
    encoding : str, default="utf-8-sig"
        Text encoding; the default is UTF-8 with or without a byte order mark.

    Returns
    -------
    {ndarray, csr_array} of shape (n, d)
        The features, sparse if the file is in sparse format or nominal attributes become very many
        columns.

    Raises
    ------
    ValueError
        If the file is damaged or truncated, or lacks a feature.
    """
    file = existing_file(path, "path")
    table = _read_table(file, "path", encoding)
    with reading(file, "path"):
        X, names = feature_matrix(table.values, table.attributes)
    place = {name: column for column, name in enumerate(names)}
    missing = [name for name in feature_names if name not in place]
    if missing:
        raise ValueError(
            f"path: {file} lacks {len(missing)} of the {len(feature_names)} features that are "
            f"expected: {', '.join(repr(name) for name in missing[:5])}"
            f"{', ...' if len(missing) > 5 else ''}"
        )
    return X[:, [place[name] for name in feature_names]]


def names_labels_in_header(path: str | os.PathLike[str], *, encoding: str = "utf-8-sig") -> bool:
    """Say whether the header of an ARFF file says which attributes are labels, as MEKA's do.

    That is an option ``-C`` in its ``@relation``.
    """
    with existing_file(path, "path").open(encoding=encoding, errors="replace") as stream:
        _, relation, _ = _read_header(stream, f"path: {path}")
    return _MEKA_OPTION.search(relation) is not None


@dataclass(frozen=True)
class _Table:
    """An ARFF file as it stands, nominal values coded by their place in the declaration."""

    relation: str
    attributes: tuple[Attribute, ...]
    values: Any


class _CountedLines:
    """Iterator over lines that keeps its position, for error messages."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.number += 1
            yield line


def _import_liac_arff() -> ModuleType:
    """Import liac-arff, or raise an ImportError that says how to get it."""
    try:
        import arff
    except ImportError as error:
        raise ImportError(
            "load_arff needs liac-arff, which is not installed: pip install 'multimargin[data]'"
        ) from error
    module: ModuleType = arff
    return module


def _read_table(file: Path, argument: str, encoding: str) -> _Table:
    arff = _import_liac_arff()
    source = f"{argument}: {file}"
    with (
        reading(file, argument),
        _errors_of_encoding(source, encoding),
        file.open(encoding=encoding) as stream,
    ):
        header, relation, names = _read_header(stream, source)
        opening = _up_to_first_row(stream)
        in_sparse_format = bool(opening) and opening[-1].lstrip().startswith("{")
        lines = _CountedLines(chain(header, opening, stream))
        with _errors_with_place(arff, source, lines):
            document = _decoder(arff).decode(
                lines,
                encode_nominal=True,
                return_type=arff.LOD_GEN if in_sparse_format else arff.DENSE_GEN,
            )
        attributes = _attributes(names, document["attributes"], source)
        with _errors_with_place(arff, source, lines):
            read_rows = _sparse_values if in_sparse_format else _dense_values
            values = read_rows(document["data"], len(attributes))
    if values.shape[0] == 0:
        raise ValueError(f"{source} has no row after @data, expected some; is it truncated?")
    return _Table(relation, attributes, values)


def _decoder(arff: ModuleType) -> Any:
    """Return a decoder that does not check declarations of nominal attributes once more.

    liac-arff's expression for them takes exponential time where values are quoted and have commas.
    """

    class Decoder(arff.ArffDecoder):  # type: ignore[name-defined, misc]
        def _decode_attribute(self, line: str) -> tuple[str, Any]:
            _, name, declared = line.split(" ", 2)
            if not declared.startswith("{"):
                return super()._decode_attribute(line)  # type: ignore[no-any-return]
            return name, arff._parse_values(declared.strip("{} "))

    return Decoder()


@contextmanager
def _errors_of_encoding(source: str, encoding: str) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{source} is not text in the encoding {encoding!r}; if it is an ARFF file, "
            "load_arff(..., encoding='latin-1') may read it"
        ) from error


def _read_header(stream: TextIO, source: str) -> tuple[list[str], str, list[str]]:
    """Read up to @data; return the lines as liac-arff takes them, the relation and the names.

    liac-arff neither removes escapes from names nor takes tabs in a declaration, and cuts the
    values of "integer" attributes to whole numbers where ARFF means any number. It is therefore
    given neutral names and types, line by line.
    """
    header, relation, names = [], "", []
    for number, line in enumerate(stream, start=1):
        stripped = line.strip()
        keyword = stripped[:10].lower()
        if keyword.startswith("@relation"):
            relation = stripped[len("@relation") :].strip().strip("'\"")
            stripped = "@relation r"
        elif keyword.startswith("@attribute"):
            match = _ATTRIBUTE.match(stripped)
            if match is None:
                raise ValueError(
                    f"{source}, line {number}: found {stripped[:60]!r}; this is not ARFF, which "
                    "has @attribute, a name and a type"
                )
            names.append(_attribute_name(match))
            declared = match["type"]
            if declared.startswith("{") and not _NOMINAL.fullmatch(declared):
                raise ValueError(
                    f"{source}, line {number}: the attribute {names[-1]!r} is declared as "
                    f"{declared[:60]!r}, expected values such as {{a, 'b c', d}}"
                )
            if declared.lower() == "integer":
                declared = "numeric"
            stripped = f"@attribute a{len(names)} {declared}"
        header.append(stripped)
        if keyword.startswith("@data"):
            break
    return header, relation, names


def _attribute_name(match: re.Match[str]) -> str:
    bare: str | None = match["bare"]
    if bare is not None:
        return bare
    quoted: str = match["single"] if match["single"] is not None else match["double"]
    return _unescape(quoted)


def _unescape(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def _up_to_first_row(stream: TextIO) -> list[str]:
    lines = []
    for line in stream:
        lines.append(line)
        if line.strip() and not line.lstrip().startswith("%"):
            break
    return lines


def _attributes(
    names: Sequence[str], declared: Sequence[tuple[str, Any]], source: str
) -> tuple[Attribute, ...]:
    attributes = []
    for name, (_, kind) in zip(names, declared, strict=True):
        if kind == "STRING":
            raise ValueError(
                f"{source}: the attribute {name!r} is a string, expected numeric or nominal"
            )
        values = tuple(kind) if isinstance(kind, list) else None
        attributes.append(Attribute(name, values))
    repeated = first_repeated(names)
    if repeated is not None:
        raise ValueError(f"{source}: the attribute {repeated!r} is declared twice")
    return tuple(attributes)


def _dense_values(rows: Iterable[Sequence[float | None]], n_attributes: int) -> Any:
    # array holds eight bytes a value, where lists of floats would hold four times as much.
    values = array("d")
    for row in rows:
        values.extend(np.nan if value is None else value for value in row)
    return np.array(values, dtype=np.float64).reshape(-1, n_attributes)


def _sparse_values(rows: Iterable[dict[int, float | None]], n_attributes: int) -> Any:
    values, columns, row_ends = array("d"), array("i"), array("i", [0])
    for row in rows:
        values.extend(np.nan if value is None else value for value in row.values())
        columns.extend(row)
        row_ends.append(len(columns))
    csr = sparse.csr_array(
        (
            np.array(values, dtype=np.float64),
            np.array(columns, dtype=np.int32),
            np.array(row_ends, dtype=np.int32),
        ),
        shape=(len(row_ends) - 1, n_attributes),
    )
    return csr.tocsc()


@contextmanager
def _errors_with_place(arff: ModuleType, source: str, lines: _CountedLines) -> Iterator[None]:
    """Name the file and the line in liac-arff's errors, which lack both while rows are read."""
    try:
        yield
    except UnicodeDecodeError:
        raise
    except (arff.ArffException, ValueError) as error:
        if isinstance(error, arff.BadDataFormat):
            reason = "the row does not fit the number of attributes; is the file truncated?"
        elif isinstance(error, arff.BadLayout):
            reason = "this is not ARFF, or not a complete row; is the file truncated?"
        elif isinstance(error, arff.BadAttributeType):
            reason = "the attribute's type is not one of numeric, real, integer and nominal {...}"
        else:
            reason = str(getattr(error, "message", error)).removesuffix(", at line %d.")
        raise ValueError(f"{source}, line {lines.number}: {reason}") from error


def _label_columns(labels: object, table: _Table, file: Path) -> list[int]:
    n_attributes = len(table.attributes)
    if labels is None:
        option = _MEKA_OPTION.search(table.relation)
        if option is None:
            raise ValueError(
                f"labels: found None, and no '-C k' in the relation {table.relation!r} of {file}; "
                "expected the XML file that names the labels, or a number: k for the first k "
                "attributes, -k for the last k"
            )
        labels = int(option[1])
    if isinstance(labels, bool):
        raise TypeError(f"labels: found {labels}, expected a path, an integer or None")
    if isinstance(labels, int | np.integer):
        count = int(labels)
        if not 0 < abs(count) < n_attributes:
            raise ValueError(
                f"labels: found {count} of {n_attributes} attributes of {file}, expected 1 to "
                f"{n_attributes - 1} for the first or -1 to {1 - n_attributes} for the last ones"
            )
        return list(range(count) if count > 0 else range(n_attributes + count, n_attributes))
    return _columns_named_in(existing_file(labels, "labels"), table, file)


def _columns_named_in(xml_file: Path, table: _Table, file: Path) -> list[int]:
    with reading(xml_file, "labels"):
        try:
            root = ElementTree.parse(xml_file).getroot()
        except (ElementTree.ParseError, LookupError) as error:
            raise ValueError(f"labels: {xml_file} is not XML: {error}") from error
    # Tags carry MULAN's namespace, or none in files written by hand.
    elements = [element for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
    names = [element.get("name") for element in elements]
    if not names or None in names:
        raise ValueError(f'labels: {xml_file} has no <label name="..."> where one is expected')
    position = {attribute.name: i for i, attribute in enumerate(table.attributes)}
    # Some XML files keep the backslashes of the ARFF file's quoted names.
    places = {
        name: position.get(name, position.get(_unescape(name)))
        for name in names
        if name is not None
    }
    unknown = [name for name, place in places.items() if place is None]
    if unknown:
        raise ValueError(
            f"labels: {xml_file} names {len(unknown)} label(s) that are no attributes of {file}: "
            f"{', '.join(repr(name) for name in unknown[:5])}"
        )
    columns = sorted(place for place in places.values() if place is not None)
    if len(set(columns)) < len(names):
        raise ValueError(f"labels: {xml_file} names a label twice, expected different names")
    if len(columns) == len(table.attributes):
        raise ValueError(f"labels: every attribute of {file} is a label, expected features as well")
    return columns


def _check_same_attributes(table: _Table, test_table: _Table, test_file: Path) -> None:
    expected, found = table.attributes, test_table.attributes
    if len(expected) != len(found):
        raise ValueError(
            f"test: {test_file} has {len(found)} attributes, expected {len(expected)} as in path"
        )
    for number, (left, right) in enumerate(zip(expected, found, strict=True), start=1):
        if left != right:
            raise ValueError(
                f"test: attribute {number} of {test_file} is {right.name!r} "
                f"({right.values or 'numeric'}), expected {left.name!r} "
                f"({left.values or 'numeric'}) as in path"
            )


def _as_data(
    table: _Table, label_columns: Sequence[int], file: Path, argument: str = "path"
) -> MultilabelData:
    is_label = np.zeros(len(table.attributes), dtype=bool)
    is_label[label_columns] = True
    features = np.flatnonzero(~is_label)
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
    table: _Table, columns: Sequence[int], file: Path
) -> NDArray[np.int64] | NDArray[np.float64]:
    """Return the labels, with NaN for an unknown one where there is any."""
    attributes = [table.attributes[column] for column in columns]
    for attribute in attributes:
        if attribute.values is not None and not attribute.is_binary_number:
            raise ValueError(
                f"labels: the label {attribute.name!r} of {file} has the values "
                f"{attribute.values[:5]}, expected 0 and 1"
            )
    block = table.values[:, columns]
    stored = block.data if sparse.issparse(block) else block
    wrong = (stored != 0) & (stored != 1) & ~np.isnan(stored)
    if wrong.any():
        if sparse.issparse(block):
            first = int(np.flatnonzero(wrong)[0])
            row, label = (
                block.indices[first],
                int(np.searchsorted(block.indptr, first, "right")) - 1,
            )
        else:
            row, label = np.argwhere(wrong)[0]
        raise ValueError(
            f"labels: the label {attributes[label].name!r} of {file} is "
            f"{stored[wrong][0]:g} in row {row}, expected 0, 1 or ?"
        )
    Y: NDArray[np.float64] = block.toarray(order="C") if sparse.issparse(block) else block
    reversed_labels = [attribute.is_reversed for attribute in attributes]
    Y[:, reversed_labels] = 1 - Y[:, reversed_labels]
    return Y if np.isnan(Y).any() else Y.astype(np.int64)


def _stored(X: Any, wanted: bool | str) -> Any:
    if wanted == "auto":
        wanted = sparse.issparse(X) or np.count_nonzero(X) < SPARSE_DENSITY * X.size
    if wanted:
        return sparse.csr_array(X)
    return X.toarray() if sparse.issparse(X) else X
