"""The weights of label pairs."""

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.parameters import check_integer, check_real
from multimargin.targets.indicator import count_labels
from multimargin.typing import Matrix

PAIR_WEIGHTS = ("balanced", "uniform")


def check_top_k(top_k: int | float | None) -> None:
    """Raise TypeError or ValueError unless `top_k` is None, a number of labels or a share."""
    if isinstance(top_k, float | np.floating):
        check_real("top_k", top_k, above=0.0, at_most=1.0)
    elif top_k is not None:
        check_integer("top_k", top_k, at_least=1)


def number_at_the_top(top_k: int | float | None, q: int) -> int | None:
    """Return the number of irrelevant labels that form pairs; None is all."""
    if top_k is None:
        return None
    top = max(1, int(top_k * q)) if isinstance(top_k, float | np.floating) else int(top_k)
    return top if top < q else None


def pairs_of(indicator: NDArray[np.uint8], top: int | None = None) -> Matrix:
    """Return the number of pairs of each row, p_i r_i or p_i min(top, r_i), shape (n,)."""
    relevant, irrelevant = count_labels(indicator, axis=1)
    return np.asarray(relevant * np.minimum(irrelevant, top or np.inf), dtype=np.float64)


def weights_of_pairs(
    indicator: NDArray[np.uint8],
    C: float,
    kind: str,
    sample_weight: Matrix | None = None,
    top: int | None = None,
) -> Matrix:
    """Return the weight of each pair of a row, by row; with a zero label, of each known label."""
    if kind == "zero label":
        pairs = np.add(*count_labels(indicator, axis=1)).astype(np.float64)
    else:
        pairs = pairs_of(indicator, top)
    n = pairs.size if sample_weight is None else float(sample_weight.sum())
    weights = np.full(pairs.size, C / n) if kind == "uniform" else C / np.maximum(pairs, 1.0)
    weights[pairs == 0.0] = 0.0
    return weights if sample_weight is None else weights * sample_weight
