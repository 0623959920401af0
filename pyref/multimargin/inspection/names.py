"""The top labels of rows, and the names of predicted labels."""

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, Literal, cast, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from multimargin.calibration.shortlists import best_of_rows
from multimargin.checks.arrays import naming
from multimargin.checks.names import quoted
from multimargin.checks.parameters import check_integer
from multimargin.inspection.steps import final_estimator, steps_of
from multimargin.measures.label_scores import answer_of, response_of, scores_of
from multimargin.scikit_learn import num_samples, safe_indexing
from multimargin.typing import Matrix, MatrixLike, Name, is_sparse

# Scores in memory at a time.
_SCORES = 2**22


def label_names_of_model(model: BaseEstimator) -> NDArray[np.generic]:
    """Return the names of the labels of a fitted model, or their numbers if they have no names."""
    last = final_estimator(model)
    names = getattr(last, "label_names_in_", None)
    if names is None:
        names = _numbers_of_labels(last)
    return np.asarray(names)


def _classes_of(model: Any) -> Any:
    """Return the classes of a model, a list of those of each label of some libraries."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise TypeError(
            f"model ends with a {type(model).__name__}, which does not say what it predicts; "
            "expected a fitted classifier of labels."
        )
    return classes


def _numbers_of_labels(model: Any) -> Any:
    """Return the classes of a model of this package, or the label numbers of another one."""
    classes = _classes_of(model)
    if not isinstance(classes, list):
        return classes
    # A list of arrays, as of chains and forests: the two classes of each label.
    others = [k for k, known in enumerate(classes) if not set(np.ravel(known)) <= {0, 1}]
    if others:
        raise TypeError(
            f"model is a {type(model).__name__} whose output {others[0]} has the classes "
            f"{np.ravel(classes[others[0]]).tolist()[:5]}; expected labels, 0 and 1."
        )
    return np.arange(len(classes))


@overload
def predict_names(
    model: BaseEstimator,
    X: MatrixLike,
    *,
    k: int | None = None,
    return_scores: Literal[False] = False,
) -> list[list[Name]] | tuple[list[list[Name]], list[list[float]]]: ...


@overload
def predict_names(
    model: BaseEstimator, X: MatrixLike, *, k: int | None = None, return_scores: Literal[True]
) -> list[list[Name]] | tuple[list[list[Name]], list[list[float]]]: ...


def predict_names(
    model: BaseEstimator, X: MatrixLike, *, k: int | None = None, return_scores: bool = False
) -> list[list[Name]] | tuple[list[list[Name]], list[list[float]]]:
    """Return the names of the predicted labels of each row, the most probable first.

    Parameters
    ----------
    model : estimator, Pipeline or search
        A fitted model of this package, alone or at the end of a pipeline or of a search; or another
        library's multi-label classifier, such as a chain or a forest.
    X : array-like, sparse matrix, data frame or sequence of n rows
        Input of the model: features, or the columns or texts that the pipeline starts with.
    k : int or None, default=None
        Number of labels to name for each row, predicted or not; None names the predicted ones.
    return_scores : bool, default=False
        If True, the scores of the named labels are returned as well.

    Returns
    -------
    names : list of n lists
        Names, or numbers where labels have no names: `fit` takes them from lists of names or the
        columns of a data frame.
    scores : list of n lists of float
        With `return_scores`: their probabilities where the model has `predict_proba`, else their
        values of `decision_function`, else 1.0.

    Raises
    ------
    ValueError
        If the model predicts one class per row, `X` is malformed or `k` is below 1.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from multimargin import RankSVM, predict_names
    >>> texts = ["plays audio", "edits audio", "edits photos", "shows photos"]
    >>> tags = [["sound"], ["sound", "editor"], ["image", "editor"], ["image"]]
    >>> tagger = make_pipeline(TfidfVectorizer(), RankSVM(kernel="linear", random_state=0))
    >>> predict_names(tagger.fit(texts, tags), ["edits sounds and photos"], k=2)
    [['editor', 'image']]
    """
    names = label_names_of_model(model)
    labels: Iterable[Iterable[int]]
    if k is not None:
        check_integer("k", k, at_least=1)
        labels, values = predict_top(model, X, k)
        scores = values.tolist()
    else:
        labels, ranked_by = predicted_labels(model, X)
        scores = [row.tolist() for row in ranked_by]
    named = [[names[label] for label in best] for best in labels]
    return (named, scores) if return_scores else named


def predicted_labels(
    model: BaseEstimator, X: MatrixLike
) -> tuple[list[NDArray[np.intp]], list[NDArray[np.float64]]]:
    """Return the predicted labels of each row, the best first, and the values that rank them."""
    if is_sparse(X):
        X = X.tocsr()
    check_multilabel(model, X)
    parts = blocks_of_rows(model, X) if base_rates_of(model) is not None else [X]
    labels: list[NDArray[np.intp]] = []
    values: list[NDArray[np.float64]] = []
    for rows in parts:
        if hasattr(model, "decision_function"):
            decision, ranked_by = decision_and_ranking(model, rows)
            predicted = decision > 0
        else:
            predicted = answer_of(model, "predict", rows) == 1
            ranked_by, _ = scores_of(model, rows, predicted.shape[1])
        order = np.argsort(-ranked_by, axis=1, kind="stable")
        found = [best[row[best]] for row, best in zip(predicted, order, strict=True)]
        labels += found
        values += [row[best] for row, best in zip(ranked_by, found, strict=True)]
    check_rows(X, len(labels))
    return labels, values


def base_rates_of(model: BaseEstimator) -> NDArray[np.float64] | None:
    """Return the probabilities of labels that a model does not list, None if it lists all."""
    rates: NDArray[np.float64] | None = getattr(final_estimator(model), "base_rates_", None)
    return rates


def decision_and_ranking(model: BaseEstimator, X: MatrixLike) -> tuple[Matrix, Matrix]:
    """Return decision values and the values that rank labels; earlier steps transform X once."""
    *transformers, model = steps_of(model)
    for transformer in transformers:
        X = transformer.transform(X)
    if hasattr(model, "decision_and_probabilities"):
        return cast(tuple[Any, Any], model.decision_and_probabilities(X))
    decision = model.decision_function(X)
    if not hasattr(model, "predict_proba"):
        return decision, decision
    return decision, answer_of(model, "predict_proba", X)


def predict_top(
    model: BaseEstimator, X: MatrixLike, k: int = 5
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the k best labels of each row, by blocks of rows: no array of all scores is made.

    Parameters
    ----------
    model : estimator, Pipeline or search
        A fitted model of this package, alone or at the end of a pipeline or of a search; or another
        library's multi-label classifier, such as a chain or a forest.
    X : array-like, sparse matrix, data frame or sequence of n rows
        Input of the model: features, or the columns or texts that the pipeline starts with.
    k : int, default=5
        Number of labels from the top of the ranking, at least 1; all if there are fewer.

    Returns
    -------
    labels : ndarray of shape (n, k)
        Numbers of labels, which are columns of `y`, the best first and the lower number first among
        equals.
    values : ndarray of shape (n, k)
        Their probabilities where the model has `predict_proba`, else their values of
        `decision_function`.

    Raises
    ------
    ValueError
        If the model predicts one class per row, `X` is malformed or `k` is below 1.

    Examples
    --------
    >>> from multimargin import RankSVM, predict_top
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> labels, values = predict_top(RankSVM(random_state=0).fit(X, Y), X_test, k=2)
    >>> labels.shape
    (899, 2)
    """
    check_integer("k", k, at_least=1)
    blocks = [best_of_rows(_ranked_by(model, rows), k) for rows in blocks_of_rows(model, X)]
    labels, values = map(np.concatenate, zip(*blocks, strict=True))
    check_rows(X, labels.shape[0])
    return labels, values


def blocks_of_rows(model: BaseEstimator, X: MatrixLike) -> Iterator[MatrixLike]:
    """Return blocks of rows, small enough to hold the scores of all labels of a block."""
    count, n = label_names_of_model(model).size, count_rows(X)
    if is_sparse(X):
        X = X.tocsr()
    check_multilabel(model, X)
    step = max(_SCORES // count, 1)
    # Models refuse X without rows.
    return (safe_indexing(X, slice(first, first + step)) for first in range(0, max(n, 1), step))


def check_rows(X: MatrixLike, answered: int) -> None:
    """Raise ValueError unless a model answered for each row: vectorizers iterate over columns."""
    n = count_rows(X)
    if n != answered:
        raise ValueError(
            f"X is a {type(X).__name__} of {n} rows, for which the model returns {answered}; "
            "expected what it was fitted to, such as a column of texts instead of the data frame."
        )


def count_rows(X: MatrixLike) -> int:
    """Return the number of rows of an argument."""
    if isinstance(X, Mapping | Set):
        raise TypeError(f"X is {quoted(X)}; expected rows, as the model takes them.")
    with naming("X", "a matrix, a data frame or a sequence of rows"):
        n: int = num_samples(X)
    return n


def check_multilabel(model: BaseEstimator, X: MatrixLike) -> None:
    """Raise ValueError if a model predicts one class per row."""
    count_rows(X)
    last = final_estimator(model)
    several = getattr(last, "multilabel_", None)
    if several is None:
        # For another library's model, its predictions tell.
        several = (
            isinstance(_classes_of(last), list)
            or np.ndim(model.predict(safe_indexing(X, slice(0, 1)))) == 2
        )
    if not several:
        raise ValueError(
            f"model predicts one class per row ({type(last).__name__}); expected labels: predict "
            "names a class."
        )


def _ranked_by(model: Any, X: MatrixLike) -> Any:
    """Return the values that rank the labels of rows."""
    response = response_of(model, ("predict_proba", "decision_function", "predict"))
    values, rates = answer_of(model, response, X), base_rates_of(model)
    return values if rates is None else np.where(values > 0.0, values, rates)
