"""SSMLRL (Zhang and Yeung): MLRL that also learns the label covariance from unlabelled rows."""

from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import validate_data

from multimargin.estimators.progress import with_callbacks
from multimargin.estimators.relationships import Matrix, RelationshipClassifier
from multimargin.estimators.targets import Targets, check_targets
from multimargin.kernels import KernelFunction, check_precomputed, make_kernel
from multimargin.parameters import check_real

UNLABELLED = -1


class SSMLRL(RelationshipClassifier):
    """SSMLRL: MLRL with unlabelled training rows, which are rows of -1 in Y.

    The scores of the unlabelled rows are regularised by the label covariance as the weights are, so
    they help to estimate it. The method is inductive: it predicts for any row.

    Parameters
    ----------
    lam1 : float, default=0.1
        Weight of the regularisation of the weights against the mean loss, positive.
    lam2 : float, default=0.1
        Weight of the regularisation of the scores of unlabelled rows, not negative; at 0, or
        without unlabelled rows, the model is MLRL with lam = lam1.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel, as in `sklearn.svm.SVC`.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "rbf", "poly" and "sigmoid": "scale" is 1 / (d Var(X)) over all rows, "auto"
        is 1 / d.
    degree : int, default=3
        Degree of "poly", at least 0.
    coef0 : float, default=0.0
        Constant term of "poly" and "sigmoid".
    fixed_covariance : array-like of shape (q, q) or None, default=None
        A symmetric positive semidefinite label covariance to use instead of learning one: problem
        (15).
    solver : {"splitting", "alternating", "exact"}, default="splitting"
        As in `MLRL`.
    covariance_ridge : float, default=1e-3
        As in `MLRL`.
    stop : {"gap", "covariance"}, default="gap"
        What `tol` bounds: the relative gap between objective (14) and its lower bound, or the
        change of Omega (Frobenius norm) in an outer round.
    tol : float, default=1e-3
        Where to stop, positive.
    max_outer : int, default=500
        Largest number of outer rounds.
    cache_size : float, default=1000
        Megabytes for the kernel matrix of the labelled rows when `lam2` is 0 or every row is
        labelled; otherwise the kernel matrix of all rows is always stored.
    n_jobs : int, default=None
        Number of threads; None means 1. The result does not depend on it.
    verbose : int, default=0
        1 prints a line after each outer round.

    Attributes
    ----------
    label_covariance_ : ndarray of shape (q, q)
        Omega, positive semidefinite with trace 1. Labels of one class have zero rows.
    label_correlation_ : ndarray of shape (q, q)
        Omega with unit diagonal; a label without variance correlates with no other.
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        Whether the targets were a label indicator.
    label_names_in_ : ndarray of shape (q,)
        Column names of `Y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
    labelled_ : ndarray of shape (l,)
        The labelled training rows.
    dual_coef_ : ndarray of shape (n_support, q)
        Nonzero rows of the expansion A, labelled and unlabelled:
        ``f(x) = k(x, support_vectors_) A + b``.
    support_ : ndarray of shape (n_support,)
        Their training rows.
    support_vectors_ : ndarray or CSR matrix of shape (n_support, d)
        Their features (no columns for a precomputed kernel).
    coef_ : ndarray of shape (q, d)
        Weights W^T, for a linear kernel.
    intercept_ : ndarray of shape (q,)
        Bias b: the middle of the biases that the optimality conditions allow.
    dual_variables_ : ndarray of shape (l, q)
        Z = alpha . Y of the labelled rows, whose value is `dual_objective_`.
    n_iter_ : int
        Outer rounds made.
    objective_ : float
        Objective (14).
    dual_objective_ : float
        A lower bound of its optimum, or of that of (15) for a fixed covariance.
    dual_gap_ : float
        ``(objective_ - dual_objective_) / objective_``, recomputed at the returned point.
    status_ : str
        "converged", "max_iterations", "indefinite_kernel" or "interrupted".
    history_ : dict of ndarray
        One entry an outer round: "epoch", "seconds", "primal" (14) and "dual" (the joint bound).

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

    def __init__(
        self,
        lam1: float = 0.1,
        lam2: float = 0.1,
        kernel: str | KernelFunction = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        fixed_covariance: Any = None,
        solver: str = "splitting",
        covariance_ridge: float = 1e-3,
        stop: str = "gap",
        tol: float = 1e-3,
        max_outer: int = 500,
        cache_size: float = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.lam1 = lam1
        self.lam2 = lam2
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fixed_covariance = fixed_covariance
        self.solver = solver
        self.covariance_ridge = covariance_ridge
        self.stop = stop
        self.tol = tol
        self.max_outer = max_outer
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, Y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features of all rows; the kernel matrix of shape (n, n) for ``kernel="precomputed"``.
        Y : array-like, sparse matrix or data frame of shape (n, q), or array-like of shape (n,)
            Label indicator of 0 and 1 with rows of -1 for unlabelled rows; or one class a row, with
            -1 for unlabelled rows. At least one row must be labelled.

        Returns
        -------
        SSMLRL
            The fitted estimator itself.

        Raises
        ------
        TypeError, ValueError
            If a parameter or an array is malformed; the message names it, what was found and what
            is expected.
        KeyboardInterrupt
            If interrupted. The state reached is stored in the fitted attributes first.

        Warns
        -----
        ConvergenceWarning
            If the solver ends above `tol`, or if the kernel is not positive semidefinite.
        UserWarning
            If labels have one class only in the labelled rows.
        """
        self._check_parameters()
        lam1 = check_real("lam1", self.lam1, above=0.0)
        lam2 = check_real("lam2", self.lam2, at_least=0.0)
        if Y is None:
            validate_data(self, X, Y)
        X = validate_data(self, X, **self._input_checks())
        targets, labelled = _split_targets(Y)
        check_consistent_length(X, labelled)
        rows, others = np.flatnonzero(labelled), np.flatnonzero(~labelled)
        kernel = make_kernel(self.kernel, X, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        threads = effective_n_jobs(self.n_jobs)
        if others.size and lam2 > 0.0:
            gram = self._gram(X, kernel, threads)
            K = kernel.matrix(X, threads=threads) if gram is None else gram
            reduced, influence = reduced_kernel(K, rows, others, lam1 / lam2)
            fit = self._fit(X[rows], targets, kernel, reduced, lam1)
            expansion = np.vstack([fit.expansion, influence @ fit.expansion])
            rows = np.concatenate([rows, others])
        else:
            kept = X[rows] if others.size else X
            if others.size and self.kernel == "precomputed":
                check_precomputed(X)
                kept = np.ascontiguousarray(kept[:, rows])
            fit = self._fit(kept, targets, kernel, self._gram(kept, kernel, threads), lam1)
            expansion = fit.expansion
        self.labelled_ = np.flatnonzero(labelled)
        self._store_expansion(X, expansion, rows)
        self._finish(fit)
        return self


def reduced_kernel(
    K: Matrix, labelled: NDArray[np.intp], unlabelled: NDArray[np.intp], c: float
) -> tuple[Matrix, Matrix]:
    """Return the kernel (22) among labelled rows, and what they make unlabelled ones contribute.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix of all rows.
    labelled, unlabelled : ndarray of int
        Their rows, l and u of them.
    c : float
        lam1 / lam2, positive.

    Returns
    -------
    reduced : ndarray of shape (l, l)
        K_ll - K_lu (c I + K_uu)^-1 K_ul.
    influence : ndarray of shape (u, l)
        -(c I + K_uu)^-1 K_ul, which takes expansion coefficients of k' on labelled rows to those of
        k on unlabelled rows, (20).

    Raises
    ------
    ValueError
        If c I + K_uu is not positive definite.
    """
    A = K[np.ix_(unlabelled, unlabelled)]
    A[np.diag_indices_from(A)] += c
    K_ul = K[np.ix_(unlabelled, labelled)]
    try:
        R = linalg.cholesky(A, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError as error:
        raise ValueError(
            "kernel is not positive semidefinite on the unlabelled rows; expected one that is."
        ) from error
    V = linalg.solve_triangular(R, K_ul, trans="T", check_finite=False)
    reduced = K[np.ix_(labelled, labelled)] - V.T @ V
    influence = -linalg.solve_triangular(R, V, check_finite=False)
    return np.ascontiguousarray(0.5 * (reduced + reduced.T)), influence


def _split_targets(Y: Any) -> tuple[Targets, NDArray[np.bool_]]:
    """Return the targets of the labelled rows, and which rows those are."""
    if sparse.issparse(Y):
        Y = Y.toarray()
    values = np.asarray(Y)
    marked = np.asarray(values == UNLABELLED)
    if values.ndim == 2:
        unlabelled = np.logical_and.reduce(marked, axis=1)
        mixed = np.flatnonzero(marked.any(axis=1) & ~unlabelled)
        if mixed.size:
            raise ValueError(
                f"Y has -1 beside other values, first in row {mixed[0]}; expected rows of 0 and 1 "
                "or, for an unlabelled row, -1 everywhere. (Labels coded as -1 and +1 are "
                "converted by (Y > 0).astype(int).)"
            )
    elif values.ndim == 1:
        unlabelled = marked if marked.shape == values.shape else np.zeros(len(values), dtype=bool)
    else:
        return check_targets(Y), np.ones(len(values), dtype=bool)
    labelled: NDArray[np.bool_] = ~unlabelled
    if not labelled.any():
        raise ValueError("Y has no labelled row: it is -1 everywhere; expected at least one.")
    if labelled.all():
        return check_targets(Y), labelled
    return check_targets(Y.loc[labelled] if hasattr(Y, "loc") else values[labelled]), labelled
