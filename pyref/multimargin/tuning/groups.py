"""Groups of rows that stay together."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multimargin.targets.given import is_missing


def check_groups(groups: ArrayLike | None, n: int) -> NDArray[Any] | None:
    """Return the group of each of n rows as an array, None if there are no groups."""
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.shape != (n,):
        raise ValueError(f"groups has shape {values.shape}; expected ({n},), one for each row.")
    missing = [row for row, value in enumerate(values) if is_missing(value)]
    if missing:
        raise ValueError(
            f"groups has no value in {len(missing)} of {n} rows, the first of which is row "
            f"{missing[0]}; expected one for each row, such as its own where it has no group."
        )
    try:
        np.unique(values)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in values})
        raise TypeError(
            f"groups has values of the types {', '.join(kinds)}; expected ones that can be ordered."
        ) from error
    return values
