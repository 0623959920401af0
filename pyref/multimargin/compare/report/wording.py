"""Words and numbers that several tables share."""

from datetime import UTC, datetime
from math import isnan

from multimargin.compare.results import Result
from multimargin.compare.statistics.ranks import Ranks

# strftime would follow the language of the machine.
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


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


def date_in_words(moment: str) -> str:
    """Return a time as people write it."""
    time = datetime.fromisoformat(moment).astimezone(UTC)
    return f"{time.day} {_MONTHS[time.month - 1]} {time.year}, {time:%H:%M} UTC"
