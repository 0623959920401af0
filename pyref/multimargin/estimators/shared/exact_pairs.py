"""The label pairs of the exact models, with unknown labels and weights, and their matrices.

Equation numbers are those of Xu 2013.

Dictionary::

    Y         n x q   1 where the label is relevant, 0 where it is not, NaN where that is
                      unknown (-1 after `label_matrix`); n instances, q labels
    pairs     3 x L   (i, m, n): m relevant and n irrelevant for instance i, in the     (16)
                      order of i, then m, then n; a row of zeros or of ones has none
    c         L       weight C_i = C / (p_i r_i) of each pair of instance i with        (19)
                      p_i relevant and r_i irrelevant labels; C > 0: a number, n of them, or n x q
                      of them, by instance and relevant label m
    alpha     L       dual variables                                                    (19)
    H         q x L   [H_1, ..., H_n]: +1 in row m, -1 in row n of each pair's column  (20), (22)
    blkdiag_H nq x L  blkdiag(H_1, ..., H_n), row i q + k for instance i and label k:
                      B = blkdiag_H alpha, and blkdiag_H^T F are the differences of F
    B         n x q   row i is beta_i = H_i alpha_i                                 (21), (23)
    F         n x q   scores; its difference of pair (i, m, n) is F[i, m] - F[i, n]     (16)
    K, Kt     n x n   kernel matrix, and the one that the method uses: K + 1 if the bias is
                      penalized, else K
    G         n x r   factor of a kernel matrix: Kt = G G^T
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numpy.typing import ArrayLike

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int_]
Weight = float | Array
Bias = Literal["free", "penalized", "none"]


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


def expansion(alpha: Array, pairs: Pairs, n: int, q: int) -> Array:
    """B, whose row i is beta_i = H_i alpha_i, (21) and (23)."""
    return np.asarray(block_pair_matrix(pairs, n, q) @ alpha).reshape(n, q)


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
