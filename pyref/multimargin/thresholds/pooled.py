"""Probabilities of labels from their scores, by one logistic regression for all labels."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from multimargin.blas import with_one_blas_thread
from multimargin.checks.labels import UNKNOWN, check_scores
from multimargin.checks.parameters import check_integer, check_real
from multimargin.thresholds.base import check_rows

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

N_FEATURES = 5
# What the features of a label's own intercept and slope are multiplied by: the smaller, the more
# these shrink.
_OWN = np.array([[0.5], [0.3]])
# Of the common intercept, which nothing else bounds where all labels are alike.
_RIDGE = 1e-6
_MAX_STEPS = 100
# Share of a row's largest score below which two of its scores differ by rounding.
ROUNDING = 1e-10


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
        scores, indicator, weights = check_rows(scores, y, sample_weight)
        return self._fit(features_of(scores), indicator, weights)

    @with_one_blas_thread
    def _fit(
        self,
        features: list[Matrix],
        indicator: NDArray[np.uint8],
        sample_weight: Vector | None,
        start: "PooledCalibration | None" = None,
        tolerance: float = 1e-10,
    ) -> Self:
        """Fit to the features of checked arguments, with a first guess up to their scale."""
        C = check_real("C", self.C, above=0.0, at_most=1e6)
        n_best = check_integer("n_best", self.n_best, at_least=1)
        learned = (features[3] < np.log(n_best + 0.5)) & (indicator != UNKNOWN)
        if sample_weight is not None:
            learned &= (sample_weight > 0.0)[:, None]
        # In the order of the labels: sums over the pairs of a label are sums over neighbours.
        labels, rows = np.nonzero(learned.T)
        if rows.size == 0:
            raise ValueError("y has no known label in a row of positive weight; expected some.")
        weights = np.ones(rows.size) if sample_weight is None else sample_weight[rows]
        A = np.ones((N_FEATURES + 1, rows.size))
        scale = np.ones(N_FEATURES)
        for place, feature in enumerate(features):
            column = feature[rows, labels]
            mean = np.average(column, weights=weights)
            deviation = np.sqrt(np.average((column - mean) ** 2, weights=weights))
            if deviation > 1e-12 * (1.0 + np.abs(mean)):
                scale[place] = deviation
            A[place] = column / scale[place]
        q = indicator.shape[1]
        counts = np.bincount(labels, minlength=q)
        problem = _Problem(A, counts, indicator[rows, labels] == 1, C * weights)
        guess = np.zeros(N_FEATURES + 1), np.zeros((2, q))
        if start is not None:
            guess = start._solution
        common, own, self.n_iter_ = problem.solve(*guess, tolerance)
        self._solution = common, own
        self.coef_ = common[:-1] / scale
        self.intercept_ = float(common[-1])
        self.label_intercept_, slope = _OWN * own
        self.label_coef_ = slope / scale[0]
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
        return self._odds(features_of(check_scores(scores, n_labels=self.label_coef_.size)))

    def _odds(self, features: list[Matrix]) -> Matrix:
        odds: Matrix = features[0] * self.label_coef_
        odds += self.label_intercept_ + self.intercept_
        for weight, feature in zip(self.coef_, features, strict=True):
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


def features_of(scores: NDArray[Any]) -> list[Matrix]:
    """Return the five features of each row and label, of shape (n, q)."""
    f = scores.astype(np.float64, copy=False)
    descending = np.argsort(-f, axis=1, kind="stable")
    ordered = np.take_along_axis(f, descending, axis=1)
    # Scores that are equal but for rounding have the rank of the first of them.
    rounding = ROUNDING * np.abs(f).max(axis=1, keepdims=True)
    falls = ordered[:, 1:] < ordered[:, :-1] - rounding
    places = np.zeros(f.shape, dtype=np.intp)
    places[:, 1:] = np.where(falls, np.arange(1, f.shape[1]), 0)
    places = np.maximum.accumulate(places, axis=1)
    rank = np.empty(f.shape)
    np.put_along_axis(rank, descending, np.log1p(places), axis=1)
    spread = np.broadcast_to(f.std(axis=1, keepdims=True), f.shape)
    return [f, f - ordered[:, :1], f - ordered[:, :3].mean(axis=1, keepdims=True), rank, spread]


class _Problem:
    """Penalised logistic regression on common features A and two own features a label.

    The own features of a pair are its label's alone, so that the Hessian is a border of common
    weights around blocks of 2 x 2: a Newton step costs one pass over the pairs. They are multiples
    of the last common feature, 1, and of the first, the score. Products with A are einsum's: the
    threads of a BLAS cost more than they gain on six rows.
    """

    def __init__(
        self, A: Matrix, counts: NDArray[np.intp], relevant: NDArray[np.bool_], weights: Vector
    ) -> None:
        # (6, N): The pairs of a label are neighbours; `counts` has how many each label has.
        self.A, self.counts, self.weights = A, counts, weights
        self.sign = np.where(relevant, 1.0, -1.0)
        self.present = np.flatnonzero(counts)
        self.starts = (np.cumsum(counts) - counts)[self.present]
        self.penalty = np.ones(A.shape[0])
        self.penalty[-1] = _RIDGE

    def solve(self, common: Vector, own: Matrix, tolerance: float) -> tuple[Vector, Matrix, int]:
        """Return the weights of the common and of the own features, (2, q), and the steps."""
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
        intercept, slope = np.repeat(_OWN * own, self.counts, axis=1)
        odds = np.einsum("i,ij->j", common, self.A) + intercept + slope * self.A[0]
        margin = self.sign * odds
        losses = np.log1p(np.exp(-np.abs(margin))) - np.minimum(margin, 0.0)
        penalty = 0.5 * float(self.penalty @ common**2 + np.sum(own**2))
        return odds, float(np.einsum("i,i", self.weights, losses)) + penalty

    def _newton_step(
        self, common: Vector, own: Matrix, odds: Vector
    ) -> tuple[Vector, Matrix, float]:
        """Return the step, and the gain that it promises to the first order."""
        wrong = expit(-self.sign * odds)
        residual = self._sums(self.weights * self.sign * wrong * self.A)
        weighted = self.weights * wrong * (1.0 - wrong) * self.A
        downhill = residual.sum(axis=1) - self.penalty * common
        own_downhill = _OWN * residual[[-1, 0]] - own
        hessian = np.einsum("in,jn->ij", self.A, weighted) + np.diag(self.penalty)
        # (q, 2, 6) and (q, 2, 2)
        border = np.stack([self._sums(weighted), self._sums(weighted * self.A[0])]) * _OWN[:, None]
        border = border.transpose(2, 0, 1)
        blocks = border[:, :, [-1, 0]] * _OWN[:, 0] + np.eye(2)
        solved = np.linalg.solve(blocks, np.dstack([border, own_downhill.T]))
        through, alone = solved[:, :, :-1], solved[:, :, -1]
        reduced = hessian - np.einsum("kai,kaj->ij", border, through)
        towards = np.linalg.solve(reduced, downhill - np.einsum("kai,ka->i", border, alone))
        towards_own = (alone - through @ towards).T
        return towards, towards_own, float(downhill @ towards + np.sum(own_downhill * towards_own))

    def _sums(self, values: Matrix) -> Matrix:
        """Return the sums of rows over the pairs of each label."""
        sums = np.zeros((values.shape[0], self.counts.size))
        sums[:, self.present] = np.add.reduceat(values, self.starts, axis=1)
        return sums
