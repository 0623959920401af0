"""Plots of label-specific features: what is drawn is what was learned."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from multimargin import LLSF

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

from multimargin.plots import (  # noqa: E402
    LabelAffinityDisplay,
    LabelFeatureCountDisplay,
    affinity,
)


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8))
    Y = pd.DataFrame((rng.random((40, 4)) < 0.4).astype(int), columns=list("abcd"))
    yield LLSF(beta=4.0).fit(X, Y), Y
    pyplot.close("all")


def test_bars_are_the_feature_counts(fitted):
    model, _ = fitted
    display = LabelFeatureCountDisplay.from_estimator(model)
    heights = [bar.get_height() for bar in display.bars_]
    np.testing.assert_array_equal(heights, (model.coef_ != 0).sum(axis=1))
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == list("abcd")


def test_images_are_the_affinities(fitted):
    model, Y = fitted
    figure, axes = pyplot.subplots(1, 2)
    display = LabelAffinityDisplay.from_estimator(model, Y, axes=axes)
    labels, coefficients = (np.asarray(image.get_array()) for image in display.images_)
    a, b = Y["a"].to_numpy(), Y["b"].to_numpy()
    assert labels[0, 1] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    np.testing.assert_allclose(coefficients, affinity(model.coef_.T))
    assert display.figure_ is figure


def test_zero_columns_have_no_affinity():
    np.testing.assert_array_equal(affinity(np.array([[0.0, 3.0], [0.0, 4.0]])), [[0, 0], [0, 1]])


def test_wrong_input_is_named(fitted):
    model, Y = fitted
    other = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(TypeError, match="LinearRegression, which has no label_specific_features_"):
        LabelFeatureCountDisplay.from_estimator(other)
    with pytest.raises(ValueError, match="Y has 3 labels; expected 4"):
        LabelAffinityDisplay.from_estimator(model, Y[["a", "b", "c"]])
    with pytest.raises(ValueError, match="label_names has shape"):
        LabelFeatureCountDisplay([1, 2], label_names=["a"])
    with pytest.raises(ValueError, match="coefficient_affinity has shape"):
        LabelAffinityDisplay(np.eye(2), np.eye(3))
