"""Paragraphs that the docstrings of several estimators have in common."""

from multimargin.docstrings import filled_from

with_shared_paragraphs = filled_from(
    {
        "C : float, default=10.0, the weight of the ranking loss": """
    C : float, default=10.0
        Weight of the ranking loss against the regularisation, positive. It multiplies the mean over
        the pairs of a row, not a sum over its labels, so that a useful C is larger than that of
        one-vs-rest. At 10 the mean ranks over seven data sets are no worse than those of
        one-vs-rest `SVC` and `LinearSVC` at their defaults, at 1 they are
        (`benchmarks/defaults.py`).
""",
        "kernel, gamma, degree, coef0 : as in `sklearn.svm.SVC`": """
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel, as in `sklearn.svm.SVC`.
    gamma : {"scale", "auto", "mean_distance"} or float, default="scale"
        Coefficient of "rbf", "poly" and "sigmoid": "scale" is 1 / (d Var(X)), "auto" is 1 / d,
        "mean_distance" is 1 / (2 m^2) with the mean Euclidean distance m of two training rows, the
        width of Zhang & Yeung 2013.
    degree : int, default=3
        Degree of "poly", at least 0.
    coef0 : float, default=0.0
        Constant term of "poly" and "sigmoid".
""",
        'solver : {"bcd", "dcd", "exact"}, default="bcd"': """
    solver : {"bcd", "dcd", "exact"}, default="bcd"
        "bcd" solves one instance exactly at a time; "dcd" is dual coordinate descent, one pair at a
        time; "exact" an interior-point solver (needs the extra ``multimargin[exact]``), for small
        problems.
""",
        "cache_size, n_jobs, random_state, verbose, warm_start : how the loop runs": """
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
        of increasing C then need fewer epochs. A linear model keeps its training rows and dual
        variables only with True.
""",
        "max_time : float or None, seconds that the fit may take": """
    max_time : float or None, default=None
        Seconds that the fit may take, positive; None is no limit. It then ends with the model
        reached, its certificate and the status "time_limit". The first epoch is always made, the
        threshold always learned, and ``solver="exact"`` has no limit, nor does it answer Ctrl-C
        before its interior-point loop has ended.
""",
        "options : RelationshipOptions or None": """
    options : RelationshipOptions or None, default=None
        A fixed label covariance, the ridge of "alternating", and whether a model with a linear
        kernel keeps its training rows (``keep_rows``). None takes the defaults.
""",
        'pair_weights : {"balanced", "uniform"}, default="balanced"': """
    pair_weights : {"balanced", "uniform"}, default="balanced"
        "balanced" gives each pair of row i the weight C/(p_i r_i), so that every row counts the
        same; "uniform" gives every pair C/n, as Zhang & Yeung 2013, eq. (13), do with
        C = 2/lambda.
""",
        "class_weight : what a pair counts by its relevant label": """
    class_weight : {"balanced", "sqrt"}, dict, array-like of shape (q,) or None, default=None
        How many times the pairs of a label count in the rows in which it is relevant: "balanced" is
        in proportion to 1/n_m for a label that is relevant in n_m rows, "sqrt" to its square root,
        both with a mean of 1 over the rows and their relevant labels, so that C keeps its meaning;
        a dict by label name or column (1 for those left out) and an array are taken as they are.
        None is 1 for all. Without it frequent labels decide.
""",
        'threshold : name, float or Threshold, default="scores"': """
    threshold : {"scores", "features", "labels", "count"}, float or Threshold, default="scores"
        How the threshold is learned: from the scores (linear least squares), from the features
        (linear support vector regression), one for each label (SCut), for a number of labels
        (RCut), or a constant; see `multimargin.thresholds`. It is learned from the scores of the
        training rows; `ThresholdedClassifier` learns it from those of held-out rows.
""",
        "tol, max_iter : when the loop ends": """
    tol : float, default=1e-3
        Relative duality gap at which to stop, positive.
    max_iter : int, default=1000
        Largest number of epochs (passes over the instances).
""",
        "classes_, multilabel_, label_names_in_, n_features_in_": """
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        Whether the targets were a label indicator.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
""",
        "top_k : int, float or None, how many irrelevant labels count": """
    top_k : int, float or None, default=None
        Each relevant label is compared with so many irrelevant labels of its row, those of the
        largest scores, in place of all: the top of the ranking counts. An int is their number, at
        least 1, a float in (0, 1] a share of all labels; None, and more than there are, is all. C
        multiplies the mean over these pairs, of which few are zero: a C for all of q labels is
        about q / `top_k` times too large here. Not for ``solver="dcd"`` and Frank-Wolfe ones.
""",
        "class_weight_ : ndarray of shape (q,)": """
    class_weight_ : ndarray of shape (q,)
        How many times the pairs of each label count where it is relevant.
""",
        "dual_coef_, support_, support_vectors_, coef_, intercept_, threshold_, n_iter_": """
    dual_coef_ : ndarray of shape (n_support, q)
        The nonzero rows of the coefficients of the kernel expansion. A model with a linear kernel
        is `coef_` and `intercept_`, and has this and the next two only with ``warm_start=True``:
        they are where the next fit starts, and within the gap of an expansion of `coef_`.
    support_ : ndarray of shape (n_support,)
        Their training rows.
    support_vectors_ : ndarray or CSR matrix of shape (n_support, d)
        Their features (no columns for a precomputed kernel).
    coef_ : ndarray of shape (q, d)
        Weights, for a linear kernel; float32 where they are more than 2**26 numbers, `X` is sparse,
        and C and `tol` leave room for the rounding.
    intercept_ : ndarray of shape (q,)
        Bias b.
    threshold_ : object
        The fitted threshold.
    n_iter_ : int
        Epochs made.
""",
        "estimator, selector : of features of each label": """
    estimator : classifier or None, default=None
        Any scikit-learn classifier; None means `sklearn.svm.LinearSVC`, by its dual loop where
        features exceed 1e50.
    selector : estimator or None, default=None
        Fitted on (X, Y), it must offer the features of each label as
        ``label_specific_features_`` (boolean, shape (q, d)) or by ``get_support(label=k)``. None
        means `LLSF(alpha=0.5, beta=0.1)`, as in the paper.
""",
        "selector_, estimators_ : of features of each label": """
    selector_ : estimator
        The fitted selector.
    label_specific_features_ : ndarray of shape (q, d), dtype bool
        Each label's features.
    estimators_ : list of length q
        The fitted classifiers, by label number; a `MajorityClass` for a label that falls back to
        it.
    labels_with_one_class_ : ndarray of int
        Labels that are relevant for all training rows or for none.
    labels_without_features_ : ndarray of int
        Labels for which the selector found nothing.
""",
        "label_covariance_, label_correlation_ : ndarray of shape (q, q)": """
    label_covariance_ : ndarray of shape (q, q)
        Omega, positive semidefinite with trace 1. Labels of one class have zero rows.
    label_correlation_ : ndarray of shape (q, q)
        Omega with unit diagonal; a label without variance correlates with no other.
""",
        "dual_coef_, support_, support_vectors_, coef_, intercept_": """
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
""",
        "solver, tol, max_iter : as in `MLRL`": """
    solver : {"splitting", "alternating", "exact"}, default="splitting"
        "splitting" reaches the joint optimum (see Notes of `MLRL`); "alternating" is the published
        scheme, which stalls above it; "exact" an interior-point solver (needs the extra
        ``multimargin[exact]``), for small problems. A fixed covariance is solved by splitting
        unless "exact" is asked for.
    tol : float, default=1e-3
        Relative gap between objective and lower bound at which to stop, positive.
    max_iter : int, default=500
        Largest number of outer rounds.
""",
        "n_jobs, verbose : how the loop runs": """
    n_jobs : int, default=None
        Number of threads; None means 1. The result does not depend on it.
    verbose : int, default=0
        1 prints a line after each outer round.
""",
        "n_iter_, dual_gap_, status_, history_ : the certificate": """
    n_iter_ : int
        Outer rounds made.
    dual_gap_ : float
        ``(objective_ - dual_objective_) / objective_``, recomputed at the returned point.
    status_ : str
        "converged", "max_iterations", "stalled" (the scale of the kernel is out of reach),
        "inexact" (the model's own scores differ by rounding from those that were certified, and
        their gap is above `tol`), "indefinite_kernel", "time_limit" or "interrupted".
    history_ : dict of ndarray
        One entry an outer round: "epoch", "seconds", "primal" and "dual", the joint bound.
""",
        "dual_objective_, dual_gap_, status_, history_ : the certificate": """
    dual_objective_ : float
        Dual objective, a lower bound of the optimum.
    dual_gap_ : float
        ``(objective_ - dual_objective_) / objective_``, recomputed at the returned point.
    status_ : str
        "converged", "max_iterations", "stalled" (rounding allows no further step), "inexact" (the
        model's own scores differ by rounding from those that were certified, and their gap is above
        `tol`), "indefinite_kernel", "time_limit" (`max_time` is over) or "interrupted" (by
        Ctrl-C; of a large problem ``objective_`` is then infinite, since computing it would keep
        the caller waiting).
    history_ : dict of ndarray
        One entry a certificate: "epoch", "seconds", "primal", "dual". There is one after each epoch
        but for large problems with sparse or dense linear features and no free bias (2**23 scores),
        which have one in five epochs as long as their gap is far above `tol`.
""",
    }
)
