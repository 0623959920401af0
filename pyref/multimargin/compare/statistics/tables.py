"""Checks of the tables of values that are compared."""

import numpy as np
import pandas as pd

from multimargin.checks.names import quoted
from multimargin.checks.parameters import check_flag


def check_table(table: object, larger_is_better: object) -> None:
    """Refuse what is no table of numbers, and a flag that is neither True nor False."""
    check_flag("larger_is_better", larger_is_better)
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"table is {quoted(table)}; expected a data frame with one column per method."
        )
    try:
        table.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"table has values that are no numbers: {error}; expected numbers, NaN for none."
        ) from error
