"""SSMLRL (Zhang and Yeung): MLRL that also learns the label covariance from unlabelled rows."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin.checks.parameters import check_real
from multimargin.decompositions import aside, cholesky, divide
from multimargin.estimators.bases.kernel_expansion import TrainingData
from multimargin.estimators.bases.relationships import (
    Labelled,
    RelationshipClassifier,
    RelationshipFit,
)
from multimargin.kernels import check_precomputed, is_indefinite
from multimargin.targets.given import Given, recognise
from multimargin.targets.indicator import numbers_of
from multimargin.targets.reading import Targets, read_targets
from multimargin.typing import LabelsLike, Matrix

# If kernel (22) is a smaller share of k than this, the difference of two kernels is inaccurate.
_CANCELLED = 1e-6

UNLABELLED = -1


@dataclass(repr=False, eq=False)
class SSMLRL(RelationshipClassifier):
    """SSMLRL: MLRL with unlabelled training rows, which are rows of -1 in y.

    The scores of the unlabelled rows are regularised by the label covariance as the weights are, so
    they help to estimate it. The method is inductive: it predicts for any row.

    Parameters
    ----------
    lam1 : float, default=1e-4
        Weight of the regularisation of the weights against the mean loss, positive.
    lam2 : float, default=1e-4
        Weight of the regularisation of the scores of unlabelled rows, not negative; at 0, or
        without unlabelled rows, the model is MLRL with lam = lam1.
    kernel : str or callable, default="rbf"
        "linear", "rbf", "poly", "sigmoid" and "precomputed" are as in `sklearn.svm.SVC`, and
        "laplacian" is exp(-gamma sum_k abs(x_k - y_k)).
    gamma : {"scale", "auto", "mean_distance"} or float, default="scale"
        Coefficient of all but "linear" and "precomputed": "scale" is 1 / (d Var(X)), "auto" is
        1 / d, "mean_distance" is 1 / (2 m^2) with the mean Euclidean distance m of two training
        rows, the width of Zhang & Yeung 2013. For "laplacian" they are 1 / (d Std(X)), 1 / d and
        1 / m with the mean of sum_k abs(x_k - y_k).
    degree : int, default=3
        Degree of "poly", at least 0.
    coef0 : float, default=0.0
        Constant term of "poly" and "sigmoid".
    solver : {"splitting", "alternating"}, default="splitting"
        "splitting" reaches the joint optimum (see Notes of `MLRL`); "alternating" is the published
        scheme, which stalls above it. A fixed covariance is always solved by splitting.
    tol : float, default=1e-3
        Relative gap between objective and lower bound at which to stop, positive.
    max_iter : int, default=500
        Largest number of outer rounds.
    cache_size : float, default=1000
        Megabytes for the kernel matrix of the labelled rows when `lam2` is 0 or every row is
        labelled; otherwise the kernel matrix of all rows is always stored.
    n_jobs : int, default=None
        Number of threads; None means 1. The result does not depend on it.
    verbose : int, default=0
        1 prints a line after each outer round.
    max_time : float or None, default=None
        Time limit of the fit in seconds, positive; None means no limit. A fit that reaches it
        returns the model so far, with its certificate and the status "time_limit". The first epoch
        is always completed and the threshold always learned.
    options : RelationshipOptions or None, default=None
        A fixed label covariance, the ridge of "alternating", and whether a model with a linear
        kernel keeps its training rows (``keep_rows``). None takes the defaults.

    Attributes
    ----------
    label_covariance_ : ndarray of shape (q, q)
        Omega, positive semidefinite with trace 1. Labels of one class have zero rows.
    label_correlation_ : ndarray of shape (q, q)
        Omega with unit diagonal; a label without variance correlates with no other.
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        True for a label indicator or lists of names, False for one-dimensional targets.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
    labelled_ : ndarray of shape (l,)
        The labelled training rows; for a linear kernel only with ``keep_rows``.
    dual_coef_ : ndarray of shape (n_support, q)
        The nonzero rows of the expansion A: ``f(x) = k(x, support_vectors_) A + b``. A model with a
        linear kernel is `coef_` and `intercept_`, and has this and the next two only with
        ``keep_rows``.
    support_ : ndarray of shape (n_support,)
        Their training rows.
    support_vectors_ : ndarray or CSR matrix of shape (n_support, d)
        Their features (no columns for a precomputed kernel).
    coef_ : ndarray of shape (q, d)
        Weights W^T, for a linear kernel.
    intercept_ : ndarray of shape (q,)
        Bias b: the middle of the biases that the optimality conditions allow.
    dual_variables_ : ndarray of shape (l, q)
        Z = alpha . Y of the labelled rows, whose value is `dual_objective_`; for a linear kernel
        only with ``keep_rows``.
    objective_ : float
        Objective (14).
    dual_objective_ : float
        A lower bound of its optimum, or of that of (15) for a fixed covariance.
    n_iter_ : int
        Number of outer rounds.
    dual_gap_ : float
        ``(objective_ - dual_objective_) / objective_``, recomputed at the returned point.
    status_ : str
        "converged", "max_iterations", "stalled" (rounding or the kernel's scale ends progress),
        "inexact" (the model's own scores differ by rounding from those that were certified, and
        their gap is above `tol`), "indefinite_kernel", "time_limit" or "interrupted".
    history_ : dict of ndarray
        One entry per outer round: "epoch", "seconds", "primal" and "dual", the joint bound.

    Notes
    -----
    Section 4 of Y. Zhang and D.-Y. Yeung, "Multi-Label Relationship Learning". With
    c = lam1 / lam2, SSMLRL is MLRL on the labelled rows with the kernel (22),
    k'(x, z) = k(x, z) - k_u(x)^T (c I + K_uu)^-1 k_u(z), and the step of Omega becomes that of MLRL
    with this kernel. One Cholesky factorisation of c I + K_uu is all that the unlabelled rows cost.

    In a one-dimensional y the value -1 marks an unlabelled row, as in scikit-learn's
    semi-supervised estimators, so -1 cannot be a class.

    Examples
    --------
    >>> from multimargin import SSMLRL
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> Y = Y.astype(int)
    >>> Y[100:] = -1
    >>> model = SSMLRL(lam1=0.001, lam2=0.001).fit(X, Y)
    >>> model.labelled_.size
    100
    """

    lam1: float = 1e-4
    lam2: float = 1e-4

    def _regularisation(self) -> float:
        check_real("lam2", self.lam2, at_least=0.0)
        return check_real("lam1", self.lam1, above=0.0, at_least=1e-150, at_most=1e150)

    def _read_targets(self, y: LabelsLike) -> tuple[Targets, NDArray[np.bool_]]:
        return split_targets(y)

    def _forget_rows(self) -> None:
        super()._forget_rows()
        del self.labelled_

    def _keep(self, data: TrainingData, task: Labelled, fit: RelationshipFit) -> RelationshipFit:
        self.labelled_ = np.flatnonzero(data.given)
        return super()._keep(data, task, fit)

    def _fit_expansion(self, data: TrainingData, task: Labelled) -> RelationshipFit:
        solve = super()._fit_expansion if data.labelled.all() else self._fit_with_unlabelled
        return solve(data, task)

    def _fit_with_unlabelled(self, data: TrainingData, task: Labelled) -> RelationshipFit:
        X, kernel = data.X, data.kernel
        expansion = np.zeros((X.shape[0], task.targets.indicator.shape[1]))
        rows = np.flatnonzero(data.labelled)
        if self.lam2 == 0.0:
            kept = X[rows]
            if self.kernel == "precomputed":
                check_precomputed(X)
                kept = np.ascontiguousarray(kept[:, rows])
            fit = super()._fit_expansion(replace(data, X=kept), task)
            expansion[rows] = fit.expansion
            return replace(fit, expansion=expansion)
        with task.progress.interrupts.allowed():
            others = np.flatnonzero(~data.labelled)
            c: Any = task.lam / self.lam2
            if data.weights is not None:
                c = c / data.weights[others]
            training = self._training_kernel(X, kernel, needed=True)
            # Eliminating the scores of unlabelled rows needs a kernel that is definite there.
            if training.indefinite:
                training.make_definite()
            assert training.matrix is not None
            reduced, influence = reduced_kernel(training.matrix, rows, others, c)
            among_labelled = self._training_kernel(X[rows], kernel, matrix=reduced)
        fit = self._fit_labelled(among_labelled, task)
        expansion[others] = influence @ fit.expansion
        expansion[rows] = fit.expansion
        if training.solved_nearest:
            expansion = training.original_expansion(expansion)
            if fit.status != "interrupted":
                fit = replace(fit, status="indefinite_kernel", solved_nearest=True)
        return replace(fit, expansion=expansion)


def reduced_kernel(
    K: Matrix, labelled: NDArray[np.intp], unlabelled: NDArray[np.intp], c: float | Matrix
) -> tuple[Matrix, Matrix]:
    """Return the kernel (22) among labelled rows, and their influence on unlabelled rows."""
    A = K[np.ix_(unlabelled, unlabelled)]
    A[np.diag_indices_from(A)] += c
    try:
        cholesky(A)
    except np.linalg.LinAlgError as error:
        if is_indefinite(K[np.ix_(unlabelled, unlabelled)]):
            raise ValueError(
                "kernel is not positive semidefinite on the unlabelled rows; expected one that is."
            ) from error
        # Rounding of K_uu beyond c hides that it is.
        return _reduced_by_factor(K, labelled, unlabelled, c)
    V = K[np.ix_(labelled, unlabelled)]
    divide(V, A)
    reduced = K[np.ix_(labelled, labelled)]
    before = np.diagonal(reduced).copy()
    reduced = reduced - V @ V.T
    if (np.diagonal(reduced) < _CANCELLED * before).any():
        reduced, _ = _reduced_by_factor(K, labelled, unlabelled, c)
    divide(V, A, transposed=True)
    return np.ascontiguousarray(0.5 * (reduced + reduced.T)), -V.T


def _reduced_by_factor(
    K: Matrix, labelled: NDArray[np.intp], unlabelled: NDArray[np.intp], c: float | Matrix
) -> tuple[Matrix, Matrix]:
    """Return kernel (22) and the influence from K = G G^T, where a difference of kernels cancels.

    They are G_l (I + H^T H)^-1 G_l^T and -H (I + H^T H)^-1 G_l^T / sqrt(c) with H = G_u / sqrt(c).
    """
    eigenvalues, U = aside(np.linalg.eigh, K)
    G = U * np.sqrt(np.maximum(eigenvalues, 0.0))
    roots = np.reshape(np.sqrt(c), (-1, 1))
    H = G[unlabelled] / roots
    # From H itself, as H^T H would lose its small eigenvalues.
    P, s, Vt = aside(np.linalg.svd, H)
    damping = np.ones(len(Vt))
    damping[: len(s)] += s * s
    half = (G[labelled] @ Vt.T) / np.sqrt(damping)
    r = len(s)
    influence = -((P[:, :r] * (s / damping[:r])) @ (Vt[:r] @ G[labelled].T)) / roots
    return half @ half.T, influence


def split_targets(
    y: LabelsLike, *, unknown: Literal["warn", "take"] = "warn"
) -> tuple[Targets, NDArray[np.bool_]]:
    """Return the targets of the labelled rows, and which rows those are."""
    given = recognise(y)
    labelled = ~_unlabelled(given)
    if labelled.size and not labelled.any():
        raise ValueError(
            "y has no labelled row: all of its labels are -1 or unknown; expected at least one."
        )
    if not labelled.all():
        given = given.take(np.flatnonzero(labelled))
    return read_targets(given, unknown=unknown), labelled


def _unlabelled(given: Given) -> NDArray[np.bool_]:
    """Return which rows are -1 everywhere, or have no known label."""
    none = np.zeros(given.rows, dtype=bool)
    if given.kind == "lists":
        return np.array([row is None for row in given.values], dtype=bool)
    if given.kind == "classes":
        marked = np.asarray(given.values == UNLABELLED)
        return marked if marked.shape == none.shape else none
    values = given.values.toarray() if sparse.issparse(given.values) else given.values
    if values.ndim != 2 or values.shape[1] < 2:
        return np.ravel(values == UNLABELLED) if values.shape[1:] == (1,) else none
    if values.dtype.kind == "O":
        values = numbers_of(values)
    if values.dtype.kind not in "if":
        return none
    marked = values == UNLABELLED
    unlabelled = np.asarray((marked | np.isnan(values)).all(axis=1))
    mixed = np.flatnonzero(marked.any(axis=1) & ~unlabelled)
    if mixed.size:
        raise ValueError(
            f"y mixes -1 with other values, first in row {mixed[0]}; expected rows of 0 and 1 "
            "or, for an unlabelled row, -1 everywhere. (Labels coded as -1 and +1 are "
            "converted by (y > 0).astype(int).)"
        )
    return unlabelled
