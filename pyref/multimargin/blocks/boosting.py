"""Boosted trees for all labels at once, kept as plain arrays."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from multimargin.blocks.base import OddsBlock
from multimargin.blocks.trees import Indices, LabelTrees, grown
from multimargin.checks.parameters import check_integer, check_real, seed_of
from multimargin.checks.weights import (
    check_sample_weight,
    in_units_of_a_row,
    of_rows,
    of_rows_that_count,
)
from multimargin.targets.indicator import known_labels
from multimargin.typing import LabelsLike, Matrix, MatrixLike, Vector, is_sparse
from multimargin.whole_fits import whole_or_unchanged

# Added to the curvature of a leaf, so that few rows change little.
_RIDGE = 1.0


class LabelBoosting(LabelTrees, OddsBlock):
    """Boosted trees whose leaves have a term for each label.

    Each tree is a `sklearn.tree.DecisionTreeRegressor` for all labels at once, grown on the
    gradient of their log loss, or on few random projections of it if there are many labels; a leaf
    then takes a Newton step for each label (Friedman 2001). The cost grows slowly with the number
    of labels, which one-vs-rest boosting multiplies by it. The trees are kept as plain arrays.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    learning_rate : float, default=0.1
        Share of each Newton step that is taken, above 0 and at most 1.
    max_leaf_nodes : int, default=64
        Leaves of a tree, at most.
    min_samples_leaf : int, default=20
        Rows of a leaf, at least.
    max_features : float or "sqrt", default="sqrt"
        Number of features each split considers, as in `DecisionTreeRegressor`.
    max_rows : int or None, default=None
        Rows that the fit uses, drawn without replacement; None uses all rows.
    max_samples : int or None, default=None
        Rows of these that each tree is grown on, drawn anew; None uses all.
    n_projections : int or None, default=None
        Number of Gaussian projections of the labels that the trees are grown on; None uses the
        labels.
    random_state : int, RandomState instance or None, default=None
        Draws rows, splits and projections; an int makes the result reproducible.

    Attributes
    ----------
    intercept_ : ndarray of shape (q,)
        Logarithm of the odds of each label in all rows.
    values_ : ndarray of shape (n_leaves, q), float32
        Terms of the leaves, which are added to it.
    roots_ : ndarray of shape (n_estimators,)
        The first node of each tree, or -1 - k where leaf k is all of it.
    columns_ : ndarray of shape (d',) or None
        The features that trees see, if fewer than half of sparse ones occur in training rows;
        None if they see all, d' = d.
    feature_ : ndarray of shape (n_nodes,)
        Place among these of the feature that a node tests; leaves are no nodes.
    scale_ : ndarray of shape (d',) or None
        Powers of 2 that features are multiplied by first, other than 1 for columns whose largest
        magnitude is below 1e-3, or above 1e30; None where there are none.
    threshold_ : ndarray of shape (n_nodes,), float32
        Rows whose feature, in single precision, is at most this go to the left.
    left_, right_ : ndarray of shape (n_nodes,)
        The next nodes, or -1 - k for leaf k.
    depth_ : int
        Splits on the longest way to a leaf.
    classes_ : ndarray of shape (q,)
        Label numbers.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> from multimargin.blocks import LabelBoosting
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, y, y_test = load_digit_attributes().train_test()
    >>> boosting = LabelBoosting(50, random_state=0).fit(X, y)
    >>> boosting.predict_proba(X_test).shape == y_test.shape
    True
    """

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 64,
        min_samples_leaf: int = 20,
        max_features: float | str = "sqrt",
        max_rows: int | None = None,
        max_samples: int | None = None,
        n_projections: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_rows = max_rows
        self.max_samples = max_samples
        self.n_projections = n_projections
        self.random_state = random_state

    @whole_or_unchanged
    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Features.
        y : array-like of shape (n, q)
            Label indicator of 0 and 1; NaN for unknown labels, which are left out of the loss.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; None gives each row the weight 1.
        """
        X = self._features_of_fit(X)
        weights = check_sample_weight(sample_weight, X.shape[0])
        indicator, known = known_labels(y, "y")
        weights, X, indicator, known = of_rows_that_count(weights, X, indicator, known)
        draws = np.random.RandomState(seed_of(self.random_state))
        rows = _drawn("max_rows", self.max_rows, len(indicator), draws)
        weights, X, indicator, known = of_rows(rows, weights, X, indicator, known)
        X = self._for_trees(X)
        weights = None if weights is None else in_units_of_a_row(weights)
        self.classes_ = np.arange(indicator.shape[1])
        self._boost(X, indicator, known, weights, draws)
        return self

    def _boost(
        self,
        X: Any,
        relevant: Any,
        known: Any,
        weights: Vector | None,
        draws: np.random.RandomState,
    ) -> None:
        """Add tree after tree, each a step down the log loss."""
        count = check_integer("n_estimators", self.n_estimators, at_least=1)
        rate = check_real("learning_rate", self.learning_rate, above=0.0, at_most=1.0)
        X = X.tocsr() if is_sparse(X) else X
        n = len(relevant)
        counted = np.ones(n) if weights is None else weights
        shares = (counted @ relevant + 0.5) / (counted @ known + 1.0)
        self.intercept_ = np.log(shares / (1.0 - shares))
        odds = np.tile(self.intercept_, (n, 1)).astype(np.float32)
        trees, values, ends = [], [], np.arange(n + 1)
        for _ in range(count):
            p = expit(odds)
            gradient, curvature = (relevant - p) * known, p * (1.0 - p) * known
            tree = self._grown(X, gradient, weights, draws)
            leaf = tree.apply(X)
            of_row = sparse.csr_array((counted, leaf, ends), shape=(n, tree.node_count)).T
            step = rate * (of_row @ gradient) / (of_row @ curvature + _RIDGE)
            step = step.astype(np.float32)
            odds += step[leaf]
            trees.append(tree)
            values.append(step[tree.children_left < 0])
        self._keep_nodes(trees)
        self.values_ = np.concatenate(values)

    def _grown(
        self, X: Any, gradient: Any, weights: Vector | None, draws: np.random.RandomState
    ) -> Any:
        """Return a tree for the gradient, grown on some of the rows."""
        rows = _drawn("max_samples", self.max_samples, len(gradient), draws)
        weights, X, gradient = of_rows(rows, weights, X, gradient)
        if self.n_projections is not None:
            several = check_integer("n_projections", self.n_projections, at_least=1)
            gradient = gradient @ draws.normal(size=(gradient.shape[1], several))
        tree = DecisionTreeRegressor(
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.max_features,
            random_state=draws.randint(np.iinfo(np.int32).max),
        )
        X = X.tocsc() if is_sparse(X) else X
        return grown(tree, X, gradient.astype(np.float64), weights)

    def decision_function(self, X: MatrixLike) -> Matrix:
        """Return the logarithm of the odds of each label.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            log(p / (1 - p)).
        """
        check_is_fitted(self)
        odds: Matrix = self.intercept_ + self._by_leaves(X, self._sums_of_terms)
        return odds

    def _sums_of_terms(self, leaves: Indices) -> Matrix:
        """Return the sums of the terms of the leaves of each row."""
        sums: Matrix = self.values_[leaves].sum(axis=1, dtype=np.float64)
        return sums


def _drawn(
    name: str, most: int | None, n: int, draws: np.random.RandomState
) -> NDArray[np.intp] | None:
    """Return the numbers of as many rows of n as a parameter says, None for all."""
    if most is None or check_integer(name, most, at_least=1) >= n:
        return None
    return np.sort(draws.permutation(n)[:most])
