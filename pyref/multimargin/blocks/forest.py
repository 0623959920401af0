"""A forest for all labels at once, kept as plain arrays."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.tree import ExtraTreeRegressor
from sklearn.utils.validation import check_is_fitted

from multimargin.blocks.base import with_shares
from multimargin.blocks.trees import Indices, LabelTrees, grown
from multimargin.checks.parameters import check_integer, seed_of
from multimargin.checks.weights import check_sample_weight, of_rows_that_count
from multimargin.typing import Features, LabelsLike, MatrixLike
from multimargin.whole_fits import whole_or_unchanged


class LabelForest(LabelTrees):
    """Extra trees whose leaves have the shares of all labels.

    scikit-learn's `ExtraTreesRegressor` grows the trees, on the indicator of the labels, or on few
    random projections of it if there are many labels (Joly et al. 2014); the leaves keep the share
    of each label among their rows. The trees are kept as plain arrays: a model file of them can be
    read without trust, and they can be written in other forms.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    min_samples_leaf : int, default=1
        Rows of a leaf, at least.
    max_features : float or "sqrt", default="sqrt"
        Number of features each split considers, as in `ExtraTreesRegressor`.
    n_projections : int or None, default=None
        Number of Gaussian projections of the labels that the trees are grown on; None uses the
        labels.
    random_state : int, RandomState instance or None, default=None
        Draws splits and projections; an int makes the result reproducible.

    Attributes
    ----------
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
    starts_ : ndarray of shape (n_leaves + 1,)
        The labels of leaf k are `labels_[starts_[k] : starts_[k + 1]]`.
    labels_ : ndarray of shape (n_entries,)
        The labels of the rows of all leaves.
    shares_ : ndarray of shape (n_entries,), float16
        Share of each of them among the rows of its leaf, to three digits.
    depth_ : int
        Splits on the longest way to a leaf.
    classes_ : ndarray of shape (q,)
        Label numbers.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> from multimargin.blocks import LabelForest
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, y, y_test = load_digit_attributes().train_test()
    >>> forest = LabelForest(50, random_state=0).fit(X, y)
    >>> forest.predict_proba(X_test).shape == y_test.shape
    True
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        min_samples_leaf: int = 1,
        max_features: float | str = "sqrt",
        n_projections: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
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
            Label indicator of 0 and 1; NaN for unknown labels, which count by the share of the
            label.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; None gives each row the weight 1.
        """
        X = self._features_of_fit(X)
        weights = check_sample_weight(sample_weight, X.shape[0])
        indicator = with_shares(y, weights)
        weights, X, indicator = of_rows_that_count(weights, X, indicator)
        X = self._for_trees(X)
        seed = seed_of(self.random_state)
        targets = indicator
        if self.n_projections is not None:
            count = check_integer("n_projections", self.n_projections, at_least=1)
            draws = np.random.RandomState(seed).normal(size=(indicator.shape[1], count))
            targets = indicator @ draws
        self.classes_ = np.arange(indicator.shape[1])
        self._keep(self._grown(X, targets, weights, seed), X, indicator, weights)
        return self

    def _grown(self, X: Features, targets: Any, weights: Any, seed: int) -> list[Any]:
        """Return the trees, grown one by one, as scikit-learn's forests change warning filters."""
        count = check_integer("n_estimators", self.n_estimators, at_least=1)
        draws = np.random.RandomState(seed)
        # As its forests draw them.
        seeds = [draws.randint(np.iinfo(np.int32).max) for _ in range(count)]
        options = {"min_samples_leaf": self.min_samples_leaf, "max_features": self.max_features}
        trees = (ExtraTreeRegressor(**options, random_state=one) for one in seeds)
        return [grown(tree, X, targets, weights) for tree in trees]

    def _keep(self, trees: list[Any], X: Any, indicator: Any, weights: Any) -> None:
        """Copy the trees into arrays, and count the labels of their leaves."""
        self._keep_nodes(trees)
        X = X.tocsr() if sparse.issparse(X) else X
        n = len(indicator)
        counted = np.ones(n) if weights is None else weights
        labels = sparse.csr_array(indicator * counted[:, None])
        shares = []
        for tree in trees:
            column = tree.apply(X)
            one = sparse.csr_array(
                (np.ones(n), (column, np.arange(n))), shape=(tree.node_count, n)
            )[tree.children_left < 0]
            totals = np.maximum(one @ counted, np.finfo(float).tiny)
            shares.append(sparse.diags_array(1.0 / totals) @ (one @ labels))
        entries = sparse.vstack(shares, format="csr")
        entries.eliminate_zeros()
        entries.sort_indices()
        self.starts_ = entries.indptr
        self.labels_ = entries.indices.astype(np.min_scalar_type(indicator.shape[1]))
        self.shares_ = entries.data.astype(np.float16)

    def predict_proba(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the mean share of each label over the trees.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            Between 0 and 1.
        """
        check_is_fitted(self)
        return self._by_leaves(X, self._mean_shares)

    def leaf_shares(self) -> NDArray[np.float16]:
        """Return the share of each label in each leaf, of shape (n_leaves, q)."""
        shape = (len(self.starts_) - 1, self.classes_.size)
        found = np.zeros(shape, np.float16)
        found[np.repeat(np.arange(shape[0]), np.diff(self.starts_)), self.labels_] = self.shares_
        return found

    def _mean_shares(self, leaves: Indices) -> NDArray[np.float64]:
        """Return the mean share of each label over the leaves of each row."""
        (n, trees), q = leaves.shape, self.classes_.size
        first, end = self.starts_[leaves.ravel()], self.starts_[leaves.ravel() + 1]
        counts = end - first
        # Entries are ordered by leaf.
        ends = np.cumsum(counts)
        entries = np.arange(ends[-1]) + np.repeat(first - (ends - counts), counts)
        rows = np.repeat(np.arange(n), counts.reshape(n, trees).sum(axis=1))
        places = rows * q + self.labels_[entries]
        sums = np.bincount(places, weights=self.shares_[entries], minlength=n * q)
        means: NDArray[np.float64] = sums.reshape(n, q) / trees
        return means

    def predict(self, X: MatrixLike) -> NDArray[np.intp]:
        """Predict labels that more than half of the leaves' rows have.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            0 and 1.
        """
        return np.asarray(self.predict_proba(X) > 0.5, dtype=np.intp)
