"""Damages files of every format that the package reads: python tests/fuzz --seconds 600.

The format "calls" has arbitrary values for the functions of the extension in place of files.

Only a ValueError that names the file may come of it: no other exception, no crash, no more than
1 GB of memory, no more than 20 s a file. Each miss is written to a folder.
"""

import argparse
import sys
import time
from pathlib import Path

from children import misses
from formats import FORMATS

_BATCH = 250


def main() -> int:
    """Run from the command line; 1 if there was a miss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="time for all formats")
    parser.add_argument("--files", type=int, default=None, help="files a format, in place of time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--misses", type=Path, default=Path("fuzz-misses"), metavar="FOLDER")
    arguments = parser.parse_args()
    count = 0
    started = time.perf_counter()
    for place, name in enumerate(arguments.formats):
        left = arguments.seconds - (time.perf_counter() - started)
        count += _fuzz(name, arguments, left / (len(arguments.formats) - place))
    print(f"{count} misses in {time.perf_counter() - started:.0f} s (seed {arguments.seed})")
    return int(count > 0)


def _fuzz(name: str, arguments: argparse.Namespace, seconds: float) -> int:
    kind, n_files, n_misses = FORMATS[name], 0, 0
    started = time.perf_counter()
    while (
        n_files < arguments.files
        if arguments.files is not None
        else n_files == 0 or time.perf_counter() - started < seconds
    ):
        size = _BATCH if arguments.files is None else min(_BATCH, arguments.files - n_files)
        for miss in misses(kind, arguments.seed, range(n_files, n_files + size)):
            n_misses += 1
            arguments.misses.mkdir(parents=True, exist_ok=True)
            file = arguments.misses / f"{name}-{arguments.seed}-{miss.number}{kind.suffix}"
            file.write_bytes(miss.content)
            print(f"{file}: {miss.reason}", flush=True)
        n_files += size
    took = time.perf_counter() - started
    print(f"{name}: {n_files} files, {n_misses} misses, {took:.0f} s", flush=True)
    return n_misses


if __name__ == "__main__":
    sys.exit(main())
