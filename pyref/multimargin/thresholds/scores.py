"""A threshold that is linear in the scores."""

from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg.lapack import dgelsd, dgelsd_lwork
from sklearn.utils.validation import check_is_fitted

from multimargin.blas import with_one_blas_thread
from multimargin.checks.scores import check_scores
from multimargin.decompositions import takes_long, triangle
from multimargin.targets.indicator import UNKNOWN
from multimargin.thresholds.base import CheckedThreshold, Known
from multimargin.thresholds.cuts import best_thresholds
from multimargin.typing import Matrix, MatrixLike, Scores, Vector

# Singular values below this fraction of the largest count as zero. Scores of the ranking models sum
# to zero over the labels only up to rounding that piles up over a fit: machine precision itself
# would take that noise for information.
_RELATIVE_RANK_TOLERANCE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}


class ScoresThreshold(CheckedThreshold):
    """Threshold that is linear in the scores of all labels.

    Attributes
    ----------
    coef_ : ndarray of shape (q,)
        Weight s_k of each score.
    intercept_ : float
        Constant term s_0.

    Notes
    -----
    t(x) = sum_k s_k f_k(x) + s_0 (Rank-CVM paper, after equation 27): least squares, on
    (f_1, ..., f_q, 1), of the thresholds of the training rows with the fewest errors in each. Where
    these columns are linearly dependent, (s_1, ..., s_q, s_0) is the solution of least Euclidean
    norm.

    Where all labels of a row are relevant, or none, its threshold is one unit beyond its last
    score: the scores should have margins or spreads near 1. Divide others by theirs and `rescale`
    the fitted threshold, as `ThresholdedClassifier` does.
    """

    @with_one_blas_thread
    def _learn(self, scores: Scores, Y: Known, weights: Vector | None, X: Any) -> None:
        n, q = Y.shape
        target = best_thresholds(scores, Y)
        # Column-major, so that LAPACK can work in this array.
        design = np.empty((n, q + 1), order="F")
        design[:, :q] = scores
        design[:, q] = 1.0
        blank = (Y == UNKNOWN).all(axis=1)
        if blank.any():
            # Any threshold is as good as any other there.
            weights = np.where(blank, 0.0, 1.0 if weights is None else weights)
        if weights is not None:
            roots = np.sqrt(weights)
            design *= roots[:, None]
            target *= roots
        self.fit_design(design, target, scores.dtype)

    @with_one_blas_thread
    def fit_design(self, design: Matrix, target: Vector, dtype: DTypeLike = np.float64) -> Self:
        """Fit to the design of the least squares, or to a triangular factor of it.

        Parameters
        ----------
        design : ndarray of shape (n, q + 1)
            Rows (f_1, ..., f_q, 1), column-major and of float64, which are overwritten.
        target : ndarray of shape (n,)
            The threshold that is best for each row.
        dtype : numpy dtype, default=float64
            Type that the scores were computed in, float64 or float32.

        Returns
        -------
        self
        """
        # Driver gelsd is the fastest: it reduces a tall matrix by QR before it looks for the rank.
        # scipy.linalg.lstsq would copy the design.
        if takes_long(design):
            R = triangle(design, target)
            design, target = np.asfortranarray(R[:, :-1]), R[:, -1]
        n, columns = design.shape
        rank_tolerance = _RELATIVE_RANK_TOLERANCE[np.dtype(dtype)]
        room, whole_room, _ = dgelsd_lwork(n, columns, 1, rank_tolerance)
        right = np.zeros((max(n, columns), 1), order="F")
        right[:n, 0] = target
        solution, _, _, info = dgelsd(
            design,
            right,
            int(room),
            int(whole_room),
            rank_tolerance,
            overwrite_a=True,
            overwrite_b=True,
        )
        if info != 0:  # pragma: no cover  # LAPACK knows no finite matrix of which it is so.
            raise np.linalg.LinAlgError("the threshold's least squares did not converge.")
        self.coef_ = solution[: columns - 1, 0].copy()
        self.intercept_ = float(solution[columns - 1, 0])
        return self

    @with_one_blas_thread
    def predict(self, scores: MatrixLike, X: MatrixLike | None = None) -> Vector:
        check_is_fitted(self)
        scores = check_scores(scores, n_labels=self.coef_.size)
        thresholds: Vector = scores @ self.coef_ + self.intercept_
        return thresholds

    def rescale(self, factor: float) -> Self:
        check_is_fitted(self)
        self.intercept_ *= factor
        return self
