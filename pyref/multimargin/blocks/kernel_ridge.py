"""Kernel ridge regressions of all labels, from one Laplacian kernel matrix of the rows."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit
from sklearn.utils.validation import check_is_fitted, validate_data

from multimargin.blas import with_one_blas_thread
from multimargin.blocks.base import MOST_EXPLAINED, OddsBlock, weighed_rows, without_traces
from multimargin.decompositions import cholesky, diagonal_of_inverse, divide
from multimargin.features.scales import largest_of_columns
from multimargin.kernels import make_kernel, same_kind
from multimargin.typing import LabelsLike, Matrix, MatrixLike, Vector
from multimargin.whole_fits import whole_or_unchanged

# Ridges that are tried, from the first one downwards, or else upwards, while the error falls.
_RIDGES, _FIRST = 10.0 ** np.arange(-3.0, 2.5, 0.5), 5
# Rows on which they are compared.
_SAMPLE = 1000


class LabelKernelRidge(OddsBlock):
    """One kernel ridge regression a label, with one Laplacian kernel: for few rows.

    Parameters
    ----------
    gamma : float or {"scale", "auto", "mean_distance"}, default="mean_distance"
        Factor of the distance in the kernel ``exp(-gamma sum_k |x_k - y_k|)``, above 0, for
        features over `unit_`; the names mean what they do in `multimargin.RankSVM`.

    Attributes
    ----------
    alpha_ : float
        Ridge added to the diagonal of the kernel matrix, the same for all labels.
    support_vectors_ : ndarray or CSR array of shape (n, d)
        Training rows with weights above 0, over `unit_`.
    dual_coef_ : ndarray of shape (n, q)
        Weights of their kernel values; zeros for a label of one value.
    intercept_ : ndarray of shape (q,)
        Intercepts.
    unit_ : float
        Magnitude of the largest feature.
    classes_ : ndarray of shape (q,)
        Label numbers.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The ridge, from 0.001 to 100, has the least squared leave-one-out error over all labels, on
    1,000 rows if there are more. The leave-one-out values also give the odds: in rows with a label
    and in rows without, they are taken as normal with the same variance, as in linear discriminant
    analysis. Where a label is unknown, it has its mean over the other rows.

    Examples
    --------
    >>> from multimargin.blocks import LabelKernelRidge
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, y, y_test = load_digit_attributes().train_test()
    >>> LabelKernelRidge().fit(X, y).predict_proba(X_test).shape == y_test.shape
    True
    """

    def __init__(self, gamma: float | str = "mean_distance") -> None:
        self.gamma = gamma

    @whole_or_unchanged
    @with_one_blas_thread
    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit all labels.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.
        y : array-like of shape (n, q)
            Label indicator of 0 and 1; NaN for unknown labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, of which only the ratios count; None gives each row the weight 1.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        X = without_traces(X)
        weights, X, relevant, known = weighed_rows(X, y, sample_weight)
        self.unit_ = float(largest_of_columns(X).max()) or 1.0
        X = X / self.unit_
        self._kernel = make_kernel("laplacian", X, gamma=self.gamma, sample_weight=weights)
        totals, hits = weights @ known, weights @ relevant
        mean = np.divide(hits, totals, out=np.full(hits.shape, 0.5), where=totals > 0.0)
        roots = np.sqrt(weights)[:, None]
        pull = np.where(known, relevant - mean, 0.0) * roots
        gram = self._kernel.matrix(X) * roots * roots.T
        self.alpha_ = _best_ridge(gram, pull, known)
        duals, errors = _regressions(gram, pull, self.alpha_)
        values = np.where(known, (pull - errors) / roots, 0.0)
        slope, even = _to_odds(values, relevant == 1, known, weights)
        shares = (hits + 0.5) / (totals + 1.0)
        self.support_vectors_ = X
        self.dual_coef_ = np.ascontiguousarray(duals * roots * slope)
        self.intercept_ = logit(shares) - slope * even
        self.classes_ = np.arange(hits.size)
        return self

    @with_one_blas_thread
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
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64, order="C")
        X = same_kind(X / self.unit_, self.support_vectors_)
        scores = self._kernel.product(X, self.support_vectors_, self.dual_coef_)
        scores += self.intercept_
        return scores


def _regressions(gram: Matrix, targets: Matrix, ridge: float) -> tuple[Matrix, Matrix]:
    """Return A of (gram + ridge I) A = targets, and the errors when each row is left out (n, q)."""
    factor = gram.copy()
    factor[np.diag_indices_from(factor)] += ridge
    cholesky(factor)
    duals = targets.T.copy()
    divide(duals, factor)
    divide(duals, factor, transposed=True)
    return duals.T, duals.T / diagonal_of_inverse(factor)[:, None]


def _best_ridge(gram: Matrix, targets: Matrix, known: NDArray[np.bool_]) -> float:
    """Return the ridge of least squared error when each row of a sample is left out."""
    drawn = np.linspace(0, len(gram) - 1, min(len(gram), _SAMPLE)).astype(int)
    gram, targets, known = gram[np.ix_(drawn, drawn)], targets[drawn], known[drawn]

    def error(ridge: float) -> float:
        _, errors = _regressions(gram, targets, ridge)
        return float((errors[known] ** 2).sum())

    best = _RIDGES[_FIRST]
    least = error(best)
    for further in (_RIDGES[:_FIRST][::-1], _RIDGES[_FIRST + 1 :]):
        for ridge in further:
            value = error(ridge)
            if value >= least:
                break
            best, least = ridge, value
        if best != _RIDGES[_FIRST]:
            break
    return float(best)


def _to_odds(
    values: Matrix, relevant: NDArray[np.bool_], known: NDArray[np.bool_], weights: Vector
) -> tuple[Vector, Vector]:
    """Return the slopes of log odds linear in values, and the values at which they are even.

    The values are taken for normal, with one variance for the rows with a label and those without,
    which are equally many.
    """
    hits, others = weights @ relevant, weights @ (known & ~relevant)
    both = (hits > 0.0) & (others > 0.0)
    hits, others = np.where(both, hits, 1.0), np.where(both, others, 1.0)
    high, low = weights @ (relevant * values) / hits, weights @ (~relevant * values) / others
    away = np.where(known, values - np.where(relevant, high, low), 0.0)
    share = hits / (hits + others)
    between = share * (1.0 - share) * (high - low) ** 2
    within = weights @ away**2 / (hits + others)
    within = np.maximum(within, between * (1.0 / MOST_EXPLAINED - 1.0))
    slope = np.divide(high - low, within, out=np.zeros_like(high), where=both & (high > low))
    return slope, (high + low) / 2.0
