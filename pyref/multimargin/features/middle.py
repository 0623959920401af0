"""The middle of the rows, from which their distances are computed."""

import numpy as np

from multimargin.typing import Matrix, Vector

# Rows that it is computed from.
_MOST = 1000


def middle_of(X: Matrix) -> Vector:
    """Return the medians of the columns, of at most 1,000 rows.

    Less them a constant column is 0, and one huge number costs the others no digits; less the mean
    neither is so.
    """
    medians: Vector = np.median(X[:: -(-len(X) // _MOST)], axis=0)
    return medians
