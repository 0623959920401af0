"""LLSF over parts: the problem depends on sums over the rows alone, so one pass is enough.

    X^T X,   X^T Y,   Y^T Y

With the eigenpairs of X^T X = U S U^T, the rows S^(1/2) U^T stand for those of all parts. The
objective that is returned is computed once more from the rows themselves.
"""

from dataclasses import replace

import numpy as np
from scipy import sparse

from multimargin.checks.parameters import thread_count
from multimargin.checks.targets import Targets
from multimargin.dask.parts import Part, Sums, inner
from multimargin.dask.rounds import Cluster, relative_gap
from multimargin.estimators.llsf import LLSF
from multimargin.estimators.shared.llsf_problem import (
    MOST_EIGENVALUES,
    Convexity,
    Eigenbasis,
    Request,
    anchor_of_sums,
    as_dense,
    decide,
    dissimilarity_of_counts,
    eigenpairs,
    report_of,
    solve,
)
from multimargin.estimators.shared.problem import Matrix, Report
from multimargin.estimators.shared.products import one_blas_thread
from multimargin.estimators.shared.progress import EpochCallback

# An eigenvalue of X^T X below this share of the largest one, times d, is rounding.
_ROUNDING = 4.0 * np.finfo(float).eps


def check_label_features(estimator: LLSF) -> LLSF:
    """Check that an LLSF is one that can be fitted to parts."""
    estimator._check_parameters()
    if not estimator.convexify:
        raise ValueError("convexify is False; expected True, as the published loop needs the rows.")
    if estimator.solver not in ("auto", "admm", "apg"):
        raise ValueError(f"solver is {estimator.solver!r}; expected 'auto', 'admm' or 'apg'.")
    return estimator


def fit_label_features(
    estimator: LLSF,
    cluster: Cluster,
    targets: Targets,
    d: int,
    callback: EpochCallback | None = None,
    deadline: float | None = None,
) -> None:
    """Solve the problem of all parts and store the coefficients with their certificate."""
    if d > MOST_EIGENVALUES:
        raise ValueError(
            f"X has {d} features; expected at most {MOST_EIGENVALUES}, as LLSF over parts sums up "
            "X^T X. Choose features first, or project them (TruncatedSVD)."
        )
    sums = cluster.sums(row_sums)
    R = dissimilarity_of_counts(sums["labels"])
    alpha, beta = float(estimator.alpha), float(estimator.beta)
    gram, correlation = sums["gram"], sums["correlation"]
    convexity = decide(
        R,
        alpha,
        lambda deficit: anchor_of_sums(gram.copy(), lambda: correlation, deficit),
        convexify=True,
    )
    X, basis = _representatives(gram, convexity)
    request = Request(
        beta=beta,
        solver="admm" if estimator.solver == "auto" else estimator.solver,
        lipschitz=convexity.largest_eigenvalue,
        tol=float(estimator.tol),
        max_iter=estimator._check_parameters(),
        start=estimator._warm_start_of(R.shape[0], d),
        threads=thread_count(estimator.n_jobs),
        callback=callback,
        basis=basis,
        deadline=deadline,
        sums=(np.ascontiguousarray(correlation.T), np.diag(sums["labels"]).copy()),
    )
    with cluster.interruptible():
        solution = solve(X, np.zeros((X.shape[0], R.shape[0]), dtype=np.uint8), convexity, request)
    report = report_of(solution)
    report = _confirmed(report, cluster, solution.weights, convexity, beta, estimator.tol)
    estimator._store(targets, convexity, solution.weights, report)
    estimator.kkt_residual_ = solution.kkt_residual


def row_sums(part: Part) -> Sums:
    """Return what the rows add to X^T X, X^T Y and Y^T Y."""
    Y = part.indicator.astype(np.float64)
    X, counted = part.X, Y
    if part.sample_weight is not None:
        weights = part.sample_weight[:, None]
        X = part.X.multiply(weights).tocsr() if sparse.issparse(part.X) else weights * part.X
        counted = weights * Y
    return {
        "gram": as_dense(part.X.T @ X),
        "correlation": np.asarray(part.X.T @ counted),
        "labels": Y.T @ counted,
    }


def squared_error(part: Part, weights: Matrix) -> Sums:
    """Return half the squared error of the rows; `weights` has shape (d, q)."""
    difference = np.asarray(part.X @ weights) - part.indicator
    squares = np.einsum("ij,ij->i", difference, difference)
    return {"error": 0.5 * _total(squares, part.sample_weight)}


def _total(squares: Matrix, weights: Matrix | None) -> float:
    return float(squares.sum() if weights is None else weights @ squares)


def _representatives(gram: Matrix, convexity: Convexity) -> tuple[Matrix, Eigenbasis]:
    """Return rows with the same X^T X, and the basis in which the quadratic form is diagonal."""
    # On one thread: with more, rounding would depend on their number.
    with one_blas_thread():
        values, vectors = eigenpairs(gram)
        values = np.where(values > _ROUNDING * len(values) * values[-1], values, 0.0)
        X = np.ascontiguousarray(np.sqrt(values)[:, None] * vectors.T)
        coupling = None if convexity.coupling is None else eigenpairs(convexity.coupling)
    return X, Eigenbasis((values, vectors), coupling)


def _confirmed(
    report: Report, cluster: Cluster, weights: Matrix, convexity: Convexity, beta: float, tol: float
) -> Report:
    """Return the report with the objective as the rows themselves give it."""
    objective = cluster.sums(squared_error, np.ascontiguousarray(weights.T))["error"]
    objective += beta * float(np.abs(weights).sum())
    if convexity.coupling is not None:
        objective += 0.5 * inner(convexity.coupling, weights @ weights.T)
    gap = relative_gap(objective, report.dual_objective)
    status = report.status
    if status == "converged" and gap > tol:
        # Rounding in the sums hid what is left.
        status = "stalled"
    return replace(report, primal=objective, gap=gap, status=status)
