"""Runs that are made once: a file keeps their values, from which an interrupted script goes on."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def once(name: str, run: Callable[[], Any]) -> Any:
    """Return what a run of that name gave before, or make it and keep what it gives.

    MULTIMARGIN_RUNS names the file (``papers.py --runs FILE``); without it every run is made.
    """
    file = os.environ.get("MULTIMARGIN_RUNS")
    if not file:
        return run()
    path = Path(file)
    kept = json.loads(path.read_text()) if path.is_file() else {}
    if name not in kept:
        kept[name] = run()
        # All or nothing: an interruption leaves the file as it was.
        written = path.with_suffix(".part")
        written.write_text(json.dumps(kept, indent=1))
        written.replace(path)
    return kept[name]
