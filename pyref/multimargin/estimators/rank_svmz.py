"""Rank-SVMz (after Xu 2012): every label is compared with a zero label."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.labels import UNKNOWN, with_nan
from multimargin.checks.parameters import check_choice
from multimargin.checks.targets import Targets
from multimargin.estimators.rank_svm import BIASES
from multimargin.estimators.shared.docstrings import with_shared_paragraphs
from multimargin.estimators.shared.pairwise import PairwiseClassifier
from multimargin.estimators.shared.problem import Fit, Matrix, Model, Problem
from multimargin.kernels import KernelFunction
from multimargin.thresholds import ConstantThreshold

# A dual variable below this share of its bound is the rounding of a zero.
_ROUNDING = 1e-12
# By the entry of an indicator; an unknown label has no pair.
_SIGNS = np.array([-1.0, 1.0, 0.0])


@with_shared_paragraphs
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
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel, as in `sklearn.svm.SVC`.
    <kernel_parameters>
    bias : {"free", "penalized", "none"}, default="free"
        "free" is the published model, with one equality constraint a class; "penalized" adds
        1/2 ||b||^2 (the kernel K + 1), which is easier to solve; "none" has no bias.
    <solver>
    <stopping>
    <run_parameters>
    <class_weight>
    <max_time>

    Attributes
    ----------
    <target_attributes>
    <model_attributes>
    <class_weight_attribute>
    objective_ : float
        Primal objective 1/2 sum_k ||w_k||^2, the zero label included, + C/q times the sum over
        rows and labels of the hinge.
    <certificate>

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

    _solvers: ClassVar[tuple[str, ...]] = ("bcd", "dcd", "exact")

    bias: str

    def __init__(
        self,
        C: float = 30.0,
        kernel: str | KernelFunction = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        bias: str = "free",
        solver: str = "bcd",
        tol: float = 1e-3,
        max_iter: int = 1000,
        cache_size: float = 1000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        max_time: float | None = None,
    ) -> None:
        self._keep(locals())

    def _model(self) -> Model:
        return Model("zero_label_hinge", self.bias)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("bias", self.bias, BIASES)

    def _check_threshold(self) -> None:
        """There is none."""

    def _check_pairs(self, indicator: NDArray[np.uint8]) -> None:
        """Every row has a pair with the zero label for each known label."""
        if (indicator == UNKNOWN).all():
            raise ValueError("y has no known label; expected a label that is 0 or 1.")

    def _solve(self, problem: Problem) -> Fit:
        start, start_bias = problem.start, problem.start_bias
        if start is not None:
            start = np.column_stack([start, -start.sum(axis=1)])
        if start_bias is not None:
            start_bias = np.append(start_bias, 0.0)
            start_bias -= start_bias.mean()
        fit = super()._solve(replace(problem, start=start, start_bias=start_bias))
        return self._of_engine(fit, 0.0)

    def _of_engine(self, fit: Fit, pairs: float) -> Fit:
        return replace(
            fit,
            dual=np.ascontiguousarray(fit.dual[:, :-1]),
            expansion=_relative(fit.dual),
            bias=_relative(fit.bias),
            scores=None if fit.scores is None else _relative(fit.scores),
            weights=None if fit.weights is None else _relative(fit.weights),
        )

    def _pair_weights(
        self, indicator: NDArray[np.uint8], sample_weight: Matrix | None = None
    ) -> Matrix:
        known = np.count_nonzero(indicator <= 1, axis=1)
        weights: Matrix = np.where(known > 0, self.C / np.maximum(known, 1), 0.0)
        return weights if sample_weight is None else weights * sample_weight

    def _margin_loss(self, indicator: NDArray[np.uint8], weights: Matrix, scores: Matrix) -> float:
        if not np.isfinite(scores).all():
            return np.inf
        slacks = np.maximum(0.0, 1.0 - _SIGNS[indicator] * scores)
        slacks[indicator == UNKNOWN] = 0.0
        slacks *= np.where(indicator == 1, self.class_weight_, 1.0)
        return float(weights @ slacks.sum(axis=1))

    def _squared_norm(self, own: Matrix) -> float:
        if hasattr(self, "coef_"):
            square = _norm_with_zero_label(self.coef_)
        else:
            dual = _dual_of(self.dual_coef_)
            square = float(np.sum(dual * (own[self.support_] - self.intercept_)))
        if self.bias == "penalized":
            square += _norm_with_zero_label(self.intercept_[:, None])
        return square

    def _start(self, targets: Targets, weights: Matrix) -> Matrix | None:
        expansion = super()._start(targets, weights)
        if expansion is None:
            return None
        # Rounding must not leave the box.
        signs = _SIGNS[targets.indicator]
        # Those of larger weights shrink by more afterwards.
        bound = weights[:, None] * np.where(targets.indicator == 1, self.class_weight_, 1.0)
        alpha = np.clip(signs * _dual_of(expansion), 0.0, bound)
        alpha[alpha < _ROUNDING * bound] = 0.0
        return np.asarray(signs * alpha)

    def _fit_threshold(
        self, problem: Problem, targets: Targets, fit: Fit, interrupted: bool
    ) -> None:
        Y = with_nan(targets.indicator)
        self.threshold_ = ConstantThreshold(0.0).fit(np.zeros(Y.shape), Y)


def _relative(columns: Matrix) -> Matrix:
    """Return the labels' columns less the last one, the zero label's."""
    return np.ascontiguousarray(columns[..., :-1] - columns[..., -1:])


def _dual_of(expansion: Matrix) -> Matrix:
    """Return the labels' dual columns Z from those of the differences, Z + Z 1 1^T."""
    return np.asarray(expansion - expansion.sum(axis=1, keepdims=True) / (expansion.shape[1] + 1))


def _norm_with_zero_label(weights: Matrix) -> float:
    """Return sum_(k=0..q) ||w_k||^2 from the rows w_k - w_0, where all w_k sum to 0."""
    total = weights.sum(axis=0)
    return float(np.sum(weights**2) - np.sum(total**2) / (len(weights) + 1))
