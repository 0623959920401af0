"""Rank-SVMz (after Xu 2012): every label is compared with a zero label."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.labels import UNKNOWN
from multimargin.checks.parameters import check_choice
from multimargin.checks.targets import Targets
from multimargin.estimators.rank_svm import BIASES
from multimargin.estimators.shared import zero_label
from multimargin.estimators.shared.docstrings import with_shared_paragraphs
from multimargin.estimators.shared.pairwise import PairwiseClassifier
from multimargin.estimators.shared.problem import Fit, Matrix, Model

# A dual variable below this share of its bound is the rounding of a zero.
_ROUNDING = 1e-12
# By the entry of an indicator; an unknown label has no pair.
_SIGNS = np.array([-1.0, 1.0, 0.0])


@with_shared_paragraphs
@dataclass(repr=False, eq=False)
class RankSVMz(PairwiseClassifier):
    """Rank-SVM with a zero label: large-margin label ranking that is its own threshold.

    A further label, the zero label, has a score of its own and stands between the relevant and the
    irrelevant labels: the relevant ones score higher than it by a margin of 1, the irrelevant ones
    lower. The labels above it are predicted. Rows without any label, and rows with all of them,
    count like others.

    Parameters
    ----------
    C : float, default=30.0
        Weight of the loss against the regularisation, positive. The loss of a row is a mean over
        its q labels, so that a label weighs C/q: 30 is as much for 15 labels as one-vs-rest's C = 2
        is (`benchmarks/defaults.py`).
    <kernel, gamma, degree, coef0 : as in `sklearn.svm.SVC`>
    bias : {"free", "penalized", "none"}, default="free"
        "free" is the published model, with one equality constraint a class; "penalized" adds
        1/2 ||b||^2 (the kernel K + 1), which is easier to solve; "none" has no bias.
    <solver : {"bcd", "dcd", "exact"}, default="bcd">
    <tol, max_iter : when the loop ends>
    <cache_size, n_jobs, random_state, verbose, warm_start : how the loop runs>
    <class_weight : what a pair counts by its relevant label>
    <max_time : float or None, seconds that the fit may take>

    Attributes
    ----------
    <classes_, multilabel_, label_names_in_, n_features_in_>
    <dual_coef_, support_, support_vectors_, coef_, intercept_, threshold_, n_iter_>
    <class_weight_ : ndarray of shape (q,)>
    objective_ : float
        Primal objective 1/2 sum_k ||w_k||^2, the zero label included, + C/q times the sum over
        rows and labels of the hinge.
    <dual_objective_, dual_gap_, status_, history_ : the certificate>

    Notes
    -----
    The scores of `label_scores` are f_k(x) - f_0(x), relative to the zero label's, and the other
    attributes are those of these differences. f_0(x) is -1/(q + 1) times their sum. There is no
    threshold to learn; `threshold_` is 0.

    The zero label and the equality constraint a class are Xu 2012; the weight C/q, which gives each
    row the same weight whatever its labels, and the loop are ours. Without the zero label's own
    regularisation the labels would be independent support vector machines; with it, the problem is
    that of `MLRL` with a fixed covariance in proportion to I + 1 1^T.

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

    def _start(self, targets: Targets, weights: Matrix) -> Matrix | None:
        expansion = super()._start(targets, weights)
        if expansion is None:
            return None
        # Rounding must not leave the box.
        signs = _SIGNS[targets.indicator]
        # Those of larger weights shrink by more afterwards.
        bound = weights[:, None] * np.where(targets.indicator == 1, self.class_weight_, 1.0)
        alpha = np.clip(signs * zero_label.dual_of(expansion), 0.0, bound)
        alpha[alpha < _ROUNDING * bound] = 0.0
        return np.asarray(signs * alpha)
