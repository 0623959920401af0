"""Groups of rows, as fits and splits take them."""

import numpy as np
import pytest

from multimargin import CalibratedClassifier, RankSVM
from multimargin.tuning import stratified_train_test_split
from tests.support.problems import noisy_linear_problem

pd = pytest.importorskip("pandas")

N = 24
X, Y = noisy_linear_problem(0, N, 3, 3, cut=0.5)
GROUPS = np.arange(N) // 4


def learned(groups, weights):
    model = CalibratedClassifier(RankSVM(kernel="linear", random_state=0))
    return model.fit(X, Y, sample_weight=weights, groups=groups).label_scores(X)


@pytest.mark.parametrize("weights", [None, np.r_[0.0, np.ones(N - 1)]])
@pytest.mark.parametrize(
    "container",
    [
        list,
        pd.Series,
        lambda groups: pd.array(groups, dtype="Int64"),
        lambda groups: pd.array(groups.astype(str), dtype="string"),
        lambda groups: pd.Series(groups).astype("category"),
        lambda groups: groups.astype(object),
        lambda groups: pd.to_datetime(pd.Series(groups)),
    ],
)
def test_the_container_does_not_matter(container, weights):
    np.testing.assert_array_equal(learned(container(GROUPS), weights), learned(GROUPS, weights))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (GROUPS[:-1], r"groups has shape \(23,\); expected \(24,\), one for each row"),
        (GROUPS[:, None], r"groups has shape \(24, 1\); expected \(24,\)"),
        (np.c_[GROUPS, GROUPS], r"groups has shape \(24, 2\); expected \(24,\)"),
        ("a", r"groups has shape \(\); expected \(24,\)"),
        ([None, *GROUPS[1:]], "groups has no value in 1 of 24 rows, the first of which is row 0"),
        (np.where(GROUPS > 3, np.nan, GROUPS), "groups has no value in 8 of 24 rows, .* row 16"),
        (pd.to_datetime(pd.Series([*GROUPS[1:], None])), "groups has no value in 1 of .* row 23"),
        (np.array(["a", *GROUPS[1:]], dtype=object), "groups has values of the types int64, str"),
    ],
)
def test_nonsense_is_named_wherever_groups_are_taken(groups, message):
    with pytest.raises((TypeError, ValueError), match=message):
        learned(groups, None)
    with pytest.raises((TypeError, ValueError), match=message):
        learned(groups, np.r_[0.0, np.ones(N - 1)])
    with pytest.raises((TypeError, ValueError), match=message):
        stratified_train_test_split(X, Y, groups=groups)
