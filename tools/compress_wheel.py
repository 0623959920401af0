"""Compresses wheels as far as deflate goes: one of zlib has 5 in 100 bytes more.

python tools/compress_wheel.py dist/*.whl
"""

import sys
import zipfile
from pathlib import Path
from unittest.mock import patch

from zopfli.zlib import compress


class _Deflate:
    """What `zipfile` uses as a compressor: raw deflate, all at the end."""

    def __init__(self, *_: object) -> None:
        self.content = b""

    def compress(self, content: bytes) -> bytes:
        self.content += content
        return b""

    def flush(self) -> bytes:
        # Without the header of zlib and its checksum: zip has its own.
        return compress(self.content, numiterations=1)[2:-4]


def compress_wheel(wheel: Path) -> tuple[int, int]:
    """Write a wheel anew, and return its size in bytes before and after."""
    before, smaller = wheel.stat().st_size, wheel.with_suffix(".tmp")
    with (
        zipfile.ZipFile(wheel) as old,
        patch("zipfile._get_compressor", _Deflate),
        zipfile.ZipFile(smaller, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for entry in old.infolist():
            new.writestr(entry, old.read(entry))
    smaller.replace(wheel)
    return before, wheel.stat().st_size


if __name__ == "__main__":
    for name in sys.argv[1:]:
        before, after = compress_wheel(Path(name))
        print(f"{Path(name).name}: {before / 2**20:.2f} MB, now {after / 2**20:.2f} MB")
