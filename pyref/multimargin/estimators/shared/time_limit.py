"""The time that a fit may take."""

import time
from math import inf
from typing import Any

from multimargin.checks.parameters import check_real


def check_max_time(value: Any) -> float | None:
    """Return the parameter ``max_time``.

    Parameters
    ----------
    value : object
        Its value.

    Returns
    -------
    float or None
        The seconds; None where there is no limit, be it None or infinite.

    Raises
    ------
    TypeError
        If the value is neither None nor a real number.
    ValueError
        If it is not positive.
    """
    if value is None or (isinstance(value, float) and value == inf):
        return None
    return check_real("max_time", value, above=0.0)


def deadline_of(max_time: Any) -> float | None:
    """Return when a fit that begins now has to end, by `time.monotonic`.

    Parameters
    ----------
    max_time : float or None
        The parameter.

    Returns
    -------
    float or None
        The time; None where there is no limit.
    """
    seconds = check_max_time(max_time)
    return None if seconds is None else time.monotonic() + seconds


def seconds_until(deadline: float | None) -> float | None:
    """Return what is left of the time of a fit.

    Parameters
    ----------
    deadline : float or None
        What `deadline_of` returned.

    Returns
    -------
    float or None
        Seconds, at least 0; None where there is no limit.
    """
    return None if deadline is None else max(deadline - time.monotonic(), 0.0)


def time_limit_message(estimator: Any, epochs: str, gap: float) -> str:
    """Return the warning of a fit that has used up its time.

    Parameters
    ----------
    estimator : estimator
        The estimator, with `max_time` and `tol`.
    epochs : str
        How many epochs or rounds it has made, with their name.
    gap : float
        The relative duality gap reached.

    Returns
    -------
    str
        The message.
    """
    return (
        f"{type(estimator).__name__} stopped after max_time={estimator.max_time:g} s, in {epochs}, "
        f"with a relative duality gap of {gap:.3g}, above tol={estimator.tol:g}. The model is "
        "within that gap of the optimum; increase max_time or tol for one that is within tol."
    )
