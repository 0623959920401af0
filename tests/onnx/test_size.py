"""The sizes that are told of models are about those of their files."""

import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from multimargin import CalibratedClassifier, LabelRankerCV, RankSVM, ThresholdedClassifier
from multimargin.onnx import export
from multimargin.onnx.size import dense_bytes
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 300, 40, 8, rank=3, noise=0.5, cut=0.2)

MODELS = [
    RankSVM(random_state=0),
    make_pipeline(MinMaxScaler(), RankSVM(kernel="linear", warm_start=True, random_state=0)),
    ThresholdedClassifier(RankSVM(kernel="poly", random_state=0), cv=2),
    CalibratedClassifier([RankSVM(random_state=0), RankSVM(gamma=0.1, random_state=0)], cv=2),
    LabelRankerCV([1.0], stack=["neighbours"], cv=2, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_sizes(model, tmp_path):
    model.fit(X, Y)
    export(model, tmp_path / "model.onnx")
    size = (tmp_path / "model.onnx").stat().st_size
    assert 0.3 * size < dense_bytes(model) <= size
