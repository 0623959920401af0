"""A search over the parameters of the last step of a pipeline, by their names in that step."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from multimargin.checks.labels import complete_rows
from multimargin.tuning.folds import MultilabelStratifiedKFold, Rows
from multimargin.tuning.lazy_search import LazySearchCV


def search_last_step(
    pipeline: Pipeline,
    grid: Mapping[str, Sequence[Any]],
    X: Any,
    y: Any,
    *,
    scoring: Any,
    n_folds: int,
) -> tuple[dict[str, Any], float, int]:
    """Choose parameters of the last step, one after the other, by cross-validation.

    The steps before it, such as a scaling, are learned in each fold anew. Folds are stratified by
    the labels; rows with unknown labels are fitted and not scored. Returns the best values, their
    mean score, and the number of combinations tried.
    """
    prefix = f"{pipeline.steps[-1][0]}__"
    search = LazySearchCV(
        pipeline,
        {prefix + name: list(values) for name, values in grid.items()},
        scoring=scoring,
        cv=_MeasurableFolds(n_folds),
        refit=False,
        error_score="raise",
    ).fit(X, y)
    best = {name.removeprefix(prefix): value for name, value in search.best_params_.items()}
    return best, float(search.best_score_), len(search.cv_results_["params"])


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
