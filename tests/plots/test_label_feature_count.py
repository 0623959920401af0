"""LabelFeatureCountDisplay: the bars are what was learned."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from multimargin import LLSF
from multimargin.plots import LabelFeatureCountDisplay


def test_bars_are_the_feature_counts(data):
    X, Y = data
    model = LLSF(beta=4.0).fit(X, pd.DataFrame(Y, columns=list("abcd")))
    display = LabelFeatureCountDisplay.from_estimator(model)
    heights = [bar.get_height() for bar in display.bars_]
    np.testing.assert_array_equal(heights, (model.coef_ != 0).sum(axis=1))
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == list("abcd")


@pytest.mark.parametrize("q", [1, 2, 300])
def test_labels_without_names_are_numbered(q):
    display = LabelFeatureCountDisplay(np.arange(q)).plot()
    assert all(tick == int(tick) for tick in display.ax_.get_xticks())


def test_input_is_checked():
    other = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(TypeError, match="LinearRegression, which has no label_specific_features_"):
        LabelFeatureCountDisplay.from_estimator(other)
    with pytest.raises(ValueError, match="label_names has 1 names"):
        LabelFeatureCountDisplay([1, 2], label_names=["a"])
    with pytest.raises(ValueError, match=r"counts has shape \(0,\)"):
        LabelFeatureCountDisplay([])
    with pytest.raises(ValueError, match="whole numbers"):
        LabelFeatureCountDisplay([1.5, np.nan])
