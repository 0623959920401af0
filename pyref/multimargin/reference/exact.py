"""What every exact model of the pairwise family is made of.

A method of this family (Rank-SVM, Rank-LSVM, Rank-CVM, Rank-HLapSVM, mlODM) puts one dual variable
on every pair of a relevant and an irrelevant label of an instance. This file holds what does not
depend on the loss: the pairs, their matrices, the factor of the kernel matrix, a feasible point of
the dual, and the call of the solver. Equation numbers are those of Xu 2013.

Dictionary::

    Y         n x q   1 where the label is relevant, 0 where it is not, NaN where that is
                      unknown (-1 after `label_matrix`); n instances, q labels
    pairs     3 x L   (i, m, n): m relevant and n irrelevant for instance i, in the     (16)
                      order of i, then m, then n; a row of zeros or of ones has none
    c         L       weight C_i = C / (p_i r_i) of each pair of instance i with        (19)
                      p_i relevant and r_i irrelevant labels; C > 0: a number, n of them, or n x q
                      of them, by instance and relevant label m
    alpha     L       dual variables, 0 <= alpha <= c for the hinge                     (19)
    H         q x L   [H_1, ..., H_n]: +1 in row m, -1 in row n of each pair's column  (20), (22)
    blkdiag_H nq x L  blkdiag(H_1, ..., H_n), row i q + k for instance i and label k:
                      B = blkdiag_H alpha, and blkdiag_H^T F are the differences of F
    B         n x q   row i is beta_i = H_i alpha_i                                 (21), (23)
    F         n x q   scores; its difference of pair (i, m, n) is F[i, m] - F[i, n]     (16)
    K, Kt     n x n   kernel matrix, and the one that the method uses: K + 1 if the bias is
                      penalized, else K
    G         n x r   factor of a kernel matrix: Kt = G G^T

`bias` is "free", "penalized" or "none"; `solver` is "clarabel", an interior-point method, or "scs",
a splitting method, for a second opinion on small problems. A malformed argument raises ValueError,
a missing CVXPY ImportError, and a solver that stops early `ExactSolverError`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int_]
Weight = float | Array
Bias = Literal["free", "penalized", "none"]
Solver = Literal["clarabel", "scs"]


# -------------------------------------------------------------------------------------------------
# Pairs
# -------------------------------------------------------------------------------------------------
class Pairs(NamedTuple):
    """The L pairs (i, m, n), each entry an array of L integers."""

    i: npt.NDArray[np.intp]
    m: npt.NDArray[np.intp]
    n: npt.NDArray[np.intp]


def label_matrix(Y: ArrayLike) -> Labels:
    """Return Y as integers, -1 for NaN, after a check that it is an n x q matrix of 0 and 1."""
    Y = np.asarray(Y)
    if Y.ndim != 2:
        raise ValueError(f"Y has {Y.ndim} dimension(s), expected 2: instances x labels")
    # What `label_matrix` has returned may come again.
    unknown = np.isnan(Y) if Y.dtype.kind == "f" else Y == -1
    if not (np.isin(Y, (0, 1)) | unknown).all():
        raise ValueError(f"Y holds the values {np.unique(Y)[:5]}, expected only 0, 1 and NaN")
    # NumPy 2.5 lets no -1 into the unsigned integers that Y may be.
    labels: Labels = np.where(unknown, 0, Y).astype(np.int_)
    labels[unknown] = -1
    return labels


def pairs(Y: ArrayLike) -> Pairs:
    """List the pairs of every instance, (16)."""
    triples = [
        (i, m, n)
        for i, y in enumerate(label_matrix(Y))
        for m in np.flatnonzero(y == 1)
        for n in np.flatnonzero(y == 0)
    ]
    return Pairs(*np.array(triples, dtype=np.intp).reshape(-1, 3).T)


def pair_weights(pairs: Pairs, C: Weight) -> Array:
    """Weight C_i = C / (p_i r_i) of every pair, (19), for C of every pair's instance and m."""
    if not (np.isfinite(C).all() and np.all(np.asarray(C) > 0)):
        raise ValueError(f"C is {C}, expected a positive finite number")
    pairs_of_instance = np.bincount(pairs.i)  # l_i = p_i r_i
    C = np.asarray(C, dtype=np.float64)
    C_of_pair = C if C.ndim == 0 else C[pairs.i] if C.ndim == 1 else C[pairs.i, pairs.m]
    return np.asarray(C_of_pair / pairs_of_instance[pairs.i], dtype=np.float64)


def uniform(Y: ArrayLike, C: float) -> Array:
    """C for each instance such that every pair weighs C / n: Zhang & Yeung 2013, eq. (13)."""
    # Its primal problem sums over both (j, k) and (k, j), hence C = 2 / lambda.
    Y = label_matrix(Y)
    pairs_of_instance = (Y == 1).sum(axis=1) * (Y == 0).sum(axis=1)
    # An instance without pairs has no use for its number.
    return np.asarray(C / len(Y) * np.maximum(pairs_of_instance, 1), dtype=np.float64)


def pair_matrix(pairs: Pairs, q: int) -> sp.csc_array:
    """H = [H_1, ..., H_n], sparse, (20), (22) and (25)."""
    column = np.arange(len(pairs.i))
    plus = sp.coo_array((np.ones(len(column)), (pairs.m, column)), shape=(q, len(column)))
    minus = sp.coo_array((np.ones(len(column)), (pairs.n, column)), shape=(q, len(column)))
    return sp.csc_array(plus - minus)


def block_pair_matrix(pairs: Pairs, n: int, q: int) -> sp.csc_array:
    """blkdiag(H_1, ..., H_n), sparse, which sends alpha to the rows of B, (23)."""
    return pair_matrix(Pairs(pairs.i, pairs.i * q + pairs.m, pairs.i * q + pairs.n), n * q)


def differences(F: Array, pairs: Pairs) -> Array:
    """f_m(x_i) - f_n(x_i) of every pair, (16)."""
    return F[pairs.i, pairs.m] - F[pairs.i, pairs.n]


def epoch_orders(orders: Sequence[ArrayLike] | None, n: int) -> list[npt.NDArray[Any]]:
    """Orders of the instances in the epochs of a loop; only 0..n-1 if None."""
    permutations = [np.arange(n)] if orders is None else [np.array(order) for order in orders]
    for order in permutations:
        if not np.array_equal(np.sort(order), np.arange(n)):
            raise ValueError(f"orders holds {order}, expected a permutation of 0..{n - 1}")
    return permutations


# -------------------------------------------------------------------------------------------------
# Kernel
# -------------------------------------------------------------------------------------------------
def kernel_matrix(K: ArrayLike, bias: Bias) -> Array:
    """Kt = K + 1 if the bias is penalized, else K, after a check that K is square and symmetric."""
    if bias not in ("free", "penalized", "none"):
        raise ValueError(f"bias is {bias!r}, expected 'free', 'penalized' or 'none'")
    K = np.array(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"K has shape {K.shape}, expected a square matrix")
    if not np.isfinite(K).all():
        raise ValueError("K holds NaN or infinite values, expected finite numbers")
    asymmetry = np.abs(K - K.T).max(initial=0.0)
    if asymmetry > 1e-10 * np.abs(K).max(initial=0.0):
        raise ValueError(f"K differs from its transpose by {asymmetry:.3g}, expected symmetry")
    if bias == "penalized":
        return K + 1.0
    return K


# A kernel matrix is computed entry by entry: rounding makes eigenvalues negative that are not.
INDEFINITE = 1e-8


def scale_of(Kt: Array) -> float:
    """Return the largest diagonal entry of a kernel matrix, 1 if it is 0."""
    # Kt / kappa and kappa C have the scores of Kt and C, and alpha and the objective times kappa:
    # the solver gets the diagonal of a correlation matrix, whatever the scale of the features.
    largest = float(np.diag(Kt).max(initial=0.0))
    return largest if largest > 0.0 else 1.0


def centred(K: Array) -> Array:
    """P K P with P = I - 1 1^T / n; beta^T K beta is the same for columns beta that sum to 0."""
    K = K - K.mean(axis=0)
    K = K - K.mean(axis=1)[:, None]
    return np.asarray((K + K.T) / 2.0)


def factor(Kt: Array, size: float = 0.0) -> Array:
    """G with Kt = G G^T, by eigenvalues; `size` is that of the terms where Kt is a difference."""
    eigenvalues, U = np.linalg.eigh(Kt)
    largest = max(np.abs(eigenvalues).max(initial=0.0), size)
    if len(eigenvalues) and eigenvalues[0] < -INDEFINITE * largest:
        raise ValueError(
            f"K is indefinite: its eigenvalues lie between {eigenvalues[0]:.6g} and "
            f"{eigenvalues[-1]:.6g}, expected none below 0"
        )
    kept = eigenvalues > len(Kt) * np.finfo(np.float64).eps * largest
    if not kept.any():
        return np.zeros((len(Kt), 1))
    return np.asarray(U[:, kept] * np.sqrt(eigenvalues[kept]))


# -------------------------------------------------------------------------------------------------
# Feasible points of the dual with a free bias: 0 <= alpha <= C_i, H alpha = 0, (24)
#
# H alpha = 0 says that alpha is a circulation on the labels, with one arc m -> n a pair.
# -------------------------------------------------------------------------------------------------
def feasible(alpha: Array, pairs: Pairs, c: Array, q: int) -> Array:
    """Move alpha, which a solver left outside by its tolerance, to a feasible point."""
    # Arcs between strongly connected components carry nothing.
    interior = interior_circulation(pairs, c, q)
    inside = interior > 0.0
    alpha = np.where(inside, np.clip(alpha, 0.0, c), 0.0)
    if not inside.any():
        return alpha
    H = pair_matrix(pairs, q).toarray()
    # The residual H alpha is spread over the other arcs by weighted least squares: the weight is
    # the distance to the bounds, plus a share of c that keeps each component connected.
    for _ in range(3):
        weight = np.where(inside, np.minimum(alpha, c - alpha) + 1e-3 * c, 0.0)
        potential = np.linalg.pinv((H * weight) @ H.T, hermitian=True) @ (H @ alpha)
        alpha = alpha - weight * (H.T @ potential)
    # Where that leaves the bounds, the smallest share of the interior point is mixed in.
    low = np.where(alpha < 0.0, -alpha / np.where(inside, interior - alpha, 1.0), 0.0)
    high = np.where(alpha > c, (alpha - c) / np.where(alpha > c, alpha - interior, 1.0), 0.0)
    share = min(1.0, max(low.max(), high.max()))
    return np.asarray(np.clip((1.0 - share) * alpha + share * interior, 0.0, c))


def interior_circulation(pairs: Pairs, c: Array, q: int) -> Array:
    """Return alpha with H alpha = 0 and 0 < alpha < c wherever the dual allows alpha > 0."""
    # The flow pi_m P_mn of a stationary random walk, whose steps are in proportion to capacities.
    capacity = np.zeros((q, q))
    np.add.at(capacity, (pairs.m, pairs.n), c)
    components = connected_components(capacity > 0.0, connection="strong")[1]
    capacity[components[:, None] != components] = 0.0
    out = capacity.sum(axis=1)
    P = capacity / np.where(out > 0.0, out, 1.0)[:, None]
    P[out == 0.0, out == 0.0] = 1.0
    flow = np.zeros((q, q))
    for component in range(components.max() + 1):
        labels = np.flatnonzero(components == component)
        if len(labels) > 1:
            block = np.ix_(labels, labels)
            # pi (P - I) = 0 and sum pi = 1
            system = np.vstack([P[block].T - np.eye(len(labels)), np.ones(len(labels))])
            pi = np.linalg.lstsq(system, np.r_[np.zeros(len(labels)), 1.0], rcond=None)[0]
            flow[block] = np.maximum(pi, 0.0)[:, None] * P[block]
    # All arcs of one label get the same share of their capacities.
    share = np.where(capacity > 0.0, flow / np.where(capacity > 0.0, capacity, 1.0), 0.0)
    largest = share.max(initial=0.0)
    if largest == 0.0:
        return np.zeros(len(c))
    return np.asarray(0.5 * share[pairs.m, pairs.n] / largest * c)


# -------------------------------------------------------------------------------------------------
# Solver
# -------------------------------------------------------------------------------------------------
# With a free bias the dual often has no interior, and with a large C its box is far wider than its
# solution. Clarabel's own step length and regularisation then stall before 1e-12; the shorter step,
# the stronger regularisation and its removal by iterative refinement do not.
SETTINGS: dict[str, dict[str, float]] = {
    "clarabel": {
        "tol_gap_abs": 1e-12,
        "tol_gap_rel": 1e-12,
        "tol_feas": 1e-12,
        "tol_infeas_abs": 1e-12,
        "tol_infeas_rel": 1e-12,
        "reduced_tol_gap_abs": 1e-9,
        "reduced_tol_gap_rel": 1e-9,
        "reduced_tol_feas": 1e-9,
        "max_step_fraction": 0.9,
        "static_regularization_constant": 1e-7,
        "iterative_refinement_max_iter": 50,
        "iterative_refinement_reltol": 1e-16,
        "iterative_refinement_abstol": 1e-16,
        "iterative_refinement_stop_ratio": 1.1,
        "max_iter": 500,
    },
    "scs": {"eps_abs": 1e-11, "eps_rel": 1e-11, "rho_x": 1e-3, "max_iters": 200_000},
}


# What is tried, and which statuses are accepted: "inaccurate" means the reduced tolerances for
# Clarabel, and none at all for SCS.
ATTEMPTS: dict[str, list[tuple[dict[str, float], tuple[str, ...]]]] = {
    "clarabel": [
        (SETTINGS["clarabel"], ("optimal", "optimal_inaccurate")),
        ({"max_iter": 500}, ("optimal",)),
    ],
    "scs": [(SETTINGS["scs"], ("optimal",))],
}


def import_cvxpy() -> Any:
    """Import CVXPY, which is an optional dependency."""
    try:
        import cvxpy
    except ImportError as error:
        raise ImportError(
            "the exact solver needs CVXPY, which is not installed: pip install 'multimargin[exact]'"
        ) from error
    return cvxpy


# A relative gap at which no further attempt is made.
CERTIFIED = 1e-9


class ExactSolverError(RuntimeError):
    """An interior-point solver stopped without a solution; the message says what helps."""


def failure(solver: str, statuses: Sequence[str]) -> ExactSolverError:
    """Return the error for a problem that a solver did not solve."""
    return ExactSolverError(
        f"the exact solver {solver} stopped with status {', '.join(dict.fromkeys(statuses))}; "
        "expected 'optimal'. Scale the features, lower C (for MLRL, raise lam) or use an iterative "
        "solver, such as solver='bcd' (for MLRL, 'splitting'), which certifies its result, too"
    )


def solve_qp(problem: Any, solver: Solver = "clarabel") -> None:
    """Solve a CVXPY problem in place, to 1e-12, else 1e-9 or 1e-8 (SCS: 1e-11), or raise."""
    if solver not in SETTINGS:
        raise ValueError(f"solver is {solver!r}, expected one of {sorted(SETTINGS)}")
    cp = import_cvxpy()
    statuses = []
    for settings, accepted in ATTEMPTS[solver]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            try:
                problem.solve(solver=solver.upper(), **settings)
            except cp.SolverError:
                statuses.append("solver_error")
                continue
        if problem.status in accepted:
            return
        statuses.append(str(problem.status))
    raise failure(solver, statuses)


def best_of(attempts: Sequence[Callable[[], Any]], primal: Callable[[Any], float]) -> Any:
    """Return the first dual solution that its own primal value certifies, else the best one."""
    best, smallest, failed = None, np.inf, None
    for attempt in attempts:
        try:
            found = attempt()
        except ExactSolverError as error:
            failed = error
            continue
        value = primal(found)
        gap = relative_gap(value, found.objective)
        if best is None or gap < smallest:
            best, smallest = found, gap
        if smallest <= CERTIFIED:
            break
    if best is None:
        assert failed is not None
        raise failed
    return best


def relative_gap(primal: float, dual: float, loss_at_zero: float = 0.0) -> float:
    """(primal - dual) / primal; 0 if the difference is rounding of the objective of the model 0.

    It is infinite where the bound is above the objective by more than the solvers' rounding.
    """
    if abs(primal - dual) <= 1e-14 * loss_at_zero or primal == dual:
        return 0.0
    if not dual - primal <= 1e-6 * abs(primal):
        return float("inf")
    return (primal - dual) / max(abs(primal), np.finfo(np.float64).tiny)
