"""ARFF files: attributes, rows, and which attributes are labels."""

import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import IO, Any
from xml.etree import ElementTree

import numpy as np
from scipy import sparse

from multimargin.checks.names import first_repeated, places_of, quoted
from multimargin.checks.paths import existing_file
from multimargin.datasets._reading import opened_text, reading, uncompressed
from multimargin.datasets.table_cells import label_value
from multimargin.datasets.table_columns import named_columns
from multimargin.notices import warn
from multimargin.typing import Frame

# Possessive quantifiers: linear time, whether a text matches or not.
_QUOTED = r"""(?>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+')"""
_BARE = r"""[^,\s"'{}]++"""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{'\"][^\s{{]*+)\s*(.+)", re.IGNORECASE)
_NOMINAL = re.compile(rf"\{{\s*+(?:{_QUOTED}|{_BARE})\s*+(?:,\s*+(?:{_QUOTED}|{_BARE})\s*+)*+\}}")
_CELL = re.compile(rf"""((?:{_QUOTED}|[^,"'])*+),""")
_VALUE = re.compile(rf"{_QUOTED}|{_BARE}")
_NUMBER = re.compile(r"(numeric|real|integer)\b\s*(\[[^\]]*\])?", re.IGNORECASE)
# Types of text, except the last.
_TEXT = re.compile(r"(string|date|relational)\b", re.IGNORECASE)
_COMMENT = re.compile(rf"""((?:{_QUOTED}|[^"'%]|(?<!\s)%)*+)%""")
# The weight of an instance, after its values.
_WEIGHT = re.compile(r",\s*\{\s*([-+.\deE]+)\s*\}\s*$")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_MEKA_OPTION = re.compile(r"(?:^|[\s:])-C\s+(-?\d+)")


@dataclass(frozen=True)
class Attribute:
    """Name and, for a nominal attribute, the declared values."""

    name: str
    values: tuple[str, ...] | None  # The declared values; None for a number
    # The declared type, of an attribute that is neither: text or a date
    other: str = ""

    def __str__(self) -> str:
        declared = self.other or "numeric" if self.values is None else self.values
        return f"{self.name!r} ({declared})"

    @property
    def is_binary_number(self) -> bool:
        """True if declared with the values 0 and 1, or one of them."""
        return self.values is not None and set(self.values) <= {"0", "1"}

    @property
    def is_reversed(self) -> bool:
        """True if the code 0, which stands for the first declared value, means the number 1."""
        return self.values is not None and self.is_binary_number and self.values[0] == "1"

    @property
    def relevant_codes(self) -> list[float] | None:
        """Labels, 0 or 1, of the codes of the declared values; None if they are not labels."""
        meant = [label_value(value) for value in self.values or ()]
        codes = [max(0.0, value) for value in meant if value in (-1.0, 0.0, 1.0)]
        return codes if len(set(codes)) == len(meant) > 0 else None

    @property
    def is_plain(self) -> bool:
        """True if the numbers, or the codes 0 and 1 of the declared values, are the feature."""
        return self.values is None or (len(self.values) <= 2 and not self.is_reversed)


@dataclass(frozen=True)
class ArffTable:
    """An ARFF file as it stands, nominal values coded by their place in the declaration.

    Texts and dates are coded by their place among those of the file, after the empty one.
    """

    relation: str
    attributes: tuple[Attribute, ...]
    values: Any
    texts: Mapping[int, Sequence[str]]  # The texts and dates of the codes, by attribute


@contextmanager
def _opened(file: Path, argument: str, encoding: str) -> Iterator[tuple[IO[str], str]]:
    """Give the text of a file, an argument of the caller, and what it is called in messages."""
    source = f"{argument}: {file}"
    with reading(file, argument), opened_text(file, encoding=encoding) as stream:
        try:
            yield stream, source
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{source} is not text in the encoding {encoding!r}; if it is an ARFF file, "
                "load_arff(..., encoding='latin-1') may read it"
            ) from error


def read_arff(file: Path, argument: str, encoding: str) -> ArffTable:
    """Read an ARFF file that the caller passed as an argument."""
    with _opened(file, argument, encoding) as (stream, source):
        number, relation, attributes = _read_header(stream, source)
        repeated = first_repeated([attribute.name for attribute in attributes])
        if repeated is not None:
            raise ValueError(f"{source}: the attribute {repeated!r} is declared twice")
        codes = {k: _Codes({"": 0.0}) for k, of in enumerate(attributes) if of.other}
        readers = [_reader_of(of, codes.get(k)) for k, of in enumerate(attributes)]
        values = _read_rows(_lines_of(stream, number), readers, source)
        if values.shape[0] == 0:
            raise ValueError(f"{source} has no row after @data; expected some; is it truncated?")
        texts = {k: tuple(of) for k, of in codes.items()}
        return ArffTable(relation, attributes, values, texts)


def frame_of_arff(file: Path, pandas: ModuleType) -> Frame:
    """Read an ARFF file as a data frame, whose nominal attributes are categories."""
    table = read_arff(file, "path", "utf-8-sig")
    values = table.values.toarray() if sparse.issparse(table.values) else table.values
    columns: dict[int, Any] = {}
    for k, (attribute, cells) in enumerate(zip(table.attributes, values.T, strict=True)):
        names = table.texts.get(k, attribute.values)
        if names is None:
            columns[k] = cells
            continue
        codes = np.where(np.isnan(cells), -1, cells).astype(np.intp)
        column = pandas.Categorical.from_codes(codes, names)
        columns[k] = column.astype(object) if k in table.texts else column
    frame = pandas.DataFrame(columns)
    frame.columns = [attribute.name for attribute in table.attributes]
    return frame


def labels_of_arff(file: Path, labels: Any) -> Any:
    """Return the names of the labels given by an XML file, a number or the header."""
    if not (labels is None or isinstance(labels, int) or _is_path(labels)):
        return labels
    existing_file(file, "path")
    with _opened(file, "path", "utf-8-sig") as (stream, source):
        _, relation, attributes = _read_header(stream, source)
    return [attributes[k].name for k in places_of_labels(labels, relation, attributes, file)]


def _is_path(labels: object) -> bool:
    """Return whether labels are a file, and not names of columns."""
    return isinstance(labels, os.PathLike) or (
        isinstance(labels, str) and (labels.lower().endswith(".xml") or os.path.isfile(labels))
    )


class _Codes(dict[str, float]):
    """Codes of texts, in the order in which they are met."""

    def __missing__(self, text: str) -> float:
        self[text] = code = float(len(self))
        return code


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
                f"with a name and a type, and @data; found {quoted(line)}"
            )
        name, declared = _unquoted(match[1]), match[2]
        try:
            attributes.append(_declared(name, _without_comment(declared)))
        except ValueError as error:
            raise ValueError(
                f"{source}, line {number}: the attribute {name!r} is declared as "
                f"{quoted(declared)}; {error}"
            ) from error
    raise ValueError(f"{source}, line {number}: this is not ARFF, or is cut short: it has no @data")


def _declared(name: str, declared: str) -> Attribute:
    """Return an attribute from the text after its name."""
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


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPED.get(found[1], found[1]), text)


def _reader_of(attribute: Attribute, texts: "_Codes | None") -> Callable[[str], float]:
    """Return a function from cells to numbers, NaN for missing ones."""
    if texts is not None:
        return lambda cell: np.nan if cell.strip() in ("?", "") else texts[_unquoted(cell.strip())]
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
        raise ValueError(f"{attribute.name!r} has the value {quoted(cell)}; expected {shown}")

    return read


def _read_rows(
    lines: Iterator[tuple[int, str]], readers: Sequence[Callable[[str], float]], source: str
) -> Any:
    """Return the values: as a CSC array if the first row is in sparse format."""
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
                f"found {quoted(cell.strip())}; expected a place from 0 to {len(readers) - 1} and "
                "a value; is the file truncated?"
            )
        if int(place) in row:
            raise ValueError(f"the place {int(place)} is there twice; expected each place once")
        row[int(place)] = readers[int(place)](value)
    return row


def places_of_labels(
    labels: Any, relation: str, attributes: Sequence[Attribute], file: Path
) -> list[int]:
    """Return the places of the labels, given by a number, names, an XML file or the header."""
    if labels is None:
        labels = _labels_by_default(file, relation)
    if _is_path(labels):
        return _columns_named_in(existing_file(labels, "labels"), attributes, file)
    names = [attribute.name for attribute in attributes]
    return [names.index(name) for name in named_columns(names, labels, "labels")]


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
        "XML files are beside it; expected the XML file that names the labels, their names, or a "
        "number: k for the first k attributes, -k for the last k"
    )


def _columns_named_in(xml_file: Path, attributes: Sequence[Attribute], file: Path) -> list[int]:
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
    known = dict.fromkeys(attribute.name for attribute in attributes)
    # Some XML files keep the backslashes of the ARFF file's quoted names.
    written = [name if name in known else _unescape(str(name)) for name in names]
    columns = sorted(places_of(written, known, f"labels: {file}", f"labels of {xml_file}"))
    if len(set(columns)) < len(columns):
        raise ValueError(f"labels: {xml_file} names a label twice; expected different names")
    return columns
