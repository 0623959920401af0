"""The middle of the rows, from which their distances are computed."""

import numpy as np

from multimargin.typing import Features, Vector, is_sparse

# Rows that it is computed from.
_MOST = 1000


def middle_of(X: Features) -> Vector:
    """Return the medians of the columns, of at most 1,000 rows.

    Less them a constant column is 0, and one huge number costs the others no digits; less the mean
    neither is so.
    """
    some = X[:: -(-X.shape[0] // _MOST)]
    medians: Vector = np.median(some.toarray() if is_sparse(some) else some, axis=0)
    return medians
