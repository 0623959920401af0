"""RankSVMz by itself: its threshold."""

from numpy.testing import assert_array_equal

from multimargin import RankSVMz
from tests.support.problems import noisy_linear_problem


def test_the_zero_label_is_the_threshold():
    X, Y = noisy_linear_problem(0, 30, 4, 4)
    model = RankSVMz(C=10.0, kernel="linear", random_state=0).fit(X, Y)
    assert_array_equal(model.decision_function(X), model.label_scores(X))
    assert_array_equal(model.predict(X), (model.label_scores(X) > 0).astype(int))
    assert "threshold" not in model.get_params()
