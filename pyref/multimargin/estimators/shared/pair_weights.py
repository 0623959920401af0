"""The weights of label pairs."""

import numpy as np
from numpy.typing import NDArray

from multimargin.estimators.shared.problem import Matrix

PAIR_WEIGHTS = ("balanced", "uniform")


def pairs_of(indicator: NDArray[np.uint8]) -> Matrix:
    """Return the number of label pairs p_i r_i of each row, shape (n,)."""
    relevant = indicator.sum(axis=1, dtype=np.float64)
    pairs: Matrix = relevant * (indicator.shape[1] - relevant)
    return pairs


def weights_of_pairs(indicator: NDArray[np.uint8], C: float, kind: str, n: int) -> Matrix:
    """Return the weight of each pair of a row, by row.

    Parameters
    ----------
    indicator : ndarray of shape (m, q)
        Label indicator of some rows.
    C : float
        Weight of the loss.
    kind : {"balanced", "uniform"}
        C / (p_i r_i), so that every row counts the same, or C / n, so that every pair does.
    n : int
        Number of training rows.

    Returns
    -------
    ndarray of shape (m,)
        The weights; 0 for rows without pairs.
    """
    pairs = pairs_of(indicator)
    weights = np.full(pairs.size, C / n) if kind == "uniform" else C / np.maximum(pairs, 1.0)
    weights[pairs == 0.0] = 0.0
    return weights
