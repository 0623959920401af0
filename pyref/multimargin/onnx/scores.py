"""Scores of labels as operators of a graph."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.estimators import LLSF
from multimargin.estimators.bases.kernel_expansion import KernelExpansionClassifier
from multimargin.features.middle import middle_of
from multimargin.onnx.graph import MOST_BYTES, Graph, Node, Rows
from multimargin.typing import Features, is_sparse


def add_scores(graph: Graph, model: Any, X: Rows) -> Node:
    """Append the scores (n, q) of a fitted kernel expansion or `LLSF`."""
    if isinstance(model, LLSF):
        return graph.add("MatMul", X, model.coef_.T)
    if not isinstance(model, KernelExpansionClassifier):
        raise TypeError(
            f"model is a {type(model).__name__}; expected a pairwise method, MLRL, SSMLRL or LLSF, "
            "a ThresholdedClassifier or CalibratedClassifier around one, or a pipeline or a search "
            "that ends with one."
        )
    if hasattr(model, "coef_"):
        products = graph.add("MatMul", X, model.coef_.T.astype(np.float64))
        return graph.add("Add", products, model.intercept_)
    if model.support_.size == 0:
        # No feature counts: a product with zeros has the right number of rows.
        zeros = np.zeros((model.n_features_in_, model.intercept_.size))
        return graph.add("Add", graph.add("MatMul", X, zeros), model.intercept_)
    return add_expansion(graph, model, X)


def add_expansion(graph: Graph, model: Any, X: Rows) -> Node:
    """Append the scores of an expansion over support vectors."""
    values = _kernel_values(graph, model, X)
    return graph.add("Add", graph.add("MatMul", values, model.dual_coef_), model.intercept_)


def _kernel_values(graph: Graph, model: Any, X: Rows) -> Node:
    """Append the kernel with the support vectors."""
    kernel = model._kernel
    if kernel.function is not None:
        raise ValueError(
            f"kernel is the function {model.kernel!r}, which ONNX cannot hold; expected 'linear', "
            "'rbf', 'laplacian', 'poly', 'sigmoid' or 'precomputed'."
        )
    if kernel.name == "precomputed":
        return graph.add("Gather", X, model.support_.astype(np.int64), axis=1)
    vectors = _dense(model.support_vectors_)
    if kernel.name == "rbf":
        return _rbf(graph, kernel, vectors, X)
    if kernel.name == "laplacian":
        return _laplacian(graph, kernel, vectors, X)
    # onnxruntime fuses a product with a factor that follows it, in single precision.
    inner = graph.add("MatMul", X, np.ascontiguousarray(kernel.gamma * vectors.T))
    inner = graph.add("Add", inner, kernel.coef0)
    if kernel.name == "sigmoid":
        return graph.add("Tanh", inner)
    return graph.add("Pow", inner, float(kernel.degree))


def _rbf(graph: Graph, kernel: Any, vectors: NDArray[np.float64], X: Rows) -> Node:
    """Append exp(-gamma ||x - s||^2), by ||x||^2 + ||s||^2 - 2 x.s."""
    # The common offset of all rows, which distances do not depend on, is subtracted.
    offset = middle_of(vectors) if kernel.offset is None else kernel.offset
    X = graph.add("Sub", X, offset)
    vectors = vectors - offset
    squares = graph.add("ReduceSumSquare", X, axes=[1])
    squares = graph.add("Add", squares, (vectors**2).sum(axis=1))
    products = graph.add("MatMul", X, np.ascontiguousarray(-2.0 * vectors.T))
    # Rounding must not make distances negative.
    squares = graph.add("Max", graph.add("Add", squares, products), 0.0)
    return graph.add("Exp", graph.add("Mul", squares, -kernel.gamma))


def _laplacian(graph: Graph, kernel: Any, vectors: NDArray[np.float64], X: Rows) -> Node:
    """Append exp(-gamma sum_k |x_k - s_k|), row by row: differences of all pairs are too many."""

    def distances(row: Node) -> Node:
        differences = graph.add("Abs", graph.add("Sub", row, vectors))
        return graph.add("ReduceSum", differences, np.array([1], dtype=np.int64), keepdims=0)

    found = graph.each_row(X, vectors.shape[1], distances, len(vectors))
    return graph.add("Exp", graph.add("Mul", found, -kernel.gamma))


def _dense(vectors: Features) -> NDArray[np.float64]:
    """Return support vectors as a dense matrix; raise ValueError where no file holds it."""
    rows, columns = vectors.shape
    if 8 * rows * columns > MOST_BYTES:
        raise ValueError(
            f"model keeps {rows} rows of {columns} features, {8e-9 * rows * columns:.1f} GB as "
            "dense arrays, which no ONNX file holds; expected a linear kernel, or fewer rows or "
            "features."
        )
    return np.asarray(vectors.toarray() if is_sparse(vectors) else vectors, dtype=np.float64)
