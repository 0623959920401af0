"""The parts that every exact model of the pairwise family is made of.

A method of this family (Rank-SVM, Rank-CVM, Rank-HLapSVM, mlODM) puts one dual variable on every
pair of a relevant and an irrelevant label of an instance. This file holds what does not depend on
the loss: the pairs, their matrices in the papers' letters, the factor of the kernel matrix, and the
call of the solver.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

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


def factor(Kt: Array) -> Array:
    """G with Kt = G G^T, by the eigen-decomposition of Kt.

    Parameters
    ----------
    Kt : ndarray, shape (n, n)
        Symmetric and positive semi-definite up to rounding.

    Returns
    -------
    ndarray, shape (n, rank)
        At least one column, so that a zero matrix has a factor as well.

    Raises
    ------
    ValueError
        If an eigenvalue is below -1e-10 times the largest one: the dual would not be convex.
    """
    eigenvalues, U = np.linalg.eigh(Kt)
    largest = np.abs(eigenvalues).max(initial=0.0)
    if len(eigenvalues) and eigenvalues[0] < -1e-10 * largest:
        raise ValueError(
            f"K is indefinite: its eigenvalues lie between {eigenvalues[0]:.6g} and "
            f"{eigenvalues[-1]:.6g}, expected none below 0"
        )
    kept = eigenvalues > len(Kt) * np.finfo(np.float64).eps * largest
    if not kept.any():
        return np.zeros((len(Kt), 1))
    return np.asarray(U[:, kept] * np.sqrt(eigenvalues[kept]))


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
    RuntimeError
        If the solver stops before it has reached its tolerances.

    Notes
    -----
    Clarabel aims at 1e-12. Where rounding stops it earlier, 1e-9 is accepted, never less. SCS aims
    at 1e-11 and raises when it does not get there, as it happens for very small or large C.
    """
    if solver not in SETTINGS:
        raise ValueError(f"solver is {solver!r}, expected one of {sorted(SETTINGS)}")
    cp = import_cvxpy()
    # "inaccurate" means the reduced tolerances for Clarabel, and none at all for SCS
    accepted = {"clarabel": ("optimal", "optimal_inaccurate"), "scs": ("optimal",)}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        try:
            problem.solve(solver=solver.upper(), **SETTINGS[solver])
        except cp.SolverError as error:
            raise RuntimeError(f"{solver} did not solve the problem: {error}") from error
    if problem.status not in accepted[solver]:
        raise RuntimeError(f"{solver} stopped with status {problem.status!r}, expected 'optimal'")
