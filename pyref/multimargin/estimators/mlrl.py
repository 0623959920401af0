"""MLRL (Zhang and Yeung): label scores and the covariance of the labels, learned together."""

from dataclasses import dataclass

from multimargin.checks.parameters import check_real
from multimargin.estimators.shared.docstrings import with_shared_paragraphs
from multimargin.estimators.shared.relationships import RelationshipClassifier


@with_shared_paragraphs
@dataclass(repr=False, eq=False)
class MLRL(RelationshipClassifier):
    """MLRL: support vector machines of all labels, coupled by a label covariance that is learned.

    The weights of the labels have a common prior whose covariance between labels, Omega, is part of
    the problem: labels that need similar weights support each other, and Omega says which do.

    Parameters
    ----------
    lam : float, default=1e-4
        Weight of the regularisation against the mean loss, positive. Small values fit closely: of n
        rows and q labels, 1/(n q) is what C = 1 is to one support vector machine a label. At 0.1
        few labels are ever predicted.
    <kernel, gamma, degree, coef0 : as in `sklearn.svm.SVC`>
    <solver, tol, max_iter : as in `MLRL`>
    cache_size : float, default=1000
        Megabytes for the kernel matrix. If it does not fit, its rows are computed when needed, and
        as many as fit are kept.
    <n_jobs, verbose : how the loop runs>
    <max_time : float or None, seconds that the fit may take>
    <options : RelationshipOptions or None>

    Attributes
    ----------
    <label_covariance_, label_correlation_ : ndarray of shape (q, q)>
    <classes_, multilabel_, label_names_in_, n_features_in_>
    <dual_coef_, support_, support_vectors_, coef_, intercept_>
    dual_variables_ : ndarray of shape (n, q)
        Z = alpha . Y, a feasible point of the dual whose value is `dual_objective_`; for a linear
        kernel only with ``keep_rows``.
    objective_ : float
        Objective (6): 1/n sum of the hinge + lam/2 tr(W Omega^-1 W^T).
    dual_objective_ : float
        A lower bound of the optimum of (6), or of (8) for a fixed covariance.
    <n_iter_, dual_gap_, status_, history_ : the certificate>

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
