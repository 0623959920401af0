"""Trees for all labels at once, kept as plain arrays."""

from collections.abc import Callable
from operator import call
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import gen_batches
from sklearn.utils.validation import validate_data

from multimargin.blocks.base import LabelBlock
from multimargin.checks.storage import canonical
from multimargin.decompositions import aside
from multimargin.features.occurring import occurring_columns, of_columns
from multimargin.features.scales import largest_of_columns, times_columns
from multimargin.typing import Features, Matrix, MatrixLike, Vector, is_sparse

Indices = NDArray[np.int32]
_FLOATS = (np.float64, np.float32)
# Columns whose largest magnitude is at most the first or above the second are scaled: trees use
# single precision, and treat numbers that differ by less than 1e-7 as equal.
_SMALL, _LARGE = 2.0**-10, 2.0**100
# The largest exponent of a scale
_MOST_DOUBLED = 1000
# Numbers of targets from which a tree is long for Ctrl-C, and a thread short.
_MANY_TARGETS = 2**16
# Entries that are held dense at a time: features of rows, or values of the leaves they reach.
_ENTRIES = 2**22


class LabelTrees(LabelBlock):
    """Base of those whose trees are scikit-learn's, copied into arrays.

    A model file of them can be read without trust, and they can be written in other forms.
    """

    roots_: Indices
    columns_: NDArray[np.intp] | None
    feature_: NDArray[Any]
    scale_: Vector | None
    threshold_: NDArray[np.float32]
    left_: Indices
    right_: Indices
    depth_: int

    def _features_of_fit(self, X: MatrixLike) -> Features:
        """Return checked features of a fit; `_for_trees` prepares them for its trees."""
        return validate_data(self, X, accept_sparse="csc", dtype=_FLOATS)

    def _for_trees(self, X: Features) -> Features:
        """Choose columns and scales by training rows, and return these as trees take them."""
        if is_sparse(X):
            # Trees take indices of 32 bits alone.
            X = canonical(X)
        self.columns_ = occurring_columns(X)
        X = of_columns(X, self.columns_)
        self.scale_ = _scale_of(X)
        return self._in_single(X)

    def _keep_nodes(self, trees: list[Any]) -> None:
        """Copy the nodes of trees into arrays."""
        sizes = [tree.node_count for tree in trees]
        roots = np.cumsum(sizes) - sizes
        self.depth_ = max(tree.max_depth for tree in trees)

        def joined(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(tree, name) for tree in trees])

        leaf = joined("children_left") < 0
        # Nodes and leaves are numbered separately.
        places = np.cumsum(leaf, dtype=np.int32)
        number = np.where(leaf, -places, np.cumsum(~leaf, dtype=np.int32) - 1)
        self.roots_ = number[roots]
        root = np.repeat(roots, sizes)[~leaf]
        self.left_ = number[root + joined("children_left")[~leaf]]
        self.right_ = number[root + joined("children_right")[~leaf]]
        self.feature_ = joined("feature")[~leaf].astype(np.min_scalar_type(-self.n_features_in_))
        # Numbers in single precision are at most a threshold if they are at most its next lower.
        threshold = joined("threshold")[~leaf]
        rounded = threshold.astype(np.float32)
        lower = np.nextafter(rounded, np.float32(-np.inf))
        self.threshold_ = np.where(rounded > threshold, lower, rounded)

    def _by_leaves(self, X: MatrixLike, answers: Callable[[Indices], Matrix]) -> Matrix:
        """Return what a function of the leaves of rows answers (n, q), some rows at a time."""
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=_FLOATS)
        X = of_columns(X, self.columns_)
        n, d = X.shape
        found = np.empty((n, self.classes_.size))
        step = max(_ENTRIES // max(d, len(self.roots_) * self.classes_.size), 1)
        for rows in gen_batches(n, step):
            found[rows] = answers(self._leaves(X[rows]))
        return found

    def _in_single(self, X: Any) -> Any:
        """Return scaled features in single precision; those beyond it are infinite."""
        if self.scale_ is not None:
            X = times_columns(X, self.scale_)
        with np.errstate(over="ignore"):
            return X.astype(np.float32, copy=False)

    def _leaves(self, X: Any) -> Indices:
        """Return the places among the leaves that rows reach in all trees, (m, n_estimators)."""
        X = self._in_single(X.toarray() if is_sparse(X) else X)
        n, trees = len(X), len(self.roots_)
        node = np.tile(self.roots_, n)
        going = np.flatnonzero(node >= 0)
        rows = going // trees
        for _ in range(self.depth_):
            at = node[going]
            to_left = X[rows, self.feature_[at]] <= self.threshold_[at]
            node[going] = np.where(to_left, self.left_[at], self.right_[at])
            inner = node[going] >= 0
            going, rows = going[inner], rows[inner]
        return (-1 - node).reshape(n, trees)


def grown(tree: BaseEstimator, X: Features, targets: Matrix, weights: Vector | None) -> Any:
    """Return the nodes of a tree of scikit-learn, grown on checked arguments."""
    run: Any = aside if targets.size > _MANY_TARGETS else call
    return run(tree.fit, X, targets, weights, check_input=False).tree_


def _scale_of(X: Features) -> Vector | None:
    """Return powers of 2 that bring the columns of very small or large numbers near 1, if any."""
    largest = largest_of_columns(X).astype(np.float64)
    beyond = (largest > 0.0) & ((largest <= _SMALL) | (largest > _LARGE))
    if not beyond.any():
        return None
    exponents = np.clip(np.frexp(largest)[1], -_MOST_DOUBLED, _MOST_DOUBLED)
    return np.where(beyond, np.ldexp(1.0, -exponents), 1.0)
