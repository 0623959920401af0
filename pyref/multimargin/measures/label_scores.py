"""Scores of labels of any fitted multi-label classifier."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from multimargin.checks.scores import check_scores
from multimargin.scikit_learn import num_samples
from multimargin.typing import Matrix, MatrixLike


def response_of(estimator: BaseEstimator, responses: Sequence[str]) -> str:
    """Return the first of some methods with which an estimator can score labels."""
    for response in responses:
        if _method(estimator, response) is not None:
            return response
    raise TypeError(
        f"estimator is a {type(estimator).__name__}, which has no {' or '.join(responses)}; "
        "expected a classifier that scores labels."
    )


def scores_by(
    estimator: BaseEstimator, response: str, X: MatrixLike, *, n_labels: int | None = None
) -> NDArray[np.float64]:
    """Return the scores of labels from a method of a classifier, a row for each of `X`."""
    scores = answer_of(estimator, response, X)
    name = f"{response} of {type(estimator).__name__}"
    checked = check_scores(scores, n_rows=num_samples(X), n_labels=n_labels, name=name)
    return checked.astype(np.float64, copy=False)


def answer_of(estimator: BaseEstimator, response: str, X: MatrixLike) -> Matrix:
    """Return the output of a method of a classifier as one array of all labels."""
    method = _method(estimator, response_of(estimator, [response]))
    assert method is not None
    scores = method(X)
    if isinstance(scores, list):
        scores = _relevant_probabilities(scores, estimator.classes_)
    answers: Matrix = scores.toarray() if hasattr(scores, "toarray") else scores
    return answers


def scores_of(
    estimator: BaseEstimator, X: MatrixLike, n_labels: int
) -> tuple[NDArray[np.float64], str]:
    """Return the scores (n, q) of a fitted multi-label classifier, and the method they come from.

    As in scikit-learn's scorers, predictions with tied labels take the place of missing scores.
    """
    source = response_of(estimator, ("decision_function", "predict_proba", "predict"))
    return scores_by(estimator, source, X, n_labels=n_labels), source


def label_names_of(model: Any) -> Any:
    """Return the names of the labels of a model, or of what it ends with; None without names."""
    if hasattr(model, "label_names_in_"):
        return model.label_names_in_
    steps = getattr(model, "steps", None)
    inside = steps[-1][1] if steps else getattr(model, "best_estimator_", None)
    return None if inside is None else label_names_of(inside)


def _method(estimator: Any, response: str) -> Callable[[Any], Any] | None:
    method: Callable[[Any], Any] | None = getattr(estimator, response, None)
    if method is not None or response != "label_scores":
        return method
    # Pipelines and searches pass on what scikit-learn has: the decision function with its
    # thresholds subtracted, but no other method.
    if hasattr(estimator, "best_estimator_"):
        return _method(estimator.best_estimator_, response)
    if not isinstance(estimator, Pipeline):
        return None
    last = _method(estimator[-1], response)
    if last is None or len(estimator) == 1:
        return last
    return lambda X: last(estimator[:-1].transform(X))


def _relevant_probabilities(probabilities: list[Any], classes: list[Any]) -> NDArray[np.float64]:
    """Return (n, q) columns of class 1 from what `predict_proba` returns as a list, else zeros."""
    columns = []
    for probability, known in zip(probabilities, classes, strict=True):
        of_1 = np.flatnonzero(np.asarray(known) == 1)
        columns.append(probability[:, of_1[0]] if of_1.size else np.zeros(len(probability)))
    return np.column_stack(columns).astype(np.float64)
