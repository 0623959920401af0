"""Parameters that need a check of their own; the others are tested through the estimators."""

import joblib
import numpy as np
import pytest

from multimargin import MLODM
from multimargin.checks.parameters import check_seed, random_state_of, thread_count


def test_threads_are_those_of_joblib() -> None:
    assert [thread_count(n_jobs) for n_jobs in (None, 1, 3)] == [1, 1, 3]
    assert thread_count(-1) == joblib.cpu_count()
    assert thread_count(10**9) == max(256, joblib.cpu_count())
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert thread_count(None) == 2


def test_a_seed_is_checked_as_it_is_used() -> None:
    generators = (None, np.random.RandomState(0), np.random.default_rng(0))
    numbers = (0, 2**32 - 1, 2**32, -1, 10**30, np.int64(5), True, np.True_, 0.5)
    for value in (*numbers, "a", *generators):
        outcomes = []
        for function in (check_seed, random_state_of):
            try:
                function(value)
                outcomes.append("taken")
            except ValueError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1], value
        refused = outcomes[0].startswith(f"random_state is {value!r}; expected None, an integer")
        assert refused or outcomes[0] == "taken"
    with pytest.raises(ValueError, match="random_state is -1"):
        MLODM(random_state=-1).fit(np.eye(4), np.eye(4, dtype=int))
