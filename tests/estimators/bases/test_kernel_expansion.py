"""What a fitted model keeps of its training rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from multimargin import MLRL, SSMLRL
from multimargin.estimators import RelationshipOptions
from tests.support.models import PAIRWISE
from tests.support.problems import noisy_linear_problem

ROWS = ("support_", "dual_coef_", "support_vectors_")
KEEPING = {"options": RelationshipOptions(keep_rows=True)}
CASES = [
    *((method, ROWS, {"warm_start": True}) for method in PAIRWISE),
    (MLRL, (*ROWS, "dual_variables_"), KEEPING),
    (SSMLRL, (*ROWS, "dual_variables_", "labelled_"), KEEPING),
]


@pytest.mark.parametrize(("method", "names", "keeping"), CASES)
def test_rows_are_kept_where_they_are_needed_or_asked_for(method, names, keeping) -> None:
    X, Y = noisy_linear_problem(0, 200, 4, 3, noise=0.0)
    if method is SSMLRL:
        Y[120:] = -1
    seed = {} if method in (MLRL, SSMLRL) else {"random_state": 0}
    lean = method(kernel="linear", **seed).fit(X, Y)
    kept = method(kernel="linear", **seed, **keeping).fit(X, Y)
    assert not any(hasattr(lean, name) for name in names)
    assert all(hasattr(kept, name) for name in names)
    assert_array_equal(lean.decision_function(X), kept.decision_function(X))
    assert (lean.objective_, lean.dual_gap_) == (kept.objective_, kept.dual_gap_)
    model = method(kernel="rbf", **seed).fit(X, Y)
    assert all(hasattr(model, name) for name in names)
    # Nothing is left of an earlier fit, in either direction.
    assert not hasattr(model.set_params(kernel="linear").fit(X, Y), "dual_coef_")
    assert not hasattr(model.set_params(kernel="rbf").fit(X, Y), "coef_")


def test_keep_rows_is_true_or_false() -> None:
    model = MLRL(options=RelationshipOptions(keep_rows=1))
    with pytest.raises(TypeError, match=r"options\.keep_rows is 1; expected True or False"):
        model.fit(np.eye(2), np.eye(2, dtype=int))
