"""Opening files, and errors about damaged files, which name the file, for all readers."""

import bz2
import codecs
import gzip
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EINVAL
from functools import partial
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from types import ModuleType
from typing import IO, Any
from zipfile import ZipFile

from multimargin.checks.memory import check_file_fits
from multimargin.checks.names import listed, quoted

MAGIC = {
    b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ": ".xz", b"\x28\xb5\x2f\xfd": ".zst",
    b"PK\x03\x04": ".zip or .xlsx", b"PAR1": ".parquet", b"\xd0\xcf\x11\xe0": ".xls",
}  # fmt: skip
"""What files begin with, by their endings."""
# Longer ones first, as some begin like others.
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
MAX_FEATURES = 10_000_000
"""The widest matrix of features that a reader takes unasked."""
MIN_LABEL_CELLS = 2**25
"""Label indicators of fewer entries are always taken."""


def imported(package: str, what: str) -> ModuleType:
    """Return a package of the extra `tables`; raise ImportError if it is missing."""
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(
            f"{what} need {package}, which is not installed: pip install 'multimargin[tables]'"
        ) from error


def _open_zip(file: Path) -> IO[bytes]:
    archive = ZipFile(file)
    return archive.open(_member_of(archive, file))


def _member_of(archive: ZipFile, file: Path) -> str:
    names = [name for name in archive.namelist() if not name.startswith(("__MACOSX", "."))]
    if len(names) != 1:
        raise ValueError(
            f"{file} holds {len(names)} files, {listed(names)}; expected one: unpack it first"
        )
    return names[0]


def _open_zst(file: Path) -> IO[bytes]:
    pyarrow = imported("pyarrow", f"files such as {file.name}")
    stream: IO[bytes] = pyarrow.CompressedInputStream(str(file), "zstd")
    return stream


_OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _open_zip,
    ".zst": _open_zst,
}


def opened(file: Path, **of_text: Any) -> IO[Any]:
    """Open a file, compressed or not as its name says, to read bytes, or text with an encoding."""
    stream: IO[Any] = _OPENERS.get(file.suffix.lower(), partial(open, mode="rb"))(file)
    return TextIOWrapper(stream, **of_text) if of_text else stream


def uncompressed(file: Path) -> Path:
    """Return a path without the suffix of its compression."""
    ending = file.suffix.lower()
    if ending not in _OPENERS:
        return file
    plain = file.with_suffix("")
    if ending == ".zip" and not plain.suffix and file.is_file():
        # An archive with an arbitrary name; its content tells its kind.
        with ZipFile(file) as archive:
            return file.with_name(Path(_member_of(archive, file)).name)
    return plain


def check_unpacked(file: Path) -> None:
    """Raise MemoryError for a compressed file that has no room in memory, unpacked."""
    if file.suffix.lower() in _OPENERS:
        with opened(file) as stream:
            check_file_fits(file, sum(map(len, iter(partial(stream.read, 2**20), b""))))


def opened_text(file: Path, newline: str | None = None, *, encoding: str = "utf-8-sig") -> IO[str]:
    """Open a text in an encoding, or in that which its first bytes say."""
    with opened(file) as stream:
        start = stream.read(4)
    marked = (of for mark, of in _BYTE_ORDER_MARKS.items() if start.startswith(mark))
    return opened(file, encoding=next(marked, encoding), newline=newline)


def not_utf8(file: Path) -> str:
    """Report which line of a file is not UTF-8, and how to convert it."""
    with opened(file) as stream:
        content = stream.read()
    for mark, kind in MAGIC.items():
        if content.startswith(mark):
            return f"path: {file} is not text, but begins like a file of {kind}; name it so"
    place = content.find(b"\0")
    if place >= 0:
        # Between the bytes of most characters, or a few of them anywhere.
        is_utf16 = 3 * content[:64].count(b"\0") > len(content[:64])
        remedy = "convert it: iconv -f UTF-16 -t UTF-8" if is_utf16 else "remove them: tr -d '\\0'"
        where = _line_at(content, place)
        return f"path: {file} is not text in UTF-8: NUL bytes are in {where}; {remedy}"
    try:
        content.decode()
    except UnicodeDecodeError as error:
        place = error.start
    return (
        f"path: {file} is not text in UTF-8, in {_line_at(content, place)}; save it as such, or "
        "convert it: iconv -f WINDOWS-1252 -t UTF-8, if a program of Windows wrote it"
    )


def _line_at(content: bytes, place: int) -> str:
    """Report the line of a byte, with the text around it."""
    above = content.count(b"\n", 0, place)
    start = content.rfind(b"\n", 0, place) + 1
    line, _, _ = content[max(start, place - 30) : place + 30].partition(b"\n")
    return f"line {above + 1}, {quoted(line.strip())}"


@contextmanager
def reading(file: Path, argument: str) -> Iterator[None]:
    """Turn any exception of a parser about a damaged file into a ValueError that names the file.

    ImportError and OSError pass as they are; a MemoryError names the file. A message that names it
    already is kept.
    """
    try:
        yield
    except ImportError:
        raise
    except MemoryError as error:
        if str(file) in str(error):
            raise
        raise MemoryError(f"{argument}: {file} does not fit in memory: {error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(not_utf8(file)) from error
    except Exception as error:
        # Parsers also use OSError for content, and seek to places that do not exist; the other
        # errors of the system have a number.
        if isinstance(error, OSError) and error.errno not in (None, EINVAL):
            raise
        if type(error) is ValueError and str(file) in str(error):
            raise
        if isinstance(error, ValueError | TypeError):
            reason = str(error)
        else:
            reason = f"the file is damaged ({type(error).__name__}: {error})"
        raise ValueError(f"{argument}: {file}: {reason}") from error


def check_width(n_features: int, file: Path, argument: str, remedy: str, limit: int) -> None:
    """Raise ValueError for a number of features that is more likely damage than data.

    `remedy` is the argument that lets one go on, `limit` the largest number that is taken.
    """
    if n_features > limit:
        raise ValueError(
            f"{argument}: {file} claims {n_features:,} features; expected at most {limit:,}; if "
            f"the file is not damaged, give {remedy}"
        )


def check_label_cells(
    n_samples: int, n_labels: int, n_relevant: int, file: Path, argument: str, remedy: str
) -> None:
    """Raise ValueError for a number of labels that is more likely damage than data.

    These are `MIN_LABEL_CELLS` entries or more, of which less than one in 10,000 is 1. `remedy` is
    what lets one go on.
    """
    cells = n_samples * n_labels
    if cells > MIN_LABEL_CELLS and cells > 10_000 * n_relevant:
        raise ValueError(
            f"{argument}: {file} claims {n_labels:,} labels of which {n_samples:,} rows have "
            f"{n_relevant:,} in all; expected more relevant ones among so many; if the file is not "
            f"damaged, {remedy}"
        )
