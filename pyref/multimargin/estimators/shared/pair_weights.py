"""The weights of label pairs."""

import numpy as np
from numpy.typing import NDArray

from multimargin.estimators.shared.problem import Matrix

PAIR_WEIGHTS = ("balanced", "uniform")


def pairs_of(indicator: NDArray[np.uint8]) -> Matrix:
    """Return the number of label pairs p_i r_i of each row, shape (n,)."""
    relevant = np.count_nonzero(indicator == 1, axis=1).astype(np.float64)
    pairs: Matrix = relevant * np.count_nonzero(indicator == 0, axis=1)
    return pairs


def weights_of_pairs(
    indicator: NDArray[np.uint8], C: float, kind: str, sample_weight: Matrix | None = None
) -> Matrix:
    """Return the weight of each pair of a row, by row.

    Parameters
    ----------
    indicator : ndarray of shape (n, q)
        Label indicator.
    C : float
        Weight of the loss.
    kind : {"balanced", "uniform"}
        C / (p_i r_i), so that every row counts the same, or C / n, so that every pair does.
    sample_weight : ndarray of shape (n,), default=None
        How often each row counts; n is their sum.

    Returns
    -------
    ndarray of shape (n,)
        The weights; 0 for rows without pairs.
    """
    pairs = pairs_of(indicator)
    n = pairs.size if sample_weight is None else float(sample_weight.sum())
    weights = np.full(pairs.size, C / n) if kind == "uniform" else C / np.maximum(pairs, 1.0)
    weights[pairs == 0.0] = 0.0
    return weights if sample_weight is None else weights * sample_weight
