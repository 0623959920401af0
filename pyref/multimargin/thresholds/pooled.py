"""Probabilities of labels from their scores, by one logistic regression for all labels."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.labels import UNKNOWN, check_scores
from multimargin.checks.parameters import check_integer, check_real
from multimargin.thresholds.base import check_rows

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

N_FEATURES = 5
# What the columns of a label's own correction are multiplied by: the smaller, the more it shrinks.
_OWN_INTERCEPT, _OWN_SLOPE = 0.5, 0.3
# Of the common intercept, which nothing else bounds where all labels are alike.
_RIDGE = 1e-6
_MAX_STEPS = 100


class PooledCalibration(BaseEstimator):  # type: ignore[misc]
    """Probabilities of labels from their scores, pooled over the labels.

    Scores of different labels come from different amounts of data: the first margin of a rare label
    is worth less than that of a frequent one. One logistic regression over all labels, with a
    shrunken correction for each, learns what scores are worth: labels with few rows lean on the
    others.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the regularisation, as in scikit-learn's `LogisticRegression`.
    n_best : int, default=100
        The labels with the `n_best` highest scores of each row are learned from, and those that tie
        with them.

    Attributes
    ----------
    coef_ : ndarray of shape (5,)
        Weights of the features that all labels share.
    intercept_ : float
        Common intercept.
    label_coef_ : ndarray of shape (q,)
        What is added to the weight of the first feature, for each label.
    label_intercept_ : ndarray of shape (q,)
        What is added to the intercept, for each label.
    n_iter_ : int
        Newton steps.

    Notes
    -----
    The features of label k of row i, whose scores in descending order are f_(1), f_(2), ...: the
    score f_ik; f_ik - f_(1); f_ik less the mean of f_(1), f_(2), f_(3); the logarithm of its rank;
    the standard deviation of the row. In the regression each is divided by its own standard
    deviation; the label's own intercept and slope have columns of 0.5 and of 0.3 times the first
    feature. The penalty is half the squared norm of all weights but the common intercept. This is
    Platt's scaling with partial pooling. Labels below the `n_best` get their probability from the
    same formula.

    Learn it from held-out scores; `CalibratedClassifier` does.

    Examples
    --------
    >>> import numpy as np
    >>> from multimargin.thresholds import PooledCalibration
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(500, 4))
    >>> y = rng.random((500, 4)) < 1 / (1 + np.exp(-2 * scores))
    >>> PooledCalibration().fit(scores, y).predict_proba(scores).shape
    (500, 4)
    """

    coef_: Vector
    intercept_: float
    label_coef_: Vector
    label_intercept_: Vector
    _solution: tuple[Vector, Matrix]

    def __init__(self, C: float = 1.0, n_best: int = 100) -> None:
        self.C = C
        self.n_best = n_best

    def fit(self, scores: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn what scores are worth.

        Parameters
        ----------
        scores, y, sample_weight
            As in `Threshold.fit`.
        """
        return self._fit(*check_rows(scores, y, sample_weight))

    def _fit(
        self,
        scores: Matrix,
        indicator: NDArray[np.uint8],
        sample_weight: Vector | None,
        start: "PooledCalibration | None" = None,
        tolerance: float = 1e-10,
    ) -> Self:
        """Fit to checked arguments, with a first guess up to the scale of the scores."""
        C = check_real("C", self.C, above=0.0, at_most=1e6)
        n_best = check_integer("n_best", self.n_best, at_least=1)
        features = _features(scores)
        learned = (features[3] < np.log(n_best + 0.5)) & (indicator != UNKNOWN)
        if sample_weight is not None:
            learned &= (sample_weight > 0.0)[:, None]
        rows, labels = np.nonzero(learned)
        if rows.size == 0:
            raise ValueError("y has no known label in a row of positive weight; expected some.")
        weights = np.ones(rows.size) if sample_weight is None else sample_weight[rows]
        A = np.ones((rows.size, N_FEATURES + 1))
        A[:, :-1] = np.column_stack([feature[rows, labels] for feature in features])
        mean = np.average(A[:, :-1], axis=0, weights=weights)
        deviation = np.sqrt(np.average((A[:, :-1] - mean) ** 2, axis=0, weights=weights))
        scale = np.where(deviation > 1e-12 * (1.0 + np.abs(mean)), deviation, 1.0)
        A[:, :-1] /= scale
        problem = _Problem(A, labels, indicator[rows, labels] == 1, C * weights, scores.shape[1])
        guess = np.zeros(N_FEATURES + 1), np.zeros((scores.shape[1], 2))
        if start is not None:
            guess = start._solution
        common, own, self.n_iter_ = problem.solve(*guess, tolerance)
        self._solution = common, own
        self.coef_ = common[:-1] / scale
        self.intercept_ = float(common[-1])
        self.label_coef_ = _OWN_SLOPE * own[:, 1] / scale[0]
        self.label_intercept_ = _OWN_INTERCEPT * own[:, 0]
        return self

    def decision_function(self, scores: Any) -> Matrix:
        """Return the logarithm of the odds of each label.

        Parameters
        ----------
        scores : array-like of shape (n, q)
            Scores f_k(x_i).

        Returns
        -------
        ndarray of shape (n, q)
            log(p / (1 - p)): a ranking of all labels of all rows on one scale.
        """
        check_is_fitted(self)
        scores = check_scores(scores, n_labels=self.label_coef_.size).astype(np.float64)
        odds: Matrix = scores * self.label_coef_
        odds += self.label_intercept_ + self.intercept_
        for weight, feature in zip(self.coef_, _features(scores), strict=True):
            odds += weight * feature
        return odds

    def predict_proba(self, scores: Any) -> Matrix:
        """Return the probability of each label.

        Parameters
        ----------
        scores : array-like of shape (n, q)
            Scores f_k(x_i).

        Returns
        -------
        ndarray of shape (n, q)
            Probabilities; those of a row do not sum to 1.
        """
        probabilities: Matrix = expit(self.decision_function(scores))
        return probabilities


def _features(scores: Matrix) -> list[Matrix]:
    """Return the five features of each row and label, of shape (n, q) or (n, 1)."""
    f = scores.astype(np.float64, copy=False)
    descending = np.argsort(-f, axis=1, kind="stable")
    ordered = np.take_along_axis(f, descending, axis=1)
    # Equal scores have the rank of the first of them.
    places = np.zeros(f.shape, dtype=np.intp)
    places[:, 1:] = np.where(ordered[:, 1:] < ordered[:, :-1], np.arange(1, f.shape[1]), 0)
    places = np.maximum.accumulate(places, axis=1)
    rank = np.empty(f.shape)
    np.put_along_axis(rank, descending, np.log1p(places), axis=1)
    spread = np.broadcast_to(f.std(axis=1, keepdims=True), f.shape)
    return [f, f - ordered[:, :1], f - ordered[:, :3].mean(axis=1, keepdims=True), rank, spread]


class _Problem:
    """Penalised logistic regression on common columns A and two own columns a label.

    The own columns of a pair are its label's alone, so that the Hessian is a border of common
    weights around blocks of 2 x 2: a Newton step costs one pass over the pairs.
    """

    def __init__(
        self,
        A: Matrix,
        labels: NDArray[np.intp],
        relevant: NDArray[np.bool_],
        weights: Vector,
        q: int,
    ) -> None:
        # Sums over the pairs of a label are sums over neighbours.
        order = np.argsort(labels, kind="stable")
        self.A, self.labels = A[order], labels[order]
        self.sign = np.where(relevant[order], 1.0, -1.0)
        self.weights, self.q = weights[order], q
        self.own = np.column_stack([np.full(A.shape[0], _OWN_INTERCEPT), _OWN_SLOPE * A[:, 0]])
        self.own = self.own[order]
        self.present, self.starts = np.unique(self.labels, return_index=True)
        self.penalty = np.ones(A.shape[1])
        self.penalty[-1] = _RIDGE

    def solve(self, common: Vector, own: Matrix, tolerance: float) -> tuple[Vector, Matrix, int]:
        """Return the weights of the common and the own columns, and the steps.

        It stops where a step promises less than `tolerance` times the objective.
        """
        odds, value = self._at(common, own)
        for step in range(1, _MAX_STEPS + 1):
            towards_common, towards_own, gain = self._newton_step(common, own, odds)
            if gain <= tolerance * value:
                return common, own, step
            length = 1.0
            while True:
                tried = common + length * towards_common, own + length * towards_own
                odds, new = self._at(*tried)
                if new <= value - 1e-4 * length * gain or length < 1e-6:
                    break
                length /= 2.0
            (common, own), value = tried, new
        return common, own, _MAX_STEPS

    def _at(self, common: Vector, own: Matrix) -> tuple[Vector, float]:
        """Return the log odds of the pairs, and the objective."""
        odds = self.A @ common + np.einsum("ij,ij->i", self.own, own[self.labels])
        loss = float(self.weights @ np.logaddexp(0.0, -self.sign * odds))
        return odds, loss + 0.5 * float(self.penalty @ common**2 + np.sum(own**2))

    def _newton_step(
        self, common: Vector, own: Matrix, odds: Vector
    ) -> tuple[Vector, Matrix, float]:
        """Return the step, and the gain that it promises to the first order."""
        wrong = expit(-self.sign * odds)
        residual = self.weights * self.sign * wrong
        curvature = self.weights * wrong * (1.0 - wrong)
        downhill = self.A.T @ residual - self.penalty * common
        own_downhill = self._sums(self.own * residual[:, None]) - own
        weighted = curvature[:, None] * self.A
        hessian = self.A.T @ weighted + np.diag(self.penalty)
        border = np.stack([self._sums(weighted * column[:, None]) for column in self.own.T], axis=1)
        blocks = np.stack(
            [self._sums(self.own * (curvature * column)[:, None]) for column in self.own.T], axis=1
        ) + np.eye(2)
        solved = np.linalg.solve(blocks, np.concatenate([border, own_downhill[:, :, None]], axis=2))
        through, alone = solved[:, :, :-1], solved[:, :, -1]
        reduced = hessian - np.einsum("kai,kaj->ij", border, through)
        towards = np.linalg.solve(reduced, downhill - np.einsum("kai,ka->i", border, alone))
        towards_own = alone - through @ towards
        return towards, towards_own, float(downhill @ towards + np.sum(own_downhill * towards_own))

    def _sums(self, values: Matrix) -> Matrix:
        """Return the sums of columns over the pairs of each label."""
        sums = np.zeros((self.q, values.shape[1]))
        sums[self.present] = np.add.reduceat(values, self.starts, axis=0)
        return sums
