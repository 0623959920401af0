"""Which cases of a parameter run in `make test`, and which in `make test-all` alone."""

import pytest


def first_fast(cases, fast):
    """The cases of a parameter, or tuples of several; all after the first `fast` are slow."""
    cases = list(cases)
    if not 0 < fast < len(cases):
        raise ValueError(f"fast is {fast}; expected 1 to {len(cases) - 1} of {len(cases)} cases.")
    rest = [case if isinstance(case, tuple) else (case,) for case in cases[fast:]]
    return cases[:fast] + [pytest.param(*case, marks=pytest.mark.slow) for case in rest]
