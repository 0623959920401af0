"""Rows without a label, which have no pair of labels to rank."""

import numpy as np
from numpy.typing import NDArray

from multimargin.notices import warn
from multimargin.targets.indicator import count_labels
from multimargin.typing import Indicator

# Share of the rows from which a fit warns, and from which they are most of the rows.
_MANY, _MOST = 0.1, 0.5


class EmptyRowsWarning(UserWarning):
    """Many rows have no label, and teach a ranker nothing.

    Examples
    --------
    >>> import warnings
    >>> from multimargin import EmptyRowsWarning
    >>> warnings.simplefilter("ignore", EmptyRowsWarning)
    """


def share_of_empty_rows(
    indicator: Indicator, sample_weight: NDArray[np.float64] | None = None
) -> float:
    """Return the share of the rows of which all labels are known not to be relevant."""
    _, irrelevant = count_labels(indicator, axis=1)
    empty = irrelevant == indicator.shape[1]
    return float(np.average(empty, weights=sample_weight))


def is_mostly_empty(indicator: Indicator) -> bool:
    """Return whether most rows have no label."""
    return share_of_empty_rows(indicator) >= _MOST


def warn_of_empty_rows(share: float) -> None:
    """Warn of a share of the rows from which a method that ranks pairs of labels learns nothing."""
    if share >= _MANY:
        warn(
            f"y has no label in {100 * share:.0f} % of the rows, from which a ranker learns "
            "nothing; RankSVMz and LabelRankerCV do. If this is intended, ignore EmptyRowsWarning.",
            EmptyRowsWarning,
        )
