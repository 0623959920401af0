"""The time that a fit may take."""

import time
from math import inf

from sklearn.base import BaseEstimator

from multimargin.checks.parameters import check_real

LEAST = 1e-3
"""The least that a fit is given of what time is left, in seconds."""


def check_max_time(value: object) -> float | None:
    """Return the seconds of ``max_time``; None if there is no limit, be it None or infinite."""
    if value is None or (isinstance(value, float) and value == inf):
        return None
    return check_real("max_time", value, above=0.0)


def deadline_of(max_time: float | None) -> float | None:
    """Return the time at which a fit that begins now has to end, by `time.monotonic`, or None."""
    seconds = check_max_time(max_time)
    return None if seconds is None else time.monotonic() + seconds


def seconds_until(deadline: float | None) -> float | None:
    """Return the seconds until a deadline, at least 0; None without a deadline."""
    return None if deadline is None else max(deadline - time.monotonic(), 0.0)


def time_limit_message(estimator: BaseEstimator, epochs: str, gap: float) -> str:
    """Return the warning of a fit that has used up its time."""
    return (
        f"{type(estimator).__name__} stopped after max_time={estimator.max_time:g} s, in {epochs}, "
        f"with a relative duality gap of {gap:.3g}, above tol={estimator.tol:g}. The model is "
        "within that gap of the optimum; increase max_time or tol for one that is within tol."
    )
