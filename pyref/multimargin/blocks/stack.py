"""The classifiers that are stacked with the ranker: held-out scores of each, and its fit."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.blas import one_blas_thread
from multimargin.blocks.pricing import Effort, foretold
from multimargin.calibration.held_out import Named
from multimargin.calibration.on_folds import OnFolds, weights_for
from multimargin.checks.parameters import job_count
from multimargin.durations import duration
from multimargin.notices import filters_put_back
from multimargin.tuning.folds import Rows
from multimargin.typing import Features, Marks, Matrix

Fold = tuple[Rows, Rows]
# How many times as long as foretold a block may take, if other processes begin meanwhile.
_BUSY = 1.2


class Stack:
    """Blocks on the folds of a search."""

    def __init__(
        self,
        X: Features,
        y: Marks,
        sample_weight: Matrix | None,
        folds: list[Fold],
        planned: Named,
        effort: Effort,
        full_name: Callable[[str], str] = str,
    ) -> None:
        self._X, self._y, self._weights, self._folds = X, y, sample_weight, folds
        self._effort, self._jobs = effort, job_count(effort.n_jobs, len(folds))
        # The blocks by name, and what each is called beside those of other stacks
        self.planned, self.full_name = planned, full_name
        # Seconds that each block will take, 0 where time has no limit
        self.prices = [self._foretold(*one) for one in planned]
        self._found: dict[str, tuple[Matrix, Any]] = {}

    @property
    def fitted(self) -> Named:
        """The blocks by name, fitted on all rows."""
        return [(name, self._found[name][1]) for name, _ in self.planned if name in self._found]

    @property
    def blocks(self) -> list[Matrix]:
        """Held-out scores of each block."""
        return [self._found[name][0] for name, _ in self.fitted]

    def fit(self, name: str, estimator: Any, listed: NDArray[np.intp] | None = None) -> None:
        """Fit a block; it scores the labels listed for each held-out row, or all labels."""
        start = time.monotonic()
        on_folds = self._on(self._folds, estimator, listed)
        with one_blas_thread(), filters_put_back(), _named(name, estimator):
            scores, fitted = on_folds.fit(estimator, weights_for(estimator, self._weights))
        self._found[name] = scores, fitted
        if self._effort.verbose:
            print(f"stack: {name} in {duration(time.monotonic() - start)}", flush=True)

    def scores_on(self, folds: list[Fold], name: str, estimator: Any) -> Matrix:
        """Return the scores of the rows that some folds hold out."""
        with one_blas_thread(), filters_put_back(), _named(name, estimator):
            on_folds = self._on(folds, estimator)
            return on_folds.scores(estimator, weights_for(estimator, self._weights))

    def _on(
        self, folds: list[Fold], estimator: Any, listed: NDArray[np.intp] | None = None
    ) -> OnFolds:
        """Return the rows and some folds in the form that a classifier takes."""
        # One-vs-rest of scikit-learn casts numbers of labels to the type of y.
        own = type(estimator).__module__.startswith("multimargin.")
        y = self._y if own or self._y.dtype.kind == "f" else self._y.astype(int)
        return OnFolds(self._X, y, folds, n_jobs=self._jobs, prefer="threads", listed=listed)

    def _foretold(self, name: str, estimator: Any) -> float:
        """Predict the seconds of folds and fit; 0 where time has no limit."""
        if self._effort.end == np.inf:
            return 0.0
        if self._effort.left <= 0.0:
            return np.inf
        on_folds, weights = self._on(self._folds, estimator), weights_for(estimator, self._weights)
        with _named(name, estimator):
            return _BUSY * foretold(on_folds, estimator, weights, self._effort)


@contextmanager
def _named(name: str, estimator: Any) -> Iterator[None]:
    """Add the name of the classifier to an error."""
    try:
        yield
    except (TypeError, ValueError) as error:
        error.add_note(
            f"It is {name!r} of stack, a {type(estimator).__name__}; expected a classifier "
            "that takes these features and a label indicator of shape (n, q)."
        )
        raise
