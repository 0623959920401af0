"""mlODM: the optimal margin distribution of label pairs."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from multimargin.checks.parameters import check_real
from multimargin.estimators.bases.pairwise import PairwiseClassifier
from multimargin.estimators.bases.signatures import own_first
from multimargin.estimators.pairwise.problem import Model
from multimargin.thresholds import Threshold


@own_first
@dataclass(repr=False, eq=False)
class MLODM(PairwiseClassifier):
    """Multi-label optimal margin distribution machine.

    Pulls the margins of all label pairs towards 1 from both sides: a margin below 1 - theta costs
    the square of the shortfall, one above 1 + theta the square of the excess, with weight mu. This
    makes the mean of the margins large and their variance small. There is no bias.

    Parameters
    ----------
    C : float, default=10.0
        Weight of the ranking loss against the regularisation, positive. It multiplies the mean over
        the pairs of a row, not a sum over its labels, so that a useful C is larger than that of
        one-vs-rest. At 10 the mean ranks over seven data sets are no worse than those of
        one-vs-rest `SVC` and `LinearSVC` at their defaults, at 1 they are
        (`benchmarks/defaults.py`).
    theta : float, default=0.2
        Margins within theta of 1 cost nothing; 0 <= theta < 1.
    mu : float, default=0.5
        Weight of margins that are too large; 0 < mu <= 1.
    pair_weights : {"balanced", "uniform"}, default="balanced"
        "balanced" gives each pair of row i the weight C/(p_i r_i), so that every row counts the
        same; "uniform" gives every pair C/n, as Zhang & Yeung 2013, eq. (13), do with
        C = 2/lambda.
    threshold : {"auto", "scores", "features", "micro", "macro", "samples", "count"}, float or \
            Threshold, default="auto"
        Threshold above which labels are predicted: learned from the scores (linear least squares)
        or the features (linear support vector regression), the one of all with the best micro-F1 or
        F1 of the rows, one for each label (SCut), for a number of labels (RCut), or a constant; see
        `multimargin.thresholds`. "auto" is "scores", as in the papers, up to 1,000 labels, but
        "features" where one row in a hundred or more has no label, and "micro" above. It is learned
        from the scores of the training rows; `ThresholdedClassifier` learns it from those of
        held-out rows.
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
    solver : {"bcd", "dcd", "multiplicative"}, default="bcd"
        "bcd" solves one instance exactly at a time; "multiplicative" is the published block step,
        by multiplicative updates of an instance's dual variables, which reaches the same point
        more slowly; "dcd" is dual coordinate descent, one pair at a time.
    tol : float, default=1e-3
        Relative duality gap at which to stop, positive.
    max_iter : int, default=1000
        Largest number of epochs (passes over the instances).
    cache_size : float, default=1000
        Megabytes for the kernel matrix, four or eight bytes per value. If it does not fit, its rows
        are computed when needed, and as many as fit are kept.
    n_jobs : int, default=None
        Number of threads; None means 1. The result does not depend on it.
    verbose : int, default=0
        1 prints a line after each epoch.
    max_time : float or None, default=None
        Time limit of the fit in seconds, positive; None means no limit. A fit that reaches it
        returns the model so far, with its certificate and the status "time_limit". The first epoch
        is always completed and the threshold always learned.
    random_state : int, RandomState instance or None, default=None
        Order in which the instances are visited; an int makes the result reproducible.
    warm_start : bool, default=False
        Start from the previous solution (scaled down to a smaller C) where the rows are those of
        the fit before, or begin with them, and have as many labels. Fits of increasing C, or with
        new rows at the end, then need fewer epochs. A linear model keeps its training rows and dual
        variables only with True.
    class_weight : {"balanced", "sqrt"}, dict, array-like of shape (q,) or None, default=None
        Weights of the labels: factors of a label's pairs in the rows in which it is relevant.
        "balanced" is proportional to 1/n_m for a label that is relevant in n_m rows, "sqrt" to the
        square root of that, both scaled to a mean of 1 over the rows and their relevant labels, so
        that C keeps its meaning. A dict by label name or column (1 for those left out) and an array
        are used as given. None means 1 for all labels, so that frequent labels dominate.

    Attributes
    ----------
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        True for a label indicator or lists of names, False for one-dimensional targets.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
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
        Number of epochs.
    class_weight_ : ndarray of shape (q,)
        Weight of the pairs of each label where it is relevant.
    objective_ : float
        Primal objective: 1/2 sum_k ||w_k||^2 + sum_i C/(2 p_i r_i) times the sum over pairs of
        max(0, 1 - theta - z)^2 + mu max(0, z - 1 - theta)^2 with the margins z.
    dual_objective_ : float
        Dual objective, a lower bound of the optimum.
    dual_gap_ : float
        ``(objective_ - dual_objective_) / objective_``, recomputed at the returned point.
    status_ : str
        "converged", "max_iterations", "stalled" (rounding allows no further step), "inexact" (the
        model's own scores differ by rounding from those that were certified, and their gap is above
        `tol`), "indefinite_kernel", "time_limit" (`max_time` is over) or "interrupted" (by
        Ctrl-C; ``objective_`` of a large problem is then infinite, to return at once).
    history_ : dict of ndarray
        One entry per certificate: "epoch", "seconds", "primal", "dual". There is one after each
        epoch; iterations on all rows at once, up to 20 in a row where a problem is slow, count
        as epochs without a certificate.

    Notes
    -----
    The problem is Tan et al. 2019, eq. (15). The paper scales each feature to [0, 1] first. Its own
    block step (algorithm 2) is replaced by an exact one; see `multimargin.reference.mlodm`.

    Examples
    --------
    >>> from multimargin import MLODM
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = MLODM(C=10.0, theta=0.2, mu=0.4, random_state=0).fit(X, Y)
    >>> model.status_
    'converged'
    """

    _solvers: ClassVar[tuple[str, ...]] = ("bcd", "dcd", "multiplicative")

    _compact: ClassVar[bool] = True

    _: KW_ONLY
    theta: float = 0.2
    mu: float = 0.5
    pair_weights: str = "balanced"
    threshold: str | float | Threshold = "auto"

    def _model(self) -> Model:
        return Model("optimal_margin", "none", theta=float(self.theta), mu=float(self.mu))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("theta", self.theta, at_least=0.0, below=1.0)
        check_real("mu", self.mu, above=0.0, at_most=1.0)
