"""Probabilities of labels from their scores, by one logistic regression for all labels."""

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from multimargin.blas import with_one_blas_thread
from multimargin.calibration.logistic import PooledLogistic
from multimargin.calibration.pairs import N_FEATURES, Listed, Pairs, by_features, features_of
from multimargin.checks.parameters import check_flag, check_integer, check_real
from multimargin.checks.scores import check_scores
from multimargin.thresholds.base import check_rows
from multimargin.typing import LabelsLike, Matrix, MatrixLike, Scores, Vector

# Factors of the features of a label's own intercept and slopes: the smaller, the more these shrink.
_OWN_INTERCEPT, _OWN_SLOPE = 0.5, 0.3
# The penalty of the weights that labels share.
_PENALTY = 5.0
# Labels of a row to learn from, and number of pairs of all rows below which more are used.
_FEWEST_BEST, _PAIRS = 30, 2**20
# The most that a pair may weigh, with C.
_HEAVIEST = 1e10


class PooledCalibration(BaseEstimator):  # type: ignore[misc]
    """Probabilities of labels from scores of one or several models, pooled over the labels.

    Scores of different labels come from different amounts of data: a margin of a rare label means
    less than that of a frequent one. One logistic regression over all labels, with a shrunken
    correction for each, maps scores to probabilities, so that labels with few rows borrow strength
    from the others. The same regression weights the scores of several models, *blocks*, equally for
    all labels up to a shrunken correction for each.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the regularisation, as in scikit-learn's `LogisticRegression`.
    top_k : int or None, default=None
        The labels with the `top_k` highest scores of each row in the first block are learned from,
        and those that tie with them; None is 30, or more where all rows have no more than a
        million of them.

    per_label : bool, default=True
        If False, labels have no corrections of their own.

    Attributes
    ----------
    coef_ : ndarray of shape (4 + n_blocks,)
        Weights of the features that all labels share.
    intercept_ : float
        Common intercept.
    label_coef_ : ndarray of shape (n_blocks, q)
        Offset of the weight of each block's scores, for each label.
    label_intercept_ : ndarray of shape (q,)
        Offset of the intercept, for each label.
    gap_ : float
        Upper bound of how far the objective is above its minimum, relative to the objective.
    n_iter_ : int
        Newton steps.

    Notes
    -----
    The features of label k of row i, whose scores in descending order are f_(1), f_(2), ...: the
    score f_ik; f_ik - f_(1); f_ik less the mean of f_(1), f_(2), f_(3); the logarithm of its rank;
    the standard deviation of the row, all of the first block; and the score of each further block.
    In the regression each is divided by its own standard deviation; the label's own intercept and
    slopes have columns of 0.5 and of 0.3 times each block's scores. The penalty is half the squared
    norm of a label's own weights, and 2.5 times the squared distance of the shared ones, without
    the intercept, from those of the mean of the blocks: 1 / n_blocks for the score of each, 0 for
    the other features. Held-out scores of few rows would otherwise give useful blocks negative
    weights. This is Platt's scaling with partial pooling. Labels below the `top_k` get their
    probability from the same formula.

    Learn it from held-out scores, as `CalibratedClassifier` does.

    Examples
    --------
    >>> import numpy as np
    >>> from multimargin.calibration import PooledCalibration
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(500, 4))
    >>> y = rng.random((500, 4)) < 1 / (1 + np.exp(-2 * scores))
    >>> PooledCalibration().fit(scores, y).predict_proba(scores).shape
    (500, 4)
    """

    coef_: Vector
    intercept_: float
    label_coef_: Matrix
    label_intercept_: Vector
    _solution: tuple[Vector, Matrix]

    def __init__(self, C: float = 1.0, top_k: int | None = None, *, per_label: bool = True) -> None:
        self.C = C
        self.top_k = top_k
        self.per_label = per_label

    def fit(
        self, scores: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn the map from scores to probabilities.

        Parameters
        ----------
        scores : array-like of shape (n, q) or list of n_blocks such
            Scores of a model, best of rows that it has not seen, or of several models.
        y : array-like, sparse matrix or data frame of shape (n, q)
            Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which nothing
            is learned from.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; None gives each row the weight 1.

        Raises
        ------
        TypeError, ValueError
            If an argument is malformed, or no label is known in a row of positive weight.
        """
        blocks = _as_blocks(scores)
        first, indicator, weights = check_rows(blocks[0], y, sample_weight)
        n, q = indicator.shape
        others = [check_scores(one, n_rows=n, n_labels=q) for one in blocks[1:]]
        return self.fit_pairs(self.pairs_of([first, *others], indicator), weights)

    def pairs_of(
        self,
        blocks: Sequence[Scores],
        indicator: NDArray[np.uint8],
        listed: Listed | None = None,
    ) -> Pairs:
        """Return what is learned from, of checked arguments: all labels, or those listed."""
        return Pairs.of(blocks, indicator, self.best_of(len(indicator)), listed)

    def best_of(self, n: int) -> int:
        """Return how many labels of each of n rows are learned from."""
        if self.top_k is None:
            return max(_FEWEST_BEST, _PAIRS // max(n, 1))
        return check_integer("top_k", self.top_k, at_least=1)

    @with_one_blas_thread
    def fit_pairs(
        self,
        pairs: Pairs,
        sample_weight: Vector | None,
        start: "PooledCalibration | None" = None,
        tolerance: float = 1e-10,
    ) -> Self:
        """Fit to pairs, with a first guess up to the scale of the features."""
        C = check_real("C", self.C, above=0.0, at_most=1e6)
        if sample_weight is not None:
            pairs = pairs.of_rows(sample_weight > 0.0)
        size, q = pairs.rows.size, pairs.counts.size
        if size == 0:
            raise ValueError("y has no known label in a row of positive weight; expected some.")
        weights = np.ones(size) if sample_weight is None else sample_weight[pairs.rows]
        # With heavier pairs the penalty would be lost in rounding.
        weights = weights * min(1.0, _HEAVIEST / (C * weights.max()))
        scale = np.array([mean_and_deviation(feature, weights)[1] for feature in pairs.features])
        A = np.ones((scale.size + 1, size))
        np.divide(pairs.features, scale[:, None], out=A[:-1])
        blocks = places_of_blocks(pairs.n_blocks)
        own_scale = np.r_[_OWN_INTERCEPT, np.full(len(blocks), _OWN_SLOPE)]
        if not check_flag("per_label", self.per_label):
            own_scale[:] = 0.0
        centre = np.zeros(len(A))
        centre[blocks] = 1.0 / len(blocks)
        problem = PooledLogistic(
            A,
            pairs.counts,
            pairs.relevant,
            C * weights,
            np.r_[-1, blocks],
            own_scale,
            centre,
            _PENALTY,
        )
        guess = centre, np.zeros((own_scale.size, q))
        if start is not None:
            guess = start._solution
        common, own, self.n_iter_, self.gap_ = problem.minimise(*guess, tolerance)
        self._solution = common, own
        self.coef_ = common[:-1] / scale
        self.intercept_ = float(common[-1])
        own = own_scale[:, None] * own
        self.label_intercept_ = own[0]
        self.label_coef_ = own[1:] / scale[blocks, None]
        return self

    def decision_function(self, scores: MatrixLike) -> Matrix:
        """Return the logarithm of the odds of each label.

        Parameters
        ----------
        scores : array-like of shape (n, q) or list of n_blocks such
            Scores of the models, as in `fit`.

        Returns
        -------
        ndarray of shape (n, q)
            log(p / (1 - p)): a ranking of all labels of all rows on one scale.
        """
        check_is_fitted(self)
        n_blocks, q = self.label_coef_.shape
        blocks = _as_blocks(scores)
        if len(blocks) != n_blocks:
            raise ValueError(f"scores has {len(blocks)} blocks; expected {n_blocks} as in fit.")
        first = check_scores(blocks[0], n_labels=q)
        others = [check_scores(one, n_rows=len(first), n_labels=q) for one in blocks[1:]]
        return self.odds([first, *others])

    def shares(self, blocks: Sequence[Scores]) -> list[Matrix]:
        """Return the contribution of each block to the log odds, (n, q) each.

        With the intercepts they sum to the odds.

        Parameters
        ----------
        blocks : sequence of n_blocks ndarrays of shape (n, q)
            Scores of the models, as in `fit`.

        Returns
        -------
        list of ndarray of shape (n, q)
            The share of each model.
        """
        features = features_of(blocks)
        places = places_of_blocks(len(blocks))
        weighted = [weight * feature for weight, feature in zip(self.coef_, features, strict=True)]
        own = [w * features[place] for w, place in zip(self.label_coef_, places, strict=True)]
        first = own[0] + sum(weighted[:N_FEATURES])
        return [first, *(a + b for a, b in zip(own[1:], weighted[N_FEATURES:], strict=True))]

    def odds(
        self,
        blocks: Sequence[Scores],
        chosen: NDArray[np.intp] | None = None,
        listed: Listed | None = None,
    ) -> Matrix:
        """Return the logarithms of the odds of all or chosen rows by checked scores."""
        return by_features(blocks, self.odds_of, chosen, listed)

    def odds_of(
        self, features: Sequence[Matrix], labels: NDArray[np.intp] | EllipsisType = ...
    ) -> Matrix:
        """Return the logarithms of the odds by the features of the pairs, of all or some labels."""
        odds = np.empty(features[0].shape)
        odds[...] = self.label_intercept_[labels] + self.intercept_
        for own, place in zip(
            self.label_coef_, places_of_blocks(len(self.label_coef_)), strict=True
        ):
            odds += own[labels] * features[place]
        for weight, feature in zip(self.coef_, features, strict=True):
            odds += weight * feature
        return odds

    def predict_proba(self, scores: MatrixLike) -> Matrix:
        """Return the probability of each label.

        Parameters
        ----------
        scores : array-like of shape (n, q) or list of n_blocks such
            Scores of the models, as in `fit`.

        Returns
        -------
        ndarray of shape (n, q)
            Probabilities; those of a row do not sum to 1.
        """
        probabilities: Matrix = expit(self.decision_function(scores))
        return probabilities


def places_of_blocks(n_blocks: int) -> NDArray[np.intp]:
    """Return the places of the scores of each block among the features."""
    further = np.arange(N_FEATURES, N_FEATURES + n_blocks - 1, dtype=np.intp)
    return np.concatenate([np.zeros(1, dtype=np.intp), further])


def _as_blocks(scores: Any) -> list[Any]:
    """Return the blocks of an argument: a list of matrices, or one matrix."""
    several = isinstance(scores, list | tuple) and scores and all(np.ndim(s) == 2 for s in scores)
    return list(scores) if several else [scores]


def mean_and_deviation(feature: Vector, weights: Vector) -> tuple[float, float]:
    """Return the mean and the standard deviation of a feature, the latter 1 for a constant one."""
    mean = float(np.average(feature, weights=weights))
    deviation = float(np.sqrt(np.average((feature - mean) ** 2, weights=weights)))
    return mean, deviation if deviation > 1e-12 * (1.0 + abs(mean)) else 1.0
