"""The export of fitted models."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from multimargin.calibration import CalibratedClassifier, ThresholdedClassifier
from multimargin.calibration.head import Head
from multimargin.calibration.shortlists import ShortlistClassifier
from multimargin.checks.parameters import check_flag
from multimargin.files import path_to_write, replacing
from multimargin.inspection.names import label_names_of_model
from multimargin.inspection.steps import final_estimator, steps_of
from multimargin.onnx.blocks import add_block
from multimargin.onnx.calibration import add_odds
from multimargin.onnx.graph import INT64, Given, Graph, Node, Rows, require_onnx
from multimargin.onnx.inputs import NUMBERS
from multimargin.onnx.labels import (
    add_best_of_none,
    add_labels,
    add_largest,
    add_threshold,
    columns,
)
from multimargin.onnx.scores import add_scores
from multimargin.onnx.transforms import add_transformer


@dataclass(frozen=True)
class _Predicted:
    """Outputs of a model: label scores, labels as booleans, and probabilities if it has them."""

    scores: Node
    labels: Node
    probabilities: Node | None = None


def export(
    model: BaseEstimator,
    path: str | os.PathLike[str],
    *,
    feature_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    float32: bool = False,
) -> None:
    """Write a fitted model to an ONNX file.

    Parameters
    ----------
    model : estimator
        A fitted `LabelRankerCV`, pairwise method, `MLRL`, `SSMLRL` or `LLSF`; a
        `ThresholdedClassifier` or a `CalibratedClassifier` around one; a search; a pipeline from
        scalers, imputers, texts, names of categories or a table to one of these.
    path : str or path-like
        The file; an existing one is replaced when the new one is complete.
    feature_names, label_names : sequence of str, default=None
        Names of the d features, or columns of a table, and of the q labels; None takes those that
        the model was fitted with.
    float32 : bool, default=False
        If True, the input "X" is float32; the file computes in double precision all the same.
        Models of features that single precision does not hold are refused.

    Raises
    ------
    TypeError, ValueError
        If the model, or a part of it, cannot be expressed; the message says what can.

    Notes
    -----
    The input "X" is a float64 matrix of any number of rows and the d features in the order of the
    fit, also for a model that was fitted to sparse features; for ``kernel="precomputed"``, the
    kernel with the training rows. Of a table with text or names "X" has the columns of numbers, NaN
    where one is missing, and the inputs "categories" and "texts" have the other columns, as
    strings, empty where one is missing; a pipeline that begins with a vectorizer has the input
    "texts" of shape (n, 1) alone.

    The outputs are "scores" (n, q), float64, what `label_scores` returns; "labels" (n, q), int64,
    the predicted indicator (of one-dimensional targets one 1 a row); and of a
    `CalibratedClassifier` or `LabelRankerCV` "probabilities" (n, q). Scores differ
    by rounding, and a label whose score equals its threshold up to rounding may differ. Inputs are
    not checked: NaN in, NaN out.

    The metadata of the file are "multimargin" (the version), "model" and, as JSON lists,
    "label_names" and "feature_names", and of a table with text or names "inputs", the names of the
    columns of each.

    Examples
    --------
    >>> import multimargin.onnx
    >>> from multimargin import RankSVM
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, _, Y, _ = load_digit_attributes().train_test()
    >>> model = RankSVM(kernel="linear").fit(X, Y)
    >>> multimargin.onnx.export(model, "digits.onnx")  # doctest: +SKIP
    """
    require_onnx()
    file = path_to_write(path, "path")
    check_flag("float32", float32)
    content = _converted(model, feature_names, label_names, float32).SerializeToString()
    with replacing(file, "wb") as stream:
        stream.write(content)


def _converted(
    model: Any,
    feature_names: Sequence[str] | None,
    label_names: Sequence[str] | None,
    float32: bool,
) -> Any:
    """Return the model in the form of onnx."""
    check_is_fitted(model)
    last = final_estimator(model)
    q = len(last.classes_)
    if label_names is None:
        label_names = [str(name) for name in label_names_of_model(last)]
    if feature_names is None and hasattr(model, "feature_names_in_"):
        feature_names = [str(name) for name in model.feature_names_in_]
    d = _n_features(model)
    for name, names, number in (
        ("feature_names", feature_names, d),
        ("label_names", label_names, q),
    ):
        if names is not None and len(names) != number:
            raise ValueError(f"{name} has {len(names)} names; expected {number}.")
    given = Given(d, float32)
    graph = Graph(given)
    predicted = _add(graph, model, given)
    outputs: dict[str, tuple[Node, Any, int]] = {
        "scores": (predicted.scores, np.float64, q),
        "labels": (graph.add("Cast", predicted.labels, to=INT64), np.int64, q),
    }
    if predicted.probabilities is not None:
        outputs["probabilities"] = (predicted.probabilities, np.float64, q)
    metadata = {
        "multimargin": version("multimargin"),
        "model": " ".join(repr(last).split()),
        "label_names": json.dumps(list(label_names)),
    }
    if feature_names is not None:
        metadata["feature_names"] = json.dumps(list(feature_names))
    if set(given.columns) != {NUMBERS}:
        named = list(range(d)) if feature_names is None else list(feature_names)
        inputs = {kind: [named[k] for k in places] for kind, places in given.columns.items()}
        metadata["inputs"] = json.dumps(inputs)
    return graph.model(outputs, metadata)


def _n_features(model: Any) -> int:
    """Return d, the number of features of the first step."""
    first = next(steps_of(model))
    if isinstance(first, CountVectorizer):
        return 1
    inner = not hasattr(first, "n_features_in_") and hasattr(first, "estimator_")
    return _n_features(first.estimator_) if inner else int(first.n_features_in_)


def _add(graph: Graph, model: Any, X: Rows) -> _Predicted:
    """Append a fitted model."""
    model, X = _reached(graph, model, X)
    if isinstance(model, ThresholdedClassifier):
        scores = _response(graph, model.estimator_, model.response_method_, X)
        if model.head_.threshold is None:
            return _Predicted(scores, add_largest(graph, scores, len(model.classes_)))
        return _Predicted(scores, _label_sets(graph, model.head_, scores, X))
    if isinstance(model, CalibratedClassifier):
        return _calibrated(graph, model, X)
    if isinstance(model, ShortlistClassifier):
        raise TypeError(
            f"model scores shortlists of its {model.classes_.size} labels, which are not exported; "
            "expected one that scores all: ranker_ is such a model, without probabilities."
        )
    scores = add_scores(graph, model, X)
    if not model.multilabel_:
        return _Predicted(scores, add_largest(graph, scores, model.classes_.size))
    threshold = getattr(model, "threshold_", None)
    return _Predicted(scores, add_labels(graph, threshold, scores, X))


def _calibrated(graph: Graph, model: CalibratedClassifier, X: Rows) -> _Predicted:
    """Append the head of a calibrated classifier after the scores of its models."""
    blocks = [
        _block(graph, name, estimator, response, X)
        for (name, estimator), response in zip(
            model.estimators_, model.response_methods_, strict=True
        )
    ]
    head, q = model.head_, len(model.classes_)
    odds = blocks[0]
    if head.calibration is not None:
        odds = graph.add("Slice", add_odds(graph, head.calibration, blocks), *columns(0, q))
    probabilities = None if head.calibration is None else graph.add("Sigmoid", odds)
    if head.threshold is not None:
        return _Predicted(odds, _label_sets(graph, head, odds, X), probabilities)
    if probabilities is not None:
        total = graph.add("ReduceSum", probabilities, np.array([1], dtype=np.int64))
        probabilities = graph.add("Div", probabilities, total)
    return _Predicted(odds, add_largest(graph, odds, q), probabilities)


def _label_sets(graph: Graph, head: Head, scores: Node, X: Rows) -> Node:
    """Append the label sets of a head with a threshold."""
    labels = add_labels(graph, head.threshold, scores, X)
    return add_best_of_none(graph, labels, scores) if head.at_least_one else labels


def _reached(graph: Graph, model: Any, X: Rows) -> tuple[Any, Rows]:
    """Append the steps of a pipeline before its classifier; return that, and its features."""
    *transformers, last = steps_of(model)
    for transformer in transformers:
        X = add_transformer(graph, transformer, X)
    if hasattr(last, "best_estimator_"):
        return _reached(graph, last.best_estimator_, X)
    return last, X


def _block(graph: Graph, name: str, estimator: Any, response: str, X: Rows) -> Node:
    """Append the scores of one of the models of a calibration."""
    inner, rows = _reached(graph, estimator, X)
    scores = add_block(graph, inner, rows)
    if scores is not None:
        return scores
    try:
        return _response(graph, inner, response, rows)
    except (TypeError, ValueError) as error:
        error.add_note(f"It is {name!r} of a stack: a model without it can be exported.")
        raise


def _response(graph: Graph, estimator: Any, response: str, X: Rows) -> Node:
    """Append the scores that a classifier takes from its inner classifier."""
    inner, X = _reached(graph, estimator, X)
    if response not in ("label_scores", "decision_function"):
        raise ValueError(
            f"model takes the {response} of its estimator; expected label_scores or "
            "decision_function."
        )
    scores = add_scores(graph, inner, X)
    threshold = getattr(inner, "threshold_", None)
    if response == "label_scores" or threshold is None:
        return scores
    return graph.add("Sub", scores, add_threshold(graph, threshold, scores, X))
