"""One logistic regression per label, as one matrix of weights."""

from operator import call
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import validate_data

from multimargin.blocks.base import (
    LinearBlock,
    without_traces,
)
from multimargin.checks.parameters import check_choice
from multimargin.checks.storage import canonical
from multimargin.checks.weights import check_sample_weight, of_rows_that_count
from multimargin.decompositions import aside
from multimargin.features.occurring import occurring_columns, of_columns
from multimargin.features.scales import largest_of_columns, times_columns
from multimargin.targets.indicator import known_labels
from multimargin.typing import Features, LabelsLike, MatrixLike, Vector, is_sparse
from multimargin.whole_fits import whole_or_unchanged

# Columns with larger features are scaled, as LIBLINEAR refuses those above 1e30.
_LARGE = 1e20
# Bounds of the weights: the maximum times C, the minimum relative to the heaviest row, and the
# minimum times C.
_HEAVIEST, _LIGHTEST, _LEAST = 1e12, 1e-12, 1e-30
# Entries of features from which the fit of a label is long for Ctrl-C, and a thread short.
_MANY_ENTRIES = 2**18


class LabelLogistic(LinearBlock):
    """One-vs-rest logistic regressions, also for labels that all rows have, or none.

    Parameters
    ----------
    C : float, default=3.0
        Weight of the loss, as in scikit-learn's `LogisticRegression`, which fits each label by
        liblinear.
    class_weight : None or "balanced", default=None
        Weights of relevant and irrelevant rows: "balanced" gives both the same sum.
    tol : float, default=0.05
        Tolerance of liblinear: a ranking needs no more digits.

    Attributes
    ----------
    coef_ : ndarray of shape (q, d), float32
        Weights of the features; zeros for a label of one value. In double precision where features
        are above 1e20.
    intercept_ : ndarray of shape (q,)
        Intercepts; for a label of one value the logarithm of its odds among one row more, of which
        it has half.
    gap_ : ndarray of shape (q,)
        Relative duality gap of each label's fit: an upper bound of how far its objective is above
        the minimum, as a share of it. 0 for a label of one value.
    classes_ : ndarray of shape (q,)
        Label numbers.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The objective is half the squared norm of weights and intercept, and C times the weighted loss,
    of features whose columns are divided by their largest magnitude where that is above 1e20.
    Rows count at least 1e-12 of the heaviest one, and C times a weight is at most 1e12. With
    a_i = C s_i / (1 + exp(y_i f_i)) for the score f_i of row i of weight s_i, the bound is the
    dual objective at a (Yu, Huang and Lin 2011).

    Examples
    --------
    >>> from multimargin.blocks import LabelLogistic
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, y, y_test = load_digit_attributes().train_test()
    >>> LabelLogistic().fit(X, y).predict_proba(X_test).shape == y_test.shape
    True
    """

    def __init__(
        self, C: float = 3.0, *, class_weight: str | None = None, tol: float = 0.05
    ) -> None:
        self.C = C
        self.class_weight = class_weight
        self.tol = tol

    @whole_or_unchanged
    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit all labels.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.
        y : array-like of shape (n, q)
            Label indicator of 0 and 1; NaN for unknown labels, which are left out.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; None gives each row the weight 1.
        """
        if self.class_weight is not None:
            check_choice("class_weight", self.class_weight, ("balanced",))
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        if is_sparse(X):
            # liblinear takes indices of 32 bits alone.
            X = canonical(X)
        relevant, known = known_labels(y, "y")
        weights = check_sample_weight(sample_weight, len(relevant))
        weights, X, relevant, known = of_rows_that_count(weights, X, relevant, known)
        columns = occurring_columns(X)
        X, scale = _scaled(without_traces(of_columns(X, columns)))
        q = relevant.shape[1]
        coef = np.zeros((q, X.shape[1]), dtype=np.float32)
        self.intercept_ = np.zeros(q)
        self.gap_ = np.zeros(q)
        self.classes_ = np.arange(q)
        logistic = LogisticRegression(C=self.C, solver="liblinear", tol=self.tol)
        entries = X.nnz if is_sparse(X) else X.size
        run: Any = aside if entries > _MANY_ENTRIES else call
        for label in range(q):
            rows = known[:, label]
            own = relevant[rows, label]
            if 0 < own.sum() < own.size:
                features = X if rows.all() else X[rows]
                weighed = np.ones(own.size) if weights is None else weights[rows]
                if self.class_weight is not None:
                    totals = np.bincount(own, weighed)
                    weighed = weighed * (totals.sum() / (2.0 * totals))[own.astype(int)]
                weighed = self._solvable(weighed)
                run(logistic.fit, features, own, sample_weight=weighed)
                coef[label] = logistic.coef_[0]
                self.intercept_[label] = logistic.intercept_[0]
                self.gap_[label] = _gap(
                    features,
                    own,
                    self.C * weighed,
                    coef[label].astype(np.float64),
                    self.intercept_[label],
                )
            else:
                self.intercept_[label] = logit((own.sum() + 0.5) / (own.size + 1.0))
        if scale is not None:
            coef = coef * scale
        self._weights, self._columns = coef.T, columns
        return self

    def _solvable(self, weights: Vector) -> Vector:
        """Return weights with which LIBLINEAR ends: their ratios, and C times each, are bounded.

        Otherwise sums of squares round to 0 or overflow, and its loops never end.
        """
        largest = min(weights.max(), _HEAVIEST / self.C)
        least = max(_LIGHTEST * largest, _LEAST / self.C)
        bounded: Vector = np.maximum(np.minimum(weights, largest), least)
        return bounded


def _scaled(X: Features) -> tuple[Features, Vector | None]:
    """Return features with columns of huge numbers scaled, and the factors."""
    largest = largest_of_columns(X)
    if not (largest > _LARGE).any():
        return X, None
    scale = 1.0 / np.where(largest > _LARGE, largest, 1.0)
    return times_columns(X, scale), scale


def _gap(
    X: Features, relevant: NDArray[np.bool_], costs: Vector, weights: Vector, intercept: float
) -> float:
    """Return the relative duality gap of a logistic regression with a penalised intercept."""
    signs = np.where(relevant, 1.0, -1.0)
    margins = signs * (X @ weights + intercept)
    penalty = 0.5 * (weights @ weights + intercept**2)
    primal = penalty + costs @ np.logaddexp(0.0, -margins)
    shares = expit(-margins)
    pull = signs * costs * shares
    weights_of_dual, intercept_of_dual = X.T @ pull, pull.sum()
    entropy = entr(shares) + entr(expit(margins))
    dual = costs @ entropy - 0.5 * (weights_of_dual @ weights_of_dual + intercept_of_dual**2)
    return float(max((primal - dual) / primal, 0.0))
