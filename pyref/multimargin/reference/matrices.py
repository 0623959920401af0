"""Factors of kernel matrices, K = G G^T, which keep the problems convex in spite of rounding."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# Rounding of the entries of a kernel matrix can make its smallest eigenvalues negative.
INDEFINITE = 1e-8


def root(K: Array, size: float = 0.0) -> Array:
    """G with K = G G^T, by eigenvalues; `size` is that of the terms where K is a difference."""
    eigenvalues, U = np.linalg.eigh(K)
    largest = max(np.abs(eigenvalues).max(initial=0.0), size)
    if len(eigenvalues) and eigenvalues[0] < -INDEFINITE * largest:
        raise ValueError(
            f"K is indefinite: its eigenvalues lie between {eigenvalues[0]:.6g} and "
            f"{eigenvalues[-1]:.6g}, expected none below 0"
        )
    kept = eigenvalues > len(K) * np.finfo(np.float64).eps * largest
    if not kept.any():
        return np.zeros((len(K), 1))
    return np.asarray(U[:, kept] * np.sqrt(eigenvalues[kept]))


def scale_of(K: Array) -> float:
    """Return the largest diagonal entry of a kernel matrix, 1 if it is 0."""
    largest = float(np.diag(K).max(initial=0.0))
    return largest if largest > 0.0 else 1.0


def centred(K: Array) -> Array:
    """P K P with P = I - 1 1^T / n; beta^T K beta is the same for columns beta that sum to 0."""
    K = K - K.mean(axis=0)
    K = K - K.mean(axis=1)[:, None]
    return np.asarray((K + K.T) / 2.0)


def damping(E: Array) -> tuple[Array, Array]:
    """V and t with I + E^T E = V diag(t) V^T, by singular values: those of E^T E lose digits."""
    _, values, Vt = np.linalg.svd(E, full_matrices=E.shape[0] < E.shape[1])
    t = np.ones(len(Vt))
    t[: len(values)] += values**2
    return Vt.T, t


def damped(G: Array, E: Array) -> Array:
    """D with D D^T = G (I + E^T E)^-1 G^T."""
    V, t = damping(E)
    return np.asarray((G @ V) / np.sqrt(t))


def damped_solve(E: Array, M: Array) -> Array:
    """Solve (I + E^T E) Z = M."""
    V, t = damping(E)
    return np.asarray(V @ ((V.T @ M) / t[:, None]))
