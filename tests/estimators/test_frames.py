"""Data frames of polars and pandas, in and out."""

import numpy as np
import polars
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multimargin import LLSF, MLRL, CalibratedClassifier, RankSVM, ThresholdedClassifier
from multimargin.datasets import MultilabelData, load_digit_attributes

LINEAR = RankSVM(kernel="linear", random_state=0)


@pytest.mark.parametrize(
    "model",
    [
        LINEAR,
        MLRL(),
        LLSF(),
        ThresholdedClassifier(LINEAR, cv=2),
        CalibratedClassifier(LINEAR, cv=2),
        make_pipeline(StandardScaler().set_output(transform="polars"), LINEAR),
    ],
    ids=lambda model: type(model).__name__,
)
def test_polars_frames_are_taken_as_those_of_pandas(model) -> None:
    X, X_test, Y, _ = load_digit_attributes().train_test(as_frame=True)
    X, X_test, Y = X[:200], X_test[:50], Y[:200]
    expected = clone(model).fit(X, Y)
    of_polars = [polars.from_dict(part.to_dict("list")) for part in (X, X_test, Y)]
    found = clone(model).fit(of_polars[0], of_polars[2])
    np.testing.assert_array_equal(found.predict(of_polars[1]), expected.predict(X_test))
    np.testing.assert_array_equal(found.feature_names_in_, X.columns)
    last = found[-1] if hasattr(found, "steps") else found
    np.testing.assert_array_equal(last.label_names_in_, Y.columns)
    with pytest.raises(ValueError, match="feature names"):
        found.predict(of_polars[1].rename({"pixel_0_0": "other"}))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_selected_features_are_a_frame_where_asked_for(library: str) -> None:
    X, _, Y, _ = load_digit_attributes().train_test(as_frame=True)
    model = LLSF(beta=50.0).set_output(transform=library).fit(X, Y)
    assert list(model.transform(X).columns) == list(X.columns[model.get_support()])


def test_a_polars_table_becomes_numbers() -> None:
    frame = polars.DataFrame(
        {"size": [1.0, None, 3.0], "kind": ["a", None, "b"], "x": [1, 0, None], "y": [0, 1, 1]}
    )
    data = MultilabelData.from_frame(frame, "x,y")
    assert tuple(data.feature_names) == ("size", "kind_(missing)", "kind_a", "kind_b")
    np.testing.assert_array_equal(data.Y, [[1, 0], [0, 1], [np.nan, 1]])
