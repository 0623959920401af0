"""Numeric matrices of MATLAB files of version 4 to 7.

Version 4 is read by SciPy. Of version 5 to 7, `scipy.io.loadmat` trusts what a file says of itself:
where one byte is damaged, it may read outside of its buffers and take the process with it (SciPy
1.17: 18 of 1,500 damaged files). Here every length is checked; the format is described in "MAT-File
Format" (The MathWorks).
"""

import zlib
from collections.abc import Iterator
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat

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


class NotNumeric:
    """A variable that is no matrix of real numbers."""

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
        return _version_4(content)
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


def _version_4(content: memoryview) -> dict[str, Any]:
    variables = loadmat(BytesIO(content))
    return {name: _of_numbers(value) for name, value in variables.items()}


def _of_numbers(value: Any) -> Any:
    """Return a matrix of real numbers as it is, and what else SciPy found by its kind."""
    if value.dtype.kind in "cU":
        return NotNumeric("complex" if value.dtype.kind == "c" else "char")
    return sparse.csc_array(value) if sparse.issparse(value) else value
