"""Which methods are given rows with unknown labels."""

import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from multimargin import RankSVM
from multimargin.compare.experiment.evaluate import _takes_unknown_labels


@pytest.mark.parametrize(
    ("inner", "expected"), [(RankSVM(), True), (KNeighborsClassifier(), False)]
)
def test_whether_labels_may_be_unknown_is_asked_of_the_last_step(inner, expected):
    pipeline = make_pipeline(MinMaxScaler(), inner)
    assert _takes_unknown_labels(pipeline) == expected
    assert _takes_unknown_labels(GridSearchCV(pipeline, {})) == expected
