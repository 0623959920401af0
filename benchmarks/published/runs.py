"""Runs that are made once: a file keeps values and seconds, and a script goes on from there.

The seconds are those of the processor, which other work on the machine hardly changes.
"""

import json
import os
import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

Key = TypeVar("Key")

# Runs of this process, and the seconds of those that the current table asked for.
_made: dict[str, dict[str, Any]] = {}
_asked: dict[str, float] = {}
_missing: list[str] = []
_changed: list[str] = []


def once(name: str, run: Callable[[], Any]) -> Any:
    """Return what a run of that name gave before, or make it and keep what it gives.

    MULTIMARGIN_RUNS names the file (``papers.py --runs FILE``); without it a run is kept as long
    as the process lives. With MULTIMARGIN_STORED (``papers.py --stored``) no run is made. With
    MULTIMARGIN_AGAIN (``papers.py --again SECONDS``) one that is there and took less is made again,
    and compared.

    Parameters
    ----------
    name : str
        What is run, with all that its value depends on.
    run : callable
        Without arguments; returns what JSON can hold.

    Returns
    -------
    object
        What it returned.

    Raises
    ------
    LookupError
        If the run is not there and none is to be made.
    """
    kept = _kept()
    if name not in kept:
        if stored_only():
            _missing.append(name)
            raise LookupError(f"{name} has not been run.")
        start = time.process_time()
        value = run()
        _keep(name, {"value": value, "seconds": round(time.process_time() - start, 2)})
        kept = _kept()
    elif kept[name]["seconds"] < float(os.environ.get("MULTIMARGIN_AGAIN", 0)) and (
        json.loads(json.dumps(run())) != kept[name]["value"]
    ):
        _changed.append(name)
    _asked[name] = kept[name]["seconds"]
    return deepcopy(kept[name]["value"])


def all_of(jobs: Mapping[Key, tuple[str, Callable[[], Any]]]) -> dict[Key, Any]:
    """Return what the runs gave, without those that are not there and are not to be made.

    Parameters
    ----------
    jobs : mapping
        Name and run, by key.

    Returns
    -------
    dict
        Values by key.
    """
    found = {}
    for key, (name, run) in jobs.items():
        try:
            found[key] = once(name, run)
        except LookupError:
            continue
    return found


def stored_only() -> bool:
    """Return whether no run is to be made.

    Returns
    -------
    bool
        True with ``papers.py --stored``.
    """
    return bool(os.environ.get("MULTIMARGIN_STORED"))


def missing() -> list[str]:
    """Return the runs that were asked for since the last call, and that nobody made.

    Returns
    -------
    list of str
        Their names.
    """
    names = list(dict.fromkeys(_missing))
    _missing.clear()
    return names


def changed() -> list[str]:
    """Return the runs that were made again since the last call, and whose values differ.

    Returns
    -------
    list of str
        Their names; seconds that a run measures always differ.
    """
    names = list(dict.fromkeys(_changed))
    _changed.clear()
    return names


def seconds_asked() -> float:
    """Return how long the runs took that were asked for since the last call, when they were made.

    Returns
    -------
    float
        Seconds of the processor.
    """
    total = sum(_asked.values())
    _asked.clear()
    return total


def _kept() -> dict[str, dict[str, Any]]:
    file = os.environ.get("MULTIMARGIN_RUNS")
    if file and Path(file).is_file():
        stat = Path(file).stat()
        return {**_made, **_read(file, stat.st_mtime_ns, stat.st_size)}
    return _made


@lru_cache(maxsize=1)
def _read(file: str, changed: int, size: int) -> dict[str, dict[str, Any]]:
    return dict(json.loads(Path(file).read_text(encoding="utf-8")))


def _keep(name: str, run: dict[str, Any]) -> None:
    file = os.environ.get("MULTIMARGIN_RUNS")
    if not file:
        _made[name] = run
        return
    path = Path(file)
    # All or nothing: an interruption leaves the file as it was.
    written = path.with_suffix(".part")
    kept = {**_kept(), name: run}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(own)}" for key, own in kept.items())
    written.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    written.replace(path)
