"""Predictions from scores, as operators of a graph."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multimargin.onnx.graph import DOUBLE, Graph, Node, Rows
from multimargin.thresholds import (
    ConstantThreshold,
    CountThreshold,
    ExpectedF1Threshold,
    F1Threshold,
    FeaturesThreshold,
    LabelsThreshold,
    PrecisionGuarantee,
    RecallGuarantee,
    ScoresThreshold,
    ShrunkenThreshold,
    Threshold,
)


def add_labels(graph: Graph, threshold: Threshold | None, scores: Node, X: Rows) -> Node:
    """Append the comparison of scores (n, q) with a fitted threshold; None is the threshold 0.

    Returns the labels, booleans of shape (n, q). `X` are the features that the threshold was fitted
    with. Raises TypeError if it is none of `multimargin.thresholds`.
    """
    if type(threshold) is CountThreshold:
        return _largest(graph, threshold.n_labels_, threshold._q, scores)
    if threshold is None:
        return graph.add("Greater", scores, 0.0)
    return graph.add("Greater", scores, add_threshold(graph, threshold, scores, X))


def add_threshold(
    graph: Graph, threshold: Threshold, scores: Node, X: Rows
) -> Node | float | NDArray[np.float64]:
    """Append the values of a fitted threshold, which can be subtracted from the scores (n, q).

    `X` are the features that it was fitted with.
    """
    if type(threshold) is ConstantThreshold:
        return float(threshold.value)
    if type(threshold) in (F1Threshold, PrecisionGuarantee, RecallGuarantee):
        common: Any = threshold
        return float(common.value_)
    if type(threshold) in (LabelsThreshold, ShrunkenThreshold, ExpectedF1Threshold):
        own: Any = threshold
        return np.asarray(own.thresholds_, dtype=np.float64)
    if type(threshold) in (ScoresThreshold, FeaturesThreshold):
        of: Any = threshold
        source = scores if type(threshold) is ScoresThreshold else X
        weights = np.asarray(of.coef_, dtype=np.float64)[:, None]
        return graph.add("Add", graph.add("MatMul", source, weights), float(of.intercept_))
    raise TypeError(
        f"threshold is a {type(threshold).__name__}; expected a ConstantThreshold, F1Threshold, "
        "RecallGuarantee, PrecisionGuarantee, LabelsThreshold, ShrunkenThreshold, "
        "ExpectedF1Threshold, ScoresThreshold, FeaturesThreshold or, after label scores, "
        "CountThreshold."
    )


def add_largest(graph: Graph, scores: Node, q: int) -> Node:
    """Append the choice of the class with the largest score, the first of several.

    Returns booleans of shape (n, q), one true per row.
    """
    winner = graph.add("ArgMax", scores, axis=1, keepdims=1)
    return graph.add("Equal", winner, integers([range(q)]))


def add_best_of_none(graph: Graph, labels: Node, scores: Node) -> Node:
    """Append to predicted labels the label with the largest score for rows without any."""
    counts = graph.add("ReduceMax", graph.add("Cast", labels, to=DOUBLE), axes=[1])
    best = graph.add("GreaterOrEqual", scores, graph.add("ReduceMax", scores, axes=[1]))
    return graph.add("Or", labels, graph.add("And", best, graph.add("Equal", counts, 0.0)))


def _largest(graph: Graph, wanted: int, q: int, scores: Node) -> Node:
    """Append the labels with the `wanted` largest scores; those with equal scores go together."""
    descending = _descending(graph, q, scores)
    # Cut j, between two of these columns, passes the j largest scores.
    above = graph.add("Pad", descending, integers([0, 1, 0, 0]), np.inf)
    below = graph.add("Pad", descending, integers([0, 0, 0, 1]), -np.inf)
    separates = graph.add("Greater", above, below)
    cuts = integers([range(q + 1)])
    fewer = graph.add("Where", separates, cuts, integers(0))
    fewer = graph.add("ReduceMax", graph.add("Slice", fewer, *columns(0, wanted + 1)), axes=[1])
    more = graph.add("Where", separates, cuts, integers(q))
    more = graph.add("ReduceMin", graph.add("Slice", more, *columns(wanted, q + 1)), axes=[1])
    is_fewer = graph.add(
        "LessOrEqual",
        graph.add("Sub", integers(wanted), fewer),
        graph.add("Sub", more, integers(wanted)),
    )
    cut = graph.add("Where", is_fewer, fewer, more)
    lowest = graph.add("GatherElements", above, cut, axis=1)
    return graph.add("GreaterOrEqual", scores, lowest)


def _descending(graph: Graph, q: int, scores: Node) -> Node:
    """Append the scores of each row in descending order."""
    more = graph.with_further_row(scores)
    descending = graph.add("TopK", more, integers([q]), axis=1, largest=1, sorted=1)
    return graph.without_last_row(descending)


def columns(start: int, end: int) -> tuple[NDArray[np.int64], ...]:
    """Return the further inputs of Slice: some columns of all rows."""
    return integers([start]), integers([end]), integers([1])


def integers(values: ArrayLike) -> NDArray[np.int64]:
    """Return a constant of integers."""
    return np.array(values, dtype=np.int64)
