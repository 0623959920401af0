"""Which cases of a parameter run in `make test`, and which in `make test-all` alone."""

import pytest


def first_fast(cases, fast):
    """The cases of a parameter, or tuples of several; all after the first `fast` are slow."""
    cases = list(cases)
    if not 0 < fast < len(cases):
        raise ValueError(f"fast is {fast}; expected 1 to {len(cases) - 1} of {len(cases)} cases.")
    return cases[:fast] + [_slow(case) for case in cases[fast:]]


def fast_only(cases, fast):
    """The cases of a parameter, or tuples of several; all but those in `fast` are slow."""
    cases, fast = list(cases), list(fast)
    if not fast or len(fast) >= len(cases) or any(case not in cases for case in fast):
        raise ValueError(f"fast is {fast}; expected some, and not all, of {cases}.")
    return [case if case in fast else _slow(case) for case in cases]


def _slow(case):
    # A named tuple is one value.
    return pytest.param(*(case if type(case) is tuple else (case,)), marks=pytest.mark.slow)
