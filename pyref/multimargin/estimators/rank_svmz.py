"""Rank-SVMz (after Xu 2012): every label is compared with a zero label."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.parameters import check_choice
from multimargin.estimators.bases.kernel_expansion import TrainingData
from multimargin.estimators.bases.pairwise import PairwiseClassifier
from multimargin.estimators.bases.signatures import own_first
from multimargin.estimators.pairwise import zero_label
from multimargin.estimators.pairwise.problem import Fit, Model
from multimargin.estimators.rank_svm import BIASES
from multimargin.targets.indicator import UNKNOWN
from multimargin.typing import Matrix

# A dual variable below this share of its bound is a rounded zero.
_ROUNDING = 1e-12
# Indexed by the entry of an indicator; an unknown label has no pair.
_SIGNS = np.array([-1.0, 1.0, 0.0])


@own_first
@dataclass(repr=False, eq=False)
class RankSVMz(PairwiseClassifier):
    """Rank-SVM with a zero label: large-margin label ranking that is its own threshold.

    An additional label, the zero label, separates the relevant from the irrelevant labels: the
    former should score higher than it by a margin of 1, the latter lower. The labels above it are
    predicted. Rows without any label, and rows with all of them, count like others.

    Parameters
    ----------
    C : float, default=30.0
        Weight of the loss against the regularisation, positive. The loss of a row is a mean over
        its q labels, so that a label weighs C/q: 30 is as much for 15 labels as one-vs-rest's C = 2
        is (`benchmarks/defaults.py`).
    bias : {"free", "penalized", "none"}, default="free"
        "free" is the published model, with one equality constraint per class; "penalized" adds
        1/2 ||b||^2 (the kernel K + 1), which is easier to solve; "none" has no bias.
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
    solver : {"bcd", "dcd"}, default="bcd"
        "bcd" solves one instance exactly at a time; "dcd" is dual coordinate descent, one pair at a
        time.
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
        Primal objective 1/2 sum_k ||w_k||^2, the zero label included, + C/q times the sum over
        rows and labels of the hinge.
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
    The scores of `label_scores` are f_k(x) - f_0(x), relative to the zero label's, and the other
    attributes are those of these differences. f_0(x) is -1/(q + 1) times their sum. There is no
    threshold to learn; `threshold_` is 0.

    The zero label and the equality constraint per class are Xu 2012; the weight C/q, which gives
    each row the same weight whatever its labels, and the loop are ours. Without the zero label's
    own regularisation the labels would be independent support vector machines; with it, the problem
    is that of `MLRL` with a fixed covariance in proportion to I + 1 1^T.

    Examples
    --------
    >>> from multimargin import RankSVMz
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = RankSVMz(C=10.0, random_state=0).fit(X, Y)
    >>> model.status_
    'converged'
    """

    C: float = 30.0
    _: KW_ONLY
    bias: str = "free"

    def _model(self) -> Model:
        return Model(zero_label.LOSS, self.bias)

    def _of_engine(self, fit: Fit, pairs: float) -> Fit:
        return zero_label.relative_fit(fit)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("bias", self.bias, BIASES)

    def _check_labels(self, indicator: NDArray[np.uint8]) -> None:
        """Every row has a pair with the zero label for each known label."""
        if (indicator == UNKNOWN).all():
            raise ValueError("y has no known label; expected a label that is 0 or 1.")

    def _start(self, data: TrainingData, weights: Matrix) -> Matrix | None:
        expansion = super()._start(data, weights)
        if expansion is None:
            return None
        # Rounding must not move variables out of the box.
        signs = _SIGNS[data.targets.indicator]
        # Those of larger weights shrink by more afterwards.
        bound = weights[:, None] * np.where(data.targets.indicator == 1, self.class_weight_, 1.0)
        alpha = np.clip(signs * zero_label.dual_of(expansion), 0.0, bound)
        alpha[alpha < _ROUNDING * bound] = 0.0
        return np.asarray(signs * alpha)
