"""Thresholds t(x): the relevant labels of x are those with f_k(x) >= t(x).

A threshold is learned after the scores f, from the scores of the training rows (Elisseeff and
Weston, as described after equation 27 of Xu's Rank-CVM paper) or from their features (section 3.4
of the Rank-HLapSVM paper). A constant needs no learning.
"""

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lapack
from sklearn.base import BaseEstimator, clone
from sklearn.svm import LinearSVR
from sklearn.utils import check_array, gen_batches
from sklearn.utils.validation import check_is_fitted

from multimargin.labels import check_indicator, check_scores

Vector = NDArray[np.float64]

# A chunk of rows and its sorted copies then stay in the processor's cache.
_ENTRIES_PER_CHUNK = 2**17

# Singular values below this fraction of the largest count as zero. Scores of the ranking models sum
# to zero over the labels only up to rounding that piles up over a fit: machine precision itself
# would take that noise for information.
_RELATIVE_RANK_TOLERANCE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}


class ScoresThreshold(BaseEstimator):  # type: ignore[misc]
    """Threshold that is linear in the scores of all labels.

    Attributes
    ----------
    coef_ : ndarray of shape (q,)
        Weight s_k of each score.
    intercept_ : float
        Constant term s_0.

    Notes
    -----
    t(x) = sum_k s_k f_k(x) + s_0 (Rank-CVM paper, after equation 27): least squares of
    `hamming_thresholds` of the training rows on (f_1, ..., f_q, 1). Where these columns are
    linearly dependent, (s_1, ..., s_q, s_0) is the solution of least Euclidean norm.
    """

    def fit(self, scores: Any, Y: Any, X: Any = None) -> Self:
        """Fit the threshold.

        Parameters
        ----------
        scores : array-like of shape (n, q)
            Scores f_k(x_i) of the training rows.
        Y : array-like, sparse matrix or data frame of shape (n, q)
            Indicator of their relevant labels, 0 and 1.
        X : object, default=None
            Ignored.

        Returns
        -------
        ScoresThreshold
            The fitted threshold itself.

        Raises
        ------
        ValueError
            If an argument is malformed.
        """
        Y = check_indicator(Y)
        n, q = Y.shape
        scores = check_scores(scores, n_rows=n, n_labels=q)
        target = _best_thresholds(scores, Y)
        # Column-major, so that LAPACK can work in this array.
        design = np.empty((n, q + 1), order="F")
        design[:, :q] = scores
        design[:, q] = 1.0
        solution = _minimum_norm_least_squares(
            design, target, _RELATIVE_RANK_TOLERANCE[scores.dtype]
        )
        self.coef_ = solution[:q]
        self.intercept_ = float(solution[q])
        return self

    def predict(self, scores: Any, X: Any = None) -> Vector:
        """Return the threshold of each row.

        Parameters
        ----------
        scores : array-like of shape (n, q)
            Scores f_k(x_i).
        X : object, default=None
            Ignored.

        Returns
        -------
        ndarray of shape (n,)
            t(x_i).

        Raises
        ------
        ValueError
            If `scores` is malformed.
        """
        check_is_fitted(self)
        scores = check_scores(scores, n_labels=self.coef_.size)
        thresholds: Vector = scores @ self.coef_ + self.intercept_
        return thresholds


class FeaturesThreshold(BaseEstimator):  # type: ignore[misc]
    """Threshold that is linear in the features.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the regression's loss against its regularisation, positive.
    epsilon : float, default=0.0
        Errors up to `epsilon` are free, nonnegative.
    max_iter : int, default=10000
        Largest number of passes of the regression's solver.
    random_state : int, RandomState instance or None, default=None
        Order in which the solver visits the rows; an int makes the result reproducible.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Weight of each feature.
    intercept_ : float
        Constant term.
    n_iter_ : int
        Passes that the solver made.

    Notes
    -----
    Rank-HLapSVM paper, section 3.4: linear support vector regression, on the features, of the
    middle between the lowest relevant and the highest irrelevant score of each training row. Rows
    that lack either kind of label are left out. The intercept is regularised, as in scikit-learn's
    `LinearSVR`, and features of very different scales slow its solver down.
    """

    def __init__(
        self,
        C: float = 1.0,
        epsilon: float = 0.0,
        max_iter: int = 10000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, scores: Any, Y: Any, X: Any = None) -> Self:
        """Fit the threshold.

        Parameters
        ----------
        scores : array-like of shape (n, q)
            Scores f_k(x_i) of the training rows.
        Y : array-like, sparse matrix or data frame of shape (n, q)
            Indicator of their relevant labels, 0 and 1.
        X : array-like or sparse matrix of shape (n, d)
            Features x_i of the training rows. Required.

        Returns
        -------
        FeaturesThreshold
            The fitted threshold itself.

        Raises
        ------
        ValueError
            If an argument is malformed, or if no row has both kinds of labels.

        Warns
        -----
        ConvergenceWarning
            If the solver stops at `max_iter`.
        """
        Y = check_indicator(Y)
        n, q = Y.shape
        scores = check_scores(scores, n_rows=n, n_labels=q)
        X = _check_features(X, n)
        n_relevant = np.count_nonzero(Y, axis=1)
        with_pairs = np.flatnonzero((n_relevant > 0) & (n_relevant < q))
        if with_pairs.size == 0:
            raise ValueError(
                "Y has no row with both relevant and irrelevant labels; a threshold cannot be "
                "learned from the features."
            )
        regression = LinearSVR(
            C=self.C,
            epsilon=self.epsilon,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        regression.fit(X[with_pairs], _middles(scores, Y, with_pairs))
        self.coef_ = regression.coef_
        self.intercept_ = float(regression.intercept_[0])
        self.n_iter_ = int(regression.n_iter_)
        return self

    def predict(self, scores: Any, X: Any = None) -> Vector:
        """Return the threshold of each row.

        Parameters
        ----------
        scores : array-like of shape (n, q)
            Scores f_k(x_i).
        X : array-like or sparse matrix of shape (n, d)
            Features x_i. Required.

        Returns
        -------
        ndarray of shape (n,)
            t(x_i).

        Raises
        ------
        ValueError
            If an argument is malformed.
        """
        check_is_fitted(self)
        X = _check_features(X, check_scores(scores).shape[0])
        if X.shape[1] != self.coef_.size:
            raise ValueError(f"X has {X.shape[1]} features; expected {self.coef_.size}, as in fit.")
        thresholds: Vector = X @ self.coef_ + self.intercept_
        return thresholds


class ConstantThreshold(BaseEstimator):  # type: ignore[misc]
    """The same threshold for all rows.

    Parameters
    ----------
    value : float, default=0.0
        The threshold, finite.
    """

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def fit(self, scores: Any, Y: Any, X: Any = None) -> Self:
        """Check the arguments; there is nothing to learn.

        Parameters
        ----------
        scores : array-like of shape (n, q)
            Scores f_k(x_i) of the training rows.
        Y : array-like, sparse matrix or data frame of shape (n, q)
            Indicator of their relevant labels, 0 and 1.
        X : object, default=None
            Ignored.

        Returns
        -------
        ConstantThreshold
            The threshold itself.

        Raises
        ------
        ValueError
            If an argument or `value` is malformed.
        """
        Y = check_indicator(Y)
        check_scores(scores, n_rows=Y.shape[0], n_labels=Y.shape[1])
        _check_value(self.value, "value")
        return self

    def predict(self, scores: Any, X: Any = None) -> Vector:
        """Return the threshold of each row.

        Parameters
        ----------
        scores : array-like of shape (n, q)
            Scores f_k(x_i).
        X : object, default=None
            Ignored.

        Returns
        -------
        ndarray of shape (n,)
            `value` in each entry.

        Raises
        ------
        ValueError
            If `scores` or `value` is malformed.
        """
        value = _check_value(self.value, "value")
        return np.full(check_scores(scores).shape[0], value)

    def __sklearn_is_fitted__(self) -> bool:
        return True


Threshold = ScoresThreshold | FeaturesThreshold | ConstantThreshold


def make_threshold(
    threshold: str | float | Threshold,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> Threshold:
    """Return an unfitted threshold.

    Parameters
    ----------
    threshold : {"scores", "features"}, float or threshold
        "scores" is `ScoresThreshold`, "features" is `FeaturesThreshold`, a number is a
        `ConstantThreshold`, and a threshold of these classes is cloned.
    random_state : int, RandomState instance or None, default=None
        Passed to the `FeaturesThreshold` that "features" makes.

    Returns
    -------
    ScoresThreshold, FeaturesThreshold or ConstantThreshold
        A new object.

    Raises
    ------
    ValueError
        If `threshold` is none of these.
    """
    if isinstance(threshold, Threshold):
        copy: Threshold = clone(threshold)
        return copy
    if isinstance(threshold, str):
        if threshold == "scores":
            return ScoresThreshold()
        if threshold == "features":
            return FeaturesThreshold(random_state=random_state)
        raise ValueError(
            f"threshold is {threshold!r}; expected 'scores', 'features', a number or a threshold "
            "object."
        )
    return ConstantThreshold(_check_value(threshold, "threshold"))


def hamming_thresholds(scores: Any, Y: Any) -> Vector:
    """Return the threshold of each row that minimises the Hamming loss of this row.

    Parameters
    ----------
    scores : array-like of shape (n, q)
        Scores f_k(x_i).
    Y : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1.

    Returns
    -------
    ndarray of shape (n,)
        For each row the t for which predicting the labels with f_k >= t makes the fewest errors.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Rank-CVM paper, after equation 27. All t between two neighbouring distinct scores predict the
    same labels. Of the intervals with the fewest errors the lowest is taken, and t is its middle,
    or one unit beyond the last score if the interval is unbounded: below the lowest score (all
    labels predicted) or above the highest (none).
    """
    Y = check_indicator(Y)
    return _best_thresholds(check_scores(scores, n_rows=Y.shape[0], n_labels=Y.shape[1]), Y)


def _best_thresholds(scores: NDArray[Any], Y: NDArray[np.uint8]) -> Vector:
    n, q = Y.shape
    thresholds = np.empty(n)
    for chunk in gen_batches(n, max(1, _ENTRIES_PER_CHUNK // q)):
        thresholds[chunk] = _best_thresholds_of_chunk(scores[chunk], Y[chunk].view(np.bool_))
    return thresholds


def _best_thresholds_of_chunk(scores: NDArray[Any], relevant: NDArray[np.bool_]) -> Vector:
    m, q = scores.shape
    ascending = np.argsort(scores, axis=1)
    # Interval j lies above the j lowest scores: between s[j] and s[j + 1] of this padded array.
    s = np.full((m, q + 2), np.inf)
    s[:, 0] = -np.inf
    s[:, 1:-1] = np.take_along_axis(scores, ascending, axis=1)
    sign = np.where(np.take_along_axis(relevant, ascending, axis=1), 1, -1)
    # Each label that falls below t costs an error if it is relevant and saves one if it is not.
    errors = np.zeros((m, q + 1), dtype=np.intp)
    np.cumsum(sign, axis=1, out=errors[:, 1:])
    errors[s[:, 1:] == s[:, :-1]] = q + 1

    best = np.argmin(errors, axis=1)
    rows = np.arange(m)
    lower, upper = s[rows, best], s[rows, best + 1]
    # Halves first: the sum of two large scores could overflow.
    thresholds = lower / 2 + upper / 2
    thresholds[best == 0] = upper[best == 0] - 1
    thresholds[best == q] = lower[best == q] + 1
    # The scores may be neighbouring numbers, or too large for one unit to matter; t = lower would
    # predict one label too many.
    return np.asarray(np.where(thresholds > lower, thresholds, np.nextafter(lower, np.inf)))


def _middles(scores: NDArray[Any], Y: NDArray[np.uint8], rows: NDArray[np.intp]) -> Vector:
    """Return the middle of min over P_i and max over N_i of f for the given rows."""
    middles = np.empty(rows.size)
    for chunk in gen_batches(rows.size, max(1, _ENTRIES_PER_CHUNK // Y.shape[1])):
        relevant = Y[rows[chunk]].view(np.bool_)
        f = scores[rows[chunk]].astype(np.float64)
        lowest_relevant = np.where(relevant, f, np.inf).min(axis=1)
        highest_irrelevant = np.where(relevant, -np.inf, f).max(axis=1)
        middles[chunk] = lowest_relevant / 2 + highest_irrelevant / 2
    return middles


def _minimum_norm_least_squares(
    design: NDArray[np.float64], target: Vector, relative_rank_tolerance: float
) -> Vector:
    """Solve min ||design s - target||, overwriting `design`.

    SciPy's own `lstsq` copies the matrix for this driver even with ``overwrite_a=True``, which
    would double the memory. Driver gelsd is the fastest: it reduces a tall matrix by QR before it
    looks for the rank.
    """
    n_rows, n_columns = design.shape
    # LAPACK returns the solution in the place of the right-hand side.
    right_hand_side = np.zeros(max(n_rows, n_columns))
    right_hand_side[:n_rows] = target
    work_size, integer_work_size, _ = lapack.dgelsd_lwork(
        n_rows, n_columns, 1, relative_rank_tolerance
    )
    solution, _, _, info = lapack.dgelsd(
        design,
        right_hand_side,
        int(work_size),
        integer_work_size,
        relative_rank_tolerance,
        overwrite_a=True,
        overwrite_b=True,
    )
    if info != 0:
        raise LinAlgError(f"The least squares for the threshold failed: LAPACK gelsd info={info}.")
    return np.array(solution[:n_columns], dtype=np.float64)


def _check_features(X: Any, n_rows: int) -> Any:
    if X is None:
        raise ValueError("X is None; expected features of shape (n, d), which this threshold uses.")
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    if X.shape[0] != n_rows:
        raise ValueError(f"X has {X.shape[0]} rows; expected {n_rows}, as in scores.")
    return X


def _check_value(value: Any, name: str) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not np.isfinite(float(value)):
        raise ValueError(f"{name} is {value!r}; expected a finite number.")
    return float(value)
