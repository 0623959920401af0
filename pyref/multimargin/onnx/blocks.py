"""Scores of the classifiers that are stacked with a ranker, as operators of a graph."""

from collections.abc import Callable
from typing import Any

import numpy as np

from multimargin.blocks import LabelForest, LabelLogistic, LabelNeighbours
from multimargin.blocks.neighbours import COIN, PRIOR
from multimargin.onnx.graph import Graph, Node, Rows
from multimargin.onnx.scores import dense
from multimargin.thresholds.held_out import LEAST

# onnx.TensorProto.FLOAT, INT64 and DOUBLE, without the import.
_FLOAT, _INT64, _DOUBLE = 1, 7, 11


def add_block(graph: Graph, model: Any, X: Rows) -> Node | None:
    """Append the scores (n, q) of a block as a calibration takes them; None if it is none."""
    known = KNOWN.get(type(model))
    return None if known is None else known(graph, model, X)


def _log_odds(graph: Graph, p: Node) -> Node:
    irrelevant = graph.add("Sub", 1.0, p)
    return graph.add("Log", graph.add("Div", p, irrelevant))


def _forest(graph: Graph, forest: LabelForest, X: Rows) -> Node:
    """Append a forest: trees that answer with the number of a leaf, and the shares of leaves."""
    leaf = forest.feature_ < 0
    roots = forest.roots_.astype(np.int64)
    tree = np.repeat(np.arange(roots.size), np.diff(np.r_[roots, leaf.size]))
    local = np.arange(leaf.size) - roots[tree]
    left, right = (np.where(leaf, 0, to - roots[tree]) for to in (forest.left_, forest.right_))
    # Of numbers in single precision those at most the threshold are those at most its next lower.
    rounded = forest.threshold_.astype(np.float32)
    lower = np.nextafter(rounded, np.float32(-np.inf))
    threshold = np.where(rounded > forest.threshold_, lower, rounded)
    number = graph.add(
        "TreeEnsembleRegressor",
        graph.add("Cast", X, to=_FLOAT),
        domain="ai.onnx.ml",
        n_targets=int(roots.size),
        nodes_treeids=tree.tolist(),
        nodes_nodeids=local.tolist(),
        nodes_featureids=np.maximum(forest.feature_, 0).tolist(),
        nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_values=threshold.tolist(),
        nodes_truenodeids=left.tolist(),
        nodes_falsenodeids=right.tolist(),
        target_treeids=tree[leaf].tolist(),
        target_nodeids=local[leaf].tolist(),
        target_ids=tree[leaf].tolist(),
        # From the first leaf of each tree: exact in single precision.
        target_weights=(forest.left_ - _first_leaf(forest)[tree])[leaf].astype(float).tolist(),
    )
    place = graph.add("Cast", number, to=_INT64)
    place = graph.add("Add", place, _first_leaf(forest)[None, :].astype(np.int64))
    shares = graph.add("Gather", np.asarray(forest.shares_), place, axis=0)
    p = graph.add("ReduceMean", graph.add("Cast", shares, to=_DOUBLE), axes=[1], keepdims=0)
    return _log_odds(graph, graph.add("Clip", p, np.float64(LEAST), np.float64(1.0 - LEAST)))


def _first_leaf(forest: LabelForest) -> Any:
    """Return how many leaves stand before each tree."""
    before = np.concatenate([[0], np.cumsum(forest.feature_ < 0)])
    return before[forest.roots_]


def _neighbours(graph: Graph, model: LabelNeighbours, X: Rows) -> Node:
    """Append nearest rows and their votes; the file holds the training rows."""
    rows = dense(model.neighbors_._fit_X, "features")
    k = model.neighbors_.n_neighbors
    if model.metric == "cosine":
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        unit = rows / np.where(norms > 0.0, norms, 1.0)
        length = graph.add("Sqrt", graph.add("ReduceSumSquare", X, axes=[1]))
        length = graph.add("Where", graph.add("Greater", length, 0.0), length, 1.0)
        near = graph.add("MatMul", graph.add("Div", X, length), np.ascontiguousarray(unit.T))
    else:
        offset = rows.mean(axis=0)
        moved, centred = graph.add("Sub", X, offset), rows - offset
        squares = graph.add("ReduceSumSquare", moved, axes=[1])
        squares = graph.add("Add", squares, (centred**2).sum(axis=1))
        products = graph.add("MatMul", moved, np.ascontiguousarray(-2.0 * centred.T))
        near = graph.add("Neg", graph.add("Max", graph.add("Add", squares, products), 0.0))
    # A further row: up to ONNX Runtime 1.26, TopK of no rows divides by 0, and ends the process.
    more = graph.add("Pad", near, np.array([0, 0, 1, 0], dtype=np.int64), 0.0)
    best = graph.add("TopK", more, np.array([k], dtype=np.int64), axis=1, largest=1, sorted=1)
    ends = [np.array([one], dtype=np.int64) for one in (0, -1, 0)]
    value = graph.add("Slice", best, *ends)
    place = graph.add("Slice", f"{best}_more", *ends)
    if model.metric == "cosine":
        closeness = graph.add("Max", value, 1e-9)
    else:
        distance = graph.add("Sqrt", graph.add("Neg", value))
        floor = graph.add("Mul", graph.add("ReduceMax", distance, axes=[1]), 1e-9)
        closeness = graph.add("Div", 1.0, graph.add("Max", distance, graph.add("Max", floor, TINY)))
    votes = graph.add("Mul", closeness, graph.add("Gather", model.weights_, place, axis=0))
    votes = graph.add("Div", votes, graph.add("ReduceSum", votes, np.array([1], dtype=np.int64)))
    labels = graph.add("Gather", model.labels_.toarray(), place, axis=0)
    votes = graph.add("Unsqueeze", votes, np.array([1], dtype=np.int64))
    share = graph.add("Squeeze", graph.add("MatMul", votes, labels), np.array([1], dtype=np.int64))
    total = k + PRIOR + 2.0 * COIN
    p = graph.add("Add", graph.add("Mul", share, k / total), (PRIOR * model.shares_ + COIN) / total)
    return _log_odds(graph, p)


TINY = float(np.finfo(float).tiny)


def _linear(graph: Graph, model: LabelLogistic, X: Rows) -> Node:
    """Append linear classifiers, one a label."""
    weights = np.ascontiguousarray(model.coef_.T)
    return graph.add("Add", graph.add("MatMul", X, weights), model.intercept_)


KNOWN: dict[type, Callable[[Graph, Any, Rows], Node]] = {
    LabelForest: _forest,
    LabelNeighbours: _neighbours,
    LabelLogistic: _linear,
}
"""The blocks that can be exported."""
