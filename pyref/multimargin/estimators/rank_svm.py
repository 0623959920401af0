"""Rank-SVM (Elisseeff and Weston): the pairwise hinge loss."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from multimargin.checks.parameters import check_choice
from multimargin.estimators.shared.docstrings import with_shared_paragraphs
from multimargin.estimators.shared.pairwise import PairwiseClassifier
from multimargin.estimators.shared.problem import Model
from multimargin.thresholds import Threshold

BIASES = ("free", "penalized", "none")


@with_shared_paragraphs
@dataclass(repr=False, eq=False)
class RankSVM(PairwiseClassifier):
    """Rank-SVM: large-margin label ranking with a threshold.

    Learns one score a label such that the relevant labels of an instance score higher, by a margin
    of 1, than its irrelevant ones, and a threshold t(x) that decides how many of the ranked labels
    are relevant.

    Parameters
    ----------
    <C : float, default=10.0, the weight of the ranking loss>
    <kernel, gamma, degree, coef0 : as in `sklearn.svm.SVC`>
    bias : {"free", "penalized", "none"}, default="free"
        "free" is the model of Elisseeff and Weston; "penalized" adds 1/2 ||b||^2 (the kernel K + 1,
        as in the Rank-HLapSVM paper), which is easier to solve; "none" has no bias.
    solver : {"bcd", "dcd", "frank-wolfe", "exact"}, default="bcd"
        "bcd" solves one instance exactly at a time; "dcd" is the published dual coordinate descent,
        one pair at a time; "frank-wolfe" the published loop of Elisseeff and Weston, for a bias
        that is not free; "exact" an interior-point solver (needs the extra
        ``multimargin[exact]``), for small problems.
    <threshold : name, float or Threshold, default="scores">
    tol : float, default=1e-3
        Relative duality gap at which to stop, positive.
    max_iter : int, default=1000
        Largest number of epochs (passes over the instances) or Frank-Wolfe iterations.
    <cache_size, n_jobs, random_state, verbose, warm_start : how the loop runs>
    <pair_weights : {"balanced", "uniform"}, default="balanced">
    <class_weight : what a pair counts by its relevant label>
    <top_k : int, float or None, how many irrelevant labels count>
    <max_time : float or None, seconds that the fit may take>

    Attributes
    ----------
    <classes_, multilabel_, label_names_in_, n_features_in_>
    <dual_coef_, support_, support_vectors_, coef_, intercept_, threshold_, n_iter_>
    <class_weight_ : ndarray of shape (q,)>
    objective_ : float
        Primal objective 1/2 sum_k ||w_k||^2 + sum_i C/(p_i r_i) sum over pairs of the hinge.
    <dual_objective_, dual_gap_, status_, history_ : the certificate>

    Notes
    -----
    The problem is Xu 2013, eq. (18) (after Elisseeff & Weston 2001); with a penalized
    bias it is Chen et al. 2009, eq. (9), with the appended feature of eq. (8). For a
    one-dimensional y it is the multi-class SVM of Weston and Watkins with C / (q - 1).

    Examples
    --------
    >>> from multimargin import RankSVM
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = RankSVM(C=10.0, random_state=0).fit(X, Y)
    >>> model.status_
    'converged'
    """

    _solvers: ClassVar[tuple[str, ...]] = ("bcd", "dcd", "frank-wolfe", "exact")

    _compact: ClassVar[bool] = True

    _: KW_ONLY
    bias: str = "free"
    threshold: str | float | Threshold = "scores"
    pair_weights: str = "balanced"
    top_k: int | float | None = None

    def _model(self) -> Model:
        return Model("hinge", self.bias)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("bias", self.bias, BIASES)
        if self.solver == "frank-wolfe" and self.bias == "free":
            raise ValueError(
                "bias is 'free'; expected 'penalized' or 'none' with solver='frank-wolfe', or "
                "solver='bcd', which solves this problem (the published loop for a free bias is "
                "multimargin.reference.rank_svm.frank_wolfe)"
            )
