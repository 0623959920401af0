"""A search over the parameters of the last step of a pipeline, by their names in that step."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from multimargin.checks.labels import complete_rows
from multimargin.tuning.folds import MultilabelStratifiedKFold, Rows
from multimargin.tuning.lazy_search import LazySearchCV


class LastStepSearch:
    """Chooses parameters of the last step of a pipeline by cross-validation.

    The steps before it, such as a scaling, are learned in each fold anew. Folds are stratified by
    the labels, rows with unknown labels are fitted and not scored, and the pipeline is not fitted
    again in the end.

    Parameters
    ----------
    pipeline : Pipeline
        An unfitted pipeline that ends with the estimator to tune.
    grid : mapping of str to sequence
        Values to try for parameters of that estimator.
    scoring : callable
        A scorer, larger is better.
    n_folds : int
        Number of folds.
    n_rounds : int or None
        How often to go through the parameters one at a time; None tries all combinations.
    n_jobs : int
        Fits at the same time; -1 for one a processor.

    Attributes
    ----------
    search : LazySearchCV or GridSearchCV
        The search, with the pipeline's names of parameters.
    grid : dict
        The values to try, by the pipeline's names.
    n_candidates : int
        Combinations that are tried at most.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        grid: Mapping[str, Sequence[Any]],
        *,
        scoring: Any,
        n_folds: int,
        n_rounds: int | None,
        n_jobs: int,
    ) -> None:
        self._prefix = f"{pipeline.steps[-1][0]}__"
        self.grid = {self._prefix + name: list(values) for name, values in grid.items()}
        arguments: dict[str, Any] = {
            "scoring": scoring,
            "cv": _MeasurableFolds(n_folds),
            "n_jobs": n_jobs,
            "refit": False,
            "error_score": "raise",
        }
        sizes = [len(values) for values in grid.values()]
        if n_rounds is None:
            self.search: Any = GridSearchCV(pipeline, self.grid, **arguments)
            self.n_candidates = prod(sizes)
        else:
            self.search = LazySearchCV(pipeline, self.grid, n_rounds=n_rounds, **arguments)
            self.n_candidates = n_rounds * sum(sizes)

    @property
    def best_parameters(self) -> dict[str, Any]:
        """The best values, once `search` is fitted."""
        return self._own_names(self.search.best_params_)

    def tried(self) -> list[tuple[dict[str, Any], float, float]]:
        """Return the combinations that were tried, with mean and deviation of their scores."""
        results = self.search.cv_results_
        return [
            (self._own_names(parameters), mean, deviation)
            for parameters, mean, deviation in zip(
                results["params"],
                results["mean_test_score"].tolist(),
                results["std_test_score"].tolist(),
                strict=True,
            )
        ]

    def _own_names(self, parameters: dict[str, Any]) -> dict[str, Any]:
        return {name.removeprefix(self._prefix): value for name, value in parameters.items()}


class _MeasurableFolds(MultilabelStratifiedKFold):
    """Folds whose test rows have no unknown label, since measures need all labels."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        complete = complete_rows(np.asarray(y))
        for fold, (train, test) in enumerate(super().split(X, y), start=1):
            known = test[complete[test]]
            if not known.size:
                raise ValueError(
                    f"y has an unknown label in each of the {test.size} rows of fold {fold}; "
                    "expected rows in which all are known, to measure on: fewer folds, or more "
                    "known labels."
                )
            yield train, known
