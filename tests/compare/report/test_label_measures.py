import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support
from sklearn.neighbors import KNeighborsClassifier

from multimargin.compare import run_experiment
from multimargin.compare.experiment.splits import make_splits
from multimargin.compare.report.label_measures import label_measures
from multimargin.datasets import MultilabelData


def test_pooled_over_the_splits(data: MultilabelData) -> None:
    methods = {"knn": KNeighborsClassifier(3)}
    results = run_experiment(data, methods, cv=3, scaling="none")
    found = label_measures(results, data.name)
    predicted = np.empty_like(data.Y)
    for split in make_splits(data, 3, seed=0):
        model = KNeighborsClassifier(3).fit(data.X[split.train], data.Y[split.train])
        predicted[split.test] = model.predict(data.X[split.test])
    precision, recall, f1, support = precision_recall_fscore_support(
        data.Y, predicted, zero_division=np.nan
    )
    np.testing.assert_allclose(found.measures["knn"]["precision"], precision)
    np.testing.assert_allclose(found.measures["knn"]["recall"], recall)
    np.testing.assert_allclose(found.measures["knn"]["f1"], f1)
    np.testing.assert_array_equal(found.support, support)
    assert found.label_names == list(data.label_names)


def test_undefined_measures_are_nan() -> None:
    data = MultilabelData(
        X=np.arange(6.0)[:, np.newaxis],
        Y=np.array([[1, 0]] * 6),
        name="d",
        splits={"train": [0, 1, 2], "test": [3, 4, 5]},
    )
    found = label_measures(run_experiment(data, ["dummy"], cv="official"), "d")
    assert np.isnan(found.measures["dummy"]["f1"][1])
    assert found.measures["dummy"]["f1"][0] == 1.0


def test_methods_that_failed_are_left_out(data: MultilabelData) -> None:
    methods = {"bad": KNeighborsClassifier(n_neighbors=1000), "good": KNeighborsClassifier()}
    results = run_experiment(data, methods, cv="official")
    assert list(label_measures(results, data.name).measures) == ["good"]


def test_unknown_data(data: MultilabelData) -> None:
    with pytest.raises(ValueError, match=r"data is 'x'; expected a data set of the results"):
        label_measures(run_experiment(data, ["dummy"], cv="official"), "x")
