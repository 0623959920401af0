"""MLRL (Zhang and Yeung): label scores and the covariance of the labels, learned together."""

from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import validate_data

from multimargin.estimators.progress import with_callbacks
from multimargin.estimators.relationships import RelationshipClassifier
from multimargin.estimators.targets import check_targets
from multimargin.kernels import KernelFunction, make_kernel
from multimargin.parameters import check_real


class MLRL(RelationshipClassifier):
    """MLRL: support vector machines of all labels, coupled by a label covariance that is learned.

    The weights of the labels have a common prior whose covariance between labels, Omega, is part of
    the problem: labels that need similar weights support each other, and Omega tells which do.

    Parameters
    ----------
    lam : float, default=0.1
        Weight of the regularisation against the mean loss, positive. Small values fit closely.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel, as in `sklearn.svm.SVC`.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "rbf", "poly" and "sigmoid": "scale" is 1 / (d Var(X)), "auto" is 1 / d.
    degree : int, default=3
        Degree of "poly", at least 0.
    coef0 : float, default=0.0
        Constant term of "poly" and "sigmoid".
    fixed_covariance : array-like of shape (q, q) or None, default=None
        A symmetric positive semidefinite label covariance to use instead of learning one: problem
        (8). The identity divided by q makes the labels independent.
    solver : {"splitting", "alternating", "exact"}, default="splitting"
        "splitting" reaches the joint optimum (see Notes); "alternating" is the published scheme,
        which stalls above it; "exact" an interior-point solver (needs the extra
        ``multimargin[exact]``), for small problems. A fixed covariance is solved label by label
        unless "exact" is asked for.
    covariance_ridge : float, default=1e-3
        For "alternating": each sub-problem is solved with (1 - ridge) Omega + ridge I/q, so that a
        singular Omega stays usable. Between 0 and 1.
    stop : {"gap", "covariance"}, default="gap"
        What `tol` bounds: the relative gap between objective (6) and its lower bound, or the change
        of Omega (Frobenius norm) in an outer round. A fixed covariance stops on its gap.
    tol : float, default=1e-3
        Where to stop, positive.
    max_outer : int, default=500
        Largest number of outer rounds.
    cache_size : float, default=1000
        Megabytes for the kernel matrix. If it does not fit, its rows are computed when needed, and
        as many as fit are kept.
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
    dual_coef_ : ndarray of shape (n_support, q)
        The nonzero rows of the expansion A: ``f(x) = k(x, support_vectors_) A + b``.
    support_ : ndarray of shape (n_support,)
        Their training rows.
    support_vectors_ : ndarray or CSR matrix of shape (n_support, d)
        Their features (no columns for a precomputed kernel).
    coef_ : ndarray of shape (q, d)
        Weights W^T, for a linear kernel.
    intercept_ : ndarray of shape (q,)
        Bias b: the middle of the biases that the optimality conditions allow.
    dual_variables_ : ndarray of shape (n, q)
        Z = alpha . Y, a feasible point of the dual whose value is `dual_objective_`.
    n_iter_ : int
        Outer rounds made.
    objective_ : float
        Objective (6): 1/n sum of the hinge + lam/2 tr(W Omega^-1 W^T).
    dual_objective_ : float
        A lower bound of the optimum of (6), or of (8) for a fixed covariance.
    dual_gap_ : float
        ``(objective_ - dual_objective_) / objective_``, recomputed at the returned point.
    status_ : str
        "converged", "max_iterations", "indefinite_kernel" or "interrupted".
    history_ : dict of ndarray
        One entry an outer round: "epoch", "seconds", "primal" (6) and "dual" (the joint bound).

    Notes
    -----
    Problem (6) of Y. Zhang and D.-Y. Yeung, "Multi-Label Relationship Learning". With Omega
    eliminated it is the mean hinge loss + lam/2 ||W||_*^2, the squared trace norm, and its dual is
    max sum alpha - lambda_max(Z^T K Z) / (2 lam): both values together certify every answer. The
    default solver splits the trace norm from the hinge losses (Douglas-Rachford), solves the latter
    by SMO, each label on its own, and shrinks singular values for the former.

    Examples
    --------
    >>> from multimargin import MLRL
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = MLRL(lam=0.001).fit(X, Y)
    >>> model.status_
    'converged'
    """

    def __init__(
        self,
        lam: float = 0.1,
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
        self.lam = lam
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
            Features; the kernel matrix of shape (n, n) for ``kernel="precomputed"``.
        Y : array-like, sparse matrix or data frame of shape (n, q), or array-like of shape (n,)
            Label indicator of 0 and 1, or one class a row, which is one-hot encoded and predicted
            by the largest score. Columns of a data frame become `label_names_in_`.

        Returns
        -------
        MLRL
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
            If labels have one class only.
        """
        self._check_parameters()
        lam = check_real("lam", self.lam, above=0.0)
        if Y is None:
            validate_data(self, X, Y)
        X = validate_data(self, X, **self._input_checks())
        targets = check_targets(Y)
        check_consistent_length(X, targets.indicator)
        kernel = make_kernel(self.kernel, X, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        gram = self._gram(X, kernel, effective_n_jobs(self.n_jobs))
        fit = self._fit(X, targets, kernel, gram, lam)
        self._store_expansion(X, fit.expansion, np.arange(X.shape[0]))
        self._finish(fit)
        return self
