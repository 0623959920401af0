"""The margins of label pairs, summed up by quantiles."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.measures.margins import pair_margins

N_QUANTILES = 100

# Enough for quantiles in steps of 0.01, and small beside the scores themselves.
_MAX_PAIRS = 2_000_000


def margin_quantiles(Y: NDArray[np.int64], scores: NDArray[Any]) -> list[float]:
    """Sum up f_m - f_n over all pairs of a relevant label m and an irrelevant label n of a row.

    Returns the quantiles 0.005, 0.015, ..., 0.995, whose mean is about that of the margins; none
    without any pair. Of more than two million pairs those of evenly spaced rows stand for all.
    """
    n_relevant = Y.sum(axis=1, dtype=np.int64)
    n_pairs = n_relevant * (Y.shape[1] - n_relevant)
    rows = np.flatnonzero(n_pairs)
    if not rows.size:
        return []
    chosen = rows[:: -(-int(n_pairs.sum()) // _MAX_PAIRS)]
    levels = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    quantiles = np.quantile(pair_margins(Y[chosen], scores[chosen]), levels)
    return [float(value) for value in quantiles]
