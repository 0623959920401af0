"""Rank-SVM (Elisseeff and Weston): the pairwise hinge loss."""

from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from multimargin import _rust
from multimargin.estimators.base import Fit, PairwiseClassifier, Problem
from multimargin.kernels import KernelFunction, rust_features
from multimargin.parameters import check_choice

if TYPE_CHECKING:
    from multimargin.reference.exact import Bias

BIASES = ("free", "penalized", "none")
SOLVERS = ("bcd", "dcd", "frank-wolfe", "exact")


class RankSVM(PairwiseClassifier):
    """Rank-SVM: large-margin label ranking with a threshold.

    Learns one score a label such that the relevant labels of an instance score higher, by a margin
    of 1, than its irrelevant ones, and a threshold t(x) that tells how many of the ranked labels
    are relevant.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the ranking loss against the regularisation, positive.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel, as in `sklearn.svm.SVC`.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "rbf", "poly" and "sigmoid": "scale" is 1 / (d Var(X)), "auto" is 1 / d.
    degree : int, default=3
        Degree of "poly", at least 0.
    coef0 : float, default=0.0
        Constant term of "poly" and "sigmoid".
    bias : {"free", "penalized", "none"}, default="free"
        "free" is the model of Elisseeff and Weston; "penalized" adds 1/2 ||b||^2 (the kernel K + 1,
        as in the Rank-HLapSVM paper), which is easier to solve; "none" has no bias.
    solver : {"bcd", "dcd", "frank-wolfe", "exact"}, default="bcd"
        "bcd" solves one instance exactly at a time; "dcd" is the published dual coordinate descent,
        one pair at a time; "frank-wolfe" the published loop of Elisseeff and Weston; "exact" an
        interior-point solver (needs the extra ``multimargin[exact]``), for small problems.
    threshold : {"scores", "features"} or float, default="scores"
        How the threshold is learned: from the scores (linear least squares), from the features
        (linear support vector regression), or a constant.
    tol : float, default=1e-3
        Relative duality gap at which to stop, positive.
    max_iter : int, default=1000
        Largest number of epochs (passes over the instances) or Frank-Wolfe iterations.
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
        Start from the previous solution (scaled to the present C) when it fits the data.

    Attributes
    ----------
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        Whether the targets were a label indicator.
    label_names_in_ : ndarray of shape (q,)
        Column names of `Y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
    dual_coef_ : ndarray of shape (n_support, q)
        The nonzero rows of the dual matrix B.
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
    objective_ : float
        Primal objective 1/2 sum_k ||w_k||^2 + sum_i C/(p_i r_i) sum over pairs of the hinge.
    dual_objective_ : float
        Dual objective, a lower bound of the optimum.
    dual_gap_ : float
        ``(objective_ - dual_objective_) / objective_``, recomputed at the returned point.
    status_ : str
        "converged", "max_iterations", "stalled" (rounding allows no further step),
        "indefinite_kernel" or "interrupted".
    history_ : dict of ndarray
        One entry an epoch: "epoch", "seconds", "primal", "dual".

    Notes
    -----
    The problem is eq. 18 of the Rank-CVM paper (after Elisseeff and Weston, 2001); with a penalized
    bias it is eq. 9 of the Rank-HLapSVM paper with the appended feature of eq. 8. For a
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

    def __init__(
        self,
        C: float = 1.0,
        kernel: str | KernelFunction = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        bias: str = "free",
        solver: str = "bcd",
        threshold: str | float = "scores",
        tol: float = 1e-3,
        max_iter: int = 1000,
        cache_size: float = 1000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.bias = bias
        self.solver = solver
        self.threshold = threshold
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("bias", self.bias, BIASES)
        check_choice("solver", self.solver, SOLVERS)

    def _solve(self, problem: Problem) -> Fit:
        if self.solver == "exact":
            return self._solve_exactly(problem)
        kernel = problem.kernel
        solution = _rust.solve_pairwise(
            problem.indicator,
            rust_features(problem.X),
            c=float(self.C),
            loss="hinge",
            theta=0.0,
            mu=1.0,
            kernel_name=kernel.name,
            gamma=kernel.gamma,
            degree=kernel.degree,
            coef0=kernel.coef0,
            bias=self.bias,
            solver=self.solver,
            start=problem.start,
            tolerance=float(self.tol),
            max_epochs=int(self.max_iter),
            seed=problem.seed,
            shuffle=True,
            shrinking=True,
            acceleration=True,
            block_size=0,
            cache_bytes=int(1e6 * self.cache_size),
            threads=problem.threads,
            callback=problem.callback,
            start_bias=None if problem.start is None else self.intercept_,
        )
        return _fit_of(solution)

    def _solve_exactly(self, problem: Problem) -> Fit:
        # The reference needs CVXPY, which nothing else does.
        from multimargin.reference import rank_svm

        start = perf_counter()
        kernel, bias = problem.kernel, cast("Bias", self.bias)
        K = problem.X if kernel.name == "precomputed" else kernel.matrix(problem.X)
        solution = rank_svm.dual(K, problem.indicator, self.C, bias)
        B, b = solution.B, solution.b
        primal = rank_svm.primal_objective(K, problem.indicator, self.C, B, b, bias)
        dual = rank_svm.dual_objective(K, problem.indicator, B, bias)
        gap = (primal - dual) / primal if primal > 0.0 else 0.0
        return Fit(
            dual=B,
            bias=b,
            scores=K @ B,
            weights=safe_sparse_dot(problem.X.T, B) if kernel.name == "linear" else None,
            status="converged" if gap <= self.tol else "stalled",
            n_iter=1,
            primal=primal,
            dual_objective=dual,
            gap=gap,
            history={
                "epoch": np.array([1]),
                "seconds": np.array([perf_counter() - start]),
                "primal": np.array([primal]),
                "dual": np.array([dual]),
            },
        )


def _fit_of(solution: Any) -> Fit:
    epoch, seconds, primal, dual = solution.history
    return Fit(
        dual=solution.dual,
        bias=solution.bias,
        scores=solution.scores,
        weights=solution.weights,
        status=solution.status,
        n_iter=solution.epochs,
        primal=solution.primal,
        dual_objective=solution.dual_objective,
        gap=solution.gap,
        history={"epoch": epoch.astype(int), "seconds": seconds, "primal": primal, "dual": dual},
    )
