"""Progress of an experiment: a line on standard error every five seconds, and failures."""

import sys
from time import monotonic

from multimargin.compare.results import Result

_SECONDS_BETWEEN_LINES = 5.0


class Progress:
    """Counts results, and reports them."""

    def __init__(self, n_known: int, n_total: int) -> None:
        self._done, self._total, self._said = n_known, n_total, monotonic()

    def add(self, result: Result) -> None:
        """Count a new result."""
        self._done += 1
        name = f"{result.data}, {result.split}, {result.method}"
        if result.error is not None:
            told = f"failed: {name}: {result.error['type']}: {result.error['message']}"
        elif monotonic() - self._said > _SECONDS_BETWEEN_LINES:
            self._said = monotonic()
            told = f"{self._done} of {self._total} results, the last is {name}"
        else:
            return
        print(" ".join(told.split()), file=sys.stderr)
