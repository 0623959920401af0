"""Words and numbers that several tables share."""

from math import isnan

from multimargin.compare.results import Result
from multimargin.compare.statistics.ranks import Ranks


def left_out(ranks: Ranks) -> tuple[str, ...]:
    """Return notes on the methods and data sets that ranks leave out."""
    methods = [
        f"not ranked: {method}, without a value on any data set" for method in ranks.without_values
    ]
    data = [
        f"not ranked: data {name}, where {' and '.join(lacking)} "
        f"{'lacks' if len(lacking) == 1 else 'lack'} a value"
        for name, lacking in ranks.left_out.items()
    ]
    return (*methods, *data)


def number_of(value: float, form: str) -> str:
    """Return a number in a format, a dash for NaN."""
    return "–" if isnan(value) else format(value, form)


def message_of(result: Result) -> str:
    """Return the error of a result that failed."""
    assert result.error is not None
    return f"{result.error['type']}: {result.error['message']}"
