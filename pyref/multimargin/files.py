"""Writing of files: whole or not at all."""

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE
from typing import IO, Any

from multimargin.checks.paths import as_path

_ENDING = ".unfinished"
_NO_REGULAR_FILE = "is no regular file; expected a file to write"


def path_to_write(path: object, argument: str, *, streams: bool = False) -> Path:
    """Return what the caller passed as `argument` as a `Path`, if a file can be written there.

    With `streams` it may be a pipe or a device, such as /dev/stdout, or ``-`` for standard output.
    """
    file = as_path(path, argument)
    if str(path) == "-":
        if not streams:
            raise ValueError(f"{argument}: - is standard output; expected a file to write")
        return file
    if file.is_dir():
        raise IsADirectoryError(f"{argument}: {str(file)!r} is a folder; expected a file to write")
    if file.exists() and not file.is_file():
        if not streams:
            raise OSError(f"{argument}: {str(file)!r} {_NO_REGULAR_FILE}")
        return file
    target = _target(file)
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"{argument}: there is no folder {str(target.parent)!r} to write in"
        )
    if file.exists() and not os.access(file, os.W_OK):
        raise PermissionError(f"{argument}: {str(file)!r} is write-protected")
    try:
        # Permissions do not reveal quotas, full disks and read-only file systems.
        descriptor, probe = _create_beside(target)
        os.close(descriptor)
        probe.unlink()
    except OSError as error:
        raise type(error)(
            f"{argument}: no file can be created in the folder {str(target.parent)!r} "
            f"({error.strerror})"
        ) from error
    return file


def check_not_read(path: object, argument: str, inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raise ValueError if a file to write is one that is read, under whatever name."""
    file = as_path(path, argument)
    if not file.is_file():
        return
    for source in map(Path, inputs):
        if source.exists() and file.samefile(source):
            same = "" if str(source) == str(file) else f", which is {str(source)!r}"
            raise ValueError(
                f"{argument}: {str(file)!r}{same} is read by this command and would be "
                "overwritten; expected another file"
            )


@contextmanager
def replacing(
    path: str | os.PathLike[str], mode: str = "w", *, streams: bool = False, **options: Any
) -> Iterator[IO[Any]]:
    """Open a file for writing that takes its name when it is complete and on disk.

    An existing file is replaced and keeps its permissions; a symbolic link stays, and what it
    points to is replaced. An exception leaves what was there before, and nothing beside it. Text
    is UTF-8. With `streams`, a pipe or a device is written to as it is. `options` are further
    arguments of `open`. Raises OSError, with the name of the file, if it cannot be written.
    """
    if "b" not in mode:
        options = {"encoding": "utf-8"} | options
    file = Path(path)
    if streams and str(path) == "-":
        yield sys.stdout
        return
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):
            if not streams:
                raise OSError(errno.EINVAL, _NO_REGULAR_FILE, str(file))
            with file.open(mode, **options) as stream:
                yield stream
            return
        target = _target(file)
        descriptor, unfinished = _create_beside(target)
        try:
            with os.fdopen(descriptor, mode, **options) as stream:
                if target.exists():
                    with suppress(OSError):
                        unfinished.chmod(S_IMODE(target.stat().st_mode))
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
        sync_folder(target.parent)
    except OSError as error:
        unnamed = error.filename is None or str(error.filename).endswith(_ENDING)
        if error.errno is None or not unnamed:
            raise
        # The error of a full disk names no file, and a temporary name means nothing to the caller.
        raise OSError(error.errno, error.strerror, str(file)) from error


def write_text(path: str | os.PathLike[str], text: str, *, streams: bool = False) -> None:
    """Write a text file in UTF-8, whole or not at all; raise OSError with its name.

    With `streams` it may be a pipe or a device.
    """
    with replacing(path, streams=streams) as stream:
        stream.write(text)


def sync_folder(folder: Path) -> None:
    """Wait until the entries of a folder are on disk, where the system can do this."""
    # A new file survives a power failure only if its folder is on disk too; Windows cannot do this.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _target(file: Path) -> Path:
    return Path(os.path.realpath(file)) if file.is_symlink() else file


def _create_beside(target: Path) -> tuple[int, Path]:
    """Create an empty file with a name that no other writer uses."""
    unfinished = target.with_name(f".{token_hex(8)}{_ENDING}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # Not tempfile, whose files only their owner may read.
    return os.open(unfinished, flags, 0o666), unfinished
