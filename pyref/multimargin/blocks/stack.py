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
from multimargin.notices import filters_put_back, warn
from multimargin.tuning.folds import Rows
from multimargin.typing import Features, Marks, Matrix

Fold = tuple[Rows, Rows]
# Tunes a classifier, given its name and the time left
Tuned = Callable[[str, Any, float], Any]


class Stack:
    """Blocks on the folds of a search, as far as time allows."""

    def __init__(
        self,
        X: Features,
        y: Marks,
        sample_weight: Matrix | None,
        folds: list[Fold],
        effort: Effort,
    ) -> None:
        self._X, self._y, self._weights, self._folds = X, y, sample_weight, folds
        self._effort, self._jobs = effort, job_count(effort.n_jobs, len(folds))
        self.blocks: list[Matrix] = []  # Held-out scores of each block
        self.fitted: Named = []  # The blocks by name, fitted on all rows

    def fit(
        self,
        planned: Named,
        *,
        reserve: float,
        tuned: Tuned | None = None,
        listed: NDArray[np.intp] | None = None,
    ) -> dict[str, str]:
        """Fit blocks while there is time beyond a reserve; return those left out, and why.

        Each is tuned first if there is twice the time that it takes. It scores the labels listed
        for each held-out row, or all labels.
        """
        left_out = {}
        for name, estimator in planned:
            left = self._effort.left - reserve
            needed = self._foretold(estimator) if left > 0.0 else np.inf
            if needed > left:
                left_out[name] = f"{duration(max(left, 0.0))} left of max_time"
                continue
            spare = left - needed if left >= 2.0 * needed else 0.0
            chosen = tuned(name, estimator, spare) if tuned and spare else estimator
            self._fit(name, chosen, listed)
        if left_out:
            warn(
                f"stack leaves out {', '.join(left_out)} for lack of time: increase max_time, or "
                "use stack=None."
            )
        return left_out

    def _fit(self, name: str, estimator: Any, listed: NDArray[np.intp] | None) -> None:
        start = time.monotonic()
        on_folds = self._on(self._folds, estimator, listed)
        with one_blas_thread(), filters_put_back(), _named(name, estimator):
            scores, fitted = on_folds.fit(estimator, weights_for(estimator, self._weights))
        self.blocks.append(scores)
        self.fitted.append((name, fitted))
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

    def _foretold(self, estimator: Any) -> float:
        """Predict the seconds of folds and fit; 0 where time has no limit."""
        if self._effort.end == np.inf:
            return 0.0
        on_folds, weights = self._on(self._folds, estimator), weights_for(estimator, self._weights)
        return foretold(on_folds, estimator, weights, self._effort)


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
