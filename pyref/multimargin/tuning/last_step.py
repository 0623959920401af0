"""A search over the parameters of the last step of a pipeline, by their names in that step."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from multimargin.measures.scorers import measurable_rows
from multimargin.tuning.folds import MultilabelStratifiedKFold, Rows
from multimargin.tuning.lazy_search import LazySearchCV
from multimargin.typing import LabelsLike, MatrixLike, Scoring


def search_last_step(
    pipeline: Pipeline,
    grid: Mapping[str, Sequence[object]],
    X: MatrixLike,
    y: LabelsLike,
    *,
    scoring: Scoring,
    n_folds: int,
) -> tuple[dict[str, object], float, int]:
    """Choose parameters of the last step one after another by cross-validation.

    The steps before it, such as a scaling, are fitted in each fold. Folds are stratified by the
    labels. Measures of this package skip unknown labels; other scorers are given the rows in which
    all labels are known. Returns the best values, their mean score, and the number of combinations
    tried.
    """
    prefix = f"{pipeline.steps[-1][0]}__"
    search = LazySearchCV(
        pipeline,
        {prefix + name: list(values) for name, values in grid.items()},
        scoring=scoring,
        cv=_MeasurableFolds(n_folds, scoring),
        refit=False,
        error_score="raise",
    ).fit(X, y)
    best = {name.removeprefix(prefix): value for name, value in search.best_params_.items()}
    return best, float(search.best_score_), len(search.cv_results_["params"])


class _MeasurableFolds(MultilabelStratifiedKFold):
    """Folds whose test rows a scorer can evaluate."""

    def __init__(self, n_splits: int, scorer: Any) -> None:
        super().__init__(n_splits)
        self.scorer = scorer

    def split(
        self, X: MatrixLike, y: LabelsLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[Rows, Rows]]:
        measurable = measurable_rows(np.asarray(y), self.scorer)
        for fold, (train, test) in enumerate(super().split(X, y), start=1):
            measured = test[measurable[test]]
            if not measured.size:
                raise ValueError(
                    f"y has unknown labels in each of the {test.size} rows of fold {fold}, none of "
                    "which can be measured; expected fewer folds, or more known labels."
                )
            yield train, measured
