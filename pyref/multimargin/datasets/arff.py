"""Reader of multi-label ARFF files as MULAN and MEKA write them."""

import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin.checks.names import listed, places_of
from multimargin.checks.paths import existing_file
from multimargin.datasets._names import first_repeated
from multimargin.datasets._nominal import SPARSE_DENSITY, Attribute, feature_matrix
from multimargin.datasets._reading import opened, reading, uncompressed
from multimargin.datasets.multilabel_data import MultilabelData
from multimargin.datasets.table_columns import Columns
from multimargin.notices import warn
from multimargin.typing import Features

# Possessive: the time is linear, whether a text matches or not.
_QUOTED = r"""(?>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+')"""
_BARE = r"""[^,\s"'{}]++"""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{'\"][^\s{{]*+)\s*(.+)", re.IGNORECASE)
_NOMINAL = re.compile(rf"\{{\s*+(?:{_QUOTED}|{_BARE})\s*+(?:,\s*+(?:{_QUOTED}|{_BARE})\s*+)*+\}}")
_CELL = re.compile(rf"""((?:{_QUOTED}|[^,"'])*+),""")
_VALUE = re.compile(rf"{_QUOTED}|{_BARE}")
_NUMBER = re.compile(r"(numeric|real|integer)\b\s*(\[[^\]]*\])?", re.IGNORECASE)
# What can only be left out.
_TEXT = re.compile(r"(string|date|relational)\b", re.IGNORECASE)
_COMMENT = re.compile(rf"""((?:{_QUOTED}|[^"'%]|(?<!\s)%)*+)%""")
# The weight of an instance, after its values.
_WEIGHT = re.compile(r",\s*\{\s*([-+.\deE]+)\s*\}\s*$")
_MEKA_OPTION = re.compile(r"(?:^|[\s:])-C\s+(-?\d+)")


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
    labels : str, path-like, int or None, default=None
        Attributes that are labels. A path: the XML file of MULAN, which names them. A positive
        integer k: the first k attributes; a negative one: the last k, as in MEKA's option ``-C``.
        (MULAN's own files have the labels last.) None looks for an XML file beside it: one of the
        same name, with or without "-train" and "-test"; then the option ``-C k`` in the file's
        ``@relation``; then the only XML file there is.
    drop : str or sequence of str, default=()
        Names of attributes to leave out, such as texts and dates, which no feature can be made of.
        `labels` counts them nevertheless.
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
    table = _read_table(file, "path", encoding)
    columns = _label_columns(labels, table, file)
    kept = _kept(table, drop, file)
    data = _as_data(table, columns, kept, file)
    stem = uncompressed(file).stem
    if test_file is not None:
        test_table = _read_table(test_file, "test", encoding)
        _check_same_attributes(table, test_table, test_file)
        parts = {"train": data, "test": _as_data(test_table, columns, kept, test_file, "test")}
        data = MultilabelData.concatenate(parts)
        stem = stem.removesuffix("-train")
    X = data.X
    if sparse.issparse(X) or np.count_nonzero(X) < SPARSE_DENSITY * X.size:
        X = sparse.csr_array(X)
    return replace(data, X=X, name=stem if name is None else name)


def load_arff_features(
    path: str | os.PathLike[str], feature_names: Sequence[str], *, encoding: str = "utf-8-sig"
) -> Features:
    """Load given features of an ARFF file, with or without labels in it."""
    file = existing_file(path, "path")
    table = _read_table(file, "path", encoding)
    with reading(file, "path"):
        read = [k for k, attribute in enumerate(table.attributes) if not attribute.other]
        X, names = feature_matrix(table.values[:, read], [table.attributes[k] for k in read])
    return X[:, places_of(feature_names, names, f"path: {file}", "features that are expected")]


@dataclass(frozen=True)
class _Table:
    """An ARFF file as it stands, nominal values coded by their place in the declaration."""

    relation: str
    attributes: tuple[Attribute, ...]
    values: Any


def _read_table(file: Path, argument: str, encoding: str) -> _Table:
    source = f"{argument}: {file}"
    with reading(file, argument), opened(file, encoding=encoding) as stream:
        try:
            number, relation, attributes = _read_header(stream, source)
            repeated = first_repeated([attribute.name for attribute in attributes])
            if repeated is not None:
                raise ValueError(f"{source}: the attribute {repeated!r} is declared twice")
            values = _read_rows(_lines_of(stream, number), attributes, source)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{source} is not text in the encoding {encoding!r}; if it is an ARFF file, "
                "load_arff(..., encoding='latin-1') may read it"
            ) from error
        if values.shape[0] == 0:
            raise ValueError(f"{source} has no row after @data; expected some; is it truncated?")
        return _Table(relation, attributes, values)


def _lines_of(stream: Iterable[str], number: int) -> Iterator[tuple[int, str]]:
    """Yield the lines after so many, with their numbers, without comments and blank ones."""
    for place, line in enumerate(stream, start=number + 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("%"):
            yield place, stripped


def _read_header(stream: Iterable[str], source: str) -> tuple[int, str, tuple[Attribute, ...]]:
    """Read up to @data; return the number of that line, the relation and the attributes."""
    number, relation, attributes = 0, "", list[Attribute]()
    for number, line in _lines_of(stream, 0):
        keyword = line[:10].lower()
        if keyword.startswith("@data"):
            return number, relation, tuple(attributes)
        if keyword.startswith("@relation"):
            relation = line[len("@relation") :].strip().strip("'\"")
            continue
        match = _ATTRIBUTE.match(line)
        if match is None:
            raise ValueError(
                f"{source}, line {number}: this is not ARFF, which has @relation, @attribute "
                f"with a name and a type, and @data; found {line[:60]!r}"
            )
        name, declared = _unquoted(match[1]), match[2]
        try:
            attributes.append(_declared(name, _without_comment(declared)))
        except ValueError as error:
            raise ValueError(
                f"{source}, line {number}: the attribute {name!r} is declared as "
                f"{declared[:60]!r}; {error}"
            ) from error
    raise ValueError(f"{source}, line {number}: this is not ARFF, or is cut short: it has no @data")


def _declared(name: str, declared: str) -> Attribute:
    """Return an attribute by what stands after its name."""
    if declared.startswith("{"):
        if not _NOMINAL.fullmatch(declared):
            raise ValueError("expected values such as {a, 'b c', d}")
        cells = _cells(declared[1:-1])
        return Attribute(name, tuple(_unquoted(cell.strip()) for cell in cells))
    if _NUMBER.fullmatch(declared):
        return Attribute(name, None)
    text = _TEXT.match(declared)
    if text is None or text[1].lower() == "relational":
        raise ValueError("expected numeric, real, integer, string, date or nominal {...}")
    return Attribute(name, None, other=text[1].lower())


def _without_comment(text: str) -> str:
    """Return a text up to a % after a blank, outside of quotes."""
    if "%" not in text:
        return text
    found = _COMMENT.match(text)
    return text if found is None else found[1].rstrip()


def _cells(text: str) -> list[str]:
    """Split a text at the commas that are not in quotes."""
    if "'" not in text and '"' not in text:
        return text.split(",")
    found = _CELL.findall(f"{text},")
    if sum(map(len, found)) + len(found) != len(text) + 1:
        raise ValueError("a quote is not closed; is the file truncated?")
    return found


def _unquoted(text: str) -> str:
    return _unescape(text[1:-1]) if text[0] in "'\"" else text


def _unescape(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def _reader_of(attribute: Attribute) -> Callable[[str], float]:
    """Return what makes a number of a cell: NaN where it is missing."""
    if attribute.other:
        return lambda cell: 0.0
    codes = {value: float(code) for code, value in enumerate(attribute.values or ())}
    shown = "a number" if attribute.values is None else f"one of {attribute.values[:8]}"
    number: Callable[[str], float] = float if attribute.values is None else codes.__getitem__

    def read(cell: str) -> float:
        try:
            return number(cell)
        except (KeyError, ValueError):
            cell = cell.strip()
        if cell in ("?", ""):
            return np.nan
        with suppress(KeyError, ValueError):
            if _VALUE.fullmatch(cell):
                return number(_unquoted(cell))
        raise ValueError(f"{attribute.name!r} has the value {cell[:60]!r}; expected {shown}")

    return read


def _read_rows(
    lines: Iterator[tuple[int, str]], attributes: Sequence[Attribute], source: str
) -> Any:
    """Return the values: as a CSC array if the first row is in sparse format."""
    readers = [_reader_of(attribute) for attribute in attributes]
    first = next(lines, None)
    in_sparse_format = first is not None and first[1].startswith("{")
    # array holds eight bytes a value, where lists of floats would hold four times as much.
    values, columns, row_ends = array("d"), array("i"), array("i", [0])
    weighted = 0
    for number, line in chain([] if first is None else [first], lines):
        try:
            line, weight = _without_weight(_without_comment(line))
            weighted += weight != 1.0
            if line.startswith("{"):
                row = _sparse_row(line, readers)
                if not in_sparse_format:
                    values.extend(row.get(k, 0.0) for k in range(len(readers)))
                    continue
                values.extend(row.values())
                columns.extend(row)
                row_ends.append(len(columns))
                continue
            cells = _cells_of_row(line, len(readers))
            if in_sparse_format or len(cells) != len(readers):
                wanted = "{index value, ...}" if in_sparse_format else f"{len(readers)} values"
                raise ValueError(
                    f"found a row of {len(cells)} values; expected {wanted}; is the file truncated?"
                )
            values.extend(read(cell) for read, cell in zip(readers, cells, strict=True))
        except ValueError as error:
            raise ValueError(f"{source}, line {number}: {error}") from error
    if weighted:
        warn(
            f"{source}: {weighted} rows have a weight, which is left out; fit takes weights as "
            "sample_weight"
        )
    dense = np.array(values, dtype=np.float64)
    if not in_sparse_format:
        return dense.reshape(-1, len(readers))
    shape = (len(row_ends) - 1, len(readers))
    indices, indptr = np.array(columns, dtype=np.int32), np.array(row_ends, dtype=np.int32)
    return sparse.csr_array((dense, indices, indptr), shape=shape).tocsc()


def _without_weight(line: str) -> tuple[str, float]:
    """Return a row without the weight of its instance, and that weight."""
    found = _WEIGHT.search(line) if line.endswith("}") else None
    if found is None:
        # A row in sparse format may end with a comma, too.
        return (line.rstrip(", \t") if line.startswith("{") else line), 1.0
    return line[: found.start()].rstrip(), float(found[1])


def _cells_of_row(line: str, wanted: int) -> list[str]:
    """Split a row at its commas; one without any, at blanks."""
    cells = _cells(line)
    if len(cells) == wanted + 1 and not cells[-1].strip():
        return cells[:-1]
    if len(cells) == 1 and wanted > 1:
        words = _VALUE.findall(line)
        if len(words) == wanted:
            return words
    return cells


def _sparse_row(line: str, readers: Sequence[Callable[[str], float]]) -> dict[int, float]:
    """Return the values of a row such as {0 1.5, 3 'light rain'} by their place."""
    if not line.endswith("}"):
        raise ValueError("the row does not end in '}'; is the file truncated?")
    row: dict[int, float] = {}
    content = line[1:-1].strip().removesuffix(",")
    for cell in _cells(content) if content else ():
        place, _, value = cell.strip().replace("\t", " ", 1).partition(" ")
        if not (place.isdecimal() and int(place) < len(readers) and value):
            raise ValueError(
                f"found {cell.strip()[:60]!r}; expected a place from 0 to {len(readers) - 1} and "
                "a value; is the file truncated?"
            )
        row[int(place)] = readers[int(place)](value)
    return row


def _label_columns(labels: object, table: _Table, file: Path) -> list[int]:
    n_attributes = len(table.attributes)
    if labels is None:
        labels = _labels_by_default(file, table.relation)
    if isinstance(labels, bool):
        raise TypeError(f"labels is {labels}; expected a path, an integer or None")
    if isinstance(labels, int | np.integer):
        count = int(labels)
        if not 0 < abs(count) < n_attributes:
            raise ValueError(
                f"labels is {count}, of {n_attributes} attributes of {file}; expected 1 to "
                f"{n_attributes - 1} for the first or -1 to {1 - n_attributes} for the last ones"
            )
        return list(range(count) if count > 0 else range(n_attributes + count, n_attributes))
    return _columns_named_in(existing_file(labels, "labels"), table, file)


def _labels_by_default(file: Path, relation: str) -> Path | int:
    """Return the XML file of the same name, the number in the header, or the only XML file."""
    own = uncompressed(file).stem
    for stem in (own, re.sub("([-_](train|test))+$", "", own)):
        if (same := file.with_name(f"{stem}.xml")).is_file():
            return same
    option = _MEKA_OPTION.search(relation)
    if option is not None:
        return int(option[1])
    every = [found for found in file.parent.glob("*.xml") if found.is_file()]
    if len(every) == 1:
        return every[0]
    raise ValueError(
        f"labels is not given, the relation {relation!r} of {file} has no '-C k', and {len(every)} "
        "XML files are beside it; expected the XML file that names the labels, or a number: k for "
        "the first k attributes, -k for the last k"
    )


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
            f"{listed(unknown)}"
        )
    columns = sorted(place for place in places.values() if place is not None)
    if len(set(columns)) < len(names):
        raise ValueError(f"labels: {xml_file} names a label twice; expected different names")
    if len(columns) == len(table.attributes):
        raise ValueError(f"labels: every attribute of {file} is a label; expected features as well")
    return columns


def _check_same_attributes(table: _Table, test_table: _Table, test_file: Path) -> None:
    pairs = zip_longest(table.attributes, test_table.attributes)
    for number, (expected, found) in enumerate(pairs, start=1):
        if expected != found:
            raise ValueError(
                f"test: attribute {number} of {test_file} is {found}; expected that of path, "
                f"{expected}"
            )


def _kept(table: _Table, drop: str | Sequence[str], file: Path) -> NDArray[np.bool_]:
    """Return which attributes are not dropped; what no feature can be made of must be."""
    dropped = [drop] if isinstance(drop, str) else list(drop)
    names = [attribute.name for attribute in table.attributes]
    kept = np.ones(len(names), dtype=bool)
    kept[places_of(dropped, names, f"drop: {file}", "attributes")] = False
    texts = [a for a, keep in zip(table.attributes, kept, strict=True) if a.other and keep]
    if texts:
        raise ValueError(
            f"path: {file} has attributes that are text or dates, {listed([a.name for a in texts])}"
            f"; expected numbers and nominal ones: leave them out, drop={[a.name for a in texts]}"
        )
    return kept


def _as_data(
    table: _Table,
    label_columns: Sequence[int],
    kept: NDArray[np.bool_],
    file: Path,
    argument: str = "path",
) -> MultilabelData:
    is_label = np.zeros(len(table.attributes), dtype=bool)
    is_label[label_columns] = True
    features = np.flatnonzero(~is_label & kept)
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
    table: _Table, columns: Sequence[int], file: Path
) -> NDArray[np.int64] | NDArray[np.float64]:
    """Return the labels, with NaN for an unknown one where there is any."""
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
