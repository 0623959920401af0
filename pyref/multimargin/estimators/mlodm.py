"""mlODM: the optimal margin distribution of label pairs."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from multimargin.checks.parameters import check_real
from multimargin.estimators.shared.docstrings import with_shared_paragraphs
from multimargin.estimators.shared.pairwise import PairwiseClassifier
from multimargin.estimators.shared.problem import Model
from multimargin.thresholds import Threshold


@with_shared_paragraphs
@dataclass(repr=False, eq=False)
class MLODM(PairwiseClassifier):
    """Multi-label optimal margin distribution machine.

    Draws the margins of all label pairs towards 1 from both sides: a margin below 1 - theta costs
    the square of what it lacks, one above 1 + theta the square of its excess, with weight mu. So
    the margins' mean is large and their variance small. There is no bias.

    Parameters
    ----------
    <C : float, default=10.0, the weight of the ranking loss>
    theta : float, default=0.2
        Margins within theta of 1 cost nothing; 0 <= theta < 1.
    mu : float, default=0.5
        Weight of margins that are too large; 0 < mu <= 1.
    <kernel, gamma, degree, coef0 : as in `sklearn.svm.SVC`>
    solver : {"bcd", "dcd", "multiplicative", "exact"}, default="bcd"
        "bcd" solves one instance exactly at a time; "multiplicative" is the published block step,
        by multiplicative updates of an instance's dual variables, which reaches the same point
        more slowly; "dcd" is dual coordinate descent, one pair at a time; "exact" an interior-point
        solver (needs the extra ``multimargin[exact]``), for small problems.
    <threshold : name, float or Threshold, default="scores">
    <tol, max_iter : when the loop ends>
    <cache_size, n_jobs, random_state, verbose, warm_start : how the loop runs>
    <pair_weights : {"balanced", "uniform"}, default="balanced">
    <class_weight : what a pair counts by its relevant label>
    <max_time : float or None, seconds that the fit may take>

    Attributes
    ----------
    <classes_, multilabel_, label_names_in_, n_features_in_>
    <dual_coef_, support_, support_vectors_, coef_, intercept_, threshold_, n_iter_>
    <class_weight_ : ndarray of shape (q,)>
    objective_ : float
        Primal objective: 1/2 sum_k ||w_k||^2 + sum_i C/(2 p_i r_i) times the sum over pairs of
        max(0, 1 - theta - z)^2 + mu max(0, z - 1 - theta)^2 with the margins z.
    <dual_objective_, dual_gap_, status_, history_ : the certificate>

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

    _solvers: ClassVar[tuple[str, ...]] = ("bcd", "dcd", "multiplicative", "exact")

    _compact: ClassVar[bool] = True

    _: KW_ONLY
    theta: float = 0.2
    mu: float = 0.5
    threshold: str | float | Threshold = "scores"
    pair_weights: str = "balanced"

    def _model(self) -> Model:
        return Model("optimal_margin", "none", theta=float(self.theta), mu=float(self.mu))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("theta", self.theta, at_least=0.0, below=1.0)
        check_real("mu", self.mu, above=0.0, at_most=1.0)
