"""Numeric matrices of MATLAB files of version 4 to 7, read with a check of every length.

`scipy.io.loadmat` trusts what a file says of itself: where one byte is damaged, it may read outside
of its buffers and take the process with it. The formats are simple enough to be read safely; they
are described in "MAT-File Format" (The MathWorks).
"""

import zlib
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_ELEMENTS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_MATRIX, _COMPRESSED = 14, 15
_CLASSES = {
    6: "f8",
    7: "f4",
    8: "i1",
    9: "u1",
    10: "i2",
    11: "u2",
    12: "i4",
    13: "u4",
    14: "i8",
    15: "u8",
}
_OTHER_CLASSES = {1: "cell", 2: "struct", 3: "object", 4: "char", 16: "function", 17: "opaque"}
_SPARSE, _OPAQUE = 5, 17
_COMPLEX, _LOGICAL = 0x0800, 0x0200
_PRECISIONS = ("f8", "f4", "i4", "i2", "u2", "u1")


class NotNumeric:
    """A variable that is no matrix of real numbers.

    Parameters
    ----------
    kind : str
        What it is instead.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind


class HDF5Error(ValueError):
    """The file is of version 7.3."""


def read_matlab(file: Path) -> dict[str, Any]:
    """Read the variables of a MATLAB file."""
    content = memoryview(file.read_bytes())
    if len(content) < 20:
        raise ValueError("it is too short")
    if 0 in content[:4]:
        return dict(_version_4(content))
    if len(content) < 128:
        raise ValueError("it is too short")
    order = {b"IM": "<", b"MI": ">"}.get(bytes(content[126:128]))
    if order is None:
        raise ValueError("its header has no mark of the byte order")
    version = int(np.frombuffer(content[124:126], f"{order}u2")[0]) >> 8
    if version == 2:
        raise HDF5Error("it is of version 7.3")
    if version != 1:
        raise ValueError(f"its version is {version}, expected 1")
    variables = {}
    for name, value in _version_5(content[128:], order):
        # Nameless ones hold what belongs to functions.
        if name:
            variables[name] = value
    return variables


def _version_5(content: memoryview, order: str) -> Iterator[tuple[str, Any]]:
    while len(content):
        kind, data, content = _element(content, order, padded=False)
        if kind == _COMPRESSED:
            kind, data, _ = _element(_decompressed(data, order), order, padded=False)
        if kind != _MATRIX:
            raise ValueError(f"found an element of type {kind}, expected a variable")
        yield _variable(data, order)


def _element(
    content: memoryview, order: str, *, padded: bool = True
) -> tuple[int, memoryview, memoryview]:
    """Return the type and the data of the first element, and what follows it."""
    if len(content) < 8:
        raise ValueError("it ends in the middle of an element")
    kind, size = (int(word) for word in np.frombuffer(content[:8], f"{order}u4"))
    if kind >> 16:
        kind, size, start, end = kind & 0xFFFF, kind >> 16, 4, 8
        if size > 4:
            raise ValueError(f"found a small element of {size} bytes, expected at most 4")
    else:
        start = 8
        end = start + size + (-size % 8 if padded else 0)
    if start + size > len(content):
        raise ValueError(f"an element has {size:,} bytes, {len(content) - start:,} are left")
    return kind, content[start : start + size], content[end:]


def _decompressed(data: memoryview, order: str) -> memoryview:
    """Decompress one element, no further than its tag says."""
    stream = zlib.decompressobj()
    tag = stream.decompress(data, 8)
    if len(tag) < 8:
        raise ValueError("a compressed variable ends too early")
    size = int(np.frombuffer(tag, f"{order}u4")[1])
    body = stream.decompress(stream.unconsumed_tail, size) if size else b""
    # The checksum is at the end, behind the last byte of the variable.
    if not stream.eof and (stream.decompress(stream.unconsumed_tail, 1) or not stream.eof):
        raise ValueError("a compressed variable does not end where it should")
    return memoryview(tag + body)


def _variable(data: memoryview, order: str) -> tuple[str, Any]:
    if len(data) == 0:
        return "", NotNumeric("empty")
    flags, data = _numbers(data, order)
    if len(flags) != 2:
        raise ValueError("a variable has no flags")
    word = int(flags[0])
    kind = word & 0xFF
    if kind == _OPAQUE:
        name, _ = _name(data, order)
        return name, NotNumeric(_OTHER_CLASSES[kind])
    dimensions, data = _numbers(data, order)
    if len(dimensions) < 2 or dimensions.dtype.kind not in "iu" or (dimensions < 0).any():
        raise ValueError("a variable has no valid dimensions")
    shape = tuple(int(size) for size in dimensions)
    name, data = _name(data, order)
    try:
        if kind in _OTHER_CLASSES:
            return name, NotNumeric(_OTHER_CLASSES[kind])
        if word & _COMPLEX:
            return name, NotNumeric("complex")
        if kind == _SPARSE:
            return name, _sparse(data, shape, order)
        if kind in _CLASSES:
            wanted = np.bool_ if word & _LOGICAL else np.dtype(_CLASSES[kind])
            values, _ = _numbers(data, order)
            return name, _shaped(values, shape).astype(wanted)
    except ValueError as error:
        raise ValueError(f"the variable {name!r}: {error}") from error
    raise ValueError(f"the variable {name!r} is of the unknown class {kind}")


def _numbers(data: memoryview, order: str) -> tuple[NDArray[Any], memoryview]:
    kind, numbers, rest = _element(data, order)
    if kind not in _ELEMENTS:
        raise ValueError(f"found an element of type {kind}, expected numbers")
    dtype = np.dtype(order + _ELEMENTS[kind])
    if len(numbers) % dtype.itemsize:
        raise ValueError(f"found {len(numbers)} bytes, expected numbers of {dtype.itemsize} bytes")
    return np.frombuffer(numbers, dtype), rest


def _name(data: memoryview, order: str) -> tuple[str, memoryview]:
    _, name, rest = _element(data, order)
    return bytes(name).rstrip(b"\0").decode("latin-1"), rest


def _shaped(values: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    if len(values) != prod(shape):
        sizes = " x ".join(map(str, shape))
        raise ValueError(f"found {len(values):,} numbers, expected {sizes}")
    return values.reshape(shape, order="F")


def _sparse(data: memoryview, shape: tuple[int, ...], order: str) -> Any:
    if len(shape) != 2:
        raise ValueError(f"found {len(shape)} dimensions of a sparse matrix, expected 2")
    rows, data = _numbers(data, order)
    column_ends, data = _numbers(data, order)
    values, _ = _numbers(data, order)
    if rows.dtype.kind not in "iu" or column_ends.dtype.kind not in "iu":
        raise ValueError("the places of a sparse matrix are no integers")
    if len(column_ends) != shape[1] + 1 or column_ends[0] != 0:
        raise ValueError("the columns of a sparse matrix do not fit its size")
    # More may be reserved than is used.
    used = int(column_ends[-1])
    if (np.diff(column_ends.astype(np.int64)) < 0).any() or used > min(len(rows), len(values)):
        raise ValueError("the columns of a sparse matrix do not fit its entries")
    rows = rows[:used]
    if used and not (rows.min() >= 0 and rows.max() < shape[0]):
        raise ValueError(f"found an entry in row {rows.max():,} of {shape[0]:,}")
    entries = values[:used].astype(np.float64)
    return sparse.csc_array((entries, rows.astype(np.int64), column_ends.astype(np.int64)), shape)


def _version_4(content: memoryview) -> Iterator[tuple[str, Any]]:
    while len(content):
        if len(content) < 20:
            raise ValueError("it ends in the middle of a variable")
        order = "<" if np.frombuffer(content[:4], "<i4")[0] in range(5000) else ">"
        mopt, n_rows, n_columns, imaginary, name_size = (
            int(word) for word in np.frombuffer(content[:20], f"{order}i4")
        )
        machine, reserved, precision, kind = (mopt // unit % 10 for unit in (1000, 100, 10, 1))
        known = 0 <= mopt < 5000 and reserved == 0 and precision < 6 and kind < 3
        if not known or machine != "<>".index(order) or min(n_rows, n_columns, name_size) < 0:
            raise ValueError("it has a header that is not MATLAB's")
        dtype = np.dtype(f"{order}{_PRECISIONS[precision]}")
        size = n_rows * n_columns * dtype.itemsize * (2 if imaginary else 1)
        end = 20 + name_size + size
        if end > len(content):
            raise ValueError(f"a variable has {end:,} bytes, {len(content):,} are left")
        name = bytes(content[20 : 20 + name_size]).rstrip(b"\0").decode("latin-1")
        if imaginary or kind == 1:
            yield name, NotNumeric("complex" if imaginary else "char")
        else:
            values = np.frombuffer(content[20 + name_size : end], dtype)
            matrix = values.reshape((n_rows, n_columns), order="F").astype(dtype.newbyteorder("="))
            yield name, _sparse_4(matrix) if kind == 2 else matrix
        content = content[end:]


def _sparse_4(triples: NDArray[Any]) -> Any:
    """Make a sparse matrix of rows, columns and values, of which the last row is its size."""
    if triples.shape[1] == 4:
        return NotNumeric("complex")
    if triples.shape[1] != 3 or not len(triples) or not np.isfinite(triples[:, :2]).all():
        raise ValueError("a sparse matrix has no rows, columns and values")
    places = triples[:, :2].astype(np.int64)
    shape, places = places[-1], places[:-1] - 1
    if (shape < 0).any() or (shape > 2**31 - 1).any():
        raise ValueError(f"a sparse matrix has the size {shape.tolist()}")
    if (places < 0).any() or (places >= shape).any():
        raise ValueError("a sparse matrix has entries outside of it")
    values = triples[:-1, 2].astype(np.float64)
    return sparse.coo_array((values, (places[:, 0], places[:, 1])), tuple(shape.tolist())).tocsc()
