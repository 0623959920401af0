"""What warnings name as the place that they are about."""

import warnings

import numpy as np
import pytest

from multimargin import LLSF, MLRL, LabelRankerCV, RankSVM
from multimargin.measures import auc_macro
from tests.support.problems import noisy_linear_problem


def test_warnings_name_the_line_of_the_caller():
    X, Y = noisy_linear_problem(0, 60, 4, 3)
    unknown = Y.astype(float)
    unknown[0, 0] = np.nan
    one_class = np.column_stack([Y, np.ones(len(Y), dtype=int)])
    for about, call in {
        "NaN, RankSVM": lambda: RankSVM().fit(X, unknown),
        "NaN, MLRL": lambda: MLRL().fit(X, unknown),
        "NaN, LabelRankerCV": lambda: LabelRankerCV(Cs=[1.0]).fit(X, unknown),
        "one class": lambda: MLRL().fit(X, one_class),
        "the end of RankSVM": lambda: RankSVM(max_iter=1, tol=1e-9).fit(X, Y),
        "the end of MLRL": lambda: MLRL(max_iter=1, tol=1e-9).fit(X, Y),
        "the end of LLSF": lambda: LLSF(beta=0.01, tol=1e-12, max_iter=1).fit(X, Y),
        "the edge of Cs": lambda: LabelRankerCV(Cs=[1e-3, 1e-2]).fit(X, Y),
        "a measure": lambda: auc_macro(one_class, np.zeros(one_class.shape)),
    }.items():
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call()
        assert told, about
        assert {warning.filename for warning in told} == {__file__}, about


def test_code_without_a_name_is_warned_too():
    code = "from multimargin.notices import warn\nwarn('said')"
    with pytest.warns(UserWarning, match="said"):
        exec(compile(code, "no file", "exec"), {"__builtins__": __builtins__})


def test_a_fit_gives_each_warning_once():
    X, Y = noisy_linear_problem(0, 60, 4, 3)
    Y[:, 2] = np.arange(60) == 0
    model = LabelRankerCV(Cs=[1.0, 10.0], scoring="auc_macro", random_state=0)
    for _ in range(2):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model.fit(X, Y)
        messages = [str(warning.message) for warning in told]
        assert sum("left out of the macro AUC" in message for message in messages) == 1
        assert len(set(messages)) == len(messages) > 1
    with pytest.warns(UserWarning, match="left out of the macro AUC"):
        auc_macro(Y[1:], np.zeros((59, 3)))
