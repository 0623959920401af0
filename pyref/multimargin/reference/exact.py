"""The parts that every exact model of the pairwise family is made of.

A method of this family (Rank-SVM, Rank-CVM, Rank-HLapSVM, mlODM) puts one dual variable on every
pair of a relevant and an irrelevant label of an instance. This file holds what does not depend on
the loss: the pairs, their matrices in the papers' letters, the factor of the kernel matrix, and the
call of the solver.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

Array = npt.NDArray[np.float64]
Bias = Literal["free", "penalized", "none"]
Solver = Literal["clarabel", "scs"]


# -------------------------------------------------------------------------------------------------
# Pairs: (m, n) in L_i x complement of L_i, 000 (16)
# -------------------------------------------------------------------------------------------------
class Pairs(NamedTuple):
    """The L pairs (i, m, n): label m is relevant and label n irrelevant for instance i.

    Parameters
    ----------
    i, m, n : ndarray of int, shape (L,)
        Ordered by i, then by m, then by n.
    """

    i: npt.NDArray[np.intp]
    m: npt.NDArray[np.intp]
    n: npt.NDArray[np.intp]


def pairs(Y: npt.ArrayLike) -> Pairs:
    """List the pairs of every instance.

    Parameters
    ----------
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels. A row of zeros only or of ones only has no pairs.

    Returns
    -------
    Pairs
        i = 1..n, then m over the relevant labels, then n over the irrelevant ones, each ascending.
    """
    Y = label_matrix(Y)
    triples = []
    for i in range(Y.shape[0]):
        for m in np.flatnonzero(Y[i] == 1):
            for n in np.flatnonzero(Y[i] == 0):
                triples.append((i, m, n))
    columns = np.array(triples, dtype=np.intp).reshape(-1, 3).T
    return Pairs(columns[0], columns[1], columns[2])


def label_matrix(Y: npt.ArrayLike) -> npt.NDArray[np.int_]:
    """Check that Y is an n x q matrix of zeros and ones, and return it as integers.

    Parameters
    ----------
    Y : array_like of {0, 1}, shape (n, q)

    Returns
    -------
    ndarray of int, shape (n, q)

    Raises
    ------
    ValueError
        If Y is not two-dimensional or holds anything but 0 and 1.
    """
    Y = np.asarray(Y)
    if Y.ndim != 2:
        raise ValueError(f"Y has {Y.ndim} dimension(s), expected 2: instances x labels")
    if not np.isin(Y, (0, 1)).all():
        raise ValueError(f"Y holds the values {np.unique(Y)[:5]}, expected only 0 and 1")
    return Y.astype(np.int_)


def pair_weights(pairs: Pairs, C: float) -> Array:
    """Weight C_i = C / (p_i r_i) of every pair, 000 (19).

    Parameters
    ----------
    pairs : Pairs
    C : float
        Positive and finite.

    Returns
    -------
    ndarray, shape (L,)

    Raises
    ------
    ValueError
        If C is not positive and finite.
    """
    if not (np.isfinite(C) and C > 0):
        raise ValueError(f"C is {C}, expected a positive finite number")
    pairs_of_instance = np.bincount(pairs.i)  # l_i = p_i r_i
    return np.asarray(C / pairs_of_instance[pairs.i], dtype=np.float64)


def pair_matrix(pairs: Pairs, q: int) -> sp.csc_array:
    """H = [H_1, ..., H_n]: +1 in row m and -1 in row n of every pair's column, 000 (20), (25).

    Parameters
    ----------
    pairs : Pairs
    q : int
        Number of labels.

    Returns
    -------
    sparse array, shape (q, L)
    """
    column = np.arange(len(pairs.i))
    plus = sp.coo_array((np.ones(len(column)), (pairs.m, column)), shape=(q, len(column)))
    minus = sp.coo_array((np.ones(len(column)), (pairs.n, column)), shape=(q, len(column)))
    return sp.csc_array(plus - minus)


def block_pair_matrix(pairs: Pairs, n: int, q: int) -> sp.csc_array:
    """blkdiag(H_1, ..., H_n), which sends alpha to the rows of B: 000 (23), 002 (15).

    Row i of B is beta_i = H_i alpha_i. The transpose sends scores F to the differences
    f_m(x_i) - f_n(x_i), one a pair.

    Parameters
    ----------
    pairs : Pairs
    n, q : int
        Numbers of instances and labels.

    Returns
    -------
    sparse array, shape (n q, L)
        Row i q + k belongs to instance i and label k.
    """
    within = Pairs(pairs.i, pairs.i * q + pairs.m, pairs.i * q + pairs.n)
    return pair_matrix(within, n * q)


# -------------------------------------------------------------------------------------------------
# Kernel
# -------------------------------------------------------------------------------------------------
def kernel_matrix(K: npt.ArrayLike, bias: Bias) -> Array:
    """Kt, the kernel that the method really uses: K + 1 when the bias is penalised, else K.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Symmetric kernel matrix.
    bias : {"free", "penalized", "none"}

    Returns
    -------
    ndarray, shape (n, n)

    Raises
    ------
    ValueError
        If K is not square, finite and symmetric, or bias is none of the three.
    """
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
    """Return the largest diagonal entry of a kernel matrix, 1 if it is 0.

    Parameters
    ----------
    Kt : ndarray, shape (n, n)

    Returns
    -------
    float
        With kappa Kt and C/kappa in the place of Kt and C, alpha and the objective are divided by
        kappa and the scores stay: a solver is given the problem with the diagonal of a correlation
        matrix, whatever the scale of the features.
    """
    largest = float(np.diag(Kt).max(initial=0.0))
    return largest if largest > 0.0 else 1.0


def centred(K: Array) -> Array:
    """P K P with P = I - 1 1^T / n: the kernel of features whose mean is subtracted.

    Parameters
    ----------
    K : ndarray, shape (n, n)

    Returns
    -------
    ndarray, shape (n, n)
        The quadratic term beta^T K beta is the same for columns beta that sum to 0.
    """
    K = K - K.mean(axis=0)
    K = K - K.mean(axis=1)[:, None]
    return np.asarray((K + K.T) / 2.0)


def factor(Kt: Array, size: float = 0.0) -> Array:
    """G with Kt = G G^T, by the eigen-decomposition of Kt.

    Parameters
    ----------
    Kt : ndarray, shape (n, n)
        Symmetric and positive semi-definite up to rounding.
    size : float, default 0
        Size of the numbers that Kt was computed from, where it is a difference of larger ones.

    Returns
    -------
    ndarray, shape (n, rank)
        At least one column, so that a zero matrix has a factor as well.

    Raises
    ------
    ValueError
        If an eigenvalue is below -1e-8 times the largest one: the dual would not be convex.
    """
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
# Feasible points of the dual with a free bias: 0 <= alpha <= C_i, H alpha = 0
# -------------------------------------------------------------------------------------------------
def feasible(alpha: Array, pairs: Pairs, c: Array, q: int) -> Array:
    """Move alpha, which a solver left outside by its tolerance, to a point of the dual's domain.

    Parameters
    ----------
    alpha : ndarray, shape (L,)
    pairs : Pairs
    c : ndarray, shape (L,)
        Upper bounds.
    q : int
        Number of labels.

    Returns
    -------
    ndarray, shape (L,)
        Inside its bounds, and H alpha is 0 but for the rounding of a sum.

    Notes
    -----
    H alpha = 0 says that alpha is a circulation on the labels, one arc m -> n a pair. Three steps:
    arcs between strongly connected components carry none; the residual is spread over the others
    by least squares, weighted by their distance to the bounds; and where that leaves the bounds,
    the smallest share of a circulation in their interior is mixed in.
    """
    interior = interior_circulation(pairs, c, q)
    inside = interior > 0.0
    alpha = np.where(inside, np.clip(alpha, 0.0, c), 0.0)
    if not inside.any():
        return alpha
    H = pair_matrix(pairs, q).toarray()
    for _ in range(3):
        # The small share of c keeps every component connected where all of it is at its bounds.
        room = np.where(inside, np.minimum(alpha, c - alpha) + 1e-3 * c, 0.0)
        potential = np.linalg.pinv((H * room) @ H.T, hermitian=True) @ (H @ alpha)
        alpha = alpha - room * (H.T @ potential)
    low = np.where(alpha < 0.0, -alpha / np.where(inside, interior - alpha, 1.0), 0.0)
    high = np.where(alpha > c, (alpha - c) / np.where(alpha > c, alpha - interior, 1.0), 0.0)
    share = min(1.0, max(low.max(), high.max()))
    return np.asarray(np.clip((1.0 - share) * alpha + share * interior, 0.0, c))


def interior_circulation(pairs: Pairs, c: Array, q: int) -> Array:
    """Return alpha with H alpha = 0 and 0 < alpha < c wherever the dual allows alpha > 0.

    Parameters
    ----------
    pairs : Pairs
    c : ndarray, shape (L,)
        Upper bounds.
    q : int
        Number of labels.

    Returns
    -------
    ndarray, shape (L,)
        0 for the pairs that are 0 at every feasible point: those between labels of different
        strongly connected components.

    Notes
    -----
    The flow pi_m P_mn of a stationary random walk with arcs in proportion to their capacities.
    """
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
            pi = np.linalg.lstsq(system, np.r_[np.zeros(len(labels)), 1.0])[0]
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
    """Import CVXPY, which is an optional dependency.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        Names the extra to install.
    """
    try:
        import cvxpy
    except ImportError as error:
        raise ImportError(
            "the exact solver needs CVXPY, which is not installed: pip install multimargin[exact]"
        ) from error
    return cvxpy


# A relative gap at which no further attempt is made.
CERTIFIED = 1e-9


class ExactSolverError(RuntimeError):
    """An interior-point solver stopped without a solution; the message says what helps."""


def failure(solver: str, statuses: Sequence[str]) -> ExactSolverError:
    """Return the error for a problem that a solver did not solve.

    Parameters
    ----------
    solver : str
        The solver's name.
    statuses : sequence of str
        How its attempts ended.

    Returns
    -------
    ExactSolverError
    """
    return ExactSolverError(
        f"the exact solver {solver} stopped with status {', '.join(dict.fromkeys(statuses))}; "
        "expected 'optimal'. Scale the features, lower C (for MLRL, raise lam) or use an iterative "
        "solver, such as solver='bcd' (for MLRL, 'splitting'), which certifies its result, too"
    )


def solve_qp(problem: Any, solver: Solver = "clarabel") -> None:
    """Solve a CVXPY problem to the limit of double precision.

    Parameters
    ----------
    problem : cvxpy.Problem
        Solved in place: its variables and multipliers have values afterwards.
    solver : {"clarabel", "scs"}, default "clarabel"
        The interior-point method Clarabel, or the splitting method SCS for an independent second
        opinion on small problems.

    Raises
    ------
    ValueError
        If solver is none of the two.
    ExactSolverError
        If the solver stops before it has reached its tolerances.

    Notes
    -----
    Clarabel aims at 1e-12. Where rounding stops it earlier, 1e-9 is accepted; where that is out of
    reach, too, its own settings and its own tolerance, 1e-8, are tried. SCS aims at 1e-11 and
    raises when it does not get there, as it happens for very small or large C.
    """
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
    """Return the first dual solution that its own primal value certifies, else the best one.

    Parameters
    ----------
    attempts : sequence of callable
        Each solves the same dual problem in units of its own and returns a solution with its
        `objective`; or raises `ExactSolverError`.
    primal : callable
        The primal value of a solution.

    Returns
    -------
    solution

    Raises
    ------
    ExactSolverError
        If every attempt fails.
    """
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
    """(primal - dual) / primal, where a primal value of 0 means one of rounding.

    Parameters
    ----------
    primal, dual : float
    loss_at_zero : float, default 0
        The objective of the model 0: sums of this size are what both values were computed from.

    Returns
    -------
    float
        0 where the difference is within 1e-14 of `loss_at_zero`.
    """
    if primal - dual <= 1e-14 * loss_at_zero:
        return 0.0
    return (primal - dual) / max(abs(primal), np.finfo(np.float64).tiny)
