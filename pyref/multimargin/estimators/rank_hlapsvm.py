"""Rank-HLapSVM: Rank-SVM with a hypergraph Laplacian of the label sets."""

import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from multimargin.checks.parameters import check_choice, check_real
from multimargin.decompositions import aside, cholesky, divide, pivoted_cholesky
from multimargin.estimators.bases.kernel_expansion import TrainingData
from multimargin.estimators.bases.pairwise import PairwiseClassifier
from multimargin.estimators.bases.signatures import own_first
from multimargin.estimators.fitting.certificate import relative_gap
from multimargin.estimators.fitting.products import product
from multimargin.estimators.fitting.time_limit import seconds_until
from multimargin.estimators.hypergraph import Laplacian, weights_by_features, weights_by_kernel
from multimargin.estimators.pairwise.engine import solve_problem
from multimargin.estimators.pairwise.problem import Fit, Model, Problem
from multimargin.kernels import Kernel
from multimargin.thresholds import Threshold
from multimargin.typing import Features, Matrix, is_sparse

# A d x d matrix of this size takes 200 MB; beyond it, and whenever there are fewer rows than
# features, the n x n kernel form (27) is used.
_MOST_WHITENED_FEATURES = 5000

# Multiplications that take no time worth a trial.
_FEW_OPERATIONS = 1e9

# Multiplications for a bound that take too long if time is over.
_MANY_OPERATIONS = 1e10

# Share of the time of a fit that may be over when the features are whitened.
_SHARE_OF_TIME = 0.6

# trace(A^T E A) of an expansion A, of what the kernel matrix is more than that of the features.
Rest = Callable[[Matrix], float]


@own_first
@dataclass(repr=False, eq=False)
class RankHLapSVM(PairwiseClassifier):
    """Rank-HLapSVM: Rank-SVM with hypergraph regularisation.

    `RankSVM` with a penalized bias and a further regulariser: instances that share labels, above
    all labels whose instances are close together, are pulled towards similar scores.

    Parameters
    ----------
    C : float, default=10.0
        Weight of the ranking loss against the regularisation, positive. It multiplies the mean over
        the pairs of a row, not a sum over its labels, so that a useful C is larger than that of
        one-vs-rest. At 10 the mean ranks over seven data sets are no worse than those of
        one-vs-rest `SVC` and `LinearSVC` at their defaults, at 1 they are
        (`benchmarks/defaults.py`).
    lam : float, default=1e-4
        Weight of the hypergraph regulariser, at least 0; 0 is ``RankSVM(bias="penalized")``. It
        multiplies a sum over the rows: at 0.25 it dominates the loss of several hundred of them
        (the guide, "Which method?"). Where it dominates the loss, the scores of an accurate
        solution differ by little: decrease `tol`.
    nu : float or "scale", default="scale"
        Rate at which a label's weight falls with the mean squared distance between its instances,
        at least 0 (the paper's nu). "scale" is 1 / (mean squared distance between all training
        rows), so that the weights lie around exp(-1) whatever the scale of the features; with a
        number, every weight underflows to 0 on features of large scale, and the regulariser
        vanishes. Distances are those of the features whatever the kernel (eq. (30) is about the
        instances); a precomputed kernel has those that it implies.
    top_k : int, float or None, default=None
        Number of irrelevant labels that each relevant label is compared with: those with the
        largest scores in its row, instead of all, which emphasises the top of the ranking. An int
        of at least 1, or a float in (0, 1], a share of all labels; None means all. C multiplies the
        mean over these pairs, of which few are zero: a C tuned for all of q labels is about
        q / `top_k` times too large here. Not supported by the solvers "dcd" and "frank-wolfe".
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
    solver : {"bcd", "dcd"}, default="bcd"
        "bcd" solves one instance exactly at a time; "dcd" is dual coordinate descent, one pair at a
        time.
    tol : float, default=1e-3
        Relative duality gap at which to stop, positive.
    max_iter : int, default=1000
        Largest number of epochs (passes over the instances).
    cache_size : float, default=1000
        Megabytes for the kernel matrix. If it does not fit, its rows are computed when needed, and
        as many as fit are kept.
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
    hyperedge_weights_ : ndarray of shape (q,)
        Weight of each label's hyperedge: exp(-nu times the mean squared distance between its
        instances); 0 for a label without instances.
    objective_ : float
        Primal objective 1/2 sum_k (||w_k||^2 + b_k^2) + lam/2 trace(F^T Lap F) +
        sum_i C/(p_i r_i) sum over pairs of the hinge.
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
    The problem is Chen et al. 2009, eq. (10), with the combinatorial Laplacian of eq. (5), the
    weights of eq. (29) and (30) and the appended feature of eq. (8); the paper's kernel is linear.
    The n x n Laplacian is never formed.
    With a linear kernel, up to 5000 features and at least as many rows as features, the features
    are whitened by a Cholesky factor (d x d). Otherwise a pivoted Cholesky factor L of the kernel
    matrix (n x n) takes the place of the features: the symmetric form of eq. (27), whose model and
    certificate agree also where lam Lap K is ill-conditioned. It precedes the first epoch: with
    6,000 rows and an rbf kernel it takes some 20 seconds. Where `max_time` is less, the model has
    the features of the largest norms only, or is an expansion over the first pivots, and the bound
    counts what is left out: with E what the kernel matrix is more than theirs, and the expansion A,
    trace(A^T E A) / 2 at most; of thousands of rows and labels this is not computed once time is
    over, and the bound is 0. The kernel matrix itself is always computed: of 20,000 rows that takes
    15 s and 10 GB.

    Examples
    --------
    >>> from multimargin import RankHLapSVM
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = RankHLapSVM(C=10.0, random_state=0).fit(X, Y)
    >>> model.status_
    'converged'
    """

    _: KW_ONLY
    lam: float = 1e-4
    nu: float | str = "scale"
    top_k: int | float | None = None
    threshold: str | float | Threshold = "auto"

    def _model(self) -> Model:
        return Model("hinge", "penalized" if self.lam == 0.0 else "none")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("lam", self.lam, at_least=0.0, at_most=1e12)
        if isinstance(self.nu, str):
            check_choice("nu", self.nu, ("scale",))
        else:
            check_real("nu", self.nu, at_least=0.0)

    def _prepared(self, problem: Problem) -> Callable[[], Fit]:
        # A row lies in the hyperedges of its relevant labels, with its weight as multiplicity.
        Y = (problem.indicator == 1).astype(np.float64)
        if problem.sample_weight is not None:
            Y *= problem.sample_weight[:, None]
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        weights_of = weights_by_kernel if precomputed else weights_by_features
        weights = weights_of(problem.features, Y, self.nu, problem.sample_weight)
        attributes: dict[str, Any] = {"hyperedge_weights_": weights, "_dual": None}
        lam = float(self.lam)
        if lam == 0.0:
            solve = super()._prepared(problem)
            return lambda: replace(solve(), attributes=attributes)
        laplacian = Laplacian(Y, weights)
        n, d = problem.X.shape
        if problem.kernel.name != "linear" or d >= min(n, _MOST_WHITENED_FEATURES + 1):
            solve, rest = _prepared_kernel_form(problem, self.solver, lam, laplacian)
        else:
            solve, rest = _prepared_features(problem, self.solver, lam, laplacian)

        def solved() -> Fit:
            fit = solve()
            if rest is not None:
                fit = _certified_for_all(fit, rest, lam, laplacian, problem.tol)

            def penalty(scores: Matrix) -> float:
                return float(np.sum(fit.bias**2)) + lam * laplacian.roughness(scores)

            return replace(fit, penalty=penalty, attributes={**attributes, "_dual": fit.dual})

        return solved

    def _needs_definite_kernel(self) -> bool:
        return self.lam > 0.0 or super()._needs_definite_kernel()

    def _number_rows(self, data: TrainingData) -> None:
        super()._number_rows(data)
        before: Matrix | None = vars(self)["_dual"]
        self._dual = None if before is None else data.of_given(before)

    def _forget_rows(self) -> None:
        super()._forget_rows()
        self._dual = None

    def _dual_before(self, shape: tuple[int, ...]) -> Matrix:
        # The dual matrix B is not the expansion that `dual_coef_` holds.
        return super()._dual_before(shape) if self._dual is None else self._dual


def _certified_for_all(fit: Fit, rest: Rest, lam: float, laplacian: Laplacian, tol: float) -> Fit:
    """Return a fit on features Z with the bound of the problem whose kernel is K = Z Z^T + E.

    The kernel (K^-1 + lam Lap)^-1 of the dual (27) is concave in K. What E adds to the quadratic
    form of B is at most trace(A^T E A) therefore, with the expansion A = B - lam Lap F. Of the
    multiples of B, all feasible from 0 to 1, the bound is that of the best.
    """
    if fit.scores is None:
        bound = -np.inf
    else:
        F = fit.scores + fit.bias
        form = float(np.sum(fit.dual * F))
        linear = fit.dual_objective + 0.5 * form
        form += rest(fit.dual - lam * laplacian.product(F))
        # A form that is not known is infinite.
        bound = linear - 0.5 * form if form <= linear else 0.5 * linear * (linear / form)
    gap = relative_gap(fit.primal, bound, fit.rounding)
    history = {name: column.copy() for name, column in fit.history.items()}
    history["dual"][-1:] = bound
    status = "time_limit" if fit.status == "converged" and gap > tol else fit.status
    return replace(fit, dual_objective=bound, gap=gap, status=status, history=history)


def _prepared_features(
    problem: Problem, solver: str, lam: float, laplacian: Laplacian
) -> tuple[Callable[[], Fit], Rest | None]:
    """Prepare Rank-SVM on whitened features, those that the time allows, and return the rest."""
    X, d = problem.X, problem.X.shape[1]
    prepare = _prepared_sparse if is_sparse(X) else _prepared_dense

    def prepared(columns: NDArray[np.intp]) -> Callable[[], Fit]:
        return prepare(replace(problem, X=X[:, columns]), solver, lam, laplacian)

    size = _columns_in_time(X, problem.deadline, prepared)
    if size == d:
        return prepare(problem, solver, lam, laplacian), None
    by_norm = np.argsort(-row_norms(X.T, squared=True), kind="stable")
    columns, others = np.sort(by_norm[:size]), np.sort(by_norm[size:])
    solve_part = prepared(columns)

    def solve() -> Fit:
        fit = solve_part()
        assert fit.weights is not None
        weights = np.zeros((d, fit.bias.size))
        weights[columns] = fit.weights
        return replace(fit, weights=weights)

    def rest(A: Matrix) -> float:
        return float(np.sum(safe_sparse_dot(X.T, A)[others] ** 2))

    return solve, rest


def _columns_in_time(
    X: Features, deadline: float | None, prepare: Callable[[NDArray[np.intp]], object]
) -> int:
    """Return how many columns can be prepared before most of the time is over."""
    n, d = X.shape[0], int(X.shape[1])
    if deadline is None or _operations(n, d) <= _FEW_OPERATIONS:
        return d
    start, trial = time.monotonic(), np.arange(-(-d // 16))
    end = start + _SHARE_OF_TIME * (deadline - start)
    prepare(trial)
    now = time.monotonic()
    in_time = _operations(n, trial.size) * (end - now) / (now - start)
    size = trial.size
    while size < d and _operations(n, size + 1) <= in_time:
        size += 1
    return size


def _rank_in_time(n: int, deadline: float | None) -> Callable[[int], bool]:
    """Return whether factors of a kernel matrix of a rank can be whitened in time, if one more."""
    start = time.monotonic()

    def goes_on(rank: int) -> bool:
        if deadline is None:
            return True
        end = start + _SHARE_OF_TIME * (deadline - start)
        now = time.monotonic()
        done = rank * (n * n - rank * n + rank**2 / 3.0)
        return bool(now + _operations(n, rank) * (now - start) / done < end)

    return goes_on


def _operations(n: int, d: int) -> float:
    """Return the multiplications that whiten d features of n rows, about."""
    return 2.0 * n * d**2 + d**3


def _prepared_dense(
    problem: Problem, solver: str, lam: float, laplacian: Laplacian
) -> Callable[[], Fit]:
    """Prepare Rank-SVM on whitened features."""
    whitened = _whitened(problem, _with_ones(problem.X), solver, lam, laplacian)

    def solve() -> Fit:
        fit, W = whitened()
        return _linear_fit(fit, W, problem.X, lam, laplacian)

    return solve


def _whitened(
    problem: Problem, X: Matrix, solver: str, lam: float, laplacian: Laplacian
) -> Callable[[], tuple[Fit, Matrix]]:
    """Prepare Rank-SVM on X L^-T, L L^T = I + lam X^T Lap X, and the weights of X (used up)."""
    L = _factor(laplacian, lam, X)
    divide(X, L)

    def solve() -> tuple[Fit, Matrix]:
        fit = solve_problem(replace(problem, X=X), solver)
        assert fit.weights is not None
        return fit, linalg.solve_triangular(L.T, fit.weights, check_finite=False)

    return solve


def _prepared_sparse(
    problem: Problem, solver: str, lam: float, laplacian: Laplacian
) -> Callable[[], Fit]:
    """Prepare Rank-SVM with the inner products x^T (I + lam X^T Lap X)^-1 x', X ending with 1."""
    X = sparse.csr_array(sparse.hstack([problem.X, np.ones((problem.X.shape[0], 1))]))
    L = _factor(laplacian, lam, X)
    inverse = np.eye(len(L))
    divide(inverse, L)
    with_metric = replace(problem, X=X, metric=aside(np.matmul, inverse, inverse.T))

    def solve() -> Fit:
        fit = solve_problem(with_metric, solver)
        assert fit.weights is not None
        return _linear_fit(fit, fit.weights, problem.X, lam, laplacian)

    return solve


def _factor(laplacian: Laplacian, lam: float, X: Features) -> Matrix:
    """Return L, in the lower triangle, of L L^T = I + lam X^T Lap X."""
    gram = laplacian.gram(X)
    gram *= lam
    gram.flat[:: len(gram) + 1] += 1.0
    try:
        cholesky(gram)
    except linalg.LinAlgError:
        # Rounding errors of X^T Lap X above 1 hide that it is positive semidefinite.
        eigenvalues, U = aside(np.linalg.eigh, laplacian.gram(X))
        roots = np.sqrt(1.0 + lam * np.maximum(eigenvalues, 0.0))
        R: Any = aside(np.linalg.qr, roots[:, None] * U.T, mode="r")
        return np.ascontiguousarray(R.T)
    return gram


def _linear_fit(fit: Fit, W: Matrix, X: Features, lam: float, laplacian: Laplacian) -> Fit:
    """Return a fit on features X that end with a 1 as one with the weights W."""
    weights, bias = np.ascontiguousarray(W[:-1]), W[-1].copy()
    with_bias = product(X, weights) + bias if fit.scores is None else fit.scores
    return replace(
        fit,
        weights=weights,
        bias=bias,
        scores=np.ascontiguousarray(with_bias - bias),
        expansion=fit.dual - lam * laplacian.product(with_bias),
    )


def _prepared_kernel_form(
    problem: Problem, solver: str, lam: float, laplacian: Laplacian
) -> tuple[Callable[[], Fit], Rest | None]:
    """Prepare Rank-SVM on the kernel Z Z^T with Z = [L, 1] R^-1, a symmetric form of eq. (27).

    Here L L^T is the kernel matrix K, or as much of it as the time allows, and
    R^T R = I + lam [L, 1]^T Lap [L, 1]. Formed as K1 (I + lam Lap K1)^-1, the kernel and the
    expansion B - lam Lap F would be those of two models where lam Lap K is ill-conditioned.
    """
    K = _kernel_matrix(problem)
    if not np.isfinite(K).all():
        raise ValueError(
            "X has kernel values that are not finite; expected finite ones: scale the features."
        )
    L, order, schur = pivoted_cholesky(K, _rank_in_time(len(K), problem.deadline))
    n, rank = L.shape
    pivots = order[:rank]
    X = np.ones((n, rank + 1))
    X[:, :-1] = L
    of_pivots = replace(problem, kernel=Kernel("linear"))
    whitened = _whitened(of_pivots, X, solver, lam, laplacian)
    is_linear = problem.kernel.name == "linear"

    def solve() -> Fit:
        fit, V = whitened()
        # The scores are L V: those of an expansion A over the pivots with L^T A = V.
        expansion = np.zeros_like(fit.dual)
        if rank > 0:
            expansion[pivots] = linalg.solve_triangular(
                L[pivots], V[:-1], lower=True, trans="T", check_finite=False
            )
        return replace(
            fit,
            weights=safe_sparse_dot(problem.X.T, expansion) if is_linear else None,
            bias=V[-1].copy(),
            scores=None if fit.scores is None else np.ascontiguousarray(fit.scores - V[-1]),
            expansion=expansion,
        )

    if schur is None:
        return solve, None

    def rest(A: Matrix) -> float:
        others = A[order[rank:]]
        if seconds_until(problem.deadline) == 0.0 and len(others) * others.size > _MANY_OPERATIONS:
            return np.inf
        return float(np.sum(others * linalg.blas.dsymm(1.0, schur.T, others, lower=True)))

    return solve, rest


def _kernel_matrix(problem: Problem) -> Matrix:
    """Return the kernel matrix of the training rows, exactly symmetric."""
    if problem.kernel.name == "precomputed":
        K: Matrix = problem.X
    else:
        K = problem.kernel.matrix(problem.X, threads=problem.threads)
    return (K + K.T) / 2.0


def _with_ones(X: Any) -> Matrix:
    """Return a dense copy of X with the feature 1 appended (eq. (8))."""
    extended = np.ones((X.shape[0], X.shape[1] + 1))
    extended[:, :-1] = X.toarray() if is_sparse(X) else X
    return extended
