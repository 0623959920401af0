"""ADTree: an alternating decision tree over all labels, grown by AdaBoost.MH.

Source: De Comité et al. 2003; Freund & Mason 1999; Schapire & Singer 1999 (AdaBoost.MH). Xu 2013
compares it.

Problem: with weights w_ik = exp(-y_ik f_k(x_i)), y_ik = 1 or -1, each round adds a rule "if the row
reaches this node: is feature < t?" with the node and the condition that minimise

    Z = 2 sum_k [ sqrt(W+_k(yes) W-_k(yes)) + sqrt(W+_k(no) W-_k(no)) ] + W(rows not at the node),

where W+_k and W-_k sum the weights of the rows with and without label k. Both answers become new
nodes, and add 1/2 log((W+_k + 1) / (W-_k + 1)) to f_k of their rows; so does the root before.

Defaults of the paper: 50 rounds (Xu).
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin.baselines.base import BaselineClassifier
from multimargin.checks.parameters import check_integer
from multimargin.targets.reading import Targets
from multimargin.typing import Matrix

# Features with at most so many values are counted condition by condition, others are sorted.
_FEW_VALUES = 8
# Values of Z that differ by less, relatively, are equal: sums in another order round otherwise.
_EQUAL = 1e-12
# Conditions that are tried at once: their sums stay in the processor's cache.
_BLOCK = 50_000


class ADTree(BaselineClassifier):
    """Alternating decision tree for all labels at once (AdaBoost.MH).

    Parameters
    ----------
    n_rounds : int, default=50
        Number of rules; fewer where no row can be split any more.

    Attributes
    ----------
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        True for a label indicator or lists of names, False for one-dimensional targets.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
    root_ : ndarray of shape (q,)
        What every row's scores begin with.
    nodes_ : ndarray of shape (n_rules,), dtype int
        The node at which each rule asks: 0 for the root, 2 r + 1 and 2 r + 2 for the rows that
        answer yes and no to rule r.
    features_ : ndarray of shape (n_rules,), dtype int
        The feature that is compared.
    thresholds_ : ndarray of shape (n_rules,)
        The answer is yes where the feature is less.
    votes_ : ndarray of shape (n_rules, 2, q)
        What yes and no add to the scores.

    Notes
    -----
    De Comité et al. 2003. Thresholds lie in the middle between neighbouring values
    of the training rows; of equally good rules (to 12 digits) the first is taken, by node, feature
    and threshold.
    The smoothing by 1 is that of Freund and Mason, the weights are not normalised. Sparse features
    are made dense.

    Examples
    --------
    >>> from multimargin.baselines import ADTree
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> ADTree(n_rounds=5).fit(X, Y).predict(X_test).shape == Y_test.shape
    True
    """

    def __init__(self, n_rounds: int = 50) -> None:
        self.n_rounds = n_rounds

    def _check_parameters(self) -> None:
        check_integer("n_rounds", self.n_rounds, at_least=1)

    def _fit(self, X: Any, targets: Targets) -> None:
        relevant = targets.indicator.astype(bool)
        search = _Search(_dense(X), relevant)
        nodes = [np.arange(len(relevant))]
        self.root_ = search.votes(nodes[0])
        scores = np.tile(self.root_, (len(relevant), 1))
        rules: list[tuple[int, int, float]] = []
        votes: list[tuple[Matrix, Matrix]] = []
        for _ in range(int(self.n_rounds)):
            search.set_weights(np.exp(np.where(relevant, -scores, scores)), nodes)
            found = search.best(nodes)
            if found is None:
                break
            rules.append(found)
            nodes += _answers(search.X, nodes, *found)
            votes.append((search.votes(nodes[-2]), search.votes(nodes[-1])))
            for rows, vote in zip(nodes[-2:], votes[-1], strict=True):
                scores[rows] += vote
        self.nodes_ = np.array([node for node, _, _ in rules], dtype=np.intp)
        self.features_ = np.array([feature for _, feature, _ in rules], dtype=np.intp)
        self.thresholds_ = np.array([threshold for _, _, threshold in rules], dtype=np.float64)
        self.votes_ = np.array(votes, dtype=np.float64).reshape(len(rules), 2, relevant.shape[1])

    def _label_scores(self, X: Any) -> Matrix:
        X = _dense(X)
        scores = np.tile(self.root_, (X.shape[0], 1))
        nodes = [np.arange(X.shape[0])]
        rules = zip(self.nodes_, self.features_, self.thresholds_, self.votes_, strict=True)
        for node, feature, threshold, votes in rules:
            nodes += _answers(X, nodes, node, feature, threshold)
            for rows, vote in zip(nodes[-2:], votes, strict=True):
                scores[rows] += vote
        return scores


def _answers(
    X: Matrix, nodes: list[NDArray[np.intp]], node: int, feature: int, threshold: float
) -> list[NDArray[np.intp]]:
    """Return the rows of a node that answer yes, and those that answer no."""
    rows = nodes[node]
    less = X[rows, feature] < threshold
    return [rows[less], rows[~less]]


class _Search:
    """The search for the rule with the smallest Z.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features.
    relevant : ndarray of shape (n, q), dtype bool
        Labels.
    """

    def __init__(self, X: Matrix, relevant: NDArray[np.bool_]) -> None:
        self.X = X
        self._relevant = relevant
        # The best splits of each node at the present weights of its rows.
        self._known: dict[int, list[tuple[float, int, float]]] = {}
        self._weights = np.ones(relevant.shape)
        self.set_weights(self._weights, [])
        values = [np.unique(column) for column in X.T]
        few = [f for f, v in enumerate(values) if 2 <= v.size <= _FEW_VALUES]
        self._sorted = np.array(
            [f for f, v in enumerate(values) if v.size > _FEW_VALUES], dtype=np.intp
        )
        self._order = np.argsort(X[:, self._sorted], axis=0, kind="stable").T
        conditions = [(f, _middle(a, b)) for f in few for a, b in pairwise(values[f])]
        self._features = np.array([f for f, _ in conditions], dtype=np.intp)
        self._thresholds = np.array([t for _, t in conditions])
        self._answers = (X[:, self._features] < self._thresholds).astype(np.float64)

    def set_weights(self, weights: Matrix, nodes: list[NDArray[np.intp]]) -> None:
        """Take the weights of the round, of shape (n, q); nodes without a new one stay known."""
        new = (weights != self._weights).any(axis=1)
        for node, rows in enumerate(nodes):
            if new[rows].any():
                self._known.pop(node, None)
        self._weights = weights
        self._positive = np.where(self._relevant, weights, 0.0)
        self._negative = np.where(self._relevant, 0.0, weights)

    def votes(self, rows: NDArray[np.intp]) -> Matrix:
        """Return what the rows of a node add to their scores."""
        positive, negative = self._positive[rows].sum(axis=0), self._negative[rows].sum(axis=0)
        return np.asarray(0.5 * np.log((positive + 1.0) / (negative + 1.0)))

    def best(self, nodes: list[NDArray[np.intp]]) -> tuple[int, int, float] | None:
        """Return node, feature and threshold of the best rule; None where nothing can be split."""
        total = float(self._positive.sum() + self._negative.sum())
        least: float = np.inf
        found: tuple[int, int, float] | None = None
        for node, rows in enumerate(nodes):
            positive, negative = self._positive[rows], self._negative[rows]
            elsewhere = total - float(positive.sum() + negative.sum())
            if elsewhere >= least:
                continue  # Z can only be larger
            if node not in self._known:
                self._known[node] = list(self._splits(rows, positive, negative))
            for z, feature, threshold in self._known[node]:
                value = elsewhere + z
                first = found is not None and (node, feature) < found[:2]
                if value < least * (1.0 - _EQUAL) or (first and value <= least * (1.0 + _EQUAL)):
                    least, found = value, (node, feature, threshold)
        return found

    def _splits(
        self, rows: NDArray[np.intp], positive: Matrix, negative: Matrix
    ) -> Iterator[tuple[float, int, float]]:
        """Yield the best split among the features of either kind, in blocks."""
        if self._features.size:
            sums = positive.sum(axis=0), negative.sum(axis=0)
            answers = self._answers[rows]
            yes = answers.sum(axis=0)
            z = _impurity(answers.T @ positive, answers.T @ negative, *sums).sum(axis=-1)
            z[(yes == 0.0) | (yes == rows.size)] = np.inf
            best = _first_of_least(z)
            if np.isfinite(z[best]):
                yield float(z[best]), int(self._features[best]), float(self._thresholds[best])
        if self._sorted.size == 0 or rows.size < 2:
            return
        place = np.full(len(self.X), -1)
        place[rows] = np.arange(rows.size)
        step = max(1, _BLOCK // rows.size)
        for start in range(0, self._sorted.size, step):
            features = self._sorted[start : start + step]
            order = place[self._order[start : start + step]]
            order = order[order >= 0].reshape(features.size, rows.size)
            values = self.X[rows[order], features[:, None]]
            z = np.zeros((features.size, rows.size - 1))
            for own_positive, own_negative in zip(positive.T, negative.T, strict=True):
                z += _impurity(
                    np.cumsum(own_positive[order], axis=1)[:, :-1],
                    np.cumsum(own_negative[order], axis=1)[:, :-1],
                    own_positive.sum(),
                    own_negative.sum(),
                )
            z[values[:, :-1] == values[:, 1:]] = np.inf
            best, at = divmod(_first_of_least(z), z.shape[1])
            if np.isfinite(z[best, at]):
                threshold = _middle(values[best, at], values[best, at + 1])
                yield float(z[best, at]), int(features[best]), threshold


def _first_of_least(z: Matrix) -> int:
    """Return the place of the first value that equals the least up to rounding."""
    return int(np.argmax(z <= z.min() * (1.0 + _EQUAL)))


def _impurity(positive: Matrix, negative: Matrix, all_positive: Any, all_negative: Any) -> Matrix:
    """Return 2 [sqrt(W+ W-) of the yes + sqrt(W+ W-) of the no] of each condition and label."""
    # Differences of sums can fall below 0 by rounding.
    others = np.maximum(all_positive - positive, 0.0) * np.maximum(all_negative - negative, 0.0)
    return np.asarray(2.0 * (np.sqrt(positive * negative) + np.sqrt(others)))


def _middle(a: float, b: float) -> float:
    """Return a threshold with a below it and b not."""
    middle = a + (b - a) / 2.0
    return float(middle if a < middle <= b else b)


def _dense(X: Any) -> Matrix:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)
