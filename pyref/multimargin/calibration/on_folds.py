"""Classifiers on folds: the scores of rows that each has not been fitted to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from multimargin.measures.label_scores import response_of, scores_by
from multimargin.notices import silenced
from multimargin.scikit_learn import check_method_params, num_samples, safe_indexing, safe_split
from multimargin.targets.empty_rows import EmptyRowsWarning
from multimargin.targets.reading import UnknownLabelsWarning
from multimargin.tuning.folds import Rows
from multimargin.typing import Marks, Matrix, MatrixLike
from multimargin.workers import delayed

RESPONSES = ("label_scores", "decision_function", "predict_proba")
"""Methods that score labels, the first that a classifier has."""
# Probabilities nearer to 0 and 1 than this share no more evidence than it.
LEAST = 0.01
# Scores computed by a model at a time.
_SCORES = 2**22

Metadata = Mapping[str, object]
"""Further arguments of a fit, such as weights of the rows."""


@dataclass(frozen=True)
class OnFolds:
    """Rows, and folds that are held out from fits in turn."""

    X: Any
    y: Marks  # (n, q): NaN where labels are unknown
    folds: Sequence[tuple[Rows, Rows]]
    responses: tuple[str, ...] = RESPONSES
    of_odds: bool = True  # Whether probabilities are turned into logarithms of odds
    n_jobs: int | None = 1
    prefer: str | None = None  # "threads" for fits that release Python's lock
    listed: NDArray[np.intp] | None = None  # (m, k): Labels to score of held-out rows, if not all

    def fit(self, estimator: BaseEstimator, metadata: Metadata) -> tuple[Matrix, BaseEstimator]:
        """Return the held-out scores of all folds, and a classifier fitted to all rows."""
        scores = self.scores(estimator, metadata)
        return scores, clone(estimator).fit(self.X, self.y, **metadata)

    def scores(self, estimator: BaseEstimator, metadata: Metadata) -> Matrix:
        """Return the held-out scores of all folds, of all labels or those listed."""
        lists: list[Any] = [None] * len(self.folds)
        if self.listed is not None:
            lists = np.split(self.listed, np.cumsum([len(test) for _, test in self.folds])[:-1])
        return np.vstack(
            Parallel(n_jobs=self.n_jobs, prefer=self.prefer)(
                delayed(self.of_fold)(clone(estimator), metadata, fold, own)
                for fold, own in zip(self.folds, lists, strict=True)
            )
        )

    def of_fold(
        self,
        estimator: BaseEstimator,
        metadata: Metadata,
        fold: tuple[Rows, Rows],
        listed: NDArray[np.intp] | None = None,
    ) -> Matrix:
        """Return the scores of the rows of a fold by a classifier, fitted to the others."""
        self.fit_to(estimator, metadata, fold[0])
        return self.scores_of(estimator, fold, listed)

    def fit_to(self, estimator: BaseEstimator, metadata: Metadata, train: Rows) -> None:
        """Fit a classifier to some rows."""
        X_train, Y_train = safe_split(estimator, self.X, self.y, train)
        try:
            # The fit on all rows gives these warnings.
            with silenced(UnknownLabelsWarning, EmptyRowsWarning):
                estimator.fit(X_train, Y_train, **check_method_params(self.X, metadata, train))
        except ValueError as error:
            if Y_train.dtype.kind == "f":
                error.add_note(
                    f"y has NaN for unknown labels, which {type(estimator).__name__} may not take: "
                    "the methods of multimargin that rank pairs of labels do."
                )
            absent = np.flatnonzero((Y_train == 1).sum(axis=0) == 0)
            if absent.size > 0:
                error.add_note(
                    f"Labels {absent.tolist()} have no relevant row in the training part of a "
                    "fold. MultilabelStratifiedKFold as cv spreads rare labels over the folds."
                )
            raise

    def scores_of(
        self,
        estimator: BaseEstimator,
        fold: tuple[Rows, Rows],
        listed: NDArray[np.intp] | None = None,
    ) -> Matrix:
        """Return the scores of the rows of a fold by a classifier that is fitted to the others."""
        train, test = fold
        X_test, _ = safe_split(estimator, self.X, None, test, train)
        response = response_of(estimator, self.responses)
        return block_of(estimator, response, X_test, self.of_odds, self.y.shape[1], listed)


def weights_for(estimator: BaseEstimator, sample_weight: Matrix | None) -> dict[str, Matrix]:
    """Return the keyword arguments that pass weights to a fit, of a pipeline to its last step."""
    if sample_weight is None:
        return {}
    last, name = estimator, "sample_weight"
    while isinstance(last, Pipeline):
        name = f"{last.steps[-1][0]}__{name}"
        last = last[-1]
    if not has_fit_parameter(last, "sample_weight"):
        raise TypeError(
            f"sample_weight is given, but {type(last).__name__}.fit takes none; expected None."
        )
    return {name: sample_weight}


def block_of(
    estimator: BaseEstimator,
    response: str,
    X: MatrixLike,
    of_odds: bool,
    n_labels: int | None = None,
    listed: NDArray[np.intp] | None = None,
) -> Matrix:
    """Return the scores of a fitted classifier, by blocks of rows where they are many.

    They are those of all labels, or (n, k) of the labels listed for each row.
    """
    n = num_samples(X)
    step = max(_SCORES // (n_labels or 1), 1)
    parts = []
    for at in range(0, max(n, 1), step):
        rows = X if n <= step else safe_indexing(X, slice(at, at + step))
        part = scores_by(estimator, response, rows, n_labels=n_labels)
        if listed is not None:
            part = np.take_along_axis(part, listed[at : at + step], axis=1)
        parts.append(part)
    scores = np.vstack(parts) if len(parts) > 1 else parts[0]
    if of_odds and response == "predict_proba":
        scores = logit(np.clip(scores, LEAST, 1.0 - LEAST))
    return scores
