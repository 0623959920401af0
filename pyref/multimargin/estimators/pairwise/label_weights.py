"""Weights of the relevant labels in the ranking loss: the parameter `class_weight`."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.arrays import check_readable
from multimargin.checks.names import quoted
from multimargin.targets.reading import Targets
from multimargin.typing import ClassWeight, Matrix

# The power of n / n_m that is the weight of a label with n_m rows.
EXPONENTS = {"balanced": 1.0, "sqrt": 0.5}


def check_class_weight(class_weight: ClassWeight) -> None:
    """Raise TypeError or ValueError unless `class_weight` is valid."""
    if isinstance(class_weight, str) and class_weight not in EXPONENTS:
        raise ValueError(
            f"class_weight is {class_weight!r}; expected None, 'balanced', 'sqrt', a dict by label "
            "name or one positive number per label."
        )
    if class_weight is None or isinstance(class_weight, str):
        return
    values = list(class_weight.values()) if isinstance(class_weight, Mapping) else class_weight
    _positive(values)


def weights_of_labels(
    class_weight: ClassWeight, targets: Targets, sample_weight: Matrix | None = None
) -> Matrix | None:
    """Return the weight of the pairs in which each label is relevant."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        return weights_of_counts(class_weight, rows_of_labels(targets.indicator, sample_weight))
    q = targets.indicator.shape[1]
    if isinstance(class_weight, Mapping):
        return _by_name(class_weight, targets, q)
    weights = _positive(class_weight)
    if weights.shape != (q,):
        raise ValueError(f"class_weight has shape {weights.shape}; expected ({q},), one per label.")
    return weights


def rows_of_labels(indicator: NDArray[np.uint8], sample_weight: Matrix | None = None) -> Matrix:
    """Return the number of rows, or their weight, in which each label is relevant."""
    rows = np.ones(indicator.shape[0]) if sample_weight is None else sample_weight
    counts: Matrix = rows @ (indicator == 1)
    return counts


def weights_of_counts(rule: str, counts: Matrix) -> Matrix:
    """Return the weights of a rule: their mean over rows and their relevant labels is 1.

    A label that is never relevant has the weight 1.
    """
    seen = counts > 0.0
    weights = np.ones(counts.size)
    weights[seen] = (counts[seen].max(initial=1.0) / counts[seen]) ** EXPONENTS[rule]
    weights[seen] *= counts[seen].sum() / max(float(counts @ weights), np.finfo(np.float64).tiny)
    return weights


def _by_name(class_weight: Mapping[Any, Any], targets: Targets, q: int) -> Matrix:
    positions: dict[Any, int] = {}
    if targets.multilabel:
        positions.update((k, k) for k in range(q))
    else:
        positions.update((name, k) for k, name in enumerate(targets.classes.tolist()))
    if targets.label_names is not None:
        positions.update((name, k) for k, name in enumerate(targets.label_names))
    weights = np.ones(q)
    for name, weight in class_weight.items():
        if name not in positions:
            expected = list(positions)[-q:]
            raise ValueError(
                f"class_weight has a weight for {name!r}, which is not a label; expected some of "
                f"{expected[:10]}{'...' if q > 10 else ''}."
            )
        weights[positions[name]] = float(weight)
    return weights


def _positive(values: Any) -> Matrix:
    check_readable(values, "class_weight")
    try:
        weights = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"class_weight is {quoted(values)}; expected None, 'balanced', 'sqrt', a dict by "
            "label name or one positive number per label."
        ) from error
    wrong = ~(np.isfinite(weights) & (weights > 0.0))
    if wrong.any():
        raise ValueError(
            f"class_weight holds {weights[wrong].flat[0]:g}; expected positive finite numbers."
        )
    return weights
