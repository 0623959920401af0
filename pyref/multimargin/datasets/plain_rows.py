"""Rows of delimited text that Arrow reads as Python's csv does, but many times as fast.

That is text in UTF-8 whose quotation marks all stand around cells, or are doubled within them, and
whose rows are of one length. Of any other text nothing is read.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.datasets._reading import opened
from multimargin.datasets.text_arrays import holds_arrow, joined_texts

_DELIMITERS = ",;\t|\x1f"
# Bytes of a block at least, and for each column: Arrow takes a while for each column of a block.
_BLOCK, _PER_COLUMN = 2**22, 2**10
_PIECE = 2**16
# A row of more bytes is more likely one with a quote that is not closed.
_LONGEST_ROW = 2**24
_QUOTE, _BLANK, _BREAK, _RETURN = b'" \n\r'


class _Odd(ValueError):
    """A text that Arrow may read otherwise."""


def plain_rows(
    path: Path, delimiter: str, width: int, *, above: int, blank_rows: bool
) -> tuple[list[Any], bool] | None:
    """Return the columns, as pandas holds texts, and whether a row has several lines.

    None if anything is odd. `above` lines are left out, and blank ones; these are odd if
    `blank_rows` says that they are rows.
    """
    if delimiter not in _DELIMITERS or not holds_arrow():
        return None
    from pyarrow import ArrowInvalid, BufferReader, compute, csv, large_string, py_buffer

    names = [*map(str, range(width))]
    parsing = csv.ParseOptions(
        delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=not blank_rows
    )
    as_texts = csv.ConvertOptions(column_types=dict.fromkeys(names, large_string()))
    columns: list[list[Any]] = [[] for _ in names]
    has_breaks = False
    source: Any = opened(path)
    try:
        with BufferedReader(source) as stream:
            for rows, n_quoted_blanks in _blocks(stream, delimiter, above, width):
                reading = csv.ReadOptions(
                    column_names=names, block_size=len(rows), use_threads=False
                )
                found = csv.read_csv(BufferReader(py_buffer(rows)), reading, parsing, as_texts)
                # Arrow fills a blank line with empty cells.
                if blank_rows and compute.any(compute.equal(found[0], "")).as_py():
                    return None
                with_blanks = (compute.starts_with(cells, " ") for cells in found.columns)
                if sum(compute.sum(cells).as_py() or 0 for cells in with_blanks) > n_quoted_blanks:
                    # Those before cells are left out.
                    return None
                has_breaks = has_breaks or _n_lines(rows) > found.num_rows
                for parts, cells in zip(columns, found.columns, strict=True):
                    parts += cells.chunks
    except (ArrowInvalid, _Odd):
        return None
    return joined_texts(columns), has_breaks


def _blocks(
    stream: BufferedReader, delimiter: str, above: int, width: int
) -> Iterator[tuple[memoryview, int]]:
    """Yield whole rows, and the number of their cells in quotes that begin with a blank.

    Raises `_Odd` where quotes, breaks of lines or characters are not plain. What is yielded lasts
    until the next.
    """
    if stream.peek().startswith(BOM_UTF8):
        stream.read(len(BOM_UTF8))
    _check_breaks(bytearray().join(islice(stream, above)))
    size = min(max(_BLOCK, _PER_COLUMN * width), _LONGEST_ROW)
    # What may stand on either side of a quote, which is no part of a cell.
    is_edge = np.isin(np.arange(256), [*delimiter.encode(), *b'"\r\n'])
    # A text between breaks.
    text, count, is_last = bytearray(b"\n") + bytearray(size + 1), 0, False
    while not is_last:
        while n_read := stream.readinto(memoryview(text)[count + 1 : -1]):
            count += n_read
        is_last, text[count + 1] = count < len(text) - 2, _BREAK
        codes = np.frombuffer(text, dtype=np.uint8)[: count + 2]
        marks = _places(codes, _QUOTE)
        opening, closing = marks[::2], marks[1::2]
        if not (is_edge[codes[opening - 1]].all() and is_edge[codes[closing + 1]].all()):
            raise _Odd
        end = count + 1 if is_last else _end_of_rows(text, marks, count + 1)
        if is_last and marks.size % 2:
            raise _Odd
        if end > 1:
            _check_breaks(text, 1, end)
            opening = opening[opening < end]
            begins = (codes[opening - 1] != _QUOTE) & (codes[opening + 1] == _BLANK)
            yield memoryview(text)[1:end], int(np.count_nonzero(begins))
        rest = text[end : count + 1]
        if len(rest) > _LONGEST_ROW:
            raise _Odd
        if end == 1:
            # A row that is longer than the block.
            text = text + bytearray(count)
        count = len(rest)
        text[1 : count + 1] = rest


def _places(codes: NDArray[np.uint8], code: int) -> NDArray[np.intp]:
    """Return the places of a character; a piece at a time, which stays in the cache."""
    starts = range(0, codes.size, _PIECE)
    found = [np.flatnonzero(codes[start : start + _PIECE] == code) + start for start in starts]
    return np.concatenate(found)


def _n_lines(rows: memoryview) -> int:
    breaks = _places(np.frombuffer(rows, dtype=np.uint8), _BREAK)
    return breaks.size + (rows[-1] != _BREAK)


def _end_of_rows(text: bytearray, marks: NDArray[np.intp], end: int) -> int:
    """Return the end of the last line in a text that is not within quotes."""
    end = text.rfind(b"\n", 1, end) + 1
    while (n_before := int(np.searchsorted(marks, end))) % 2:
        end = text.rfind(b"\n", 1, marks[n_before - 1]) + 1
    return max(end, 1)


def _check_breaks(text: bytearray, begin: int = 0, end: int | None = None) -> None:
    """Raise `_Odd` for a text with a carriage return alone, or what is no text."""
    if text.find(b"\0", begin, end) >= 0 or text.startswith(BOM_UTF8, begin, end):
        raise _Odd
    if text.find(b"\r", begin, end) >= 0:
        codes = np.frombuffer(text, dtype=np.uint8)[begin:end]
        if (codes.take(_places(codes, _RETURN) + 1, mode="clip") != _BREAK).any():
            raise _Odd
