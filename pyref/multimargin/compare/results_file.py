"""The file of results: one line of JSON per result, written to disk at once."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from multimargin.compare.results import Result, latest
from multimargin.files import sync_folder

try:
    import fcntl
except ImportError:  # pragma: no cover  # Windows has no advisory locks.
    fcntl = None  # type: ignore[assignment]

_BEGINNING = b'{"format": '


def read_results(path: str | Path) -> list[Result]:
    """Read a file of results.

    Parameters
    ----------
    path : str or Path
        A file that `run_experiment` wrote, or is writing.

    Returns
    -------
    list of Result
        The latest result of each job, in the order of the file. A last line that was torn by a
        crash, and rows of another format version, are left out.

    Raises
    ------
    ValueError
        If it holds something else; the message names the line.
    """
    path = Path(path)
    content = path.read_bytes()
    return latest(_parse(content[: content.rfind(b"\n") + 1], path))


class ResultsFile:
    """A file of results that is open for appending; a context manager.

    Opening it creates the file and its folder, locks it against a second writer, and cuts off a
    last line that a crash has torn.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = open(self.path, "a+b")  # noqa: SIM115
        except OSError as error:
            raise type(error)(f"{self.path} cannot be written: {error.strerror}") from error
        try:
            self._lock()
            self.results = self._repair()
        except BaseException:
            self._file.close()
            raise

    def append(self, result: Result) -> None:
        """Write one result and wait until it is on disk."""
        with self._named():
            self._file.write(result.to_line().encode())
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, which frees it for other writers."""
        with self._named():
            self._file.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the file in errors: a full disk does not say where."""
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BlockingIOError(
                f"{self.path} is being written by another run; wait for it, or use another file."
            ) from error
        except OSError:
            # Some network file systems have no locks, and are used without.
            return

    def _repair(self) -> list[Result]:
        self._file.seek(0)
        content = self._file.read()
        end = content.rfind(b"\n") + 1
        results = _parse(content[:end], self.path)
        torn = content[end:]
        if torn:
            # Nothing of another origin is ever cut off.
            if not (torn.startswith(_BEGINNING) or _BEGINNING.startswith(torn)):
                number = content[:end].count(b"\n") + 1
                raise ValueError(
                    f"{self.path}, line {number} is not a result; expected a file of results or a "
                    "new file."
                )
            self._file.truncate(end)
        sync_folder(self.path.parent)
        return latest(results)


def _parse(content: bytes, path: Path) -> list[Result]:
    results = []
    # Not splitlines, which also breaks at characters that JSON leaves unescaped.
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        try:
            result = Result.from_line(_text(line))
        except ValueError as error:
            raise ValueError(
                f"{path}, line {number} {error}; expected a file of results or a new file. If the "
                "file is one that was damaged, delete that line: its job alone is run again."
            ) from error
        if result is not None:
            results.append(result)
    return results


def _text(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 text at byte {error.start + 1}") from error
