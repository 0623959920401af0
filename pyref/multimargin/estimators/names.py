"""Predicted labels by their names."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.parameters import check_integer


def final_estimator(model: Any) -> Any:
    """Return the estimator that a pipeline or a search ends with, fitted or not.

    `LabelRankerCV` is an estimator by itself, though it has a `best_estimator_`.
    """
    if hasattr(model, "steps"):
        return final_estimator(model.steps[-1][1])
    if hasattr(model, "best_estimator_") and not hasattr(model, "label_scores"):
        return final_estimator(model.best_estimator_)
    return model


def label_names_of_model(model: Any) -> NDArray[Any]:
    """Return the names of the labels of a fitted model, label numbers where they have none."""
    last = final_estimator(model)
    names: NDArray[Any] = getattr(last, "label_names_in_", last.classes_)
    return names


def predict_names(model: Any, X: Any, *, top: int | None = None) -> list[list[Any]]:
    """Return the names of the predicted labels of each row, the most probable first.

    Parameters
    ----------
    model : estimator, Pipeline or search
        A fitted model of this package, alone or at the end of a pipeline or of a search.
    X : array-like, sparse matrix, data frame or sequence of n rows
        What the model takes: features, or the columns or texts that the pipeline starts with.
    top : int or None, default=None
        How many labels to name for each row, predicted or not; None names those that are predicted.

    Returns
    -------
    list of n lists
        Names, or numbers where labels have no names: `fit` takes them from lists of names or the
        columns of a data frame.

    Raises
    ------
    ValueError
        If the model predicts one class a row, `X` is malformed or `top` is below 1.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from multimargin import RankSVM, predict_names
    >>> texts = ["plays audio", "edits audio", "edits photos", "shows photos"]
    >>> tags = [["sound"], ["sound", "editor"], ["image", "editor"], ["image"]]
    >>> tagger = make_pipeline(TfidfVectorizer(), RankSVM(kernel="linear", random_state=0))
    >>> predict_names(tagger.fit(texts, tags), ["edits sounds and photos"], top=2)
    [['editor', 'image']]
    """
    if top is not None:
        check_integer("top", top, at_least=1)
    decision = model.decision_function(X)
    names = label_names_of_model(model)
    if not getattr(final_estimator(model), "multilabel_", True):
        raise ValueError("model predicts one class a row; expected labels: predict names a class.")
    # A threshold of its own for each label changes the ranking of the decision values.
    ranked_by = model.predict_proba(X) if hasattr(model, "predict_proba") else decision
    order = np.argsort(-ranked_by, axis=1, kind="stable")
    if top is not None:
        return [[names[k] for k in best[:top]] for best in order]
    return [
        [names[k] for k in best if row[k] > 0] for row, best in zip(decision, order, strict=True)
    ]
