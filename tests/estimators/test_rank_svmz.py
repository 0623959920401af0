"""RankSVMz by itself: its threshold, and labels of one class."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from multimargin import RankSVMz
from tests.support.problems import noisy_linear_problem


def test_the_zero_label_is_the_threshold():
    X, Y = noisy_linear_problem(0, 30, 4, 4)
    model = RankSVMz(C=10.0, kernel="linear", random_state=0).fit(X, Y)
    assert_array_equal(model.decision_function(X), model.label_scores(X))
    assert_array_equal(model.predict(X), (model.label_scores(X) > 0).astype(int))
    assert "threshold" not in model.get_params()


@pytest.mark.parametrize("solver", ["bcd", "dcd"])
def test_labels_of_one_class_have_no_support_with_a_free_bias(solver):
    X, Y = noisy_linear_problem(0, 30, 4, 4)
    Y[:, 1], Y[:, 3] = 1, 0
    model = RankSVMz(kernel="linear", solver=solver, random_state=0, warm_start=True).fit(X, Y)
    # Nothing is left but what is taken off every label, that of the zero label.
    assert_array_equal(model.dual_coef_[:, 1], model.dual_coef_[:, 3])
    scores = model.label_scores(X)
    assert scores[:, 1].min() >= 1.0 - 1e-9
    assert scores[:, 3].max() <= -1.0 + 1e-9
    model.set_params(bias="penalized").fit(X, Y)
    assert (model.dual_coef_[:, 1] > model.dual_coef_[:, 3]).any()
    # No label of two classes.
    model.set_params(bias="free", warm_start=False).fit(X, np.tile([1, 0], (30, 1)))
    assert (model.objective_, model.dual_objective_) == (0.0, 0.0)
