"""A threshold that is linear in the features."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVR
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from multimargin.blas import with_one_blas_thread
from multimargin.checks.arrays import MATRIX_OF_NUMBERS, check_readable, naming
from multimargin.checks.parameters import (
    check_choice,
    check_flag,
    check_integer,
    check_real,
    check_seed,
)
from multimargin.checks.scores import check_scores
from multimargin.checks.storage import canonical
from multimargin.decompositions import aside, one_at_a_time
from multimargin.targets.indicator import known_both
from multimargin.thresholds.base import CheckedThreshold, Known
from multimargin.thresholds.cuts import chunks_of
from multimargin.typing import MatrixLike, Scores, Vector

_LOSSES = ("epsilon_insensitive", "squared")
# Up to this many features are centred if they are scaled, and least squares factors a matrix.
_CENTRED = 500
# Relative residual at which conjugate gradients end.
_PRECISION = 1e-6
# Squares of smaller numbers underflow, and scikit-learn's solver would never end.
_NO_SQUARE = 1e-150
# Sums of squares of larger ones may overflow.
_LARGE = 1e100


@dataclass(repr=False, eq=False)
class FeaturesThreshold(CheckedThreshold):
    """Threshold that is linear in the features.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the regression's loss against its regularisation, positive.
    epsilon : float, default=0.0
        Errors up to `epsilon` are free, nonnegative; must be 0 for least squares.
    max_iter : int, default=100000
        Largest number of passes of the regression's solver.
    loss : {"epsilon_insensitive", "squared"}, default="epsilon_insensitive"
        The regression's loss: that of the paper, or least squares, which is as accurate in a
        fraction of the time.
    scale : bool, default=False
        If True, the regression sees features divided by their standard deviations, and up to 500
        of them less their means; `coef_` are the weights of the features as they are.
    random_state : int, RandomState instance or None, default=0
        Order in which the solver visits the rows; None draws another one in each fit.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Weight of each feature.
    intercept_ : float
        Constant term.
    n_iter_ : int or None
        Passes that the solver made; None for least squares.

    Notes
    -----
    Rank-HLapSVM paper, section 3.4: linear support vector regression, on the features, of the
    middle between the lowest relevant and the highest irrelevant score of each training row. Rows
    that lack either kind of label are left out. The paper's loss is left to scikit-learn's
    `LinearSVR`, which regularises the intercept and is slow where features have very different
    scales: a ConvergenceWarning says that it stopped at `max_iter`. Least squares is `Ridge` with
    `alpha` = 1 / (2 C). `fit` needs the features, and a row with both kinds of labels.
    """

    C: float = 1.0
    epsilon: float = 0.0
    max_iter: int = 100_000
    loss: str = "epsilon_insensitive"
    scale: bool = False
    random_state: int | np.random.RandomState | None = 0

    def _check_parameters(self) -> None:
        check_real("C", self.C, above=0.0)
        check_real("epsilon", self.epsilon, at_least=0.0)
        check_integer("max_iter", self.max_iter, at_least=1)
        check_choice("loss", self.loss, _LOSSES)
        if self.loss == "squared" and self.epsilon != 0.0:
            raise ValueError(f"epsilon is {self.epsilon}; expected 0 with loss='squared'.")
        check_flag("scale", self.scale)
        check_seed(self.random_state)

    @with_one_blas_thread
    def _learn(self, scores: Scores, Y: Known, weights: Vector | None, X: Any) -> None:
        rows = _check_features(X, Y.shape[0])
        learned = known_both(Y, axis=1)
        if weights is not None:
            learned &= weights > 0.0
        with_pairs = np.flatnonzero(learned)
        if with_pairs.size == 0:
            raise ValueError(
                "y has no row with both relevant and irrelevant labels to learn a threshold from "
                "the features; expected some, or another threshold."
            )
        middles = _middles(scores, Y, with_pairs)
        # Targets within rounding of the scores, or without a square, are 0.
        least = max(4.0 * np.finfo(float).eps * np.abs(scores).max(), _NO_SQUARE)
        middles[np.abs(middles) <= least] = 0.0
        # The same problem in a unit whose squares do not overflow.
        largest = float(np.abs(middles).max())
        unit = largest if largest > _LARGE else 1.0
        of_rows = None if weights is None else weights[with_pairs]
        rows = rows[with_pairs]
        scaler = None
        if self.scale:
            centred = rows.shape[1] <= _CENTRED
            scaler = StandardScaler(with_mean=centred)
            dense = centred and sparse.issparse(rows)
            rows = scaler.fit_transform(rows.toarray() if dense else rows)
        regression = self._regression(rows.shape[1], unit)
        fit = one_at_a_time(regression.fit) if self.loss != "squared" else regression.fit
        aside(fit, rows, middles / unit, sample_weight=of_rows)
        self.coef_ = regression.coef_
        self.intercept_ = float(np.ravel(regression.intercept_)[0])
        if scaler is not None:
            self.coef_ = self.coef_ / scaler.scale_
            if scaler.with_mean:
                self.intercept_ -= float(scaler.mean_ @ self.coef_)
        self.n_iter_ = None if regression.n_iter_ is None else int(regression.n_iter_)
        self.rescale(unit)

    def _regression(self, n_features: int, unit: float) -> LinearSVR | Ridge:
        """Return the regression of targets that are divided by `unit`."""
        if self.loss == "squared":
            solver = "auto" if n_features <= _CENTRED else "sparse_cg"
            return Ridge(0.5 / self.C, max_iter=self.max_iter, tol=_PRECISION, solver=solver)
        return LinearSVR(
            C=self.C / unit,
            epsilon=self.epsilon / unit,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )

    @with_one_blas_thread
    def predict(self, scores: MatrixLike, X: MatrixLike | None = None) -> Vector:
        check_is_fitted(self)
        rows = _check_features(X, check_scores(scores).shape[0])
        d, expected = rows.shape[1], self.coef_.size
        if d != expected:
            raise ValueError(f"X has {d} features; expected {expected}, as in fit.")
        thresholds: Vector = rows @ self.coef_ + self.intercept_
        return thresholds

    def rescale(self, factor: float) -> Self:
        check_is_fitted(self)
        self.coef_ *= factor
        self.intercept_ *= factor
        return self


def _middles(scores: NDArray[Any], Y: NDArray[np.uint8], rows: NDArray[np.intp]) -> Vector:
    """Return the middle of min over P_i and max over N_i of f for the given rows."""
    middles = np.empty(rows.size)
    for chunk in chunks_of(rows.size, Y.shape[1]):
        labels = Y[rows[chunk]]
        f = scores[rows[chunk]].astype(np.float64)
        lowest_relevant = np.where(labels == 1, f, np.inf).min(axis=1)
        highest_irrelevant = np.where(labels == 0, f, -np.inf).max(axis=1)
        middles[chunk] = lowest_relevant / 2 + highest_irrelevant / 2
    return middles


def _check_features(X: Any, n_rows: int) -> Any:
    if X is None:
        raise ValueError("X is None; expected features of shape (n, d), which this threshold uses.")
    check_readable(X)
    with naming("X", MATRIX_OF_NUMBERS):
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    if sparse.issparse(X):
        X = canonical(X)
    if X.shape[0] != n_rows:
        raise ValueError(f"X has {X.shape[0]} rows; expected {n_rows}, as in scores.")
    return X
