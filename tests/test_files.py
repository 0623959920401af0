"""Files are written whole or not at all, by whoever writes them."""

import errno
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import multimargin
from multimargin.files import path_to_write, replacing, write_text

PACKAGE = Path(multimargin.__file__).parent


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "a"
    write_text(file, "old")
    with pytest.raises(ZeroDivisionError), replacing(file) as stream:
        stream.write("new" * (1 // 0))
    assert file.read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_the_new_content_shows_only_when_it_is_complete(tmp_path: Path) -> None:
    file = tmp_path / "a"
    with replacing(file, "wb") as stream:
        stream.write(b"new")
        stream.flush()
        assert not file.exists()
    assert file.read_bytes() == b"new"


def test_permissions_stay(tmp_path: Path) -> None:
    file, new = tmp_path / "a", tmp_path / "new"
    write_text(file, "old")
    file.chmod(0o640)
    write_text(file, "new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    new.touch()
    expected = new.stat().st_mode
    new.unlink()
    write_text(new, "")
    assert new.stat().st_mode == expected


def test_symbolic_links_stay(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/file")
    for text in ("first", "second"):
        write_text(path_to_write(tmp_path / "link", "path"), text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "there" / "file").read_text() == text
    assert names(tmp_path / "there") == ["file"]
    (tmp_path / "there" / "file").unlink()
    (tmp_path / "there").rmdir()
    with pytest.raises(FileNotFoundError, match=r"path: there is no folder '.*there' to write in"):
        path_to_write(tmp_path / "link", "path")


def test_devices_are_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match=r"path: .*pipe' is no regular file; expected a file"):
        path_to_write(pipe, "path")
    with pytest.raises(OSError, match="no regular file"):
        write_text(pipe, "")
    assert path_to_write(os.devnull, "path", streams=True) == Path(os.devnull)
    write_text(os.devnull, "nothing", streams=True)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_named() -> None:
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_text("/dev/full", "x" * 10**6, streams=True)


def test_errors_of_the_temporary_file_name_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    file = tmp_path / "a"
    with pytest.raises(OSError, match=re.escape(str(file))):
        write_text(file, "x")
    assert names(tmp_path) == []


def test_a_folder_that_takes_no_file_is_told_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def read_only(path: Any, flags: int, *arguments: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(path, flags, *arguments)

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(OSError, match=r"path: no file can be created in the folder .*Read-only"):
        path_to_write(tmp_path / "a", "path")


def test_two_writers_do_not_mix(tmp_path: Path) -> None:
    file = tmp_path / "a"
    contents = {letter * 300_000 for letter in "ab"}
    seen: list[str] = []

    def write(text: str) -> None:
        for _ in range(20):
            write_text(file, text)
            seen.append(file.read_text())

    threads = [threading.Thread(target=write, args=(text,)) for text in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 40
    assert set(seen) <= contents
    assert names(tmp_path) == ["a"]


def test_a_killed_writer_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "a"
    write_text(file, "old")
    program = (
        "import os, sys\nfrom multimargin.files import replacing\n"
        "with replacing(sys.argv[1]) as stream:\n"
        "    stream.write('new'); stream.flush(); os._exit(9)\n"
    )
    child = subprocess.run([sys.executable, "-c", program, str(file)], check=False)
    assert child.returncode == 9
    assert file.read_text() == "old"


def test_nothing_writes_files_in_another_way() -> None:
    writes = re.compile(
        r"""write_text\(|write_bytes\(|savefig\((?!stream|content)|\.to_csv\((?!stream)"""
        r"""|open\([^)]*["'][wax]b?\+?["']|np\.save\w*\((?!stream)"""
    )
    allowed = {
        # Appends to one file that is locked, line by line.
        "compare/results_file.py",
        "files.py",
        # Copies in a temporary folder.
        "datasets/_reading.py",
        "datasets/delimited.py",
        "datasets/sources.py",
    }
    found = {
        f"{path.relative_to(PACKAGE)}: {line.strip()}"
        for path in PACKAGE.rglob("*.py")
        if str(path.relative_to(PACKAGE)) not in allowed
        for line in path.read_text().splitlines()
        if writes.search(line) and not re.search(r"(?<![.\w])write_text\(", line)
    }
    assert found == set()


def test_a_write_protected_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    file.chmod(0o444)
    # The administrator may write everywhere.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"out: '.*a' is write-protected"):
        path_to_write(file, "out")
    assert file.read_text() == "old"
