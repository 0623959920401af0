"""Checks of constructor parameters. Errors name the argument, what was found, what is expected.

Without scikit-learn and joblib until they are needed: the command line checks with them, too.
"""

from collections.abc import Collection
from contextlib import suppress
from functools import lru_cache
from math import isfinite, nan
from numbers import Integral, Real

import numpy as np

# Threads beyond this number and the processors would only exhaust the machine.
_MOST_THREADS = 256
# More epochs than any fit takes, and far from the limits of 64 bits.
_LARGEST_INTEGER = 10**12


def check_real(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> float:
    """Return a finite real parameter as a float; `above` and `below` are exclusive bounds."""
    number = nan
    kind: type[Exception] = TypeError
    if isinstance(value, Real) and not isinstance(value, bool):
        kind = ValueError
        # Beyond the range of floats there are integers and fractions.
        with suppress(OverflowError):
            number = float(value)
    inside = (
        (above is None or number > above)
        and (at_least is None or number >= at_least)
        and (below is None or number < below)
        and (at_most is None or number <= at_most)
    )
    if isfinite(number) and inside:
        return number
    words = {"above": above, "of at least": at_least, "below": below, "of at most": at_most}
    limits = " and ".join(f"{word} {b:g}" for word, b in words.items() if b is not None)
    if at_least is not None and at_most is not None:
        limits = f"{at_least:g} to {at_most:g}"
        limits = f"from {limits}" if above is None else f"above {above:g} ({limits})"
    raise kind(f"{name} is {value!r}; expected a finite number {limits}".rstrip() + ".")


def check_integer(
    name: str, value: object, *, at_least: int, at_most: int = _LARGEST_INTEGER
) -> int:
    """Return an integer parameter; both bounds are inclusive."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} is {value!r}; expected an integer of at least {at_least}.")
    if value < at_least:
        raise ValueError(f"{name} is {value!r}; expected an integer of at least {at_least}.")
    if int(value) > at_most:
        raise ValueError(f"{name} is {value!r}; expected an integer of at most {at_most}.")
    return int(value)


def check_flag(name: str, value: object) -> bool:
    """Return a parameter that is True or False; raise TypeError if it is neither."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is {value!r}; expected True or False.")
    return bool(value)


def check_auto(name: str, value: object) -> None:
    """Refuse anything but "auto", True and False."""
    if isinstance(value, str):
        check_choice(name, value, ("auto",))
    else:
        check_flag(name, value)


def check_verbosity(value: object) -> int:
    """Return the parameter ``verbose``, an integer of at least 0; True is 1."""
    return check_integer("verbose", int(value) if isinstance(value, bool) else value, at_least=0)


def check_cache_size(value: object) -> float:
    """Return the parameter ``cache_size``, a number of MB between 0 and 10^12."""
    return check_real("cache_size", value, at_least=0.0, at_most=1e12)


def random_state_of(value: object) -> np.random.RandomState:
    """Return the random state for ``random_state``, as everywhere in scikit-learn."""
    from sklearn.utils import check_random_state

    try:
        state: np.random.RandomState = check_random_state(value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state is {value!r}; expected None, an integer of at least 0 and below 2^32, "
            "or a numpy.random.RandomState."
        ) from error
    return state


def check_seed(value: object) -> None:
    """Raise ValueError unless `random_state_of` takes this ``random_state``."""
    if isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) < 2**32:
        return
    random_state_of(value)


def seed_of(value: object) -> int:
    """Return the seed of a loop, drawn from the random state for ``random_state``."""
    if isinstance(value, Integral):
        check_seed(value)
        return _first_draw(int(value))
    return int(random_state_of(value).randint(2**31 - 1))


# Making a generator takes longer than all checks of a small problem.
@lru_cache(maxsize=256)
def _first_draw(seed: int) -> int:
    return seed_of(np.random.RandomState(seed))


def job_count(n_jobs: object, tasks: int) -> int | None:
    """Return the number of jobs for joblib, None if its context decides."""
    return None if n_jobs is None else min(thread_count(n_jobs), max(tasks, 1))


def is_estimator(value: object) -> bool:
    """Return whether a value can be fitted; the class of an estimator cannot."""
    return hasattr(value, "fit") and not isinstance(value, type)


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Return a parameter that is one of a few names; raise ValueError if it is none of them."""
    if not isinstance(value, str) or value not in choices:
        expected = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} is {value!r}; expected one of {expected}.")
    return value


def thread_count(n_jobs: object) -> int:
    """Return the number of threads for ``n_jobs``, as everywhere in scikit-learn."""
    expected = "expected None, a positive number, or -1 for one per processor."
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise TypeError(f"n_jobs is {n_jobs!r}; {expected}")
    if n_jobs == 0:
        raise ValueError(f"n_jobs is 0; {expected}")
    from joblib import cpu_count, effective_n_jobs

    threads = int(effective_n_jobs(n_jobs))
    if threads > _MOST_THREADS:
        # Counted only here: that takes as long as the checks of a small problem.
        threads = min(threads, max(_MOST_THREADS, cpu_count()))
    return threads
