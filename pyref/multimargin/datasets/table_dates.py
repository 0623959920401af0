"""Dates and durations in texts: which are clear, and their parts."""

import re
from datetime import date

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.names import quoted
from multimargin.checks.no_numbers import DATES, DURATIONS
from multimargin.datasets.table_cells import Cells, is_nothing

DATE_PARTS = ("year", "month", "day", "weekday", "hour")
"""What becomes of a date."""
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = f"(?:{'|'.join(_MONTHS)})[a-z]*[.]?"
_CLOCK = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:\ ?[ap]m)?"
_ZONE = r"\ ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})"
# Those whose day and month cannot be confused: 2024-01-31, 31.1.2024, 31 January 2024.
_DATE = re.compile(
    r"\s*(?:(?P<ymd>[0-9]{4}([-/.])[0-9]{1,2}\2[0-9]{1,2})"
    r"|(?P<dmy>[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4})"
    r"|(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\ )?"
    rf"(?P<named>(?:[0-9]{{1,2}}[ -]{_MONTH}|{_MONTH}\ [0-9]{{1,2}}),?[ -](?:[0-9]{{2}}){{1,2}}))"
    rf"(?:,?[ T](?P<clock>{_CLOCK})(?:{_ZONE})*)?\s*",
    re.IGNORECASE,
)
_OTHER_DATE = re.compile(
    r"\s*(?:[0-9]{1,2}([-/.])[0-9]{1,2}\1(?:[0-9]{2}){1,2}"
    rf"(?:,?[ T]{_CLOCK})?|{_CLOCK}|[0-9]{{1,2}}:[0-9]{{2}}[.,][0-9]+"
    rf"|{_MONTH}[- /]'?[0-9]{{2}}|[0-9]{{2}}[- /]{_MONTH})\s*",
    re.IGNORECASE,
)
_YEAR = re.compile("0000|(?:19|20)[0-9]{2}")
# How words within dates begin: months and weekdays in several languages, and what joins them.
_OF_DATES = re.compile(
    f"{'|'.join(_MONTHS)}|mon|tue|wed|thu|fri|sat|sun|mär|mai|okt|dez|fév"
    "|avr|jui|aoû|déc|ene|abr|mayo|ago|set|out|dic|fev|gen|mag|giu|lug|ott|mrt|mei|uhr"
    "|(?:[twqzhg]|st|nd|rd|th|of|de|am|pm|utc|gmt|[cempw]e?s?[dt]|年|月|日)$"
)
_DURATION = re.compile(
    r"\s*-?[0-9]+ days?(?:,? [+-]?[0-9]+:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?)?\s*"
    r"|\s*P(?:[0-9.]+[YMWD])*(?:T(?:[0-9.]+[HMS])+)?\s*"
)


def kind_of_text(text: str) -> str | None:
    """Return whether a text is a date or a time, or a duration."""
    if _DATE.fullmatch(text) or _OTHER_DATE.fullmatch(text) or _is_of_dates(text):
        return DATES
    return DURATIONS if _DURATION.fullmatch(text) and text.strip() != "P" else None


def _is_of_dates(text: str) -> bool:
    """Return whether a text has a year, and otherwise what stands in dates alone."""
    if not re.search("[0-9]{4}", text):
        return False
    # A zone may have any name.
    words = re.findall(r"[^\W\d_]+|[0-9]+", re.sub(r" \w+/\w+$", "", text.lower()))
    return (
        len(words) > 1
        and sum(_YEAR.fullmatch(word) is not None for word in words) == 1
        and all(
            # "1960-64" are years.
            int(word) < 60 or _YEAR.fullmatch(word) if word.isdigit() else _OF_DATES.match(word)
            for word in words
        )
    )


def is_clear(text: str) -> bool:
    """Return whether a text is a date of the calendar whose day and month cannot be confused."""
    try:
        return bool(_parts_of(text))
    except ValueError:
        return False


def date_parts(cells: Cells) -> NDArray[np.float64]:
    """Return year, month, day, weekday from 0 for Monday, and hour of dates; NaN where missing."""
    try:
        parts = {text: _parts_of(text) for text in cells.texts if not is_nothing(text)}
    except ValueError as error:
        raise ValueError(
            f"the column {cells.name!r} has something other than dates: {error}"
        ) from error
    nothing = [np.nan] * len(DATE_PARTS)
    return cells.mapped(lambda text: parts.get(text, nothing))


def _parts_of(text: str) -> list[float]:
    """Return the parts of a date, in the local time that it tells."""
    found = _DATE.fullmatch(text)
    if found is None:
        raise ValueError(f"{quoted(text)} is not a date")
    if found["named"]:
        named = found["named"].lower()
        numbers = re.findall("[0-9]+", named)
        month = _MONTHS.index(re.findall("[a-z]{3}", named)[0]) + 1
        year, day = int(numbers[1]), int(numbers[0])
        year += 0 if len(numbers[1]) == 4 else 1900 if year > 68 else 2000
    else:
        parts = [int(part) for part in re.findall("[0-9]+", found["ymd"] or found["dmy"])]
        year, month, day = parts if found["ymd"] else parts[::-1]
    clock = (found["clock"] or "0").lower()
    hour = int(re.findall("[0-9]+", clock)[0])
    if clock.endswith("m"):
        hour = hour % 12 + (12 if clock.endswith("pm") else 0)
    try:
        return [year, month, day, date(year, month, day).weekday(), hour]
    except ValueError as error:
        raise ValueError(f"{quoted(text)} is not a date: {error}") from error
