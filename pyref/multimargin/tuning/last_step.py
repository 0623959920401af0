"""A search over the parameters of the last step of a pipeline, by their names in that step."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.model_selection import GridSearchCV, GroupKFold, ParameterGrid
from sklearn.pipeline import Pipeline

from multimargin.checks.labels import complete_rows
from multimargin.tuning.folds import MultilabelStratifiedKFold, Rows
from multimargin.tuning.lazy_search import LazySearchCV

Tried = tuple[dict[str, Any], float, float]


class LastStepSearch:
    """Chooses parameters of the last step of a pipeline by cross-validation.

    The steps before it, such as a scaling, are learned in each fold anew. Folds are stratified by
    the labels, rows with unknown labels are fitted and not scored, and the pipeline is not fitted
    again in the end.
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
        report: Callable[[list[Tried]], None] | None = None,
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
            self.search: Any = _ReportingGrid(pipeline, self.grid, **arguments)
            self.n_candidates = prod(sizes)
        else:
            self.search = _ReportingLazy(pipeline, self.grid, n_rounds=n_rounds, **arguments)
            self.n_candidates = n_rounds * sum(sizes)
        if report is not None:
            # As many as keep all processors busy.
            self.search.at_a_time_ = -(-effective_n_jobs(n_jobs) // n_folds)
            self.search.report_ = lambda results: report(self._tried(results))

    @property
    def best_parameters(self) -> dict[str, Any]:
        """The best values, once `search` is fitted."""
        return self._own_names(self.search.best_params_)

    def best(self) -> Tried:
        """Return the best combination, with mean and deviation of its scores."""
        return self.tried()[int(self.search.best_index_)]

    def tried(self) -> list[Tried]:
        """Return the combinations that were tried, with mean and deviation of their scores."""
        return self._tried(self.search.cv_results_)

    def edges(self) -> list[tuple[str, Any, str]]:
        """Return the best values that are at an end of what was tried.

        They come with the names of their parameters, and with "smallest" or "largest".
        """
        found = []
        for name, value in self.best_parameters.items():
            values = self.grid[self._prefix + name]
            numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
            if numbers and len(values) > 1 and value in (min(values), max(values)):
                found.append((name, value, "smallest" if value == min(values) else "largest"))
        return found

    def _tried(self, results: Mapping[str, Any]) -> list[Tried]:
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


class _Reporting:
    """A search that reports what it has tried while it runs."""

    report_: Callable[[Mapping[str, Any]], None] | None = None
    at_a_time_ = 1

    def _reporting(self, evaluate_candidates: Callable[..., Any]) -> Callable[..., Any]:
        """Return `evaluate_candidates` that takes a few candidates at a time, and reports."""
        report = self.report_
        if report is None:
            return evaluate_candidates

        def evaluate(candidates: Iterable[Any], more_results: Any = None) -> Any:
            candidates, results = list(candidates), None
            for start in range(0, len(candidates), self.at_a_time_):
                part = slice(start, start + self.at_a_time_)
                more = {name: values[part] for name, values in (more_results or {}).items()}
                results = evaluate_candidates(candidates[part], more_results=more)
                report(results)
            return results

        return evaluate


class _ReportingGrid(_Reporting, GridSearchCV):  # type: ignore[misc]
    """`GridSearchCV` that reports."""

    def _run_search(self, evaluate_candidates: Callable[..., Any]) -> None:
        self._reporting(evaluate_candidates)(ParameterGrid(self.param_grid))


class _ReportingLazy(_Reporting, LazySearchCV):
    """`LazySearchCV` that reports."""

    def _run_search(self, evaluate_candidates: Callable[..., Any]) -> None:
        super()._run_search(self._reporting(evaluate_candidates))


class _MeasurableFolds(MultilabelStratifiedKFold):
    """Folds whose test rows have no unknown label, since measures need all labels."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        complete = complete_rows(np.asarray(y))
        folds = (
            super().split(X, y) if groups is None else GroupKFold(self.n_splits).split(X, y, groups)
        )
        for fold, (train, test) in enumerate(folds, start=1):
            known = test[complete[test]]
            if not known.size:
                raise ValueError(
                    f"y has an unknown label in each of the {test.size} rows of fold {fold}; "
                    "expected rows in which all are known, to measure on: fewer folds, or more "
                    "known labels."
                )
            yield train, known
