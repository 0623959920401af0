"""Paragraphs that the docstrings of the pairwise estimators have in common."""

from typing import TypeVar

Estimator = TypeVar("Estimator", bound=type)

_SHARED = {
    "kernel_parameters": """
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "rbf", "poly" and "sigmoid": "scale" is 1 / (d Var(X)), "auto" is 1 / d.
    degree : int, default=3
        Degree of "poly", at least 0.
    coef0 : float, default=0.0
        Constant term of "poly" and "sigmoid".
""",
    "solver": """
    solver : {"bcd", "dcd", "exact"}, default="bcd"
        "bcd" solves one instance exactly at a time; "dcd" is dual coordinate descent, one pair at a
        time; "exact" an interior-point solver (needs the extra ``multimargin[exact]``), for small
        problems.
""",
    "run_parameters": """
    cache_size : float, default=1000
        Megabytes for the kernel matrix. If it does not fit, its rows are computed when needed, and
        as many as fit are kept.
    n_jobs : int, default=None
        Number of threads; None means 1. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Order in which the instances are visited; an int makes the result reproducible.
    verbose : int, default=0
        1 prints a line after each epoch.
    warm_start : bool, default=False
        Start from the previous solution (scaled down to a smaller C) when it fits the data. Fits
        of increasing C then need fewer epochs.
""",
    "threshold": """
    threshold : {"scores", "features", "labels", "count"}, float or Threshold, default="scores"
        How the threshold is learned: from the scores (linear least squares), from the features
        (linear support vector regression), one for each label (SCut), for a number of labels
        (RCut), or a constant; see `multimargin.thresholds`. It is learned from the scores of the
        training rows; `ThresholdedClassifier` learns it from those of held-out rows.
""",
    "stopping": """
    tol : float, default=1e-3
        Relative duality gap at which to stop, positive.
    max_iter : int, default=1000
        Largest number of epochs (passes over the instances).
""",
    "model_attributes": """
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        Whether the targets were a label indicator.
    label_names_in_ : ndarray of shape (q,)
        Column names of `Y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
    dual_coef_ : ndarray of shape (n_support, q)
        The nonzero rows of the coefficients of the kernel expansion.
    support_ : ndarray of shape (n_support,)
        Their training rows.
    support_vectors_ : ndarray or CSR matrix of shape (n_support, d)
        Their features (no columns for a precomputed kernel).
    coef_ : ndarray of shape (q, d)
        Weights, for a linear kernel.
    intercept_ : ndarray of shape (q,)
        Bias b.
    threshold_ : object
        The fitted threshold.
    n_iter_ : int
        Epochs made.
""",
    "certificate": """
    dual_objective_ : float
        Dual objective, a lower bound of the optimum.
    dual_gap_ : float
        ``(objective_ - dual_objective_) / objective_``, recomputed at the returned point.
    status_ : str
        "converged", "max_iterations", "stalled" (rounding allows no further step),
        "indefinite_kernel" or "interrupted".
    history_ : dict of ndarray
        One entry an epoch: "epoch", "seconds", "primal", "dual".
""",
}


def with_shared_paragraphs(estimator: Estimator) -> Estimator:
    """Fill the shared paragraphs into an estimator's docstring.

    Parameters
    ----------
    estimator : type
        A class whose docstring names paragraphs in angle brackets, each on a line of its own.

    Returns
    -------
    type
        The same class.
    """
    text = estimator.__doc__
    if text is not None:  # python -OO strips docstrings
        for name, paragraph in _SHARED.items():
            text = text.replace(f"    <{name}>\n", paragraph.removeprefix("\n"))
        estimator.__doc__ = text
    return estimator
