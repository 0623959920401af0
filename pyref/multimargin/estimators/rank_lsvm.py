"""Rank-LSVM: the pairwise squared hinge with a penalized bias."""

from dataclasses import KW_ONLY, dataclass

from multimargin.estimators.shared.docstrings import with_shared_paragraphs
from multimargin.estimators.shared.pairwise import PairwiseClassifier
from multimargin.estimators.shared.problem import Model
from multimargin.thresholds import Threshold


@with_shared_paragraphs
@dataclass(repr=False, eq=False)
class RankLSVM(PairwiseClassifier):
    """Rank-LSVM: label ranking with the squared hinge.

    Like `RankSVM`, but a label pair that misses the margin of 1 costs the square of what it lacks:
    the dual problem is strictly convex, without upper bounds, and quick to solve.

    Parameters
    ----------
    <C : float, default=10.0, the weight of the ranking loss>
    <kernel, gamma, degree, coef0 : as in `sklearn.svm.SVC`>
    <solver : {"bcd", "dcd", "exact"}, default="bcd">
    <threshold : name, float or Threshold, default="scores">
    <tol, max_iter : when the loop ends>
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
        Primal objective 1/2 sum_k (||w_k||^2 + b_k^2) + sum_i C/(2 p_i r_i) sum over pairs of the
        squared hinge.
    <dual_objective_, dual_gap_, status_, history_ : the certificate>

    Notes
    -----
    Named after the method of Xu 2016 that the mlODM paper compares with; it is the problem of
    `RankCVM` with the margin fixed at 1 instead of rewarded, and has the same ranking.

    Examples
    --------
    >>> from multimargin import RankLSVM
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = RankLSVM(C=10.0, random_state=0).fit(X, Y)
    >>> model.status_
    'converged'
    """

    _: KW_ONLY
    threshold: str | float | Threshold = "scores"
    pair_weights: str = "balanced"
    top_k: int | float | None = None

    def _model(self) -> Model:
        return Model("squared_hinge", "penalized")
