"""Progress of a fit: a line on standard error every five seconds."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import TextIOBase
from time import monotonic
from typing import TYPE_CHECKING

from multimargin.cli.output import tell
from multimargin.methods import METHODS

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from multimargin.methods.method import Method

_SECONDS_BETWEEN_LINES = 5.0


class Lines(TextIOBase):
    """Lines about progress, one every five seconds."""

    def __init__(self) -> None:
        self._said = monotonic()

    def write(self, text: str) -> int:
        """Print a line, unless another one was printed just before."""
        if text.strip() and monotonic() - self._said > _SECONDS_BETWEEN_LINES:
            self._said = monotonic()
            tell(text.strip())
        return len(text)


@contextmanager
def shown_fit(method: "Method", estimator: "BaseEstimator") -> Iterator[None]:
    """Report on the fit of a method: all lines requested by verbose, or some."""
    verbose = method.aliases.get("verbose", "verbose")
    if method.name not in METHODS or estimator.get_params(deep=True)[verbose]:
        with redirect_stdout(sys.stderr):
            yield
        return
    estimator.set_params(**{verbose: 1})
    try:
        with redirect_stdout(Lines()):
            yield
    finally:
        estimator.set_params(**{verbose: 0})
