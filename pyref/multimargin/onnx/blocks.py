"""Scores of the classifiers that are stacked with a ranker, as operators of a graph."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from multimargin.blocks import (
    LabelBoosting,
    LabelDiscriminant,
    LabelForest,
    LabelKernelRidge,
    LabelLogistic,
    LabelNeighbours,
)
from multimargin.blocks.base import LinearBlock
from multimargin.blocks.neighbours import (
    COIN,
    FARTHEST,
    LEAST_COSINE,
    OF_DISTANCE,
    OF_ROW,
    PRIOR,
    TIES_OF_COSINES,
    TIES_OF_SQUARES,
)
from multimargin.blocks.trees import LabelTrees
from multimargin.calibration.on_folds import LEAST
from multimargin.onnx.graph import DOUBLE, INT64, Graph, Node, Rows
from multimargin.onnx.scores import add_expansion

_FLOAT = 1  # onnx.TensorProto.FLOAT
_TINY = float(np.finfo(float).tiny)


def add_block(graph: Graph, model: BaseEstimator, X: Rows) -> Node | None:
    """Append the scores (n, q) of a block for a calibration; None if it is not a block."""
    known = KNOWN.get(type(model))
    return None if known is None else known(graph, model, X)


def _log_odds(graph: Graph, p: Node) -> Node:
    irrelevant = graph.add("Sub", 1.0, p)
    return graph.add("Log", graph.add("Div", p, irrelevant))


def _leaf_numbers(graph: Graph, forest: LabelTrees, X: Rows) -> Node:
    """Append trees that return the numbers of the leaves that rows reach (m, n_estimators)."""
    trees = np.arange(forest.roots_.size)
    roots = forest.roots_.astype(np.int64)
    # Nodes and leaves before each tree, which has one leaf more than nodes.
    nodes_before = np.where(roots >= 0, roots, -1 - roots - trees)
    leaves_before = nodes_before + trees
    counts = np.diff(np.r_[nodes_before, forest.feature_.size])
    of_node, of_leaf = np.repeat(trees, counts), np.repeat(trees, counts + 1)
    own = np.arange(of_node.size) - nodes_before[of_node]
    own_of_leaf = counts[of_leaf] + np.arange(of_leaf.size) - leaves_before[of_leaf]

    def next_node(to: Any) -> Any:
        of_leaves = counts[of_node] - 1 - to - leaves_before[of_node]
        return np.where(to >= 0, to - nodes_before[of_node], of_leaves)

    # The nodes of each tree, then its leaves.
    order = np.argsort(np.r_[of_node, of_leaf], kind="stable")

    def joined(of_nodes: Any, of_leaves: Any) -> Any:
        return np.concatenate([of_nodes, of_leaves])[order].tolist()

    none = np.zeros_like(of_leaf)
    scaled = X if forest.columns_ is None else graph.add("Gather", X, forest.columns_, axis=1)
    scaled = scaled if forest.scale_ is None else graph.add("Mul", scaled, forest.scale_)
    number = graph.add(
        "TreeEnsembleRegressor",
        graph.add("Cast", scaled, to=_FLOAT),
        domain="ai.onnx.ml",
        n_targets=int(roots.size),
        nodes_treeids=joined(of_node, of_leaf),
        nodes_nodeids=joined(own, own_of_leaf),
        nodes_featureids=joined(forest.feature_.astype(np.int64), none),
        nodes_modes=joined(np.full(of_node.size, "BRANCH_LEQ"), np.full(of_leaf.size, "LEAF")),
        nodes_values=joined(forest.threshold_, none.astype(np.float32)),
        nodes_truenodeids=joined(next_node(forest.left_), none),
        nodes_falsenodeids=joined(next_node(forest.right_), none),
        target_treeids=of_leaf.tolist(),
        target_nodeids=own_of_leaf.tolist(),
        target_ids=of_leaf.tolist(),
        # Numbers of leaves: exact in single precision.
        target_weights=np.arange(float(of_leaf.size)).tolist(),
    )
    return graph.add("Cast", number, to=INT64)


def _forest(graph: Graph, forest: LabelForest, X: Rows) -> Node:
    """Append a forest, whose leaves have the shares of labels."""
    place = _leaf_numbers(graph, forest, X)
    shares = graph.add("Gather", forest.leaf_shares(), place, axis=0)
    p = graph.add("ReduceMean", graph.add("Cast", shares, to=DOUBLE), axes=[1], keepdims=0)
    return _log_odds(graph, graph.add("Clip", p, np.float64(LEAST), np.float64(1.0 - LEAST)))


def _boosting(graph: Graph, boosting: LabelBoosting, X: Rows) -> Node:
    """Append boosted trees, whose leaves have terms of the odds."""
    terms = graph.add("Gather", boosting.values_, _leaf_numbers(graph, boosting, X), axis=0)
    one = np.array([1], dtype=np.int64)
    total = graph.add("ReduceSum", graph.add("Cast", terms, to=DOUBLE), one, keepdims=0)
    return graph.add("Add", total, boosting.intercept_)


def _neighbours(graph: Graph, model: LabelNeighbours, X: Rows) -> Node:
    """Append the votes of the nearest rows; the file holds the training rows."""
    nearness, squares_of_rows = _nearness(graph, model, X)
    n = model.weights_.size
    k = min(model.n_neighbors, n)
    one, last_one = np.array([1], dtype=np.int64), np.array([k - 1], dtype=np.int64)
    more = graph.with_further_row(nearness)
    best = graph.add("TopK", more, np.array([k], dtype=np.int64), axis=1, largest=1, sorted=1)
    last = graph.add("Gather", graph.without_last_row(best), last_one, axis=1)
    rounding: Any = TIES_OF_COSINES
    if squares_of_rows is not None:
        longest = graph.add("Mul", squares_of_rows, OF_ROW)
        longest = graph.add("Sub", longest, graph.add("Mul", last, OF_DISTANCE))
        rounding = graph.add("Mul", longest, TIES_OF_SQUARES)
    closer = graph.add("Greater", nearness, graph.add("Add", last, rounding))
    closer = graph.add("Cast", closer, to=DOUBLE)
    chosen = graph.add("GreaterOrEqual", nearness, graph.add("Sub", last, rounding))
    tied = graph.add("Sub", graph.add("Cast", chosen, to=DOUBLE), closer)
    left = graph.add("Sub", float(k), graph.add("ReduceSum", closer, one))
    place = graph.add("Max", graph.add("ReduceSum", tied, one), 1.0)
    votes = graph.add("Add", closer, graph.add("Mul", tied, graph.add("Div", left, place)))
    if model.metric == "cosine":
        closeness = graph.add("Max", nearness, LEAST_COSINE)
    else:
        nearest = graph.add("Mul", graph.add("Neg", last), FARTHEST)
        nearest = graph.add("Max", graph.add("Max", nearest, rounding), _TINY)
        squares = graph.add("Max", graph.add("Neg", nearness), nearest)
        least = graph.add("ReduceMin", squares, axes=[1])
        closeness = graph.add("Sqrt", graph.add("Div", least, squares))
    votes = graph.add("Mul", graph.add("Mul", votes, closeness), model.weights_)
    votes = graph.add("Div", votes, graph.add("ReduceSum", votes, one))
    share = graph.add("MatMul", votes, _labels(graph, model))
    total = k + PRIOR + 2.0 * COIN
    p = graph.add("Add", graph.add("Mul", share, k / total), (PRIOR * model.shares_ + COIN) / total)
    return _log_odds(graph, p)


def _nearness(graph: Graph, model: LabelNeighbours, X: Rows) -> tuple[Node, Node | None]:
    """Append cosines or negative squared distances (m, n), for these with squared lengths."""
    rows = model.rows_ if sparse.issparse(model.rows_) else model.rows_.T
    if model.metric == "cosine":
        length = graph.add("Sqrt", graph.add("ReduceSumSquare", X, axes=[1]))
        length = graph.add("Where", graph.add("Greater", length, 0.0), length, 1.0)
        # Single precision is enough for them.
        unit = graph.add("Cast", rows.astype(np.float32), to=DOUBLE)
        return graph.add("MatMul", graph.add("Div", X, length), unit), None
    assert model.squares_ is not None
    moved: Rows = X if model.center_ is None else graph.add("Sub", X, model.center_)
    squares = graph.add("ReduceSumSquare", moved, axes=[1])
    products = graph.add("MatMul", moved, -2.0 * rows)
    distances = graph.add("Add", graph.add("Add", squares, model.squares_), products)
    return graph.add("Neg", graph.add("Max", distances, 0.0)), squares


def _labels(graph: Graph, model: LabelNeighbours) -> Node:
    """Append the labels of the training rows, a byte each where all are known."""
    labels = model.labels_
    whole = labels.astype(np.uint8)
    return graph.add("Cast", whole if (whole != labels).nnz == 0 else labels, to=DOUBLE)


def _linear(graph: Graph, model: LinearBlock, X: Rows) -> Node:
    """Append linear classifiers, one per label."""
    weights: Any = np.ascontiguousarray(model.coef_.T)
    if weights.dtype != np.float64:
        weights = graph.add("Cast", weights, to=DOUBLE)
    return graph.add("Add", graph.add("MatMul", X, weights), model.intercept_)


def _kernel_ridge(graph: Graph, model: LabelKernelRidge, X: Rows) -> Node:
    """Append kernel ridge regressions; the file holds the training rows."""
    return add_expansion(graph, model, graph.add("Div", X, model.unit_))


KNOWN: dict[type, Callable[[Graph, Any, Rows], Node]] = {
    LabelForest: _forest,
    LabelBoosting: _boosting,
    LabelNeighbours: _neighbours,
    LabelKernelRidge: _kernel_ridge,
    LabelLogistic: _linear,
    LabelDiscriminant: _linear,
}
"""The blocks that can be exported."""
