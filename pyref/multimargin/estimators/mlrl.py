"""MLRL (Zhang and Yeung): label scores and the covariance of the labels, learned together."""

from dataclasses import dataclass

import numpy as np

from multimargin.checks.parameters import check_real
from multimargin.estimators.bases.relationships import RelationshipClassifier


@dataclass(repr=False, eq=False)
class MLRL(RelationshipClassifier):
    """MLRL: support vector machines of all labels, coupled by a label covariance that is learned.

    The weights of the labels have a common prior whose covariance between labels, Omega, is part of
    the problem: labels that need similar weights share information, and Omega says which do.

    Parameters
    ----------
    lam : float, default=1e-4
        Weight of the regularisation against the mean loss, positive. Small values fit closely: of n
        rows and q labels, 1/(n q) is what C = 1 is to one support vector machine per label. At 0.1
        few labels are ever predicted.
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
        Megabytes for the kernel matrix. If it does not fit, its rows are computed when needed, and
        as many as fit are kept.
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
    dual_variables_ : ndarray of shape (n, q)
        Z = alpha . Y, a feasible point of the dual whose value is `dual_objective_`; for a linear
        kernel only with ``keep_rows``.
    objective_ : float
        Objective (6): 1/n sum of the hinge + lam/2 tr(W Omega^-1 W^T).
    dual_objective_ : float
        A lower bound of the optimum of (6), or of (8) for a fixed covariance.
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

    lam: float = 1e-4

    def _regularisation(self) -> float:
        return check_real("lam", self.lam, above=0.0, at_least=1e-150, at_most=1e150)

    def _penalty_of_weights(self) -> float | None:
        if self._weights is None or self._chosen().fixed_covariance is not None:
            return None
        return 0.5 * self.lam * float(np.linalg.norm(self._weights.T, "nuc")) ** 2
